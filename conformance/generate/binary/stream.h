// Numbers and texts as bytes, for the byte form of cases (case_bytes.h).
//
// Reading is total: any bytes give values, and past the end everything is zero or absent, so that whatever a fuzzer
// makes of an input is still an input.  Values only; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/value/info.h"

namespace selvage::conformance {

/// Takes values off the front of some bytes.
class ByteReader {
public:
    explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

    std::uint8_t byte() {
        if (rest_.empty()) return 0;
        const auto out = static_cast<std::uint8_t>(rest_.front());
        rest_.remove_prefix(1);
        return out;
    }
    /// Seven bits per byte, the lowest first; the top bit says that more follow.  What does not fit is cut.
    std::uint64_t number() {
        std::uint64_t out = 0;
        for (unsigned shift = 0; shift < 64; shift += 7) {
            const std::uint8_t b = byte();
            out |= static_cast<std::uint64_t>(b & 0x7FU) << shift;
            if (b < 0x80) break;
        }
        return out;
    }
    /// As many bytes as a number before them says, no more than `most` and no more than there are.
    std::string bytes(std::size_t most) {
        const auto size = std::min({static_cast<std::size_t>(number()), most, rest_.size()});
        std::string out(rest_.substr(0, size));
        rest_.remove_prefix(size);
        return out;
    }
    /// The same, or nothing: a zero, or one more than the size.
    model::Text text(std::size_t most) {
        const std::uint64_t coded = number();
        if (coded == 0) return std::nullopt;
        const auto size = std::min({static_cast<std::size_t>(coded - 1), most, rest_.size()});
        std::string out(rest_.substr(0, size));
        rest_.remove_prefix(size);
        return out;
    }
    [[nodiscard]] bool empty() const { return rest_.empty(); }

private:
    std::string_view rest_;
};

/// Puts values behind each other as ByteReader takes them.
class ByteWriter {
public:
    void byte(unsigned value) { out_ += static_cast<char>(value); }
    void number(std::uint64_t value) {
        for (; value >= 0x80; value >>= 7) byte(0x80U | static_cast<unsigned>(value & 0x7FU));
        byte(static_cast<unsigned>(value));
    }
    void bytes(std::string_view value) {
        number(value.size());
        out_ += value;
    }
    void text(const model::Text& value) {
        number(value ? value->size() + 1 : 0);
        if (value) out_ += *value;
    }
    std::string take() { return std::move(out_); }

private:
    std::string out_;
};

}  // namespace selvage::conformance
