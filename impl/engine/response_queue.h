// The answers to one peer that could not be sent at once, in order, and what they make this side keep (window.h).
//
// Records come from the engine's pool and go back to it; a record in the queue is in no other. The engine calls it,
// with its lock.
#pragma once

#include "impl/engine/operation.h"
#include "impl/engine/window.h"

namespace selvage::impl {

class ResponseQueue {
public:
    ResponseQueue() = default;
    ResponseQueue(const ResponseQueue&) = delete;
    ResponseQueue& operator=(const ResponseQueue&) = delete;

    bool empty() const { return first_ == nullptr; }
    Response* first() const { return first_; }
    // The peer does not read its answers.
    bool full() const { return count_ == kAnswersMost; }
    bool affords(uint64_t bytes) const { return bytes_ + bytes <= kAnswerBytesMost; }

    void append(Response* response) {
        response->next = nullptr;
        *end_ = response;
        end_ = &response->next;
        ++count_;
    }
    // A payload was copied for a response that is in the queue.
    void charge(uint64_t bytes) { bytes_ += bytes; }
    // REQUIRES: !empty()
    void remove_first() {
        Response* response = first_;
        first_ = response->next;
        if (!first_) end_ = &first_;
        --count_;
        bytes_ -= response->copied();
    }

private:
    Response* first_ = nullptr;
    Response** end_ = &first_;
    uint32_t count_ = 0;
    uint64_t bytes_ = 0;
};

}  // namespace selvage::impl
