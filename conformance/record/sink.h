// The trace file of this process: made at the first call, written through a mapped window.
//
// Invariants:
// 1. A line that was appended is in the file even if the process is killed at once: the window is a shared mapping.
//    What lies behind the last line is zero bytes until the process ends in order.
// 2. The memory used is that of one window. Space is allocated before it is mapped, so that a full disk is an error of
//    the allocation and no signal.
// 3. An error is one line on stderr; recording stops, and the program goes on.
// 4. Two live processes never write to one file: a child after fork opens its own, and a file that another process has
//    locked is left alone.
//
// Any thread; one lock around everything.
#pragma once

#include <cstdint>
#include <string_view>

namespace selvage::record {

/// False once recording has stopped. `entry`: an address inside the library, for the header.
bool recording(const void* entry);
/// True if payloads are recorded, too.
bool records_data();
/// Appends "SEQUENCE THREAD +START TOOK " and the text.
/// @param repeats the call may be repeated in vain: while nothing else happens, equal lines become one
///        with a count.
void append(std::string_view text, std::uint64_t start, bool repeats);
/// Nanoseconds since the machine started.
std::uint64_t clock_now();

}  // namespace selvage::record
