// One line of a trace while it is put together: a buffer on the stack that moves to the heap when it is too small.
//
// Used by the thread that makes the call, inside one call. Never throws: a line that finds no memory is marked as cut
// and ends there.
#pragma once

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace selvage::record {

class Line {
public:
    Line() = default;
    ~Line() {
        if (start_ != fixed_.data()) std::free(start_);
    }
    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;

    void text(std::string_view more) {
        if (!reserve(more.size())) return;
        std::memcpy(start_ + size_, more.data(), more.size());
        size_ += more.size();
    }
    void put(char c) {
        if (reserve(1)) start_[size_++] = c;
    }
    void number(std::uint64_t value) { digits(value, 10); }
    void number(std::int64_t value) {
        if (value < 0) put('-');
        digits(value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value), 10);
    }
    void hex(std::uint64_t value) {
        text("0x");
        digits(value, 16);
    }
    /// Bytes as hexadecimal digits.
    void bytes(const void* from, std::size_t size) {
        static constexpr char kDigits[] = "0123456789abcdef";
        const auto* at = static_cast<const unsigned char*>(from);
        if (!reserve(2 * size)) return;
        for (std::size_t i = 0; i < size; ++i) {
            start_[size_++] = kDigits[at[i] >> 4];
            start_[size_++] = kDigits[at[i] & 15];
        }
    }
    /// " name=", or "name=" behind an opening bracket.
    void name(std::string_view name) {
        if (size_ != 0 && start_[size_ - 1] != '{' && start_[size_ - 1] != '[') put(' ');
        text(name);
        put('=');
    }

    [[nodiscard]] std::string_view view() const { return {start_, size_}; }
    [[nodiscard]] bool cut() const { return cut_; }

private:
    void digits(std::uint64_t value, int base) {
        std::array<char, 24> to;
        const auto end = std::to_chars(to.data(), to.data() + to.size(), value, base).ptr;
        text({to.data(), static_cast<std::size_t>(end - to.data())});
    }
    bool reserve(std::size_t more) {
        if (cut_) return false;
        if (capacity_ - size_ >= more) return true;
        const std::size_t expected = 2 * (size_ + more);
        auto* grown = static_cast<char*>(std::malloc(expected));
        if (grown == nullptr) {
            cut_ = true;
            return false;
        }
        std::memcpy(grown, start_, size_);
        if (start_ != fixed_.data()) std::free(start_);
        start_ = grown;
        capacity_ = expected;
        return true;
    }

    std::array<char, 1024> fixed_;
    char* start_ = fixed_.data();
    std::size_t size_ = 0;
    std::size_t capacity_ = fixed_.size();
    bool cut_ = false;
};

}  // namespace selvage::record
