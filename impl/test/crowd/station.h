// One endpoint of a process among others, with all it needs: for programs that test the library as a whole, through its
// interface alone. Every failure of a call that must not fail ends the process with a message.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <cstdint>
#include <string>
#include <vector>

namespace selvage::impl::test {

[[noreturn]] void give_up(const char* where, const std::string& what);

// An address as text that fits into an argument of a program.
std::string to_hex(const void* bytes, size_t size);
std::string from_hex(const std::string& text);

struct StationChoice {
    std::string provider = "shm";
    fi_threading threading = FI_THREAD_DOMAIN;
    fi_progress progress = FI_PROGRESS_MANUAL;
    uint64_t caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC;
    std::string service;  // shm: the name; otherwise the port; empty: any
    size_t memory = 0;    // registered for remote access
    size_t queue_size = 0;
    std::string node = "127.0.0.1";  // where it listens, with the network; empty: at all addresses
    bool shares_memory = true;       // what FI_OPT_SHARED_MEMORY_PERMITTED is set to, if not this
};

// What a peer needs to know of a station, as plain bytes.
struct StationInfo {
    char name[256];
    size_t name_size;
    uint64_t key;
    uint64_t base;
};

class Station {
public:
    explicit Station(const StationChoice& choice);
    ~Station();
    Station(const Station&) = delete;
    Station& operator=(const Station&) = delete;

    std::string name() const;  // its address, as bytes
    fi_addr_t insert(const std::string& name);
    StationInfo info() const;
    fi_addr_t insert(const StationInfo& peer) { return insert({peer.name, peer.name_size}); }
    void remove(fi_addr_t address);
    fid_domain* domain() const { return domain_; }
    // From here on nothing is written to the buffers of what was posted.
    void close_endpoint();
    // `memory` for remote access, under a new key; and not any more.
    void expose();
    void close_region();

    fid_ep* ep = nullptr;
    fid_cq* cq = nullptr;
    fid_av* av = nullptr;
    fid_eq* eq = nullptr;  // with FI_COLLECTIVE
    fid_mr* mr = nullptr;
    std::vector<std::byte> memory;
    uint64_t key = 0;
    uint64_t base = 0;  // what a peer calls the first byte of `memory`

private:
    fi_info* info_ = nullptr;
    fid_fabric* fabric_ = nullptr;
    fid_domain* domain_ = nullptr;
};

// What must succeed.
#define SELVAGE_MUST(call)                                                                               \
    do {                                                                                                 \
        const auto result_ = (call);                                                                     \
        if (result_ < 0) ::selvage::impl::test::give_up(#call, fi_strerror(static_cast<int>(-result_))); \
    } while (0)

}  // namespace selvage::impl::test
