// A member of a group of processes that does collective operations, through the interface alone.
//
// One thread.  Whatever the library refuses is thrown as CannotMeasure with the call's name.
#pragma once

#include <rdma/fi_collective.h>

#include <vector>

#include "conformance/bench/transfer/station.h"

namespace selvage::conformance::bench::collective {

inline constexpr std::size_t kMembersMost = 8;
/// Longest part of a member, in bytes.
inline constexpr std::size_t kPartMost = std::size_t{1} << 20;

enum class Operation : std::uint8_t { Barrier, Broadcast, Allreduce, Allgather, Alltoall };

/// An endpoint's address as it travels between the members.
struct Address {
    char bytes[256];
    std::size_t length;
};
/// Those of all members, by their number.
struct Addresses {
    Address of[kMembersMost];
    std::size_t count;
};

class Member {
public:
    /// Opens the endpoint.
    Member(const Entries& entries, const std::string& provider, bool shares_processor);

    [[nodiscard]] Address address() const;
    /// Knows all members, and begins to join their group.
    void join(const Addresses& all);
    /// Makes progress.  @return whether it is a member of the group by now.
    bool joined();
    /// One operation, until it is complete here.  REQUIRES: joined().  `size` is in bytes of each member, at most
    /// kPartMost; the root is the first, what is reduced are sums of doubles.
    void operate(Operation operation, std::size_t size);
    /// What a member does that waits for anything but an operation: where members share a processor, it sleeps, so that
    /// even one that comes behind it gets to run.
    void wait_a_moment();

private:
    [[nodiscard]] ssize_t post(Operation operation, std::size_t count);
    void make_progress() { fi_cq_read(cq_.get(), nullptr, 0); }
    void complete();

    transfer::Ground ground_;
    transfer::Owned<fid_eq> eq_;
    transfer::Owned<fid_cq> cq_;
    transfer::Owned<fid_av> av_;
    transfer::Owned<fid_ep> ep_;
    transfer::Owned<fid_av_set> set_;
    transfer::Owned<fid_mc> mc_;
    std::vector<fi_addr_t> peers_;
    fi_addr_t group_ = FI_ADDR_UNSPEC;
    fi_context2 context_{};
    bool yields_;  // gives the processor up while it waits
};

}  // namespace selvage::conformance::bench::collective
