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

// Reads an empty queue so many times, then one entry.
void read_after(Queue& queue, int empty) {
    fi_cq_entry entry{};
    for (int i = 0; i < empty; ++i) ASSERT_EQ(fi_cq_read(queue.fid, &entry, 1), -FI_EAGAIN);
    queue->write(completion(1));
    ASSERT_EQ(fi_cq_read(queue.fid, &entry, 1), 1);
}

// A queue whose reader has seen that others want his processor: he slept, which looks the same.
void crowd(Queue& queue) {
    for (int i = 0; i < 100 && !queue->idle.crowded(); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        read_after(queue, 1000);
    }
    ASSERT_TRUE(queue->idle.crowded());
}

TEST(IdleReader, StopsGivingItUpWhereMessagesComeWithoutThat) {
    Place place;
    Queue queue(place, FI_WAIT_NONE);
    crowd(queue);
    for (int round = 0; round < 40; ++round) read_after(queue, 80);
    EXPECT_FALSE(queue->idle.crowded());
}

TEST(IdleReader, GoesOnGivingItUpWhereThatBringsMessages) {
    Place place;
    Queue queue(place, FI_WAIT_NONE);
    crowd(queue);
    for (int round = 0; round < 400; ++round) read_after(queue, round % 4 ? 80 : 64);
    EXPECT_TRUE(queue->idle.crowded());
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
