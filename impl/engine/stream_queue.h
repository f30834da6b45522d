// Messages that one peer cleared, to be sent in segments by turns: the operations in Stage::Streaming. The sender
// calls it, with the engine's lock.
#pragma once

#include "impl/engine/operation.h"

namespace selvage::impl {

class StreamQueue {
public:
    StreamQueue() = default;
    StreamQueue(const StreamQueue&) = delete;
    StreamQueue& operator=(const StreamQueue&) = delete;

    bool empty() const { return first_ == nullptr; }
    Transmit* first() const { return first_; }
    void append(Transmit* op) {
        op->enter(Transmit::Stage::Streaming);
        op->next_stream = nullptr;
        *end_ = op;
        end_ = &op->next_stream;
    }
    // REQUIRES: op->stage == Stage::Streaming
    void remove(Transmit* op) {
        Transmit** link = &first_;
        while (*link != op) link = &(*link)->next_stream;
        *link = op->next_stream;
        if (!*link) end_ = link;
        op->enter(Transmit::Stage::Awaiting);
    }

private:
    Transmit* first_ = nullptr;
    Transmit** end_ = &first_;
};

}  // namespace selvage::impl
