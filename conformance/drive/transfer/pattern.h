// The bytes that an exchange moves: each operation's are its own, so that those that arrive tell where they came from.
//
// Pure functions on memory that the caller owns; any thread.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace selvage::conformance {

inline constexpr unsigned char kEmpty = 0xEE;   ///< fills what is to receive
inline constexpr unsigned char kGuard = 0xD7;   ///< fills what nobody may touch
inline constexpr unsigned char kReused = 0x9B;  ///< what a buffer holds when it was given back
inline constexpr std::size_t kGuardBytes = 64;  ///< before and behind each buffer
inline constexpr int kRegionPattern = 63;       ///< the pattern of a target's memory before anything is written to it
inline constexpr int kMostOperations = 60;      ///< of one exchange: each has a first byte of its own

/// Memory in pieces, as it is given to a vector call.
using Pieces = std::span<const iovec>;
std::size_t size_of(Pieces pieces);

/// Byte `at` and on of the pattern of an operation.
void write_pattern(int operation, std::size_t at, void* to, std::size_t size);
void fill_pattern(int operation, Pieces pieces);
void fill_byte(unsigned char byte, Pieces pieces);

/// How many bytes from the start of `pieces` are those of the pattern from `at` on.
std::size_t pattern_length(int operation, std::size_t at, Pieces pieces);
/// True if `pieces` hold this byte alone from position `from` on.
bool holds_only(unsigned char byte, Pieces pieces, std::size_t from = 0);
/// The operation whose pattern starts with this byte, -1 if that is none's.
int pattern_of(unsigned char first);

}  // namespace selvage::conformance
