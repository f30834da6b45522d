// A sink that has offered one range, for tests of transfers that both sides copy, and such a transfer.
#pragma once

#include "impl/engine/protocol.h"
#include "impl/test/shm/fake_sink.h"

namespace selvage::impl::test {

// A sink that has offered one range. Satisfies KnowsOffers.
struct OfferingSink : FakeSink {
    LocalRange offered{};

    bool is_offered(ShmPeer&, uint64_t address, uint64_t length) const { return contains(offered, address, length); }
    bool has_offers(ShmPeer&) const { return offered.length; }
};
static_assert(KnowsOffers<OfferingSink, ShmPeer>);

inline shm::SharedPull transfer(size_t length, const void* source = nullptr, void* destination = nullptr) {
    return {.ranges = {{.source = reinterpret_cast<uintptr_t>(source),
                        .destination = reinterpret_cast<uintptr_t>(destination),
                        .length = length}},
            .count = 1,
            .chunks = shm::shared_chunks(length)};
}

}  // namespace selvage::impl::test
