// What atomic operations do to values, by the page alone: what is expected of a library.
//
// Pure functions on memory that the caller owns, of any alignment; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace selvage::conformance {

/// Size of a value of an fi_datatype; 0: no datatype of atomic operations.
std::size_t datatype_size(std::uint64_t datatype);
/// True if the operation is defined for the datatype.
bool is_defined(std::uint64_t op, std::uint64_t datatype);
/// True for operations that compare with a value of their own: FI_CSWAP … FI_MSWAP.
bool compares(std::uint64_t op);

/// Writes value number `index` of the numbers that `salt` stands for: small ones, exact in every datatype.
void write_number(std::uint64_t datatype, std::uint64_t salt, std::uint64_t index, void* to);
/// The salt of what lies at this offset of the target beforehand, and of what value `index` there is compared with.
inline std::uint64_t target_salt(std::uint64_t offset) { return offset / 16 + 3; }
inline std::uint64_t compare_salt(std::uint64_t offset, std::uint64_t index) {
    return index % 2 == 0 ? target_salt(offset) : target_salt(offset) + 5;
}
/// Changes the value at `target`, as the operation with `operand` (and `compare`) does.
void apply(std::uint64_t op, std::uint64_t datatype, void* target, const void* operand, const void* compare);

/// True if both places hold the same value; padding does not count.
bool same_number(std::uint64_t datatype, const void* a, const void* b);

}  // namespace selvage::conformance
