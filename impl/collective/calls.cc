// The functions behind fi_barrier, fi_broadcast and their kin, and fi_query_collective (fi_collective(3)).
#include <utility>

#include "impl/av/av_set.h"
#include "impl/collective/collectives.h"
#include "impl/domain/domain.h"
#include "impl/domain/mr.h"
#include "impl/endpoint/atomic_types.h"
#include "impl/endpoint/collective_calls.h"
#include "impl/endpoint/datapath.h"
#include "impl/endpoint/ep.h"

namespace selvage::impl {
namespace {

constexpr bool reduces(fi_collective_op collective) {
    return collective == FI_ALLREDUCE || collective == FI_REDUCE_SCATTER || collective == FI_REDUCE;
}

// Which of its buffers a call has to name, of members that are and are not the root.
struct Buffers {
    bool operand;
    bool result;
};

// Memory of devices is not reduced or passed on here.
bool on_device(const Endpoint& endpoint, void* desc) {
    return (endpoint.caps & FI_HMEM) && desc && static_cast<const MemoryRegion*>(desc)->hmem.ops;
}

// The flags of atomics that mean something for a group. Every completion says that the buffers are free again.
constexpr uint64_t kFlags = FI_COMPLETION | FI_MORE | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE;

[[gnu::always_inline]] inline ssize_t post(fid_ep* descriptor, CollectiveCall&& call) {
    const Endpoint* endpoint = Endpoint::of(descriptor);
    call.flags |= endpoint->tx_always;
    if (call.flags & ~kFlags) return -FI_EBADFLAGS;
    DataPath& path = *endpoint->path;
    path.lock();
    const ssize_t result = path.collectives()->post(call);
    path.unlock();
    return result;
}

// One that moves data.
[[gnu::always_inline]] inline ssize_t post_data(fid_ep* descriptor, CollectiveCall&& call, void* desc,
                                                void* result_desc) {
    const Endpoint* endpoint = Endpoint::of(descriptor);
    call.element = atomic_type_size(call.type);
    if (!call.element) return -FI_EOPNOTSUPP;
    if (reduces(call.collective) && !reducer_of(call.type, call.op)) return -FI_EOPNOTSUPP;
    if (on_device(*endpoint, desc) || on_device(*endpoint, result_desc)) return -FI_EOPNOTSUPP;
    return post(descriptor, std::move(call));
}

ssize_t barrier2(fid_ep* ep, fi_addr_t group, uint64_t flags, void* context) {
    return post(ep, {.collective = FI_BARRIER, .group = group, .context = context, .flags = flags});
}
ssize_t barrier(fid_ep* ep, fi_addr_t group, void* context) {
    return barrier2(ep, group, Endpoint::of(ep)->tx_defaults & FI_COMPLETION, context);
}
// With a root and a reduction; a collective that lacks one does not look at it.
template <fi_collective_op Collective>
[[gnu::always_inline]] inline ssize_t reduce_to_root(fid_ep* ep, const void* operand, size_t count, void* desc,
                                                     void* result, void* result_desc, fi_addr_t group, fi_addr_t root,
                                                     fi_datatype type, fi_op op, uint64_t flags, void* context) {
    return post_data(ep,
                     {.collective = Collective,
                      .group = group,
                      .root = root,
                      .operand = operand,
                      .result = result,
                      .count = count,
                      .type = type,
                      .op = op,
                      .context = context,
                      .flags = flags},
                     desc, result_desc);
}
template <fi_collective_op Collective>
ssize_t with_root(fid_ep* ep, const void* operand, size_t count, void* desc, void* result, void* result_desc,
                  fi_addr_t group, fi_addr_t root, fi_datatype type, uint64_t flags, void* context) {
    return reduce_to_root<Collective>(ep, operand, count, desc, result, result_desc, group, root, type, FI_NOOP, flags,
                                      context);
}
template <fi_collective_op Collective>
ssize_t reduction(fid_ep* ep, const void* operand, size_t count, void* desc, void* result, void* result_desc,
                  fi_addr_t group, fi_datatype type, fi_op op, uint64_t flags, void* context) {
    return reduce_to_root<Collective>(ep, operand, count, desc, result, result_desc, group, FI_ADDR_NOTAVAIL, type, op,
                                      flags, context);
}
template <fi_collective_op Collective>
ssize_t exchange(fid_ep* ep, const void* operand, size_t count, void* desc, void* result, void* result_desc,
                 fi_addr_t group, fi_datatype type, uint64_t flags, void* context) {
    return with_root<Collective>(ep, operand, count, desc, result, result_desc, group, FI_ADDR_NOTAVAIL, type, flags,
                                 context);
}
ssize_t broadcast(fid_ep* ep, void* buffer, size_t count, void* desc, fi_addr_t group, fi_addr_t root, fi_datatype type,
                  uint64_t flags, void* context) {
    return with_root<FI_BROADCAST>(ep, buffer, count, desc, nullptr, nullptr, group, root, type, flags, context);
}

// Any of them by its structure: vectors of one range.
ssize_t message(fid_ep* ep, const fi_msg_collective* message, fi_ioc* results, void** result_descs, size_t result_count,
                uint64_t flags) {
    if (!message || message->coll > FI_GATHER) return -FI_EINVAL;
    if (message->coll == FI_BARRIER) return barrier2(ep, message->coll_addr, flags, message->context);
    if (message->iov_count > 1 || result_count > 1) return -FI_EINVAL;
    if ((message->iov_count && !message->msg_iov) || (result_count && !results)) return -FI_EINVAL;
    const fi_ioc operand = message->iov_count ? message->msg_iov[0] : fi_ioc{};
    const fi_ioc result = result_count ? results[0] : fi_ioc{};
    const bool scatters = message->coll == FI_SCATTER && !message->iov_count;  // at those that only receive
    return post_data(ep,
                     {.collective = message->coll,
                      .group = message->coll_addr,
                      .root = message->root_addr,
                      .operand = operand.addr,
                      .result = result.addr,
                      .count = scatters ? result.count : operand.count,
                      .type = message->datatype,
                      .op = reduces(message->coll) ? message->op : FI_NOOP,
                      .context = message->context,
                      .flags = flags},
                     message->desc && message->iov_count ? message->desc[0] : nullptr,
                     result_descs && result_count ? result_descs[0] : nullptr);
}

}  // namespace

constinit const fi_ops_collective kCollectiveOps = {
    .size = sizeof(fi_ops_collective),
    .barrier = barrier,
    .broadcast = broadcast,
    .alltoall = exchange<FI_ALLTOALL>,
    .allreduce = reduction<FI_ALLREDUCE>,
    .allgather = exchange<FI_ALLGATHER>,
    .reduce_scatter = reduction<FI_REDUCE_SCATTER>,
    .reduce = reduce_to_root<FI_REDUCE>,
    .scatter = with_root<FI_SCATTER>,
    .gather = with_root<FI_GATHER>,
    .msg = message,
    .barrier2 = barrier2,
};

int domain_query_collective(fid_domain* descriptor, fi_collective_op collective, fi_collective_attr* attr,
                            uint64_t flags) {
    if (!descriptor || !attr || attr->mode) return -FI_EINVAL;
    if (!(Domain::of(descriptor)->caps & FI_COLLECTIVE)) return -FI_EOPNOTSUPP;
    // The flag is a number of that name: it asks for the reduction whose result is scattered.
    if (flags & ~uint64_t{FI_SCATTER}) return -FI_EBADFLAGS;
    if (flags) collective = FI_REDUCE_SCATTER;
    if (static_cast<unsigned>(collective) > FI_GATHER) return -FI_EOPNOTSUPP;
    const size_t size = atomic_type_size(attr->datatype);
    if (collective == FI_BARRIER) {
        if (attr->datatype != FI_VOID) return -FI_EOPNOTSUPP;
    } else if (!size || (reduces(collective) && !reducer_of(attr->datatype, attr->op))) {
        return -FI_EOPNOTSUPP;
    }
    attr->datatype_attr.size = size;
    attr->datatype_attr.count = size ? Collectives::kBytesMost / size : 0;
    attr->max_members = Collectives::kMembersMost;
    return 0;
}

}  // namespace selvage::impl
