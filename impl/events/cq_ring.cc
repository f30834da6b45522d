// See cq_ring.h.
#include "impl/events/cq_ring.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace selvage::impl {

namespace {
constexpr size_t kEntriesMax = size_t{1} << 32;
constexpr size_t kLine = alignof(CompletionSlot);
}  // namespace

CompletionRing::~CompletionRing() {
    while (size()) {
        Failure* record = at(0).failure;
        pop(1);
        if (!record) continue;
        record->next = free_;
        free_ = record;
    }
    if (retired_) {
        retired_->next = free_;
        free_ = retired_;
    }
    while (Failure* record = free_) {
        free_ = record->next;
        if (record != &spare_) free(record);
    }
    free(block_);
}

bool CompletionRing::grow_to(size_t entries) {
    if (entries <= capacity_) return true;
    if (entries > kEntriesMax) return false;
    const size_t capacity = std::bit_ceil(entries);
    void* block = malloc((capacity + 1) * sizeof *slots_);  // one more, to start at a cache line
    if (!block) return false;
    const auto start = (reinterpret_cast<uintptr_t>(block) + kLine - 1) / kLine * kLine;
    auto* slots = reinterpret_cast<CompletionSlot*>(start);
    const size_t queued = size();
    for (size_t i = 0; i < queued; ++i) slots[i] = at(i);
    free(block_);
    block_ = block;
    slots_ = slots;
    capacity_ = capacity;
    mask_ = capacity - 1;
    head_ = 0;
    return true;
}

bool CompletionRing::make_room() {
    if (overrun()) return false;
    if (grow_to(std::max<size_t>(capacity_ * 2, 64))) return true;
    overrun_.store(true, std::memory_order_relaxed);
    return false;
}

Failure* CompletionRing::take_record() {
    if (Failure* record = free_) {
        free_ = record->next;
        return record;
    }
    if (auto* record = static_cast<Failure*>(malloc(sizeof(Failure)))) return record;
    if (spare_used_) return nullptr;
    spare_used_ = true;
    return &spare_;
}

void CompletionRing::push_failure(const FailedCompletion& failed) {
    if (overrun()) return;
    Failure* record = take_record();
    const size_t before = size();
    if (record) push(failed.base);
    if (size() == before) {
        overrun_.store(true, std::memory_order_relaxed);
        if (!record) return;
        record->next = free_;
        free_ = record;
        return;
    }
    record->overflow = failed.overflow;
    record->error = failed.error;
    record->provider_error = failed.provider_error;
    record->data_size = failed.data ? std::min(failed.data_size, Failure::kDataMax) : 0;
    if (record->data_size) memcpy(record->data, failed.data, record->data_size);
    record->without_source = failed.without_source;
    at(before).failure = record;
    ++failed_;
}

const Failure* CompletionRing::pop_failure() {
    if (retired_) {
        retired_->next = free_;
        free_ = retired_;
    }
    retired_ = at(0).failure;
    pop(1);
    --failed_;
    return retired_;
}

void CompletionRing::make_success(size_t index) {
    Failure* record = at(index).failure;
    record->next = free_;
    free_ = record;
    at(index).failure = nullptr;
    --failed_;
}

void CompletionRing::drop_unrequested() {
    while (size() && front().failure && front().failure->without_source == WithoutSource::Nothing) pop_failure();
}

}  // namespace selvage::impl
