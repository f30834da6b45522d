// Two endpoints of one library in one process, connected or known to each other, with queues, counters and regions.
//
// Only for child processes: the library may do anything.  One thread.  Objects are closed in the destructor, in an
// order that the interface allows; what closing returns is not looked at.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "conformance/case/case.h"
#include "conformance/case/operations.h"
#include "conformance/harness/caller.h"

namespace selvage::conformance {

inline constexpr std::size_t kBehindRegion = std::size_t{2} << 20;  ///< memory behind it that nobody may touch
inline constexpr std::size_t kArenaLength = std::size_t{64} << 20;  ///< of each side's own buffers

/// A region of the target's memory.
struct Region {
    fid_mr* mr = nullptr;
    std::uint64_t key = 0;
};

/// One side.
struct End {
    fid_ep* ep = nullptr;
    fid_cq* queue[2] = {};  ///< FI_RECV, FI_TRANSMIT
    fid_av* av = nullptr;
    fid_eq* eq = nullptr;
    fid_cntr* counter[6] = {};  ///< send, recv, read, write, remote read, remote write
    fi_addr_t peer = FI_ADDR_UNSPEC;
    fi_addr_t self = FI_ADDR_UNSPEC;
    unsigned char* arena = nullptr;           ///< its own buffers
    unsigned char* target = nullptr;          ///< what the other side reads and writes: kRegionLength + kBehindRegion
    fid_mr* local = nullptr;                  ///< of the arena's first part
    std::size_t local_length = 0;             ///< of that part
    std::map<std::uint64_t, Region> regions;  ///< of `target`, by remote access
};

class Pair {
public:
    /// Asks the case's call and opens what its exchange says.  @return nullptr with the return value and the name of
    /// the call that failed; ret 0 if the answer has no such entry.
    static std::unique_ptr<Pair> open(const Entries& entries, const Case& c, std::int64_t& ret, std::string& failed);
    ~Pair();
    Pair(const Pair&) = delete;
    Pair& operator=(const Pair&) = delete;

    [[nodiscard]] const fi_info& info() const { return *info_; }
    /// The entry as it was answered, before the exchange's flags were added.
    [[nodiscard]] const model::Info& answered() const { return answered_; }
    End& end(model::Side side) { return ends_[static_cast<std::size_t>(side)]; }
    /// The region of a side for these accesses, registered on first use.  Its mr is NULL if that fails.
    const Region& region(model::Side side, std::uint64_t access);
    /// The address at which an initiator names byte `offset` of a side's region.
    std::uint64_t remote_address(model::Side side, std::uint64_t offset);
    /// Makes the descriptor one of the arena's first `used` bytes at least.  While nothing is under way.
    /// @return false if the library does not register that much.
    bool cover(model::Side side, std::size_t used);
    [[nodiscard]] bool connected() const { return info_->ep_attr->type == FI_EP_MSG; }
    [[nodiscard]] void* descriptor(model::Side side) {
        return end(side).local != nullptr ? fi_mr_desc(end(side).local) : nullptr;
    }

private:
    Pair() = default;
    bool ask(const Entries& entries, const Case& c);
    bool open_all(const Entries& entries, const TransferSequence& e);
    bool open_end(End& end, fi_info* info, const TransferSequence& e);
    bool bind_counters(End& end);
    bool open_connected(const TransferSequence& e);
    bool introduce(End& end, End& other, fi_addr_t& as);
    bool map_memory(End& end);
    fid_mr* registered(End& end, void* at, std::size_t length, std::uint64_t access);
    bool ok(std::int64_t ret, const char* call);
    bool await(End& end, std::uint32_t expected, fi_eq_cm_entry& entry);

    void (*free_info_)(fi_info*) = nullptr;
    fi_info* list_ = nullptr;
    fi_info* info_ = nullptr;
    model::Info answered_;
    fi_info* request_ = nullptr;
    fid_fabric* fabric_ = nullptr;
    fid_domain* domain_ = nullptr;
    fid_eq* listening_ = nullptr;
    fid_pep* pep_ = nullptr;
    End ends_[2];
    std::uint64_t next_key_ = 1;
    std::int64_t ret_ = 0;
    std::string failed_;
};

}  // namespace selvage::conformance
