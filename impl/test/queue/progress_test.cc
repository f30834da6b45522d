// What is attached to queues: attaching and detaching under load, automatic progress, counters that move with it.
#include <dirent.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "impl/test/queue/place.h"

namespace selvage::impl::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

size_t open_files() {
    size_t count = 0;
    DIR* folder = opendir("/proc/self/fd");
    while (readdir(folder)) ++count;
    closedir(folder);
    return count;
}

TEST(Attached, ComesAndGoesWhileOthersReadAndSleep) {
    Place place;
    const size_t files = open_files();
    {
        Queue queue(place, FI_WAIT_FD);
        std::atomic<bool> done{false};
        std::vector<std::thread> readers;
        for (int i = 0; i < 2; ++i) {
            readers.emplace_back([&, i] {
                fi_cq_entry entries[8];
                while (!done) {
                    if (i) {
                        fi_cq_sread(queue.fid, entries, 8, nullptr, 1);
                    } else {
                        fi_cq_read(queue.fid, entries, 8);
                    }
                }
            });
        }
        for (uint64_t round = 0; round < 3000; ++round) {
            FakePath path(&queue.get());
            ASSERT_EQ(queue->attach(&path), 0);
            ASSERT_EQ(queue->attach(&path), 0);  // counted
            path.deliver(round);
            queue->detach(&path);
            path.deliver(round);
            queue->detach(&path);
        }
        done = true;
        for (std::thread& reader : readers) reader.join();
    }
    EXPECT_EQ(open_files(), files);
}

TEST(Attached, ManyPathsAllMove) {
    Place place;
    Queue queue(place, FI_WAIT_UNSPEC);
    std::vector<std::unique_ptr<FakePath>> paths;
    for (int i = 0; i < 200; ++i) {
        paths.push_back(std::make_unique<FakePath>(&queue.get()));
        ASSERT_EQ(queue->attach(paths.back().get()), 0);
    }
    for (uint64_t i = 0; i < 200; ++i) paths[i]->deliver(i);
    fi_cq_entry entries[300];
    EXPECT_EQ(fi_cq_read(queue.fid, entries, 300), 200);
    paths[123]->deliver(123);
    EXPECT_EQ(fi_cq_sread(queue.fid, entries, 300, nullptr, 10000), 1);
    for (auto& path : paths) queue->detach(path.get());
    EXPECT_FALSE(queue->progress.has_descriptor());
}

TEST(Attached, NoDescriptorLeftIsAnErrorAndLeavesNothing) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the check of virtual calls opens a pipe of its own";
#endif
    Place place;
    Queue queue(place, FI_WAIT_UNSPEC);
    FakePath path(&queue.get());
    rlimit before;
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    rlimit none = before;
    none.rlim_cur = 3;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    const int error = queue->attach(&path);
    fi_cq_attr attr = Queue::attributes(FI_WAIT_FD, FI_CQ_FORMAT_CONTEXT, 0);
    fid_cq* other = nullptr;
    const int not_opened = domain_open_cq(&place.domain.descriptor, &attr, &other, nullptr);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(error, -FI_EMFILE);
    EXPECT_EQ(not_opened, -FI_EMFILE);
    fi_cq_entry entry;
    path.deliver(1);
    EXPECT_EQ(fi_cq_read(queue.fid, &entry, 1), -FI_EAGAIN);
    ASSERT_EQ(queue->attach(&path), 0);
    EXPECT_EQ(fi_cq_sread(queue.fid, &entry, 1, nullptr, 1000), 1);
    queue->detach(&path);
}

TEST(Automatic, ArrivalsAreHandledWhileTheApplicationDoesNothing) {
    Place place{{.data = FI_PROGRESS_AUTO}};
    Queue queue(place, FI_WAIT_NONE);
    EXPECT_FALSE(place.domain.automatic.running());
    FakePath path(&queue.get());
    ASSERT_EQ(queue->attach(&path), 0);
    EXPECT_TRUE(place.domain.automatic.running());
    for (uint64_t i = 0; i < 200; ++i) {
        std::this_thread::sleep_for(microseconds(i * 10));
        path.deliver(i);
        for (int ms = 0; queue->ring.size() != i + 1 && ms < 20000; ++ms)
            std::this_thread::sleep_for(microseconds(100));
        ASSERT_EQ(queue->ring.size(), i + 1);
    }
    queue->detach(&path);
}

// The thread naps while the application is active; who then sleeps has nobody else to look for what is to wake it.
TEST(Automatic, TheThreadDoesNotNapWhileTheApplicationSleeps) {
    constexpr int64_t kLong = 20'000'000'000;
    WaitObject wait;
    ASSERT_EQ(wait.open(FI_WAIT_FD, nullptr, nullptr, nullptr), 0);
    ApplicationActivity activity(wait);
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 200; ++i) {
        std::thread napper([&] { activity.nap(kLong); });
        std::this_thread::sleep_for(microseconds(i));
        activity.begin_sleep();
        napper.join();
        activity.nap(kLong);
        activity.end_sleep();
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::nanoseconds(kLong));
}

TEST(Automatic, SleepersAreWokenByTheThread) {
    for (const fi_wait_obj kind : {FI_WAIT_UNSPEC, FI_WAIT_FD, FI_WAIT_MUTEX_COND}) {
        Place place{{.data = FI_PROGRESS_AUTO}};
        Queue queue(place, kind);
        FakePath path(&queue.get());
        ASSERT_EQ(queue->attach(&path), 0);
        EXPECT_FALSE(queue->progress.has_descriptor());
        std::thread peer([&] {
            for (uint64_t i = 0; i < 500; ++i) {
                path.deliver(i);
                std::this_thread::sleep_for(microseconds(i));
            }
        });
        for (uint64_t next = 0; next < 500;) {
            fi_cq_entry entry;
            ASSERT_EQ(fi_cq_sread(queue.fid, &entry, 1, nullptr, 20000), 1) << "lost after " << next;
            ASSERT_EQ(number_of(entry.op_context), next++);
        }
        peer.join();
        queue->detach(&path);
    }
}

// Reads, then nothing: what arrives afterwards is still handled, since the thread takes over again.
TEST(Automatic, TakesOverWhenTheApplicationStopsReading) {
    Place place{{.data = FI_PROGRESS_AUTO}};
    Queue queue(place, FI_WAIT_NONE);
    FakePath path(&queue.get());
    ASSERT_EQ(queue->attach(&path), 0);
    for (uint64_t round = 0; round < 100; ++round) {
        fi_cq_entry entry;
        for (uint64_t i = 0; i < round * 20; ++i) ASSERT_EQ(fi_cq_read(queue.fid, &entry, 1), -FI_EAGAIN);
        std::this_thread::sleep_for(microseconds(round % 7 * 400));
        path.deliver(round);
        for (int ms = 0; !queue->ring.size() && ms < 20000; ++ms) std::this_thread::sleep_for(microseconds(100));
        ASSERT_EQ(fi_cq_read(queue.fid, &entry, 1), 1) << round;
    }
    queue->detach(&path);
}

// While the application reads by itself, senders do not have to ring.
TEST(Automatic, KeepsOutOfTheWay) {
    Place place{{.data = FI_PROGRESS_AUTO}};
    Queue queue(place, FI_WAIT_NONE);
    FakePath path(&queue.get());
    ASSERT_EQ(queue->attach(&path), 0);
    for (uint64_t i = 0; i < 20000; ++i) {
        path.deliver(i);
        fi_cq_entry entry;
        ssize_t result;
        while ((result = fi_cq_read(queue.fid, &entry, 1)) == -FI_EAGAIN) {
        }
        ASSERT_EQ(result, 1);
    }
    // One ring in five is what a busy machine has been seen at: whoever loses the processor is stood in for.
    EXPECT_LT(path.rung.load(), 10000u);
    queue->detach(&path);
}

TEST(Automatic, EndsWithItsDomain) {
    for (int i = 0; i < 50; ++i) {
        Place place{{.data = FI_PROGRESS_AUTO}};
        Queue queue(place, FI_WAIT_NONE);
        FakePath path(&queue.get());
        ASSERT_EQ(queue->attach(&path), 0);
        path.deliver(1);
        queue->detach(&path);
        place.domain.automatic.stop();
        EXPECT_FALSE(place.domain.automatic.running());
    }
}

TEST(Automatic, NeverRunsWithoutBeingAskedFor) {
    Place place;
    Queue queue(place, FI_WAIT_NONE);
    FakePath path(&queue.get());
    ASSERT_EQ(queue->attach(&path), 0);
    EXPECT_FALSE(place.domain.automatic.running());
    queue->detach(&path);
}

TEST(Automatic, TakesTheLocksAway) {
    EXPECT_TRUE((Place{{.threading = FI_THREAD_DOMAIN}}).domain.serialised());
    EXPECT_TRUE((Place{{.threading = FI_THREAD_COMPLETION}}).domain.serialised());
    EXPECT_FALSE((Place{{.threading = FI_THREAD_ENDPOINT}}).domain.serialised());
    EXPECT_FALSE((Place{{.threading = FI_THREAD_FID}}).domain.serialised());
    EXPECT_FALSE((Place{{.threading = FI_THREAD_DOMAIN, .data = FI_PROGRESS_AUTO}}).domain.serialised());
    EXPECT_FALSE((Place{{.threading = FI_THREAD_DOMAIN, .control = FI_PROGRESS_AUTO}}).domain.serialised());
}

struct Counters : testing::TestWithParam<fi_threading> {
    Place place{{.threading = GetParam()}};
    fid_cntr* fid = nullptr;
    Counter* counter = nullptr;
    void open(fi_wait_obj kind) {
        fi_cntr_attr attr{};
        attr.wait_obj = kind;
        ASSERT_EQ(domain_open_counter(&place.domain.descriptor, &attr, &fid, this), 0);
        counter = Counter::of(fid);
    }
    void TearDown() override { EXPECT_EQ(fi_close(&fid->fid), 0); }
};
INSTANTIATE_TEST_SUITE_P(Locked, Counters, testing::Values(FI_THREAD_SAFE));
INSTANTIATE_TEST_SUITE_P(Serialised, Counters, testing::Values(FI_THREAD_DOMAIN));

TEST_P(Counters, MoveWhenTheyAreRead) {
    open(FI_WAIT_NONE);
    FakePath path(nullptr);
    path.counter = counter;
    ASSERT_EQ(counter->attach(&path), 0);
    path.deliver(1);
    EXPECT_EQ(fi_cntr_read(fid), 1u);
    counter->count_errors(2);
    EXPECT_EQ(fi_cntr_readerr(fid), 2u);
    EXPECT_EQ(fi_cntr_wait(fid, 2, 0), -FI_ETIMEDOUT);
    path.deliver(1);
    EXPECT_EQ(fi_cntr_wait(fid, 2, 0), 0);
    counter->detach(&path);
}

TEST_P(Counters, AWaitEndsAtTheThresholdOrWithAnError) {
    for (const fi_wait_obj kind : {FI_WAIT_UNSPEC, FI_WAIT_FD, FI_WAIT_MUTEX_COND, FI_WAIT_YIELD}) {
        if (fid) fi_close(&fid->fid);
        open(kind);
        FakePath path(nullptr);
        path.counter = counter;
        ASSERT_EQ(counter->attach(&path), 0);
        std::thread peer([&] {
            for (uint64_t i = 0; i < 1000; ++i) {
                path.deliver(i);
                if (i % 50 == 0) std::this_thread::sleep_for(microseconds(i));
            }
        });
        for (uint64_t i = 10; i <= 1000; i += 10) ASSERT_EQ(fi_cntr_wait(fid, i, 20000), 0) << "lost at " << i;
        peer.join();
        EXPECT_EQ(fi_cntr_wait(fid, 1001, 10), -FI_ETIMEDOUT);
        // An error from before the wait is no news: on a busy machine the first may come too early.
        std::atomic<bool> told{false};
        std::thread failing([&] {
            while (!told) {
                std::this_thread::sleep_for(milliseconds(2));
                fi_cntr_adderr(fid, 1);
            }
        });
        EXPECT_EQ(fi_cntr_wait(fid, 1001, -1), -FI_EAVAIL);
        told = true;
        failing.join();
        counter->detach(&path);
    }
}

TEST(CounterThreads, CountFromManyAndWaitWithoutLoss) {
    Place place;
    fi_cntr_attr attr{};
    attr.wait_obj = FI_WAIT_UNSPEC;
    fid_cntr* fid = nullptr;
    ASSERT_EQ(domain_open_counter(&place.domain.descriptor, &attr, &fid, nullptr), 0);
    std::vector<std::thread> writers;
    for (int t = 0; t < 3; ++t) {
        writers.emplace_back([&] {
            for (int i = 0; i < 20000; ++i) {
                Counter::of(fid)->count(1);
                if (i % 500 == 0) std::this_thread::sleep_for(microseconds(50));
            }
        });
    }
    for (uint64_t i = 100; i <= 60000; i += 100) ASSERT_EQ(fi_cntr_wait(fid, i, 20000), 0) << i;
    for (std::thread& writer : writers) writer.join();
    EXPECT_EQ(fi_cntr_read(fid), 60000u);
    EXPECT_EQ(fi_close(&fid->fid), 0);
}

}  // namespace
}  // namespace selvage::impl::test
