// Reads, writes and atomics of endpoints with checks (insist.h): FI_MR_LOCAL, and what begin() looks at.
#include "impl/endpoint/atomic_types.h"
#include "impl/endpoint/insisted.h"
#include "impl/endpoint/structured_calls.h"
#include "impl/insist/insist.h"

namespace selvage::impl {
namespace {

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

ssize_t access(const char* name, fid_ep* ep, bool writes, const fi_msg_rma& message, uint64_t flags) {
    const fi_ops_rma& plain = *Checks::of(ep).rma;
    const auto forward = [&, given = flags & ~kStartsTriggered] {
        return writes ? plain.writemsg(ep, &message, given) : plain.readmsg(ep, &message, given);
    };
    if ((flags & FI_TRIGGER) && !starts_work(ep, flags)) return forward();
    if (message.iov_count && !message.msg_iov) return -FI_EINVAL;
    const LookedAtCall call =
        looked_at(name, ep, message.msg_iov, message.desc, message.iov_count, message.context, flags);
    const int error = check_regions(call, writes ? FI_WRITE : FI_READ);
    return error ? error : hand_on(call, forward);
}
ssize_t readmsg(fid_ep* ep, const fi_msg_rma* message, uint64_t flags) {
    return message ? access("fi_readmsg", ep, false, *message, flags) : -FI_EINVAL;
}
ssize_t writemsg(fid_ep* ep, const fi_msg_rma* message, uint64_t flags) {
    return message ? access("fi_writemsg", ep, true, *message, flags) : -FI_EINVAL;
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
ssize_t atomic(const char* name, fid_ep* ep, const fi_msg_atomic& message, const fi_msg_compare& compare,
               const fi_msg_fetch& results, uint64_t flags, Forward post) {
    const auto forward = [&] { return post(*Checks::of(ep).atomic, flags & ~kStartsTriggered); };
    if ((flags & FI_TRIGGER) && !starts_work(ep, flags)) return forward();
    const size_t operands = message.op == FI_ATOMIC_READ ? 0 : message.iov_count;
    const fi_datatype type = message.datatype;
    int error = check_elements(name, ep, {message.msg_iov, message.desc, operands}, type, flags, FI_WRITE);
    if (!error)
        error = check_elements(name, ep, {compare.msg_iov, compare.desc, compare.iov_count}, type, flags, FI_WRITE);
    if (!error)
        error = check_elements(name, ep, {results.msg_iov, results.desc, results.iov_count}, type, flags, FI_READ);
    if (error) return error;
    const auto* ranges = reinterpret_cast<const iovec*>(message.msg_iov);
    return hand_on(looked_at(name, ep, ranges, message.desc, operands, message.context, flags), forward);
}

struct CheckedAccesses {
    static uint64_t transmit_flags(fid_ep* ep) { return Endpoint::of(ep)->tx_defaults; }
    static ssize_t read(const char* name, fid_ep* ep, const fi_msg_rma& message, uint64_t flags) {
        return access(name, ep, false, message, flags);
    }
    static ssize_t write(const char* name, fid_ep* ep, const fi_msg_rma& message, uint64_t flags) {
        return access(name, ep, true, message, flags);
    }
    static ssize_t atomic(const char* name, fid_ep* ep, const fi_msg_atomic& message, uint64_t flags) {
        return impl::atomic(name, ep, message, {}, {}, flags, [&](const fi_ops_atomic& calls, uint64_t given) {
            return calls.writemsg(ep, &message, given);
        });
    }
    static ssize_t fetch(const char* name, fid_ep* ep, const fi_msg_atomic& message, const fi_msg_fetch& results,
                         uint64_t flags) {
        return impl::atomic(name, ep, message, {}, results, flags, [&](const fi_ops_atomic& calls, uint64_t given) {
            return calls.readwritemsg(ep, &message, results.msg_iov, results.desc, results.iov_count, given);
        });
    }
    static ssize_t compare(const char* name, fid_ep* ep, const fi_msg_atomic& message, const fi_msg_compare& comparands,
                           const fi_msg_fetch& results, uint64_t flags) {
        return impl::atomic(
            name, ep, message, comparands, results, flags, [&](const fi_ops_atomic& calls, uint64_t given) {
                return calls.compwritemsg(ep, &message, comparands.msg_iov, comparands.desc, comparands.iov_count,
                                          results.msg_iov, results.desc, results.iov_count, given);
            });
    }
};
using AccessForms = StructuredCalls<CheckedAccesses>;

ssize_t atomicmsg(fid_ep* ep, const fi_msg_atomic* message, uint64_t flags) {
    return message ? CheckedAccesses::atomic("fi_atomicmsg", ep, *message, flags) : -FI_EINVAL;
}
ssize_t fetchmsg(fid_ep* ep, const fi_msg_atomic* message, fi_ioc* results, void** regions, size_t count,
                 uint64_t flags) {
    return message ? CheckedAccesses::fetch("fi_fetch_atomicmsg", ep, *message, {results, regions, count}, flags)
                   : -FI_EINVAL;
}
ssize_t comparemsg(fid_ep* ep, const fi_msg_atomic* message, const fi_ioc* comparands, void** compare_regions,
                   size_t compare_count, fi_ioc* results, void** regions, size_t count, uint64_t flags) {
    if (!message) return -FI_EINVAL;
    return CheckedAccesses::compare("fi_compare_atomicmsg", ep, *message, {comparands, compare_regions, compare_count},
                                    {results, regions, count}, flags);
}

}  // namespace

fi_ops_rma checked_accesses(const Checks& checks, const Endpoint& endpoint) {
    fi_ops_rma table = *checks.rma;
    if (!(endpoint.tx.caps & FI_RMA)) return table;
    if (endpoint.tx.caps & FI_READ) {
        table.read = AccessForms::read;
        table.readv = AccessForms::readv;
        table.readmsg = readmsg;
    }
    if (endpoint.tx.caps & FI_WRITE) {
        table.write = AccessForms::write;
        table.writev = AccessForms::writev;
        table.writemsg = writemsg;
        table.writedata = AccessForms::writedata;
    }
    return table;
}

fi_ops_atomic checked_atomics(const Checks& checks, const Endpoint& endpoint) {
    fi_ops_atomic table = *checks.atomic;
    if (!(endpoint.tx.caps & FI_ATOMIC)) return table;
    if (endpoint.tx.caps & FI_WRITE) {
        table.write = AccessForms::atomic;
        table.writev = AccessForms::atomicv;
        table.writemsg = atomicmsg;
    }
    if (endpoint.tx.caps & FI_READ) {
        table.readwrite = AccessForms::fetch;
        table.readwritev = AccessForms::fetchv;
        table.readwritemsg = fetchmsg;
        table.compwrite = AccessForms::compare;
        table.compwritev = AccessForms::comparev;
        table.compwritemsg = comparemsg;
    }
    return table;
}

}  // namespace selvage::impl
