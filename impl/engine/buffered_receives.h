// Buffered receives (fi_msg(3), "Buffered Receives" and "Variable Length Messages"): the state that a receive context
// has for FI_BUFFERED_RECV and FI_VARIABLE_MSG. The calls are Receiver's (receiver_buffered.cc).
//
// A message that no posted receive takes is notified: an entry of the receive queue names it by a struct
// fi_recv_context, which is part of its record (Unexpected::notice), and points to its first bytes. The application
// claims it, into memory of its own, or discards it. A tagged message is notified when it meets a receive that was
// posted for its tag, whose buffers count for nothing.
//
//   1. Messages are notified in the order in which they came, or met their tags.
//   2. One that is not longer than options.limit is notified when all of its bytes are here; a longer one when
//   options.least
//      of them are, with FI_MORE.
//   3. What arrives whole is charged to its sender's window, and what is announced to its announcements, until it is
//      claimed or discarded (window.h). Bytes that this side fetches, to notify what was only announced, are charged
//      to kBytesMost: beyond that messages wait until others are claimed or discarded, but for the first.
//
// Everything here is protected by the lock of the receive context.
#pragma once

#include <algorithm>

#include "impl/base/list.h"
#include "impl/endpoint/buffered_options.h"
#include "impl/engine/operation.h"

namespace selvage::impl {

struct BufferedReceives {
    // Bytes that are fetched for messages which nobody has claimed yet, of one receive context.
    static constexpr size_t kBytesMost = size_t{16} << 20;

    bool on = false;
    BufferedOptions options;
    size_t used = 0;         // of kBytesMost
    List<Unexpected> queue;  // Queued, but for the first, which may be Filling

    // A message without a receive, or a tagged one that has met its tag.
    bool takes(bool tagged, bool has_receive) const { return on && tagged == has_receive; }
    // Than what is notified whole.
    bool is_longer(uint64_t length) const { return length > options.limit; }
    bool fits(size_t bytes) const { return !used || (used <= kBytesMost && bytes <= kBytesMost - used); }
    // Bytes that have to be here before it is notified.
    size_t needed(uint64_t length) const {
        return is_longer(length) ? std::min<uint64_t>(length, options.least) : length;
    }
    bool is_ready(const Unexpected& message) const {
        return message.buffering == Unexpected::Buffering::Queued &&
               (!message.announced || message.budget || !needed(message.message.length));
    }
};

}  // namespace selvage::impl
