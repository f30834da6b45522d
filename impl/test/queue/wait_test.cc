// Waiting: blocked readers, descriptors in the application's hands, wait sets and poll sets. No wake-up is lost.
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <time.h>

#include <chrono>
#include <thread>
#include <vector>

#include "impl/test/queue/place.h"

namespace selvage::impl::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

int64_t since(steady_clock::time_point start) {
    return std::chrono::duration_cast<milliseconds>(steady_clock::now() - start).count();
}

struct Kinds : testing::TestWithParam<fi_wait_obj> {
    Place place;
};
INSTANTIATE_TEST_SUITE_P(, Kinds,
                         testing::Values(FI_WAIT_UNSPEC, FI_WAIT_FD, FI_WAIT_MUTEX_COND, FI_WAIT_YIELD, FI_WAIT_POLLFD),
                         [](const auto& kind) { return std::to_string(kind.param); });

TEST_P(Kinds, TheTimeoutEndsAWait) {
    Queue queue(place, GetParam());
    fi_cq_entry entry;
    auto start = steady_clock::now();
    EXPECT_EQ(fi_cq_sread(queue.fid, &entry, 1, nullptr, 0), -FI_EAGAIN);
    EXPECT_LT(since(start), 100);
    start = steady_clock::now();
    EXPECT_EQ(fi_cq_sread(queue.fid, &entry, 1, nullptr, 30), -FI_EAGAIN);
    EXPECT_GE(since(start), 29);
    EXPECT_LT(since(start), 2000);
}

TEST_P(Kinds, AWriteOfAnotherThreadEndsAWait) {
    Queue queue(place, GetParam());
    std::thread writer([&] {
        for (uint64_t i = 0; i < 2000; ++i) {
            queue->write(completion(i));
            if (i % 100 == 0) std::this_thread::sleep_for(milliseconds(1));
        }
    });
    for (uint64_t next = 0; next < 2000;) {
        fi_cq_entry entries[16];
        const ssize_t count = fi_cq_sread(queue.fid, entries, 16, nullptr, -1);
        ASSERT_GT(count, 0);
        for (ssize_t i = 0; i < count; ++i) ASSERT_EQ(number_of(entries[i].op_context), next++);
    }
    writer.join();
}

TEST_P(Kinds, AnErrorEndsAWait) {
    Queue queue(place, GetParam());
    std::thread writer([&] {
        std::this_thread::sleep_for(milliseconds(5));
        queue->write_error(failure(1));
    });
    fi_cq_entry entry;
    EXPECT_EQ(fi_cq_sread(queue.fid, &entry, 1, nullptr, -1), -FI_EAVAIL);
    writer.join();
}

TEST_P(Kinds, ASignalEndsEveryWait) {
    Queue queue(place, GetParam());
    FakePath path(&queue.get());
    ASSERT_EQ(queue->attach(&path), 0);
    for (int round = 0; round < 20; ++round) {
        std::atomic<int> inside{0}, out{0};
        std::vector<std::thread> readers;
        for (int i = 0; i < 3; ++i) {
            readers.emplace_back([&] {
                fi_cq_entry entry;
                ++inside;
                EXPECT_EQ(fi_cq_sread(queue.fid, &entry, 1, nullptr, -1), -FI_EAGAIN);
                ++out;
            });
        }
        while (inside < 3) std::this_thread::yield();
        std::this_thread::sleep_for(milliseconds(round % 3));
        while (out < 3) {
            fi_cq_signal(queue.fid);
            std::this_thread::sleep_for(milliseconds(1));
        }
        for (std::thread& reader : readers) reader.join();
    }
    queue->detach(&path);
}

TEST_P(Kinds, ArrivalsEndAWait) {
    Queue queue(place, GetParam());
    FakePath path(&queue.get());
    ASSERT_EQ(queue->attach(&path), 0);
    std::thread peer([&] {
        for (uint64_t i = 0; i < 3000; ++i) {
            path.deliver(i);
            if (i % 50 == 0) std::this_thread::sleep_for(std::chrono::microseconds(i));
        }
    });
    for (uint64_t next = 0; next < 3000;) {
        fi_cq_entry entries[16];
        const ssize_t count = fi_cq_sread(queue.fid, entries, 16, nullptr, 20000);
        ASSERT_GT(count, 0) << "lost after " << next;
        for (ssize_t i = 0; i < count; ++i) ASSERT_EQ(number_of(entries[i].op_context), next++);
    }
    peer.join();
    queue->detach(&path);
}

// What a path without a descriptor, or with work at every call, does to those who sleep.
class AwkwardPath final : public Progressive {
public:
    void progress() override {
        calls.fetch_add(1);
        if (arrived.exchange(false)) queue->write(completion(1));
    }
    // Either this sees what has arrived, or deliver() sees that it is armed.
    bool arm() override {
        armed = !busy && bell >= 0;
        return armed && !arrived;
    }
    int wait_descriptor() const override { return bell; }
    void deliver() {
        arrived = true;
        if (!armed) return;
        const uint64_t one = 1;
        EXPECT_EQ(write(bell, &one, sizeof one), 8);
    }

    CompletionQueue* queue = nullptr;
    int bell = -EMFILE;
    std::atomic<bool> busy{false};
    std::atomic<bool> armed{false};
    std::atomic<bool> arrived{false};
    std::atomic<uint64_t> calls{0};
};

int64_t thread_milliseconds() {
    timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return used.tv_sec * 1000 + used.tv_nsec / 1'000'000;
}

TEST_P(Kinds, AWaitEndsInTimeWhileThereIsAlwaysSomethingElseToDo) {
    Queue queue(place, GetParam());
    AwkwardPath path;
    path.bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    path.busy = true;
    ASSERT_EQ(queue->attach(&path), 0);
    // A reader that looks at the clock only after a sleep stays for ever: it is let go then, long after its time.
    std::thread rescue([&] {
        for (int i = 0; i < 200 && path.busy; ++i) std::this_thread::sleep_for(milliseconds(10));
        path.busy = false;
    });
    const auto start = steady_clock::now();
    fi_cq_entry entry;
    EXPECT_EQ(fi_cq_sread(queue.fid, &entry, 1, nullptr, 50), -FI_EAGAIN);
    EXPECT_GE(since(start), 50);
    EXPECT_LT(since(start), 1000);
    path.busy = false;
    rescue.join();
    queue->detach(&path);
    ::close(path.bell);
}

TEST_P(Kinds, AWaitWithoutADescriptorNapsUntilItsTimeIsOver) {
    if (GetParam() == FI_WAIT_YIELD) GTEST_SKIP() << "never sleeps";
    Queue queue(place, GetParam());
    AwkwardPath path;
    path.queue = &queue.get();
    ASSERT_EQ(queue->attach(&path), 0);
    std::atomic<bool> over{false};
    std::thread rescue([&] {
        for (int i = 0; i < 500 && !over; ++i) std::this_thread::sleep_for(milliseconds(10));
        if (!over) path.deliver();
    });
    const auto start = steady_clock::now();
    const int64_t before = thread_milliseconds();
    fi_cq_entry entry;
    EXPECT_EQ(fi_cq_sread(queue.fid, &entry, 1, nullptr, 300), -FI_EAGAIN);
    EXPECT_GE(since(start), 300);
    EXPECT_LT(since(start), 2000);
    EXPECT_LT(thread_milliseconds() - before, 150) << "it burns instead of napping";
    over = true;
    rescue.join();
    std::thread peer([&] {
        std::this_thread::sleep_for(milliseconds(20));
        path.deliver();
    });
    EXPECT_EQ(fi_cq_sread(queue.fid, &entry, 1, nullptr, 20000), 1) << "an arrival that nothing signals is found";
    peer.join();
    queue->detach(&path);
}

TEST_P(Kinds, ADescriptorFoundAfterTheAttachWakesSleepers) {
    Queue queue(place, GetParam());
    AwkwardPath path;
    path.queue = &queue.get();
    ASSERT_EQ(queue->attach(&path), 0);
    path.bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    std::thread peer([&] {
        std::this_thread::sleep_for(milliseconds(50));
        path.deliver();
    });
    const auto start = steady_clock::now();
    fi_cq_entry entry;
    EXPECT_EQ(fi_cq_sread(queue.fid, &entry, 1, nullptr, 8000), 1);
    // Who yields in a loop is put behind all others for each time (Linux 6.18), for seconds on a busy machine.
    if (GetParam() != FI_WAIT_YIELD) {
        EXPECT_LT(since(start), 4000) << "found at the end of the time only";
    }
    peer.join();
    queue->detach(&path);
    ::close(path.bell);
}

// The second queue's reader makes progress on the path and so disarms it, while the first one's sleeps.
TEST_P(Kinds, AnotherThreadsProgressLeavesSleepersArmed) {
    Queue queue(place, GetParam());
    Queue other(place, FI_WAIT_NONE);
    FakePath path(&queue.get());
    ASSERT_EQ(queue->attach(&path), 0);
    ASSERT_EQ(other->attach(&path), 0);
    for (uint64_t i = 0; i < 200; ++i) {
        std::atomic<bool> reads{true};
        std::thread busy([&] {
            fi_cq_entry entry;
            while (reads) fi_cq_read(other.fid, &entry, 1);
        });
        std::thread peer([&] {
            std::this_thread::sleep_for(std::chrono::microseconds(i * 5));
            reads = false;
            busy.join();
            path.deliver(i);
        });
        fi_cq_entry entry;
        EXPECT_EQ(fi_cq_sread(queue.fid, &entry, 1, nullptr, 20000), 1) << i;
        peer.join();
    }
    other->detach(&path);
    queue->detach(&path);
}

TEST_P(Kinds, WhatIsAttachedLaterIsWatchedToo) {
    Queue queue(place, GetParam());
    FakePath path(&queue.get());
    std::thread opener([&] {
        std::this_thread::sleep_for(milliseconds(5));
        ASSERT_EQ(queue->attach(&path), 0);
        std::this_thread::sleep_for(milliseconds(5));
        path.deliver(1);
    });
    fi_cq_entry entry;
    EXPECT_EQ(fi_cq_sread(queue.fid, &entry, 1, nullptr, 20000), 1);
    opener.join();
    queue->detach(&path);
}

TEST(CqWait, WithoutAWaitObjectItPollsAndNothingSignalsIt) {
    Place place;
    Queue queue(place, FI_WAIT_NONE);
    fi_cq_entry entry;
    EXPECT_EQ(fi_cq_sread(queue.fid, &entry, 1, nullptr, 0), -FI_EAGAIN);
    EXPECT_EQ(fi_cq_signal(queue.fid), -FI_EINVAL);
    std::thread writer([&] { queue->write(completion(1)); });
    EXPECT_EQ(fi_cq_sread(queue.fid, &entry, 1, nullptr, -1), 1);
    writer.join();
}

TEST(CqWait, AThresholdWaitsForSoMany) {
    Place place;
    fi_cq_attr attr = Queue::attributes(FI_WAIT_UNSPEC, FI_CQ_FORMAT_CONTEXT, 64);
    attr.wait_cond = FI_CQ_COND_THRESHOLD;
    Queue queue(place, attr);
    const auto ten = reinterpret_cast<const void*>(uintptr_t{10});
    fi_cq_entry entries[16];
    std::thread writer([&] {
        for (uint64_t i = 0; i < 10; ++i) {
            std::this_thread::sleep_for(milliseconds(1));
            queue->write(completion(i));
        }
    });
    EXPECT_EQ(fi_cq_sread(queue.fid, entries, 16, ten, -1), 10);
    writer.join();
    queue->write(completion(1));
    EXPECT_EQ(fi_cq_sread(queue.fid, entries, 16, ten, 10), 1);  // at the deadline, what there is
    queue->write_error(failure(1));
    EXPECT_EQ(fi_cq_sread(queue.fid, entries, 16, ten, -1), -FI_EAVAIL);
}

// One reads with a threshold that is not reached, another polls outside the library and has not run yet: what woke the
// first is still there for the second.
TEST(CqDescriptor, AReaderThatWaitsForMoreLeavesTheApplicationsWakeUp) {
    Place place;
    fi_cq_attr attr = Queue::attributes(FI_WAIT_FD, FI_CQ_FORMAT_CONTEXT, 0);
    attr.wait_cond = FI_CQ_COND_THRESHOLD;
    Queue queue(place, attr);
    fid* waits[] = {&queue.fid->fid};
    ASSERT_EQ(fabric_trywait(&place.fabric.descriptor, waits, 1), 0);
    std::thread reader([&] {
        fi_cq_entry entry;
        EXPECT_EQ(fi_cq_sread(queue.fid, &entry, 1, reinterpret_cast<void*>(2), 200), 1);
    });
    std::this_thread::sleep_for(milliseconds(50));
    queue->write(completion(1));
    std::this_thread::sleep_for(milliseconds(50));
    pollfd group{.fd = queue.descriptor(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&group, 1, 0), 1);
    reader.join();
}

// The loop of fi_poll(3): fi_trywait, poll, read until there is nothing.
void read_with_poll(Place& place, Queue& queue, uint64_t last) {
    pollfd ready{.fd = queue.descriptor(), .events = POLLIN, .revents = 0};
    fid* waits[] = {&queue.fid->fid};
    for (uint64_t next = 0; next < last;) {
        const int result = fabric_trywait(&place.fabric.descriptor, waits, 1);
        if (result == 0) {
            ASSERT_EQ(poll(&ready, 1, 20000), 1) << "lost after " << next;
        } else {
            ASSERT_EQ(result, -FI_EAGAIN);
        }
        fi_cq_entry entry;
        while (fi_cq_read(queue.fid, &entry, 1) == 1) ASSERT_EQ(number_of(entry.op_context), next++);
    }
}

TEST(CqDescriptor, NoArrivalIsLost) {
    Place place;
    Queue queue(place, FI_WAIT_FD);
    FakePath path(&queue.get());
    ASSERT_EQ(queue->attach(&path), 0);
    std::thread peer([&] {
        for (uint64_t i = 0; i < 5000; ++i) {
            path.deliver(i);
            if (i % 20 == 0) std::this_thread::sleep_for(std::chrono::microseconds(i % 300));
        }
    });
    read_with_poll(place, queue, 5000);
    peer.join();
    queue->detach(&path);
}

TEST(CqDescriptor, NoWriteOfAnotherThreadIsLost) {
    Place place;
    Queue queue(place, FI_WAIT_FD);
    std::thread writer([&] {
        for (uint64_t i = 0; i < 5000; ++i) {
            queue->write(completion(i));
            if (i % 20 == 0) std::this_thread::sleep_for(std::chrono::microseconds(i % 300));
        }
    });
    read_with_poll(place, queue, 5000);
    writer.join();
}

TEST(CqDescriptor, WorksInAnEpollOfTheApplication) {
    Place place;
    Queue queue(place, FI_WAIT_FD);
    FakePath path(&queue.get());
    ASSERT_EQ(queue->attach(&path), 0);
    const int group = epoll_create1(0);
    epoll_event interest{.events = EPOLLIN, .data = {.u64 = 7}};
    ASSERT_EQ(epoll_ctl(group, EPOLL_CTL_ADD, queue.descriptor(), &interest), 0);
    fid* waits[] = {&queue.fid->fid};
    epoll_event event;
    ASSERT_EQ(fabric_trywait(&place.fabric.descriptor, waits, 1), 0);
    EXPECT_EQ(epoll_wait(group, &event, 1, 0), 0);
    path.deliver(1);
    EXPECT_EQ(epoll_wait(group, &event, 1, 1000), 1);
    EXPECT_EQ(event.data.u64, 7u);
    EXPECT_EQ(fabric_trywait(&place.fabric.descriptor, waits, 1), -FI_EAGAIN);
    fi_cq_entry entry;
    EXPECT_EQ(fi_cq_read(queue.fid, &entry, 1), 1);
    EXPECT_EQ(fabric_trywait(&place.fabric.descriptor, waits, 1), 0);
    EXPECT_EQ(epoll_wait(group, &event, 1, 0), 0);
    EXPECT_EQ(fi_cq_signal(queue.fid), 0);
    EXPECT_EQ(epoll_wait(group, &event, 1, 1000), 1);
    ::close(group);
    queue->detach(&path);
}

// A thread that reads on and on after somebody blocked on the descriptor does not make senders ring for ever.
TEST(CqDescriptor, ArmingEndsWhenNobodyComesBack) {
    Place place;
    Queue queue(place, FI_WAIT_FD);
    FakePath path(&queue.get());
    ASSERT_EQ(queue->attach(&path), 0);
    fid* waits[] = {&queue.fid->fid};
    ASSERT_EQ(fabric_trywait(&place.fabric.descriptor, waits, 1), 0);
    EXPECT_TRUE(path.armed());
    fi_cq_entry entry;
    for (int i = 0; i < 100; ++i) EXPECT_EQ(fi_cq_read(queue.fid, &entry, 1), -FI_EAGAIN);
    EXPECT_FALSE(path.armed());
    pollfd ready{.fd = queue.descriptor(), .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&ready, 1, 0), 1);  // who still blocks comes back
    queue->detach(&path);
}

TEST(CqCondition, TheApplicationsMutexMayBeHeldWhileItReads) {
    Place place;
    Queue queue(place, FI_WAIT_MUTEX_COND);
    fi_mutex_cond object{};
    ASSERT_EQ(fi_control(&queue.fid->fid, FI_GETWAIT, &object), 0);
    std::atomic<uint64_t> sent{0};
    std::thread writer([&] {
        for (uint64_t i = 0; i < 500; ++i) {
            queue->write(completion(i));
            ++sent;
            if (i % 10 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
    });
    fid* waits[] = {&queue.fid->fid};
    pthread_mutex_lock(object.mutex);
    for (uint64_t next = 0; next < 500;) {
        if (fabric_trywait(&place.fabric.descriptor, waits, 1) == 0) {
            timespec until;
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_sec += 20;
            ASSERT_EQ(pthread_cond_timedwait(object.cond, object.mutex, &until), 0) << next;
        }
        fi_cq_entry entry;
        while (fi_cq_read(queue.fid, &entry, 1) == 1) ++next;
    }
    pthread_mutex_unlock(object.mutex);
    writer.join();
    // Nobody would look for arrivals.
    FakePath path(&queue.get());
    ASSERT_EQ(queue->attach(&path), 0);
    EXPECT_EQ(fabric_trywait(&place.fabric.descriptor, waits, 1), -FI_EAGAIN);
    queue->detach(&path);
}

struct Sets : testing::TestWithParam<fi_wait_obj> {
    Place place;
    fid_wait* set = nullptr;
    void SetUp() override {
        fi_wait_attr attr{};
        attr.wait_obj = GetParam();
        ASSERT_EQ(fabric_open_wait(&place.fabric.descriptor, &attr, &set), 0);
    }
    void TearDown() override { EXPECT_EQ(fi_close(&set->fid), 0); }
    fi_cq_attr member() {
        fi_cq_attr attr = Queue::attributes(FI_WAIT_SET, FI_CQ_FORMAT_CONTEXT, 0);
        attr.wait_set = set;
        return attr;
    }
};
INSTANTIATE_TEST_SUITE_P(, Sets, testing::Values(FI_WAIT_UNSPEC, FI_WAIT_FD, FI_WAIT_MUTEX_COND, FI_WAIT_YIELD),
                         [](const auto& kind) { return std::to_string(kind.param); });

TEST_P(Sets, ArrivalsAtAnyMemberEndTheWait) {
    Queue first(place, member());
    Queue second(place, member());
    FakePath path(&first.get());
    FakePath other(&second.get());
    ASSERT_EQ(first->attach(&path), 0);
    ASSERT_EQ(second->attach(&other), 0);
    EXPECT_EQ(fi_wait(set, 0), -FI_ETIMEDOUT);
    EXPECT_EQ(fi_wait(set, 10), -FI_ETIMEDOUT);
    std::thread peer([&] {
        for (uint64_t i = 0; i < 2000; ++i) {
            (i % 2 ? path : other).deliver(i);
            if (i % 50 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
        }
    });
    fi_cq_entry entry;
    for (uint64_t seen = 0; seen < 2000;) {
        ASSERT_EQ(fi_wait(set, 20000), 0) << "lost after " << seen;
        while (fi_cq_read(first.fid, &entry, 1) == 1) ++seen;
        while (fi_cq_read(second.fid, &entry, 1) == 1) ++seen;
    }
    peer.join();
    EXPECT_EQ(fi_cq_sread(first.fid, &entry, 1, nullptr, 0), -FI_EINVAL);
    first->detach(&path);
    second->detach(&other);
}

TEST_P(Sets, TheDescriptorOfASetCoversItsMembers) {
    if (GetParam() != FI_WAIT_FD) GTEST_SKIP();
    Queue first(place, member());
    FakePath path(&first.get());
    ASSERT_EQ(first->attach(&path), 0);
    int file = -1;
    ASSERT_EQ(fi_control(&set->fid, FI_GETWAIT, &file), 0);
    fid* waits[] = {&set->fid};
    std::thread peer([&] {
        for (uint64_t i = 0; i < 2000; ++i) {
            path.deliver(i);
            if (i % 50 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
        }
    });
    fi_cq_entry entry;
    for (uint64_t seen = 0; seen < 2000;) {
        pollfd ready{.fd = file, .events = POLLIN, .revents = 0};
        if (fabric_trywait(&place.fabric.descriptor, waits, 1) == 0) {
            ASSERT_EQ(poll(&ready, 1, 20000), 1) << "lost after " << seen;
        }
        while (fi_cq_read(first.fid, &entry, 1) == 1) ++seen;
    }
    peer.join();
    first->detach(&path);
}

TEST(PollSets, MakeProgressOnTheirMembers) {
    Place place;
    Queue queue(place, FI_WAIT_NONE);
    fid_cntr* counter = nullptr;
    ASSERT_EQ(domain_open_counter(&place.domain.descriptor, nullptr, &counter, &counter), 0);
    FakePath path(&queue.get());
    path.counter = Counter::of(counter);
    ASSERT_EQ(queue->attach(&path), 0);
    fi_poll_attr attr{};
    fid_poll* set = nullptr;
    ASSERT_EQ(domain_open_poll(&place.domain.descriptor, &attr, &set), 0);
    ASSERT_EQ(fi_poll_add(set, &queue.fid->fid, 0), 0);
    ASSERT_EQ(fi_poll_add(set, &counter->fid, 0), 0);
    void* contexts[2] = {};
    EXPECT_EQ(fi_poll(set, contexts, 2), 0);
    path.deliver(1);
    ASSERT_EQ(fi_poll(set, contexts, 2), 2);
    EXPECT_EQ(contexts[0], &queue);
    EXPECT_EQ(contexts[1], &counter);
    ASSERT_EQ(fi_poll(set, contexts, 2), 1);  // the counter has not changed since
    fi_cq_entry entry;
    EXPECT_EQ(fi_cq_read(queue.fid, &entry, 1), 1);
    EXPECT_EQ(fi_poll(set, contexts, 2), 0);
    path.deliver(2);
    fi_cntr_read(counter);
    EXPECT_EQ(fi_cq_read(queue.fid, &entry, 1), 1);
    fi_cntr_add(counter, 1);
    EXPECT_EQ(fi_poll(set, contexts, 2), 0);  // what the application did is no news
    EXPECT_EQ(fi_poll_del(set, &queue.fid->fid, 0), 0);
    EXPECT_EQ(fi_poll_del(set, &counter->fid, 0), 0);
    EXPECT_EQ(fi_close(&set->fid), 0);
    queue->detach(&path);
    EXPECT_EQ(fi_close(&counter->fid), 0);
}

}  // namespace
}  // namespace selvage::impl::test
