// One of the two endpoints of impl_faults (each_call.cc), with its queue and its memory. The worker's only thread.
#pragma once

#include "impl/base/rdma.h"
#include "impl/test/faults/each_call.h"

namespace selvage::impl::test {

inline constexpr size_t kShort = 100, kMiddle = 3000, kLong = 200'000, kHuge = 1'300'000;
inline constexpr size_t kRegion = 2'000'000;

enum class State : uint8_t { Unused, Pending, Done, Failed, Refused };

struct Operation {  // the context of a call
    State state = State::Unused;
    int error = 0;
    size_t length = 0;
    uint64_t tag = 0;
    const void* buffer = nullptr;
    bool shared = false;  // a multi-receive buffer: completes several times
};

struct Arena {
    alignas(64) std::byte out[kHuge];
    alignas(64) std::byte in[kHuge];
    alignas(64) std::byte local[kHuge];
    alignas(64) std::byte many[1 << 16];
    alignas(64) std::byte region[kRegion];
};

class Side {
public:
    explicit Side(Arena& memory) : arena(memory) {}

    // 0, or an error and nothing is open.
    ssize_t open();
    void close();
    // Inserts the other's address. 0 or a negative errno.
    ssize_t meet(const Side& other);
    // Reads the queue empty. Returns the entries.
    int poll();

    Arena& arena;
    fi_info* info = nullptr;
    fid_fabric* fabric = nullptr;
    fid_domain* domain = nullptr;
    fid_av* av = nullptr;
    fid_cq* cq = nullptr;
    fid_cntr* counter = nullptr;
    fid_ep* ep = nullptr;
    fid_mr* mr = nullptr;
    fi_addr_t peer = FI_ADDR_NOTAVAIL;
    bool overrun = false;
    int received[64] = {};  // of the multi-receive buffer, by the message's number

private:
    ssize_t open_all();
    bool read_error();
    void complete(const fi_cq_tagged_entry& entry, State state, int error);
};

}  // namespace selvage::impl::test
