// See av_index.h.
#include "impl/av/av_index.h"

#include <bit>
#include <cstdlib>

namespace selvage::impl {
namespace {

constexpr uint64_t kFirstCells = 64;

uint64_t mix(uint64_t value) {
    value ^= value >> 32;
    value *= 0x9e3779b97f4a7c15;
    value ^= value >> 29;
    value *= 0xbf58476d1ce4e5b9;
    return value ^ (value >> 32);
}

uint64_t mix_bytes(const void* bytes, size_t length, uint64_t seed) {
    const auto* at = static_cast<const unsigned char*>(bytes);
    uint64_t result = seed + length;
    for (; length >= 8; length -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        result = mix(result ^ word);
    }
    uint64_t rest = 0;
    memcpy(&rest, at, length);
    return mix(result ^ rest);
}

const SocketAddress& socket_of(const void* entry) { return *static_cast<const SocketAddress*>(entry); }

}  // namespace

AvIndex::~AvIndex() { free(cells_); }

// What same() compares, without the scope of an IPv6 address, which an address may leave open.
uint32_t AvIndex::hash(const void* entry) const {
    uint64_t value;
    if (text_) {
        value = mix_bytes(entry, strnlen(static_cast<const char*>(entry), kShmTextMax), 0);
    } else {
        const SocketAddress& address = socket_of(entry);
        if (address.kind == AddressKind::Inet) {
            value = mix(address.v4.sin_addr.s_addr | uint64_t{address.port()} << 32);
        } else if (address.kind == AddressKind::IbUd) {
            value = mix_bytes(address.ib.gid, sizeof address.ib.gid, address.ib.queue_pair);
        } else {
            value = mix_bytes(&address.v6.sin6_addr, 16, address.port());
        }
    }
    return static_cast<uint32_t>(value);
}

bool AvIndex::same(const void* a, const void* b) const {
    if (text_) return strncmp(static_cast<const char*>(a), static_cast<const char*>(b), kShmTextMax) == 0;
    return socket_of(a).same_endpoint(socket_of(b));
}

AvIndex::Cell* AvIndex::cell_of(const void* entry, uint32_t hashed) {
    if (!cells_) return nullptr;
    for (uint64_t at = hashed & mask_; cells_[at].place; at = (at + 1) & mask_) {
        if (cells_[at].hash != hashed) continue;
        AvCopy copy;
        const void* known = store_.find(cells_[at].place - 1, &copy);
        if (known && same(known, entry)) return &cells_[at];
    }
    return nullptr;
}

void AvIndex::put(Cell cell) {
    uint64_t at = cell.hash & mask_;
    while (cells_[at].place) at = (at + 1) & mask_;
    cells_[at] = cell;
}

bool AvIndex::resize(uint64_t cells) {
    auto* larger = static_cast<Cell*>(calloc(cells, sizeof(Cell)));
    if (!larger) return false;
    Cell* old = cells_;
    const uint64_t old_cells = old ? mask_ + 1 : 0;
    cells_ = larger;
    mask_ = cells - 1;
    for (uint64_t i = 0; i < old_cells; ++i) {
        if (old[i].place) put(old[i]);
    }
    free(old);
    return true;
}

// At most two thirds full.
bool AvIndex::reserve(uint64_t more) {
    const uint64_t needed = (used_ + more) * 3 / 2 + 1;
    if (cells_ && needed <= mask_ + 1) return true;
    return resize(std::max(kFirstCells, std::bit_ceil(needed)));
}

void AvIndex::add(const void* entry, fi_addr_t index) {
    const uint32_t hashed = hash(entry);
    if (cell_of(entry, hashed)) {
        ++hidden_;
        return;
    }
    put({.place = static_cast<uint32_t>(index + 1), .hash = hashed});
    ++used_;
}

// Closes the gap, so that no search ends early: what could stand at the gap or before it moves there.
void AvIndex::erase(Cell* cell) {
    auto gap = static_cast<uint64_t>(cell - cells_);
    for (uint64_t at = (gap + 1) & mask_; cells_[at].place; at = (at + 1) & mask_) {
        const uint64_t home = cells_[at].hash & mask_;
        if (((at - home) & mask_) < ((at - gap) & mask_)) continue;
        cells_[gap] = cells_[at];
        gap = at;
    }
    cells_[gap] = {};
    --used_;
}

void AvIndex::remove(const void* entry, fi_addr_t index) {
    Cell* cell = stale_ ? nullptr : cell_of(entry, hash(entry));
    if (!cell) return;
    if (cell->place != index + 1) {
        --hidden_;
        return;
    }
    erase(cell);
    stale_ = hidden_ > 0;
}

void AvIndex::add_range(uint64_t first, uint64_t last) {
    AvCopy copy;
    for (uint64_t index = first; index < last; ++index) {
        if (const void* entry = store_.find(index, &copy)) add(entry, index);
    }
}

// There is room for all that are stored below `extent`.
void AvIndex::rebuild(uint64_t extent) {
    memset(static_cast<void*>(cells_), 0, (mask_ + 1) * sizeof(Cell));
    used_ = 0;
    hidden_ = 0;
    stale_ = false;
    add_range(0, extent);
}

// Room is made for as many entries as are looked at: other processes may change the counts meanwhile.
bool AvIndex::catch_up() {
    const uint64_t extent = store_.extent();
    const uint64_t rewrites = store_.rewrites();
    if (started_ && rewrites_ == rewrites && extent >= extent_) {
        if (!reserve(extent - extent_)) return false;
        add_range(extent_, extent);
    } else {
        started_ = false;
        used_ = 0;
        if (!reserve(extent)) return false;
        rebuild(extent);
    }
    started_ = true;
    rewrites_ = rewrites;
    extent_ = extent;
    return true;
}

fi_addr_t AvIndex::search(const void* entry) {
    const uint64_t extent = store_.extent();
    AvCopy copy;
    for (uint64_t index = 0; index < extent; ++index) {
        const void* known = store_.find(index, &copy);
        if (known && same(known, entry)) return index;
    }
    return FI_ADDR_NOTAVAIL;
}

fi_addr_t AvIndex::find(const void* entry) {
    if (store_.shared()) {
        const bool current = started_ && rewrites_ == store_.rewrites() && extent_ == store_.extent();
        if (!current && !catch_up()) return search(entry);
    } else if (stale_) {
        rebuild(store_.extent());
    }
    const Cell* cell = cell_of(entry, hash(entry));
    return cell ? cell->place - 1 : FI_ADDR_NOTAVAIL;
}

}  // namespace selvage::impl
