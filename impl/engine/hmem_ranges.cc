// See hmem_ranges.h.
#include "impl/engine/hmem_ranges.h"

#include <algorithm>

namespace selvage::impl {
namespace {

// Calls visit(index, address, bytes done before, size) for each piece, until one fails.
template <typename Visit>
int for_each_piece(const HmemRanges& all, uint64_t offset, size_t size, Visit visit) {
    size_t done = 0;
    for (size_t i = 0; i < all.count && done < size; ++i) {
        if (offset >= all.ranges[i].iov_len) {
            offset -= all.ranges[i].iov_len;
            continue;
        }
        const size_t part = std::min<uint64_t>(all.ranges[i].iov_len - offset, size - done);
        const int error = visit(i, static_cast<std::byte*>(all.ranges[i].iov_base) + offset, done, part);
        if (error) return error;
        done += part;
        offset = 0;
    }
    return 0;
}

}  // namespace

int copy_from_memory(const Hmem& memory, const void* at, void* to, size_t size) {
    if (memory.ops) return copy_from_hmem(memory, at, to, size);
    if (size) memcpy(to, at, size);
    return 0;
}

int copy_to_memory(const Hmem& memory, void* at, const void* from, size_t size) {
    if (memory.ops) return copy_to_hmem(memory, at, from, size);
    if (size) memcpy(at, from, size);
    return 0;
}

int HmemRanges::gather(uint64_t offset, void* to, size_t size) const {
    return for_each_piece(*this, offset, size, [&](size_t i, const std::byte* at, size_t done, size_t part) {
        return copy_from_memory(memory[i], at, static_cast<std::byte*>(to) + done, part);
    });
}

int HmemRanges::scatter(uint64_t offset, const void* from, size_t size) const {
    return for_each_piece(*this, offset, size, [&](size_t i, std::byte* at, size_t done, size_t part) {
        return copy_to_memory(memory[i], at, static_cast<const std::byte*>(from) + done, part);
    });
}

}  // namespace selvage::impl
