// The attributes of address vectors, queues, counters and regions as text, and entries of failed operations; programs
// of 1.20 and later ask for them. As in tostr_info.h: structures are only read; any thread.
#pragma once

#include "impl/base/abi_2x.h"
#include "impl/text/tostr_writer.h"

namespace selvage::impl {

// False if the type is none of these.
bool write_object_attr(TextWriter& out, const void* data, unsigned type) noexcept;

}  // namespace selvage::impl
