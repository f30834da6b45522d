// Reads, writes and atomics of endpoints with checks (insist.h): FI_MR_LOCAL, and what begin() looks at.
#include <algorithm>

#include "impl/endpoint/atomic_types.h"
#include "impl/endpoint/insisted.h"
#include "impl/insist/insist.h"

namespace selvage::impl {
namespace {

constexpr size_t kPartsMax = 16;  // more are refused by the data path

uint64_t defaults(fid_ep* ep) { return Endpoint::of(ep)->tx_defaults; }

LookedAtCall looked_at(const char* name, fid_ep* ep, const iovec* ranges, void* const* regions, size_t count,
                       void* context, uint64_t flags) {
    return {.name = name,
            .ep = ep,
            .ranges = ranges,
            .regions = regions,
            .count = count,
            .context = context,
            .flags = flags,
            .receives = false};
}

ssize_t access(const char* name, fid_ep* ep, bool writes, const fi_msg_rma* message, uint64_t flags) {
    if (!message) return -FI_EINVAL;
    const fi_ops_rma& plain = *Checks::of(ep).rma;
    const auto forward = [&, given = flags & ~kStartsTriggered] {
        return writes ? plain.writemsg(ep, message, given) : plain.readmsg(ep, message, given);
    };
    if ((flags & FI_TRIGGER) && !starts_work(ep, flags)) return forward();
    const LookedAtCall call =
        looked_at(name, ep, message->msg_iov, message->desc, message->iov_count, message->context, flags);
    const int error = check_regions(call, writes ? FI_WRITE : FI_READ);
    return error ? error : hand_on(call, forward);
}

// One remote range, as long as those of this side.
ssize_t access_one(const char* name, fid_ep* ep, bool writes, const iovec* ranges, void** regions, size_t count,
                   fi_addr_t peer, uint64_t address, uint64_t key, uint64_t data, void* context, uint64_t flags) {
    if (count && !ranges) return -FI_EINVAL;
    fi_rma_iov target{.addr = address, .len = 0, .key = key};
    for (size_t i = 0; i < std::min(count, kPartsMax); ++i) target.len += ranges[i].iov_len;
    const fi_msg_rma message{.msg_iov = ranges,
                             .desc = regions,
                             .iov_count = count,
                             .addr = peer,
                             .rma_iov = &target,
                             .rma_iov_count = 1,
                             .context = context,
                             .data = data};
    return access(name, ep, writes, &message, flags);
}

ssize_t read(fid_ep* ep, void* bytes, size_t size, void* region, fi_addr_t from, uint64_t address, uint64_t key,
             void* context) {
    const iovec range{bytes, size};
    return access_one("fi_read", ep, false, &range, &region, 1, from, address, key, 0, context, defaults(ep));
}
ssize_t readv(fid_ep* ep, const iovec* ranges, void** regions, size_t count, fi_addr_t from, uint64_t address,
              uint64_t key, void* context) {
    return access_one("fi_readv", ep, false, ranges, regions, count, from, address, key, 0, context, defaults(ep));
}
ssize_t readmsg(fid_ep* ep, const fi_msg_rma* message, uint64_t flags) {
    return access("fi_readmsg", ep, false, message, flags);
}
ssize_t write(fid_ep* ep, const void* bytes, size_t size, void* region, fi_addr_t to, uint64_t address, uint64_t key,
              void* context) {
    const iovec range{const_cast<void*>(bytes), size};
    return access_one("fi_write", ep, true, &range, &region, 1, to, address, key, 0, context, defaults(ep));
}
ssize_t writev(fid_ep* ep, const iovec* ranges, void** regions, size_t count, fi_addr_t to, uint64_t address,
               uint64_t key, void* context) {
    return access_one("fi_writev", ep, true, ranges, regions, count, to, address, key, 0, context, defaults(ep));
}
ssize_t writemsg(fid_ep* ep, const fi_msg_rma* message, uint64_t flags) {
    return access("fi_writemsg", ep, true, message, flags);
}
ssize_t writedata(fid_ep* ep, const void* bytes, size_t size, void* region, uint64_t data, fi_addr_t to,
                  uint64_t address, uint64_t key, void* context) {
    const iovec range{const_cast<void*>(bytes), size};
    return access_one("fi_writedata", ep, true, &range, &region, 1, to, address, key, data, context,
                      defaults(ep) | FI_REMOTE_CQ_DATA);
}

// A vector of an atomic.
struct Elements {
    const fi_ioc* parts;
    void** regions;
    size_t count;
};

int check_elements(const char* name, fid_ep* ep, const Elements& elements, fi_datatype type, uint64_t flags,
                   uint64_t required) {
    if (!elements.parts || elements.count > kPartsMax) return 0;  // the data path refuses it where it matters
    iovec ranges[kPartsMax];
    const size_t size = atomic_type_size(type);
    for (size_t i = 0; i < elements.count; ++i) ranges[i] = {elements.parts[i].addr, elements.parts[i].count * size};
    return check_regions(looked_at(name, ep, ranges, elements.regions, elements.count, nullptr, flags), required);
}

// The vector of a fi_msg_atomic is read again as iovecs are (FI_ASYNC_IOV): both are an address and a length.
static_assert(sizeof(fi_ioc) == sizeof(iovec));

template <typename Forward>
ssize_t atomic(const char* name, fid_ep* ep, const fi_msg_atomic* message, const Elements& compare,
               const Elements& results, uint64_t flags, Forward post) {
    if (!message) return -FI_EINVAL;
    const auto forward = [&] { return post(flags & ~kStartsTriggered); };
    if ((flags & FI_TRIGGER) && !starts_work(ep, flags)) return forward();
    const Elements operands{message->msg_iov, message->desc, message->op == FI_ATOMIC_READ ? 0 : message->iov_count};
    int error = check_elements(name, ep, operands, message->datatype, flags, FI_WRITE);
    if (!error) error = check_elements(name, ep, compare, message->datatype, flags, FI_WRITE);
    if (!error) error = check_elements(name, ep, results, message->datatype, flags, FI_READ);
    if (error) return error;
    const auto* ranges = reinterpret_cast<const iovec*>(message->msg_iov);
    return hand_on(looked_at(name, ep, ranges, message->desc, operands.count, message->context, flags), forward);
}

ssize_t basemsg_as(const char* name, fid_ep* ep, const fi_msg_atomic* message, uint64_t flags) {
    return atomic(name, ep, message, {}, {}, flags,
                  [&](uint64_t given) { return Checks::of(ep).atomic->writemsg(ep, message, given); });
}
ssize_t fetchmsg_as(const char* name, fid_ep* ep, const fi_msg_atomic* message, fi_ioc* results, void** regions,
                    size_t count, uint64_t flags) {
    return atomic(name, ep, message, {}, {results, regions, count}, flags, [&](uint64_t given) {
        return Checks::of(ep).atomic->readwritemsg(ep, message, results, regions, count, given);
    });
}
ssize_t comparemsg_as(const char* name, fid_ep* ep, const fi_msg_atomic* message, const Elements& compare,
                      fi_ioc* results, void** regions, size_t count, uint64_t flags) {
    return atomic(name, ep, message, compare, {results, regions, count}, flags, [&](uint64_t given) {
        return Checks::of(ep).atomic->compwritemsg(ep, message, compare.parts, compare.regions, compare.count, results,
                                                   regions, count, given);
    });
}

// One remote range of as many elements as the vector that is given.
struct AtomicCall {
    fi_msg_atomic message;
    fi_rma_ioc target;

    AtomicCall(const fi_ioc* parts, void** regions, size_t count, const fi_ioc* counted, size_t counted_count,
               fi_addr_t to, uint64_t address, uint64_t key, fi_datatype type, fi_op op, void* context)
        : message{}, target{.addr = address, .count = 0, .key = key} {
        for (size_t i = 0; counted && i < std::min(counted_count, kPartsMax); ++i) target.count += counted[i].count;
        message.msg_iov = parts;
        message.desc = regions;
        message.iov_count = count;
        message.addr = to;
        message.rma_iov = &target;
        message.rma_iov_count = 1;
        message.datatype = type;
        message.op = op;
        message.context = context;
    }
    AtomicCall(const AtomicCall&) = delete;
    AtomicCall& operator=(const AtomicCall&) = delete;
};

fi_ioc elements(const void* bytes, size_t count) { return {.addr = const_cast<void*>(bytes), .count = count}; }

ssize_t basev(fid_ep* ep, const fi_ioc* parts, void** regions, size_t count, fi_addr_t to, uint64_t address,
              uint64_t key, fi_datatype type, fi_op op, void* context) {
    const AtomicCall call(parts, regions, count, parts, count, to, address, key, type, op, context);
    return basemsg_as("fi_atomicv", ep, &call.message, defaults(ep));
}
ssize_t base(fid_ep* ep, const void* bytes, size_t count, void* region, fi_addr_t to, uint64_t address, uint64_t key,
             fi_datatype type, fi_op op, void* context) {
    const fi_ioc part = elements(bytes, count);
    const AtomicCall call(&part, &region, 1, &part, 1, to, address, key, type, op, context);
    return basemsg_as("fi_atomic", ep, &call.message, defaults(ep));
}
ssize_t basemsg(fid_ep* ep, const fi_msg_atomic* message, uint64_t flags) {
    return basemsg_as("fi_atomicmsg", ep, message, flags);
}
ssize_t fetchv(fid_ep* ep, const fi_ioc* parts, void** regions, size_t count, fi_ioc* results, void** result_regions,
               size_t result_count, fi_addr_t to, uint64_t address, uint64_t key, fi_datatype type, fi_op op,
               void* context) {
    const AtomicCall call(parts, regions, count, results, result_count, to, address, key, type, op, context);
    return fetchmsg_as("fi_fetch_atomicv", ep, &call.message, results, result_regions, result_count, defaults(ep));
}
ssize_t fetch(fid_ep* ep, const void* bytes, size_t count, void* region, void* result, void* result_region,
              fi_addr_t to, uint64_t address, uint64_t key, fi_datatype type, fi_op op, void* context) {
    const fi_ioc part = elements(bytes, count);
    fi_ioc results = elements(result, count);
    const AtomicCall call(&part, &region, 1, &results, 1, to, address, key, type, op, context);
    return fetchmsg_as("fi_fetch_atomic", ep, &call.message, &results, &result_region, 1, defaults(ep));
}
ssize_t fetchmsg(fid_ep* ep, const fi_msg_atomic* message, fi_ioc* results, void** regions, size_t count,
                 uint64_t flags) {
    return fetchmsg_as("fi_fetch_atomicmsg", ep, message, results, regions, count, flags);
}
ssize_t comparev(fid_ep* ep, const fi_ioc* parts, void** regions, size_t count, const fi_ioc* compare,
                 void** compare_regions, size_t compare_count, fi_ioc* results, void** result_regions,
                 size_t result_count, fi_addr_t to, uint64_t address, uint64_t key, fi_datatype type, fi_op op,
                 void* context) {
    const AtomicCall call(parts, regions, count, results, result_count, to, address, key, type, op, context);
    return comparemsg_as("fi_compare_atomicv", ep, &call.message, {compare, compare_regions, compare_count}, results,
                         result_regions, result_count, defaults(ep));
}
ssize_t compare(fid_ep* ep, const void* bytes, size_t count, void* region, const void* comparand, void* compare_region,
                void* result, void* result_region, fi_addr_t to, uint64_t address, uint64_t key, fi_datatype type,
                fi_op op, void* context) {
    const fi_ioc part = elements(bytes, count);
    const fi_ioc comparands = elements(comparand, count);
    fi_ioc results = elements(result, count);
    const AtomicCall call(&part, &region, 1, &results, 1, to, address, key, type, op, context);
    return comparemsg_as("fi_compare_atomic", ep, &call.message, {&comparands, &compare_region, 1}, &results,
                         &result_region, 1, defaults(ep));
}
ssize_t comparemsg(fid_ep* ep, const fi_msg_atomic* message, const fi_ioc* compare_parts, void** compare_regions,
                   size_t compare_count, fi_ioc* results, void** regions, size_t count, uint64_t flags) {
    return comparemsg_as("fi_compare_atomicmsg", ep, message, {compare_parts, compare_regions, compare_count}, results,
                         regions, count, flags);
}

}  // namespace

fi_ops_rma checked_accesses(const Checks& checks, const Endpoint& endpoint) {
    fi_ops_rma table = *checks.rma;
    if (!(endpoint.tx.caps & FI_RMA)) return table;
    if (endpoint.tx.caps & FI_READ) {
        table.read = read;
        table.readv = readv;
        table.readmsg = readmsg;
    }
    if (endpoint.tx.caps & FI_WRITE) {
        table.write = write;
        table.writev = writev;
        table.writemsg = writemsg;
        table.writedata = writedata;
    }
    return table;
}

fi_ops_atomic checked_atomics(const Checks& checks, const Endpoint& endpoint) {
    fi_ops_atomic table = *checks.atomic;
    if (!(endpoint.tx.caps & FI_ATOMIC)) return table;
    if (endpoint.tx.caps & FI_WRITE) {
        table.write = base;
        table.writev = basev;
        table.writemsg = basemsg;
    }
    if (endpoint.tx.caps & FI_READ) {
        table.readwrite = fetch;
        table.readwritev = fetchv;
        table.readwritemsg = fetchmsg;
        table.compwrite = compare;
        table.compwritev = comparev;
        table.compwritemsg = comparemsg;
    }
    return table;
}

}  // namespace selvage::impl
