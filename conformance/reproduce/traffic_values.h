// The values of atomic operations in a C program: what is at the target before, what the operation is given, and what
// it must leave.  The same numbers as in the run that showed the deviation.
#pragma once

#include <cstddef>
#include <cstdint>

#include "conformance/reproduce/program.h"

namespace selvage::conformance {

/// Emits the arrays that operation `i`, an atomic one, begins with, as helpers.
void declare_values(Program& p, std::size_t i);
/// C for the address of the first byte that an operation reaches at its target.
std::string target_of(const model::Operation& o);
/// Bytes from the beginning of an operation's buffer to what lies behind it: its result, or another's buffer.
std::uint64_t room_for(const model::Operation& o);
/// C that puts them into its buffer and at its target.
/// @param room bytes between what it is given, its result, and what it compares with.
std::string lay_values(const Program& p, std::size_t i, std::uint64_t room);
/// C that is true if the target's values are not what operation `i` must leave; emits what they are compared with.
std::string values_differ(Program& p, std::size_t i);
/// C that is true if what operation `i` fetched is not what was at the target before.
std::string result_differs(Program& p, std::size_t i, std::uint64_t room);

}  // namespace selvage::conformance
