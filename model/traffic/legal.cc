#include "model/traffic/legal.h"

namespace selvage::model {
namespace {

// One of the modifiers is there, or none of its kind, which means all of them.
bool modified(std::uint64_t caps, std::uint64_t expected, std::uint64_t family) {
    return (caps & expected) == expected || (caps & family) == 0;
}

// Flags that every endpoint with the operation's capability understands.
std::uint64_t plain_flags(const Traffic& t, const Operation& o) {
    std::uint64_t flags = FI_COMPLETION | FI_MORE;
    if (transmits(o)) {
        if (!fetches(o)) flags |= FI_INJECT;
        if (t.info->domain.cq_data_size > 0 && (sends(o) || o.what == Transfer::Write)) flags |= FI_REMOTE_CQ_DATA;
        if ((t.info->caps & FI_FENCE) != 0) flags |= FI_FENCE;
        // A level that the endpoint reports as its default is one that it has.
        flags |= FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | t.info->tx.op_flags;
    } else if (o.what == Transfer::Recv && (t.info->caps & FI_MULTI_RECV) != 0) {
        flags |= FI_MULTI_RECV;
    }
    return flags;
}

bool is_within(const Traffic& t, const Operation& o) {
    if (exceeds(t, o)) return false;
    // "Smaller than" in one place, "the maximum size" in another.
    if (!is_inject_call(o) && injects(t, o) && o.length >= t.info->tx.inject_size) return false;
    return !carries_data(o) || t.info->domain.cq_data_size > 0;
}

}  // namespace

bool is_able(const Traffic& t, const Operation& o) {
    if (t.info == nullptr) return false;
    const std::uint64_t caps = t.info->caps;
    constexpr std::uint64_t kMessages = FI_SEND | FI_RECV;
    constexpr std::uint64_t kMemory = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
    const std::uint64_t primary = is_message(o) ? FI_MSG : is_tagged(o) ? FI_TAGGED : is_rma(o) ? FI_RMA : FI_ATOMIC;
    if ((caps & primary) == 0) return false;
    if (sends(o)) return modified(caps, FI_SEND, kMessages);
    if (receives(o)) return modified(caps, FI_RECV, kMessages);
    if (o.what == Transfer::Read) return modified(caps, FI_READ | FI_REMOTE_READ, kMemory);
    if (o.what == Transfer::Write) return modified(caps, FI_WRITE | FI_REMOTE_WRITE, kMemory);
    return modified(caps, kMemory, kMemory);
}

Admission admission(const Traffic& t, const Operation& o) {
    if (!is_posted(o) || is_work(o) || t.info == nullptr) return Admission::Open;
    if (!is_able(t, o)) return Admission::Refuse;
    if (is_atomic(o) && o.valid_query) {
        if (o.valid_count == 0 || o.count > o.valid_count) return Admission::Refuse;
    } else if (is_atomic(o)) {
        return Admission::Open;
    }
    if (exceeds(t, o)) return Admission::Refuse;
    if (!is_within(t, o) || strays(t, o)) return Admission::Open;
    if (peeks(o) || claims(o) || discards(o)) return Admission::Open;
    if (receives(o) && !o.from_any && !is_connected(t)) return Admission::Open;
    if (o.form == CallForm::Message && (o.flags & ~plain_flags(t, o)) != 0) return Admission::Open;
    return Admission::Accept;
}

}  // namespace selvage::model
