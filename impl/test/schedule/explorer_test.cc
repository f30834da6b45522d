// The explorer finds what it is for: an update that is lost, a thread that is not woken. And the library's protocols
// between threads hold under every schedule with few preemptions.
//
// This file is compiled as the library is (points.h), so that its own atomics are points, too.
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "impl/test/engine/pair.h"
#include "impl/test/queue/place.h"
#include "impl/test/schedule/explorer.h"

namespace selvage::impl::test {
namespace {

template <typename T>
Explored explored(const Bounds& bounds = {}) {
    return explore([] { return std::make_unique<T>(); }, bounds);
}

void tell(const char* what, const Explored& result) {
    printf("%s: %lu schedules, the longest of %lu points, %s\n", what, result.schedules, result.points,
           result.complete ? "all there are" : "not all there are");
}

// One more than the number of preemptions that a mistake needs finds it, one less does not.
struct LostUpdate : Scenario {
    std::atomic<int> count{0};
    size_t threads() const override { return 2; }
    void run(size_t) override { count.store(count.load() + 1); }
    std::string verdict() override { return count == 2 ? "" : "an update is lost"; }
};

TEST(Explorer, FindsALostUpdateWithOnePreemption) {
    EXPECT_EQ(explored<LostUpdate>({.preemptions = 1}).failure, "an update is lost");
    const Explored none = explored<LostUpdate>({.preemptions = 0});
    EXPECT_TRUE(none.complete);
    EXPECT_EQ(none.failure, "");
}

TEST(Explorer, FindsALostUpdateAtRandom) {
    EXPECT_EQ(explored<LostUpdate>({.random = 1000}).failure, "an update is lost");
}

// The flag is set between the look and the sleep, and nobody is asleep yet.
struct LostWakeUp : Scenario {
    std::atomic<uint32_t> flag{0}, asleep{0};
    uint32_t word = 0;
    size_t threads() const override { return 2; }
    void run(size_t thread) override {
        if (thread == 0) {
            flag = 1;
            if (asleep.load()) syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
        } else if (!flag.load()) {
            asleep = 1;
            syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
        }
    }
    std::string verdict() override { return ""; }
};

TEST(Explorer, FindsAThreadThatIsNotWoken) { EXPECT_NE(explored<LostWakeUp>().failure, ""); }

// Spins on what another thread sets: it has to be let run, and that is no livelock.
struct Spins : Scenario {
    std::atomic<bool> set{false};
    size_t threads() const override { return 2; }
    void run(size_t thread) override {
        if (thread == 0) set = true;
        while (!set) {
        }
    }
    std::string verdict() override { return ""; }
};

TEST(Explorer, LetsOthersRunWhileAThreadSpins) {
    const Explored result = explored<Spins>();
    EXPECT_TRUE(result.complete);
    EXPECT_EQ(result.failure, "");
}

// Threads that wait for a counter, one for more than the other, and one that counts.
struct CounterWaits : Scenario {
    Place place;
    fid_cntr* counter = nullptr;
    int results[2] = {-1, -1};
    CounterWaits() {
        fi_cntr_attr attr{};
        attr.wait_obj = FI_WAIT_UNSPEC;
        domain_open_counter(&place.domain.descriptor, &attr, &counter, nullptr);
    }
    ~CounterWaits() override { fi_close(&counter->fid); }
    size_t threads() const override { return 3; }
    void run(size_t thread) override {
        if (thread < 2) {
            results[thread] = fi_cntr_wait(counter, thread + 1, -1);
            return;
        }
        for (int i = 0; i < 2; ++i) Counter::of(counter)->count(1);
    }
    std::string verdict() override { return !results[0] && !results[1] ? "" : "a wait failed"; }
};

TEST(Schedules, NoWaitForACounterSleepsPastItsValue) {
    const Explored result = explored<CounterWaits>({.schedules = 200'000});
    tell("counter", result);
    EXPECT_EQ(result.failure, "");
}

// A reader that waits for two entries, one that waits for one, and a writer.
struct QueueWaits : Scenario {
    Place place;
    std::unique_ptr<Queue> queue;
    ssize_t got[2] = {0, 0};
    QueueWaits() { queue = std::make_unique<Queue>(place, FI_WAIT_UNSPEC); }
    size_t threads() const override { return 3; }
    void run(size_t thread) override {
        if (thread == 2) {
            for (uint64_t i = 0; i < 3; ++i) queue->get().write(completion(i));
            return;
        }
        fi_cq_entry entry;
        for (size_t left = thread + 1; left; --left) got[thread] += fi_cq_sread(queue->fid, &entry, 1, nullptr, -1);
    }
    std::string verdict() override { return got[0] == 1 && got[1] == 2 ? "" : "an entry is lost, or read twice"; }
};

TEST(Schedules, NoReaderOfAQueueSleepsBesideAnEntry) {
    const Explored result = explored<QueueWaits>({.schedules = 200'000});
    tell("queue", result);
    EXPECT_EQ(result.failure, "");
}

Setting shared_by_threads() {
    Setting setting;
    setting.threading = FI_THREAD_SAFE;
    return setting;
}

// Two threads send on one endpoint, and a third receives at the other and gives the unexpected their receives.
struct ThreadsSend : Scenario {
    static constexpr size_t kMessages = 3;
    Pair pair{shared_by_threads()};
    uint64_t in[kMessages] = {};
    uint64_t out[kMessages] = {1, 2, 3};
    size_t received = 0;
    size_t threads() const override { return 3; }
    void run(size_t thread) override {
        fi_cq_tagged_entry entry;
        if (thread == 2) {
            for (uint64_t& each : in) fi_recv(pair.b.ep, &each, sizeof each, nullptr, FI_ADDR_UNSPEC, nullptr);
            for (int i = 0; i < 200 && received < kMessages; ++i) {
                received += fi_cq_read(pair.b.cq, &entry, 1) == 1;
                sched_yield();
            }
            return;
        }
        for (size_t i = thread; i < kMessages; i += 2) {
            while (fi_send(pair.a.ep, &out[i], sizeof out[i], nullptr, pair.to_b, nullptr) == -FI_EAGAIN) sched_yield();
            fi_cq_read(pair.a.cq, &entry, 1);
        }
    }
    std::string verdict() override {
        if (received != kMessages) return "a message is lost";
        return in[0] + in[1] + in[2] == 6 && in[0] != in[1] && in[1] != in[2] ? "" : "a message came twice";
    }
};

TEST(Schedules, NoMessageOfTwoThreadsOnOneEndpointIsLost) {
    const Explored result = explored<ThreadsSend>({.preemptions = 1, .schedules = 200'000});
    tell("messages", result);
    EXPECT_EQ(result.failure, "");
}

// Where somebody soaks, from another seed each time.
TEST(Schedules, NoMessageIsLostAtRandomEither) {
    const char* seed = getenv("SELVAGE_SCHEDULE_SEED");
    const Explored result = explored<ThreadsSend>({.random = 2'000, .seed = seed ? strtoull(seed, nullptr, 10) : 1});
    EXPECT_EQ(result.failure, "");
}

// A peer writes into a region that is closed meanwhile: what was there when fi_close returned stays.
struct ClosesRegion : Scenario {
    Pair pair{shared_by_threads()};
    std::vector<unsigned char> memory = std::vector<unsigned char>(4096, 1);
    std::vector<unsigned char> written = std::vector<unsigned char>(4096, 2);
    std::vector<unsigned char> at_close;
    uint64_t key = 0;
    int closed = -1;
    ClosesRegion() { key = pair.b.exposes(memory.data(), memory.size()); }
    size_t threads() const override { return 3; }
    void run(size_t thread) override {
        fi_cq_tagged_entry entry;
        switch (thread) {
            case 0:
                fi_write(pair.a.ep, written.data(), written.size(), nullptr, pair.to_b, 0, key, nullptr);
                break;
            case 1:
                for (int i = 0; i < 3; ++i) fi_cq_read(pair.b.cq, &entry, 1);
                break;
            default:
                closed = fi_close(&pair.b.regions.back()->fid);
                pair.b.regions.pop_back();
                at_close = memory;
        }
    }
    std::string verdict() override {
        pair.progress();
        if (closed) return "the region was not closed";
        return memory == at_close ? "" : "memory changed after fi_close";
    }
};

TEST(Schedules, NothingIsWrittenBehindTheCloseOfARegion) {
    const Explored result = explored<ClosesRegion>({.schedules = 200'000});
    tell("region", result);
    EXPECT_EQ(result.failure, "");
}

// A counter that is bound, and was named by work, is to be closed while it counts.
struct ClosesBoundCounter : Scenario {
    Place place;
    fid_cntr* counter = nullptr;
    fid_cntr* target = nullptr;
    int closed = 0;
    ClosesBoundCounter() {
        domain_open_counter(&place.domain.descriptor, nullptr, &counter, nullptr);
        domain_open_counter(&place.domain.descriptor, nullptr, &target, nullptr);
        fi_op_cntr operation{.cntr = target, .value = 1};
        fi_deferred_work work{};
        work.threshold = 1;
        work.triggering_cntr = counter;
        work.op_type = FI_OP_CNTR_ADD;
        work.op.cntr = &operation;
        place.domain.work.queue(place.domain, &work);
        fi_cntr_add(counter, 1);
        Counter::of(counter)->uses.acquire();
    }
    ~ClosesBoundCounter() override {
        Counter::of(counter)->uses.release();
        fi_close(&counter->fid);
        fi_close(&target->fid);
    }
    size_t threads() const override { return 2; }
    void run(size_t thread) override {
        if (thread) {
            closed = fi_close(&counter->fid);
        } else {
            Counter::of(counter)->count(1);
        }
    }
    std::string verdict() override { return closed == -FI_EBUSY ? "" : "it was closed"; }
};

TEST(Schedules, ACounterThatIsBoundKeepsWhatCountingLooksAt) {
    const Explored result = explored<ClosesBoundCounter>();
    tell("closing a counter", result);
    EXPECT_EQ(result.failure, "");
}

}  // namespace
}  // namespace selvage::impl::test
