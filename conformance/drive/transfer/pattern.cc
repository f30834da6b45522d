// See pattern.h.  The first byte is 0x40 + operation, so that even one byte tells; the others are a hash of the
// operation and of the position, by words of eight bytes.
#include "conformance/drive/transfer/pattern.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace selvage::conformance {
namespace {

constexpr std::size_t kChunk = 4096;
constexpr unsigned char kFirst = 0x40;

std::uint64_t word(int operation, std::uint64_t index) {
    std::uint64_t z =
        (static_cast<std::uint64_t>(operation) + 1) * 0x9E3779B97F4A7C15ULL + index * 0xD1B54A32D192ED03ULL;
    z = (z ^ (z >> 29)) * 0xBF58476D1CE4E5B9ULL;
    return z ^ (z >> 32);
}

}  // namespace

std::size_t size_of(Pieces pieces) {
    std::size_t sum = 0;
    for (const auto& p : pieces) sum += p.iov_len;
    return sum;
}

void write_pattern(int operation, std::size_t at, void* to, std::size_t size) {
    auto* out = static_cast<unsigned char*>(to);
    const std::size_t start = at;
    while (size > 0) {
        const std::uint64_t w = word(operation, at / 8);
        const std::size_t skip = at % 8;
        const std::size_t n = std::min<std::size_t>(8 - skip, size);
        std::memcpy(out, reinterpret_cast<const unsigned char*>(&w) + skip, n);
        out += n;
        at += n;
        size -= n;
    }
    if (start == 0 && at > 0) *static_cast<unsigned char*>(to) = static_cast<unsigned char>(kFirst + operation);
}

void fill_pattern(int operation, Pieces pieces) {
    std::size_t at = 0;
    for (const auto& p : pieces) {
        write_pattern(operation, at, p.iov_base, p.iov_len);
        at += p.iov_len;
    }
}

void fill_byte(unsigned char byte, Pieces pieces) {
    for (const auto& p : pieces) std::memset(p.iov_base, byte, p.iov_len);
}

std::size_t pattern_length(int operation, std::size_t at, Pieces pieces) {
    std::array<unsigned char, kChunk> right{};
    std::size_t equal = 0;
    for (const auto& p : pieces) {
        const auto* bytes = static_cast<const unsigned char*>(p.iov_base);
        for (std::size_t done = 0; done < p.iov_len;) {
            const std::size_t n = std::min(kChunk, p.iov_len - done);
            write_pattern(operation, at + equal, right.data(), n);
            if (std::memcmp(right.data(), bytes + done, n) != 0) {
                const auto differ = std::mismatch(right.data(), right.data() + n, bytes + done);
                return equal + static_cast<std::size_t>(differ.first - right.data());
            }
            equal += n;
            done += n;
        }
    }
    return equal;
}

bool holds_only(unsigned char byte, Pieces pieces, std::size_t from) {
    for (const auto& p : pieces) {
        const std::size_t skip = std::min(from, p.iov_len);
        from -= skip;
        const auto* bytes = static_cast<const unsigned char*>(p.iov_base) + skip;
        const std::size_t n = p.iov_len - skip;
        if (n == 0) continue;
        // Equal to itself one byte on.
        if (bytes[0] != byte || std::memcmp(bytes, bytes + 1, n - 1) != 0) return false;
    }
    return true;
}

int pattern_of(unsigned char first) {
    const int n = first - kFirst;
    return n >= 0 && n <= kRegionPattern ? n : -1;
}

}  // namespace selvage::conformance
