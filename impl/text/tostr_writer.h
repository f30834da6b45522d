// The bounded text writer behind fi_tostr: appends by pointer, never measures what it already wrote.
//
// Invariants: position_ <= last_, and last_ is the byte reserved for the terminator, so every write stays inside the
// caller's buffer. Text that does not fit is cut at the last byte and everything after it is dropped. The buffer is
// terminated only by finish(). One thread at a time; any file of impl/ may use it.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace selvage::impl {

class TextWriter {
public:
    // No single text is longer than this; it also keeps buffer + length from wrapping when a caller passes SIZE_MAX.
    static constexpr std::size_t kMaxLength = std::size_t{1} << 24;

    // length must be at least 1.
    TextWriter(char* buffer, std::size_t length) noexcept
        : position_(buffer), last_(buffer + (length < kMaxLength ? length : kMaxLength) - 1) {}

    std::size_t room() const noexcept { return static_cast<std::size_t>(last_ - position_); }
    char* position() const noexcept { return position_; }

    // text is never a view of nullptr.
    void put(std::string_view text) noexcept {
        if (text.size() <= room()) [[likely]] {
            std::memcpy(position_, text.data(), text.size());
            position_ += text.size();
        } else {
            put_what_fits(text);
        }
    }

    void put(char letter) noexcept {
        if (position_ != last_) [[likely]]
            *position_++ = letter;
    }

    void indent(unsigned spaces) noexcept { put(kSpaces.substr(0, spaces)); }

    template <typename Number>
    void decimal(Number value) noexcept {
        number(value, 10);
    }

    // Plain hexadecimal digits in lower case, without a prefix, widened with zeros to min_digits.
    void hex(std::uint64_t value, unsigned min_digits = 1) noexcept {
        char digits[16];
        const char* end = std::to_chars(digits, digits + sizeof digits, value, 16).ptr;
        const auto count = static_cast<std::size_t>(end - digits);
        if (count < min_digits) put(kZeros.substr(0, min_digits - count));
        put(std::string_view(digits, count));
    }

    void hex_prefixed(std::uint64_t value) noexcept {
        put(std::string_view("0x"));
        hex(value);
    }

    void pointer(const void* address) noexcept {
        if (address == nullptr) {
            put(std::string_view("(nil)"));
        } else {
            hex_prefixed(reinterpret_cast<std::uintptr_t>(address));
        }
    }

    // A C string of a caller: read no further than the room left, because what lies beyond could not be shown.
    void c_string(const char* text) noexcept {
        if (text == nullptr) {
            put(std::string_view("(null)"));
        } else {
            put(std::string_view(text, ::strnlen(text, room())));
        }
    }

    // Steps over text that someone else wrote at position(); the claim is measured, not believed.
    void accept_foreign_text() noexcept { position_ += ::strnlen(position_, room()); }

    void finish() noexcept { *position_ = '\0'; }

private:
    static constexpr std::string_view kSpaces = "                                ";
    static constexpr std::string_view kZeros = "0000000000000000";

    template <typename Number>
    void number(Number value, int base) noexcept {
        static_assert(std::is_integral_v<Number>);
        char digits[24];
        const char* end = std::to_chars(digits, digits + sizeof digits, value, base).ptr;
        put(std::string_view(digits, static_cast<std::size_t>(end - digits)));
    }

    [[gnu::noinline, gnu::cold]] void put_what_fits(std::string_view text) noexcept {
        std::memcpy(position_, text.data(), room());
        position_ = last_;
    }

    char* position_;
    char* last_;
};

}  // namespace selvage::impl
