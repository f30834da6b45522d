// Names of the flag words: capabilities, modes, operation flags, orders, completion flags, memory region modes.
//
// Invariants: a family's rows name distinct bits; writing a word shows every bit that is set, by name where the
// family has one and together in hexadecimal where it has none. Pure functions over constant tables: any thread.
#pragma once

#include "impl/text/tostr_writer.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace selvage::impl {

struct BitName {
    std::uint64_t bit;
    std::string_view name;
};

// A family is a table, in the order in which the names are shown, plus the union of its bits.
struct BitFamily {
    std::span<const BitName> rows;
    std::uint64_t known;
};

extern const BitFamily kCapsBits;
extern const BitFamily kModeBits;
extern const BitFamily kOpFlagBits;
extern const BitFamily kMsgOrderBits;
extern const BitFamily kCqFlagBits;
extern const BitFamily kMrModeBits;

// Writes "NAME, NAME, 0x..."; nothing at all for an empty word.
void write_bits(TextWriter& out, const BitFamily& family, std::uint64_t word) noexcept;

// Completion order: FI_ORDER_NONE and FI_ORDER_STRICT are values of the low bits as a whole, not bits.
void write_completion_order(TextWriter& out, std::uint64_t word) noexcept;

}  // namespace selvage::impl
