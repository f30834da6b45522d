// Error numbers as text: the inside of fi_strerror.
//
// Invariants: never nullptr, never allocates, always the same pointer for the same number; either sign is accepted,
// since calls return negative numbers and queues report positive ones. Any thread.
#pragma once

namespace selvage::impl {

const char* error_text(int number) noexcept;

}  // namespace selvage::impl
