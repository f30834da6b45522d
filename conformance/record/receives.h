// Buffers that wait to be filled, by the context of their operation, so that their contents can be digested when the
// completion is read.
//
// Of fixed size: what finds no room, or shares its context with another operation, is not digested.
// Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace selvage::record {

struct Receive {
    const void* buffer = nullptr;
    std::size_t size = 0;
};

void receive_posted(const void* context, const void* buffer, std::size_t size);
/// The operation was refused, or has ended. @return its buffer; nullptr if it is not known for certain.
Receive receive_ended(const void* context);

}  // namespace selvage::record
