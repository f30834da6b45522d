// A reader that spins on an empty queue leaves its processor to whoever wants it.
#include <pthread.h>
#include <sched.h>

#include <thread>

#include "impl/test/queue/place.h"

namespace selvage::impl::test {
namespace {

// The thread that calls it stays on one processor, together with those it starts.
class OneProcessor {
public:
    OneProcessor() {
        pthread_getaffinity_np(pthread_self(), sizeof before_, &before_);
        int first = 0;
        while (!CPU_ISSET(first, &before_)) ++first;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(first, &one);
        pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    }
    ~OneProcessor() { pthread_setaffinity_np(pthread_self(), sizeof before_, &before_); }
    OneProcessor(const OneProcessor&) = delete;
    OneProcessor& operator=(const OneProcessor&) = delete;

private:
    cpu_set_t before_;
};

TEST(IdleReader, GivesItsProcessorToTheThreadThatItWaitsFor) {
    constexpr uint64_t kEntries = 300;
    // A turn of the scheduler takes milliseconds, a read some ten nanoseconds.
    constexpr uint64_t kReadsPerEntry = 10'000;
    OneProcessor pinned;
    Place place;
    Queue queue(place, FI_WAIT_NONE);
    std::atomic<uint64_t> read{0};
    std::thread writer([&] {
        for (uint64_t i = 0; i < kEntries; ++i) {
            while (read.load() < i) sched_yield();
            queue->write(completion(i));
        }
    });
    uint64_t empty = 0;
    while (read.load() < kEntries) {
        fi_cq_entry entry{};
        if (fi_cq_read(queue.fid, &entry, 1) == 1) {
            ++read;
        } else {
            ++empty;
        }
    }
    writer.join();
    EXPECT_LT(empty, kEntries * kReadsPerEntry);
}

// MPI_Probe: a receive with FI_PEEK that finds nothing, its error entry, and an empty queue, again and again.
TEST(IdleReader, ThatPeeksGivesItsProcessorToTheThreadThatItWaitsFor) {
    constexpr uint64_t kMessages = 300;
    constexpr uint64_t kPeeksPerMessage = 10'000;
    OneProcessor pinned;
    Place place;
    Queue queue(place, FI_WAIT_NONE);
    std::atomic<uint64_t> sent{0};
    std::atomic<uint64_t> received{0};
    std::thread sender([&] {
        for (uint64_t i = 0; i < kMessages; ++i) {
            while (received.load() < i) sched_yield();
            ++sent;
        }
    });
    uint64_t in_vain = 0;
    while (received.load() < kMessages) {
        if (sent.load() != received.load()) {
            ++received;
            continue;
        }
        ++in_vain;
        fi_cq_entry entry{};
        fi_cq_err_entry error{};
        queue->write_error(failure(1, FI_ENOMSG));
        ASSERT_EQ(fi_cq_read(queue.fid, &entry, 1), -FI_EAVAIL);
        ASSERT_EQ(fi_cq_readerr(queue.fid, &error, 0), 1);
        ASSERT_EQ(fi_cq_read(queue.fid, &entry, 1), -FI_EAGAIN);
    }
    sender.join();
    EXPECT_LT(in_vain, kMessages * kPeeksPerMessage);
}

// The same for a counter that stands still.
TEST(IdleReader, OfACounterGivesItsProcessorToTheThreadThatItWaitsFor) {
    constexpr uint64_t kSteps = 300;
    constexpr uint64_t kReadsPerStep = 10'000;
    OneProcessor pinned;
    Place place;
    fi_cntr_attr attr{};
    fid_cntr* fid = nullptr;
    ASSERT_EQ(domain_open_counter(&place.domain.descriptor, &attr, &fid, nullptr), 0);
    std::atomic<uint64_t> read{0};
    std::thread writer([&] {
        for (uint64_t i = 0; i < kSteps; ++i) {
            while (read.load() < i) sched_yield();
            Counter::of(fid)->count(1);
        }
    });
    uint64_t idle = 0;
    while (read.load() < kSteps) {
        const uint64_t now = fi_cntr_read(fid);
        if (now == read.load()) ++idle;
        read.store(now);
    }
    writer.join();
    EXPECT_LT(idle, kSteps * kReadsPerStep);
    EXPECT_EQ(fi_close(&fid->fid), 0);
}

// A processor on which time passes when it is given up: as long as a test says.
struct FakeProcessor {
    static inline int64_t time = 0;
    static inline int64_t away = 0;  // nanoseconds for which others run when it is given up
    static inline long changes = 0;
    static inline int given_up = 0;

    static int64_t now() { return time; }
    static long switches() { return changes; }
    static void give_up() {
        time += away;
        ++given_up;
    }
    static void reset(int64_t for_others) {
        time = changes = given_up = 0;
        away = for_others;
    }
};
using Reads = BasicIdleReads<FakeProcessor>;
constexpr int64_t kNobody = 300;
constexpr int64_t kSomebody = 5000;

// So many empty reads, then one that finds something.
void read_after(Reads& reads, int empty) {
    for (int i = 0; i < empty; ++i) reads.empty();
    reads.found();
}

// A reader that has seen that others want his processor.
void crowd(Reads& reads) {
    FakeProcessor::time += 2'000'000;
    ++FakeProcessor::changes;
    read_after(reads, 256);
    ASSERT_TRUE(reads.crowded());
}

TEST(IdleReader, HasItsProcessorForItselfUntilOthersAreSeen) {
    FakeProcessor::reset(kSomebody);
    Reads reads;
    for (int i = 0; i < 100'000; ++i) {
        FakeProcessor::time += 50;
        reads.empty();
    }
    EXPECT_EQ(FakeProcessor::given_up, 0);
}

TEST(IdleReader, StopsGivingItUpWhereNobodyTakesIt) {
    FakeProcessor::reset(kNobody);
    Reads reads;
    crowd(reads);
    for (int round = 0; round < 40; ++round) read_after(reads, 80);
    EXPECT_FALSE(reads.crowded());
    EXPECT_EQ(FakeProcessor::given_up, 32);
}

TEST(IdleReader, StopsGivingItUpWhereMessagesComeWithoutThat) {
    FakeProcessor::reset(kSomebody);
    Reads reads;
    crowd(reads);
    for (int round = 0; round < 5000; ++round) read_after(reads, 80);
    EXPECT_FALSE(reads.crowded());
}

// Where more processes wait for each other than there are processors, a message comes after many turns of the others.
TEST(IdleReader, InACrowdGoesOnGivingItUpThoughAThousandTurnsBroughtNothing) {
    FakeProcessor::reset(kSomebody);
    Reads reads;
    crowd(reads);
    for (int round = 0; round < 1000; ++round) read_after(reads, 80);
    EXPECT_TRUE(reads.crowded());
    EXPECT_EQ(FakeProcessor::given_up, 1000);
}

TEST(IdleReader, GoesOnGivingItUpWhereThatBringsMessages) {
    for (const int64_t away : {kNobody, kSomebody}) {
        FakeProcessor::reset(away);
        Reads reads;
        crowd(reads);
        for (int round = 0; round < 20'000; ++round) read_after(reads, round % 4 ? 80 : 64);
        EXPECT_TRUE(reads.crowded());
    }
}

TEST(IdleReader, DoesNotGiveItUpWhileMessagesComeInTime) {
    Place place;
    Queue queue(place, FI_WAIT_NONE);
    fi_cq_entry entry{};
    // A read that found something in between starts the count anew.
    for (int round = 0; round < 1000; ++round) {
        for (int i = 0; i < 60; ++i) ASSERT_EQ(fi_cq_read(queue.fid, &entry, 1), -FI_EAGAIN);
        queue->write(completion(1));
        ASSERT_EQ(fi_cq_read(queue.fid, &entry, 1), 1);
    }
    EXPECT_FALSE(queue->idle.crowded());
}

}  // namespace
}  // namespace selvage::impl::test
