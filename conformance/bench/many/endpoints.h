// Endpoints of one process that share a domain, an address vector and a completion queue, and exchange messages of 8 B.
//
// One thread.  Whatever the library refuses is thrown as CannotMeasure with the call's name.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/bench/many/board.h"
#include "conformance/bench/transfer/station.h"

namespace selvage::conformance::bench::many {

inline constexpr std::size_t kMessage = 8;

/// How much is opened, and how much may be under way in all of it.
struct Extent {
    std::size_t endpoints = 1;
    std::size_t sends = 1;
    std::size_t receives = 1;
    std::size_t addresses = 1;  ///< that the address vector is opened for
};

class Endpoints {
public:
    /// Opens the domain.
    Endpoints(const Entries& entries, const std::string& provider);
    /// Opens and enables endpoints; closes those that were open.
    void open(const Extent& extent);

    [[nodiscard]] Address address() const;  ///< of the first endpoint
    fi_addr_t insert(const Address& address);
    /// Posts all receives, to the first endpoint.  Each is posted again as it completes.
    void post_receives();
    /// @return whether the message was taken; if not, poll() makes room.
    bool send(std::size_t endpoint, fi_addr_t to);
    /// Reads the queue once.  @return how many operations have completed.
    unsigned poll();
    /// The same, where the processor is shared with others: gives it up if nothing has completed.
    void poll_and_give_way();

    std::uint64_t sent = 0;      ///< completed, since open()
    std::uint64_t received = 0;  ///< the same

    [[nodiscard]] const transfer::Ground& ground() const { return ground_; }
    [[nodiscard]] fid_av* av() const { return av_.get(); }

private:
    void open_endpoint();
    void post(fi_context2* receive);

    transfer::Ground ground_;
    transfer::Owned<fid_cq> cq_;
    transfer::Owned<fid_av> av_;
    std::vector<transfer::Owned<fid_ep>> eps_;
    std::vector<fi_context2> receives_;
    std::vector<fi_context2> sends_;
    std::vector<fi_context2*> free_sends_;
};

/// steady_clock, in nanoseconds.
std::int64_t now();

}  // namespace selvage::conformance::bench::many
