// See insist.h.
#include "impl/insist/insist.h"

#include "impl/base/create.h"
#include "impl/catalog/duties.h"
#include "impl/domain/mr.h"
#include "impl/endpoint/insisted.h"
#include "impl/events/cq.h"

namespace selvage::impl {
namespace {

// Of FI_PEEK and FI_CLAIM the context names the message, which the data path has written into it.
constexpr uint64_t kNoOperation = FI_TRIGGER | FI_PEEK | FI_CLAIM | FI_DISCARD;

bool is_within(const iovec& part, const MemoryRegion& region) {
    const auto start = reinterpret_cast<uintptr_t>(part.iov_base);
    for (size_t i = 0; i < region.range_count; ++i) {
        const auto base = reinterpret_cast<uintptr_t>(region.ranges[i].iov_base);
        if (start >= base && part.iov_len <= region.ranges[i].iov_len &&
            start - base <= region.ranges[i].iov_len - part.iov_len) {
            return true;
        }
    }
    return false;
}

// What is wrong with a buffer and its desc, or nullptr.
const char* fault_of(Domain& domain, const iovec& part, void* desc, uint64_t access) {
    const auto* region = static_cast<const MemoryRegion*>(desc);
    LockGuard guard(domain.lock);
    if (!desc) return "desc is NULL";
    if (!domain.regions.holds(region)) return "desc is of no region that is enabled";
    if (!is_within(part, *region)) return "the buffer is not within the region of its desc";
    if (access & ~(region->access | region->hmem_access)) return "the region of desc lacks the access of the operation";
    return nullptr;
}

void check_queue(CompletionQueue* queue) {
    if (queue) queue->descriptor.ops = const_cast<fi_ops_cq*>(&kCheckedCqOps);
}

}  // namespace

bool starts_work(fid_ep* ep, uint64_t flags) {
    return (flags & kStartsTriggered) || (Endpoint::of(ep)->tx_always & FI_TRIGGER);
}

bool buffers_receives(fid_ep* ep) { return (duties().mode & FI_BUFFERED_RECV) && Endpoint::of(ep)->base->buffered; }

int check_regions(const LookedAtCall& call, uint64_t access) {
    if (!(duties().mr_mode & FI_MR_LOCAL) || (call.flags & FI_INJECT) || !call.ranges) return 0;
    for (size_t i = 0; i < call.count; ++i) {
        if (!call.ranges[i].iov_len) continue;
        const char* fault =
            fault_of(*Endpoint::of(call.ep)->domain, call.ranges[i], call.regions ? call.regions[i] : nullptr, access);
        if (!fault) continue;
        log_breach(call.name, "FI_MR_LOCAL", "fi_mr(3)", fault);
        return -FI_EINVAL;
    }
    return 0;
}

int begin(const LookedAtCall& call, InsistedOperation** operation) {
    const Endpoint& endpoint = *Endpoint::of(call.ep);
    const uint64_t always = call.receives ? endpoint.rx_always : endpoint.tx_always;
    if (!(duties().mode & (FI_CONTEXT | FI_CONTEXT2 | FI_ASYNC_IOV))) return 0;
    // Its context comes back in a notice, or not at all.
    if (call.receives && buffers_receives(call.ep)) return 0;
    if (!((call.flags | always) & FI_COMPLETION) || (call.flags & kNoOperation) || starts_work(call.ep, call.flags))
        return 0;
    const Endpoint& base = *endpoint.base;
    return begin_operation({.name = call.name,
                            .endpoint = &base,
                            .queue = call.receives ? base.rx_cq : base.tx_cq,
                            .context = call.context,
                            .many = (call.flags & FI_MULTI_RECV) != 0,
                            .ranges = call.ranges,
                            .regions = call.regions,
                            .count = call.count},
                           operation);
}

int put_checks_before(Endpoint& endpoint) {
    auto* checks = create<Checks>();
    if (!checks) return -FI_ENOMEM;
    fid_ep& ep = endpoint.descriptor;
    checks->msg = ep.msg;
    checks->tagged = ep.tagged;
    checks->rma = ep.rma;
    checks->atomic = ep.atomic;
    checks->checked_msg = checked_messages(*checks, endpoint);
    checks->checked_tagged = checked_tagged_messages(*checks, endpoint);
    checks->checked_rma = checked_accesses(*checks, endpoint);
    checks->checked_atomic = checked_atomics(*checks, endpoint);
    ep.msg = &checks->checked_msg;
    ep.tagged = &checks->checked_tagged;
    ep.rma = &checks->checked_rma;
    ep.atomic = &checks->checked_atomic;
    endpoint.checks = checks;
    check_queue(endpoint.tx_cq);
    check_queue(endpoint.rx_cq);
    return 0;
}

void drop_checks(Endpoint& endpoint) {
    forget_operations(endpoint);
    if (endpoint.checks) destroy(endpoint.checks);
    endpoint.checks = nullptr;
}

}  // namespace selvage::impl
