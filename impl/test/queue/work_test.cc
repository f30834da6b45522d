// Work that waits for counters, without endpoints: counters that move counters, cancelling, closing, threads.
#include <thread>
#include <vector>

#include "impl/test/queue/place.h"

namespace selvage::impl::test {
namespace {

struct OpenCounter {
    fid_cntr* fid = nullptr;

    explicit OpenCounter(Place& place) {
        fi_cntr_attr attr{};
        EXPECT_EQ(domain_open_counter(&place.domain.descriptor, &attr, &fid, nullptr), 0);
    }
    ~OpenCounter() { EXPECT_EQ(fi_close(&fid->fid), 0); }
    OpenCounter(const OpenCounter&) = delete;
    OpenCounter& operator=(const OpenCounter&) = delete;
    Counter& get() const { return *Counter::of(fid); }
    uint64_t value() const { return fi_cntr_read(fid); }
};

// A request to change a counter when another one has got so far. What it names stays where it is.
struct Request {
    fi_op_cntr operation{};
    fi_deferred_work work{};

    Request(const OpenCounter& trigger, uint64_t threshold, const OpenCounter& target, uint64_t value,
            fi_op_type type = FI_OP_CNTR_ADD) {
        operation = {.cntr = target.fid, .value = value};
        work.threshold = threshold;
        work.triggering_cntr = trigger.fid;
        work.op_type = type;
        work.op.cntr = &operation;
    }
    int queue(Place& place) { return place.domain.work.queue(place.domain, &work); }
};

struct Two {
    Place place;
    OpenCounter trigger{place};
    OpenCounter target{place};
};

TEST(Work, IsDueWhenSuccessesAndErrorsReachItsThreshold) {
    Two two;
    Request request(two.trigger, 3, two.target, 5);
    ASSERT_EQ(request.queue(two.place), 0);
    fi_cntr_add(two.trigger.fid, 2);
    EXPECT_EQ(two.target.value(), 0U);
    fi_cntr_adderr(two.trigger.fid, 1);
    EXPECT_EQ(two.target.value(), 5U);
    fi_cntr_add(two.trigger.fid, 10);
    EXPECT_EQ(two.target.value(), 5U);
}

TEST(Work, IsStartedByEveryCallThatMovesTheCounter) {
    Two two;
    Request requests[] = {{two.trigger, 1, two.target, 1},
                          {two.trigger, 10, two.target, 1},
                          {two.trigger, 11, two.target, 1},
                          {two.trigger, 20, two.target, 1}};
    for (Request& request : requests) ASSERT_EQ(request.queue(two.place), 0);
    fi_cntr_add(two.trigger.fid, 1);
    EXPECT_EQ(two.target.value(), 1U);
    fi_cntr_set(two.trigger.fid, 10);
    EXPECT_EQ(two.target.value(), 2U);
    fi_cntr_adderr(two.trigger.fid, 1);
    EXPECT_EQ(two.target.value(), 3U);
    fi_cntr_seterr(two.trigger.fid, 10);
    EXPECT_EQ(two.target.value(), 4U);
}

TEST(Work, IsStartedInTheOrderOfThresholdsAndThenOfPosting) {
    Two two;
    Request requests[] = {{two.trigger, 2, two.target, 7, FI_OP_CNTR_SET},
                          {two.trigger, 1, two.target, 3},
                          {two.trigger, 2, two.target, 9, FI_OP_CNTR_SET},
                          {two.trigger, 3, two.target, 2}};
    for (Request& request : requests) ASSERT_EQ(request.queue(two.place), 0);
    fi_cntr_add(two.trigger.fid, 3);
    EXPECT_EQ(two.target.value(), 11U);  // + 3, 7, 9, + 2
}

TEST(Work, ThatIsDueWhenItIsQueuedIsDoneAtOnce) {
    Two two;
    Request request(two.trigger, 0, two.target, 5);
    ASSERT_EQ(request.queue(two.place), 0);
    EXPECT_EQ(two.target.get().value.load(), 5U);
}

TEST(Work, OfALongChainIsNoRecursionAndHasALimit) {
    Two two;
    constexpr uint64_t kLength = WorkQueue::kMost;
    std::vector<Request> chain;
    chain.reserve(kLength);
    for (uint64_t i = 0; i < kLength; ++i) {
        chain.emplace_back(two.trigger, i + 1, two.trigger, 1);
        ASSERT_EQ(chain.back().queue(two.place), 0);
    }
    Request one_more(two.trigger, 1, two.trigger, 1);
    EXPECT_EQ(one_more.queue(two.place), -FI_EAGAIN);
    fi_cntr_add(two.trigger.fid, 1);
    EXPECT_EQ(two.trigger.value(), kLength + 1);
    EXPECT_EQ(one_more.queue(two.place), 0);
    EXPECT_EQ(two.trigger.value(), kLength + 2);
}

TEST(Work, IsCancelledByItsAddressAndOnlyWhileItWaits) {
    Two two;
    Request first(two.trigger, 1, two.target, 1);
    Request second(two.trigger, 1, two.target, 10);
    ASSERT_EQ(first.queue(two.place), 0);
    ASSERT_EQ(second.queue(two.place), 0);
    WorkQueue& work = two.place.domain.work;
    EXPECT_EQ(work.cancel(&first.work), 0);
    EXPECT_EQ(work.cancel(&first.work), -FI_ENOENT);
    EXPECT_EQ(work.cancel(nullptr), -FI_EINVAL);
    fi_cntr_add(two.trigger.fid, 1);
    EXPECT_EQ(two.target.value(), 10U);
    EXPECT_EQ(work.cancel(&second.work), -FI_ENOENT);
}

TEST(Work, IsFlushedOfOneCounterOrOfAll) {
    Two two;
    OpenCounter other(two.place);
    Request first(two.trigger, 1, two.target, 1);
    Request second(other, 1, two.target, 10);
    ASSERT_EQ(first.queue(two.place), 0);
    ASSERT_EQ(second.queue(two.place), 0);
    WorkQueue& work = two.place.domain.work;
    EXPECT_EQ(work.flush(two.trigger.fid), 0);
    fi_cntr_add(two.trigger.fid, 1);
    fi_cntr_add(other.fid, 1);
    EXPECT_EQ(two.target.value(), 10U);
    ASSERT_EQ(first.queue(two.place), 0);
    EXPECT_EQ(two.target.value(), 11U);
    Request third(other, 5, two.target, 100);
    ASSERT_EQ(third.queue(two.place), 0);
    EXPECT_EQ(work.flush(nullptr), 0);
    fi_cntr_add(other.fid, 5);
    EXPECT_EQ(two.target.value(), 11U);
}

TEST(Work, KeepsItsCountersOpen) {
    Two two;
    Request request(two.trigger, 1, two.target, 1);
    ASSERT_EQ(request.queue(two.place), 0);
    EXPECT_EQ(fi_close(&two.trigger.fid->fid), -FI_EBUSY);
    EXPECT_EQ(fi_close(&two.target.fid->fid), -FI_EBUSY);
    ASSERT_EQ(two.place.domain.work.flush(nullptr), 0);
}

TEST(Work, OfAnotherDomainOrOfNoCounterIsRefused) {
    Two two;
    Two elsewhere;
    Request request(elsewhere.trigger, 1, two.target, 1);
    EXPECT_EQ(request.queue(two.place), -FI_EDOMAIN);
    request.work.triggering_cntr = nullptr;
    EXPECT_EQ(request.queue(two.place), -FI_EINVAL);
    request.work.triggering_cntr = two.trigger.fid;
    request.operation.cntr = elsewhere.target.fid;
    EXPECT_EQ(request.queue(two.place), -FI_EDOMAIN);
    request.operation.cntr = two.target.fid;
    request.work.completion_cntr = two.target.fid;
    EXPECT_EQ(request.queue(two.place), -FI_EINVAL);
    EXPECT_EQ(two.place.domain.work.queue(two.place.domain, nullptr), -FI_EINVAL);
}

// What a data path counts is counted with its lock held: the work is started after it, by whoever makes progress.
TEST(Work, ThatArrivalsSetOffIsStartedByTheReadOfAnyQueueOfTheDomain) {
    Two two;
    Queue queue(two.place, FI_WAIT_UNSPEC);
    FakePath path(&queue.get());
    path.counter = &two.trigger.get();
    two.place.domain.work.add_path(path);
    ASSERT_EQ(queue->attach(&path), 0);
    Request request(two.trigger, 1, two.target, 1);
    ASSERT_EQ(request.queue(two.place), 0);
    path.deliver(1);
    EXPECT_EQ(two.target.get().value.load(), 0U);
    fi_cq_entry entry;
    EXPECT_EQ(fi_cq_read(queue.fid, &entry, 1), 1);
    EXPECT_EQ(two.target.get().value.load(), 1U);
    EXPECT_FALSE(path.has_due_work());
    queue->detach(&path);
}

TEST(Work, WakesWhoSleepsOnAPathUntilItIsStarted) {
    Two two;
    Queue queue(two.place, FI_WAIT_UNSPEC);
    FakePath path(&queue.get());
    two.place.domain.work.add_path(path);
    ASSERT_EQ(queue->attach(&path), 0);
    Request request(two.trigger, 1, two.target, 1);
    ASSERT_EQ(request.queue(two.place), 0);
    std::thread sleeper([&] {
        fi_cq_entry entry;
        while (two.target.get().value.load() == 0) fi_cq_sread(queue.fid, &entry, 1, nullptr, 10'000);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    two.trigger.get().count(1);  // as an engine does, which does not start the work itself
    while (two.target.get().value.load() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    fi_cq_signal(queue.fid);
    sleeper.join();
    queue->detach(&path);
}

TEST(Work, OfManyThreadsIsAllDone) {
    Two two;
    constexpr uint64_t kThreads = 4;
    constexpr uint64_t kEach = 1000;
    std::vector<std::vector<Request>> requests(kThreads);
    std::vector<std::thread> threads;
    for (auto& list : requests) {
        list.reserve(kEach);
        threads.emplace_back([&] {
            for (uint64_t i = 0; i < kEach; ++i) {
                list.emplace_back(two.trigger, i * kThreads, two.target, 1);
                ASSERT_EQ(list.back().queue(two.place), 0);
            }
        });
        threads.emplace_back([&] {
            for (uint64_t i = 0; i < kEach; ++i) i % 2 ? two.trigger.get().count(1) : two.trigger.get().count_errors(1);
        });
    }
    for (std::thread& thread : threads) thread.join();
    two.place.domain.work.run();
    EXPECT_EQ(two.target.value(), kThreads * kEach);
}

}  // namespace
}  // namespace selvage::impl::test
