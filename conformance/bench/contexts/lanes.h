// Lanes: endpoints that have a queue each, or the transmit and receive contexts of one scalable endpoint, which look
// the same to who sends and receives.
//
// One thread.  Whatever the library refuses is thrown as CannotMeasure with the call's name.
#pragma once

#include <vector>

#include "conformance/bench/transfer/station.h"

namespace selvage::conformance::bench::contexts {

inline constexpr std::size_t kMost = 64;
inline constexpr int kContextBits = 6;  // of an address

/// An endpoint's address as it travels to the peer.
struct Address {
    char bytes[256];
    std::size_t length;
};

class Lanes {
public:
    /// @param sends the side that sends; the other one receives.
    Lanes(const Entries& entries, const std::string& provider, std::size_t count, bool of_one_endpoint, bool sends);

    [[nodiscard]] std::size_t count() const { return lanes_.size(); }
    /// One for each endpoint.
    [[nodiscard]] std::vector<Address> addresses() const;
    /// Those of the peer.
    void know(const std::vector<Address>& peers);
    void send(std::size_t lane);
    void receive(std::size_t lane);
    /// Reads the lane's queue.  @return completions of it so far.
    std::uint64_t done(std::size_t lane);

private:
    struct Lane {
        transfer::Owned<fid_cq> cq;
        transfer::Owned<fid_ep> ep;
        fi_addr_t peer = FI_ADDR_UNSPEC;
        std::uint64_t done = 0;
        fi_context2 context{};
    };
    void open_av(int context_bits);
    void open_endpoints(std::size_t count);
    void open_contexts(std::size_t count, bool send);
    void open_queue(Lane& lane);

    transfer::Ground ground_;
    transfer::Owned<fid_av> av_;
    transfer::Owned<fid_ep> scalable_;  // before the lanes: contexts close before it
    std::vector<Lane> lanes_;
};

}  // namespace selvage::conformance::bench::contexts
