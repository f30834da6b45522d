// Receives on memory of devices (receiver.h, staging.h): a message that comes whole is copied there at once; one that
// takes its time to arrive is put together in a copy, so that every way to fetch it is open.
#include "impl/base/create.h"
#include "impl/engine/memory.h"
#include "impl/engine/receiver.h"
#include "impl/engine/staging.h"

namespace selvage::impl {

bool make_hmem(Receive* receive, const ReceiveRequest& request) {
    receive->hmem = create<HmemReceive>();
    if (!receive->hmem) return false;
    receive->hmem->ranges.add(request.ranges, static_cast<void* const*>(request.region), request.count);
    receive->region = nullptr;
    receive->flags |= kOnHmem;
    return true;
}

bool make_hmem_part(ReceiveContext& context, Receive* part, const Receive& parent, size_t size) {
    part->hmem = create<HmemReceive>();
    if (!part->hmem) return false;
    const HmemRanges& whole = parent.hmem->ranges;
    part->hmem->ranges.add(range_of(static_cast<std::byte*>(whole.ranges[0].iov_base) + parent.used, size),
                           whole.memory[0]);
    if (use_copy(context, part, size)) return true;
    free_hmem(context, part);
    return false;
}

void free_hmem(ReceiveContext& context, Receive* receive) {
    context.copies.give(receive->hmem->copy);
    destroy(receive->hmem);
}

bool use_copy(ReceiveContext& context, Receive* receive, uint64_t size) {
    receive->hmem->copy = context.copies.take(size);
    if (!receive->hmem->copy) return false;
    receive->ranges[0] = range_of(receive->hmem->copy, size);
    receive->range_count = 1;
    return true;
}

int land(const Receive& receive) { return receive.hmem->ranges.scatter(0, receive.hmem->copy, receive.wanted); }

int put_on_hmem(const Receive& receive, uint64_t offset, const std::byte* bytes, size_t size) {
    return receive.hmem->ranges.scatter(offset, bytes, size);
}

void* hmem_buffer(const Receive& receive) {
    return receive.hmem->ranges.count ? receive.hmem->ranges.ranges[0].iov_base : nullptr;
}

ReceiveContext::~ReceiveContext() {
    receives.for_each_taken([this](Receive* receive) {
        if (receive->flags & kOnHmem) free_hmem(*this, receive);
    });
}

}  // namespace selvage::impl
