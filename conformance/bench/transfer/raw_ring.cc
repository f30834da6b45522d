// See raw_ring.h.
#include "conformance/bench/transfer/raw_ring.h"

#include <sys/mman.h>

#include <new>

namespace selvage::conformance::bench::transfer {

RawRings::RawRings() {
    void* at = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw CannotMeasure("no memory to share");
    shared_ = new (at) Shared{};
}

RawRings::~RawRings() { munmap(shared_, sizeof(Shared)); }

void RawRings::ping(Link& link, std::uint64_t turn, Clock::time_point since) {
    put(shared_->there, turn);
    link.spin_until(since, [&] { return came(shared_->back, turn); });
}

}  // namespace selvage::conformance::bench::transfer
