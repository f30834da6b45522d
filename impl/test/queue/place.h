// A fabric and a domain without a provider, a data path that a test moves by hand, and one that does nothing.
#pragma once

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <mutex>

#include "impl/domain/domain.h"
#include "impl/endpoint/datapath.h"
#include "impl/events/cntr.h"
#include "impl/events/cq.h"
#include "impl/events/eq.h"

namespace selvage::impl::test {

inline Provider& no_provider() {
    static Provider provider = [] {
        Provider made{};
        made.name = "none";
        return made;
    }();
    return provider;
}

struct Choice {
    fi_threading threading = FI_THREAD_SAFE;
    fi_progress data = FI_PROGRESS_MANUAL;
    fi_progress control = FI_PROGRESS_MANUAL;
    AddressKind kind = AddressKind::Inet;
    uint32_t version = FI_VERSION(1, 17);
};

struct Place {
    Fabric fabric;
    Domain domain;

    explicit Place(const Choice& choice = {}) {
        fabric.provider = &no_provider();
        fabric.api_version = choice.version;
        domain.fabric = &fabric;
        domain.kind = choice.kind;
        domain.addr_format = choice.kind == AddressKind::Shm ? FI_ADDR_STR : FI_SOCKADDR_IN;
        domain.source.kind = choice.kind;
        domain.attr.threading = choice.threading;
        domain.attr.data_progress = choice.data;
        domain.attr.control_progress = choice.control;
        domain.descriptor.fid.fclass = FI_CLASS_DOMAIN;
    }
};

// A completion queue in a domain; closed at the end.
struct Queue {
    fid_cq* fid = nullptr;

    Queue(Place& place, fi_cq_attr attr) { EXPECT_EQ(domain_open_cq(&place.domain.descriptor, &attr, &fid, this), 0); }
    Queue(Place& place, fi_wait_obj wait, fi_cq_format format = FI_CQ_FORMAT_CONTEXT, size_t size = 0)
        : Queue(place, attributes(wait, format, size)) {}
    ~Queue() {
        if (!fid) return;
        EXPECT_EQ(fi_close(&fid->fid), 0);
    }
    Queue(const Queue&) = delete;
    Queue& operator=(const Queue&) = delete;
    CompletionQueue* operator->() const { return CompletionQueue::of(fid); }
    CompletionQueue& get() const { return *CompletionQueue::of(fid); }
    int descriptor() const {
        int file = -1;
        EXPECT_EQ(fi_control(&fid->fid, FI_GETWAIT, &file), 0);
        return file;
    }

    static fi_cq_attr attributes(fi_wait_obj wait, fi_cq_format format, size_t size) {
        fi_cq_attr attr{};
        attr.wait_obj = wait;
        attr.format = format;
        attr.size = size;
        return attr;
    }
};

inline Completion completion(uint64_t number) {
    return {.context = reinterpret_cast<void*>(number),
            .flags = FI_RECV | FI_TAGGED,
            .length = number + 1,
            .buffer = reinterpret_cast<void*>(number + 2),
            .data = number + 3,
            .tag = number + 4,
            .source = number + 5};
}

inline FailedCompletion failure(uint64_t number, int error = FI_ETRUNC) {
    return {.base = completion(number),
            .overflow = 7,
            .error = error,
            .provider_error = 0,
            .data = nullptr,
            .data_size = 0};
}

inline uint64_t number_of(const void* context) { return reinterpret_cast<uint64_t>(context); }

// A data path that does nothing.
class IdlePath : public DataPath {
public:
    void progress() override {}
    bool arm() override { return true; }
    int wait_descriptor() const override { return kNoDescriptor; }
    int cancel(void*) override { return -FI_ENOENT; }
    void set_counter(CounterSlot, Counter*) override {}
    size_t transmit_left() override { return 0; }
    size_t receive_left() override { return 0; }
    void* transport() override { return nullptr; }
    void lock() override {}
    void unlock() override {}
    void close() override {}
};

// Arrivals made by another thread become completions when progress is made, as over shared memory: who delivers rings
// only if the receiver has armed itself, and progress disarms.
class FakePath final : public Progressive {
public:
    explicit FakePath(CompletionQueue* queue, bool rings = true)
        : queue_(queue), bell_(rings ? eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) : -1) {}
    ~FakePath() {
        if (bell_ >= 0) ::close(bell_);
    }

    void deliver(uint64_t number) {
        bool ring;
        {
            std::lock_guard guard(ring_lock_);
            arrivals_.push_back(number);
            ring = armed_;
            armed_ = false;
        }
        if (ring) rung.fetch_add(1);
        if (!ring || bell_ < 0) return;
        const uint64_t one = 1;
        EXPECT_EQ(write(bell_, &one, sizeof one), 8);
    }

    void progress() override {
        if (!endpoint_lock_.try_lock()) return;
        calls.fetch_add(1, std::memory_order_relaxed);
        for (int i = 0; i < 4; ++i) {
            uint64_t number;
            {
                std::lock_guard guard(ring_lock_);
                armed_ = false;
                if (arrivals_.empty()) break;
                number = arrivals_.front();
                arrivals_.pop_front();
            }
            if (queue_) queue_->write(completion(number));
            if (counter) counter->count(1);
        }
        uint64_t count;
        if (bell_ >= 0) [[maybe_unused]]
            const ssize_t taken = read(bell_, &count, sizeof count);
        endpoint_lock_.unlock();
    }
    bool arm() override {
        std::lock_guard endpoint(endpoint_lock_);
        std::lock_guard guard(ring_lock_);
        armed_ = arrivals_.empty();
        return armed_;
    }
    int wait_descriptor() const override { return bell_; }
    bool armed() {
        std::lock_guard guard(ring_lock_);
        return armed_;
    }

    std::atomic<uint64_t> calls{0};
    std::atomic<uint64_t> rung{0};
    Counter* counter = nullptr;

private:
    CompletionQueue* queue_;
    int bell_;
    std::mutex endpoint_lock_;
    std::mutex ring_lock_;
    std::deque<uint64_t> arrivals_;
    bool armed_ = false;
};

}  // namespace selvage::impl::test
