// What a program that makes calls fail (failing_calls.h) finds wrong: a line for each. Any thread.
#pragma once

#include <cstddef>

namespace selvage::impl::test {

// Prints where the program is, and what is wrong there. Allocates nothing: the next allocation may be the one that
// fails.
[[gnu::format(printf, 1, 2)]] void violated(const char* format, ...);

// Each program has its own: counts a violation, and writes where the program is.
void note_violation(char* where, size_t size);

}  // namespace selvage::impl::test
