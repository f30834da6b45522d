// See triggering.h. The base's tables say what the endpoint can do: a call that they lack answers as it does there.
#include "impl/endpoint/triggering.h"

#include "impl/endpoint/atomic_types.h"

namespace selvage::impl {
namespace {

constexpr ssize_t kNoCondition = -FI_EINVAL;

const fid_ep& base_of(fid_ep* ep) { return Endpoint::of(ep)->base->descriptor; }
uint64_t transmit_flags(fid_ep* ep, uint64_t more = 0) { return Endpoint::of(ep)->tx_flags | more; }
uint64_t receive_flags(fid_ep* ep) { return Endpoint::of(ep)->rx_flags; }

iovec range_of(const void* bytes, size_t size) { return {.iov_base = const_cast<void*>(bytes), .iov_len = size}; }

fi_msg message_of(const iovec* ranges, void** regions, size_t count, fi_addr_t address, void* context,
                  uint64_t data = 0) {
    return {.msg_iov = ranges, .desc = regions, .iov_count = count, .addr = address, .context = context, .data = data};
}

ssize_t send_with(fid_ep* ep, const fi_msg& message, uint64_t flags) {
    return base_of(ep).msg->sendmsg(ep, &message, flags);
}

ssize_t recvv(fid_ep* ep, const iovec* ranges, void** regions, size_t count, fi_addr_t from, void* context) {
    const fi_msg message = message_of(ranges, regions, count, from, context);
    return base_of(ep).msg->recvmsg(ep, &message, receive_flags(ep));
}
ssize_t recv(fid_ep* ep, void* bytes, size_t size, void* region, fi_addr_t from, void* context) {
    const iovec range = range_of(bytes, size);
    return recvv(ep, &range, &region, 1, from, context);
}
ssize_t sendv(fid_ep* ep, const iovec* ranges, void** regions, size_t count, fi_addr_t to, void* context) {
    return send_with(ep, message_of(ranges, regions, count, to, context), transmit_flags(ep));
}
ssize_t send(fid_ep* ep, const void* bytes, size_t size, void* region, fi_addr_t to, void* context) {
    const iovec range = range_of(bytes, size);
    return sendv(ep, &range, &region, 1, to, context);
}
ssize_t senddata(fid_ep* ep, const void* bytes, size_t size, void* region, uint64_t data, fi_addr_t to, void* context) {
    const iovec range = range_of(bytes, size);
    return send_with(ep, message_of(&range, &region, 1, to, context, data), transmit_flags(ep, FI_REMOTE_CQ_DATA));
}

fi_msg_tagged tagged_of(const fi_msg& message, uint64_t tag, uint64_t ignore) {
    return {.msg_iov = message.msg_iov,
            .desc = message.desc,
            .iov_count = message.iov_count,
            .addr = message.addr,
            .tag = tag,
            .ignore = ignore,
            .context = message.context,
            .data = message.data};
}

ssize_t tagged_send_with(fid_ep* ep, const fi_msg& message, uint64_t tag, uint64_t flags) {
    const fi_msg_tagged tagged = tagged_of(message, tag, 0);
    return base_of(ep).tagged->sendmsg(ep, &tagged, flags);
}

ssize_t trecvv(fid_ep* ep, const iovec* ranges, void** regions, size_t count, fi_addr_t from, uint64_t tag,
               uint64_t ignore, void* context) {
    const fi_msg_tagged message = tagged_of(message_of(ranges, regions, count, from, context), tag, ignore);
    return base_of(ep).tagged->recvmsg(ep, &message, receive_flags(ep));
}
ssize_t trecv(fid_ep* ep, void* bytes, size_t size, void* region, fi_addr_t from, uint64_t tag, uint64_t ignore,
              void* context) {
    const iovec range = range_of(bytes, size);
    return trecvv(ep, &range, &region, 1, from, tag, ignore, context);
}
ssize_t tsendv(fid_ep* ep, const iovec* ranges, void** regions, size_t count, fi_addr_t to, uint64_t tag,
               void* context) {
    return tagged_send_with(ep, message_of(ranges, regions, count, to, context), tag, transmit_flags(ep));
}
ssize_t tsend(fid_ep* ep, const void* bytes, size_t size, void* region, fi_addr_t to, uint64_t tag, void* context) {
    const iovec range = range_of(bytes, size);
    return tsendv(ep, &range, &region, 1, to, tag, context);
}
ssize_t tsenddata(fid_ep* ep, const void* bytes, size_t size, void* region, uint64_t data, fi_addr_t to, uint64_t tag,
                  void* context) {
    const iovec range = range_of(bytes, size);
    return tagged_send_with(ep, message_of(&range, &region, 1, to, context, data), tag,
                            transmit_flags(ep, FI_REMOTE_CQ_DATA));
}

fi_msg_rma access_of(const fi_msg& message, const fi_rma_iov* target) {
    return {.msg_iov = message.msg_iov,
            .desc = message.desc,
            .iov_count = message.iov_count,
            .addr = message.addr,
            .rma_iov = target,
            .rma_iov_count = 1,
            .context = message.context,
            .data = message.data};
}
fi_rma_iov target_of(const iovec* ranges, size_t count, uint64_t address, uint64_t key) {
    size_t size = 0;
    for (size_t i = 0; ranges && i < count; ++i) size += ranges[i].iov_len;
    return {.addr = address, .len = size, .key = key};
}

ssize_t readv(fid_ep* ep, const iovec* ranges, void** regions, size_t count, fi_addr_t to, uint64_t address,
              uint64_t key, void* context) {
    const fi_rma_iov target = target_of(ranges, count, address, key);
    const fi_msg_rma access = access_of(message_of(ranges, regions, count, to, context), &target);
    return base_of(ep).rma->readmsg(ep, &access, transmit_flags(ep));
}
ssize_t read(fid_ep* ep, void* bytes, size_t size, void* region, fi_addr_t to, uint64_t address, uint64_t key,
             void* context) {
    const iovec range = range_of(bytes, size);
    return readv(ep, &range, &region, 1, to, address, key, context);
}
ssize_t write_with(fid_ep* ep, const fi_msg& message, uint64_t address, uint64_t key, uint64_t flags) {
    const fi_rma_iov target = target_of(message.msg_iov, message.iov_count, address, key);
    const fi_msg_rma access = access_of(message, &target);
    return base_of(ep).rma->writemsg(ep, &access, flags);
}
ssize_t writev(fid_ep* ep, const iovec* ranges, void** regions, size_t count, fi_addr_t to, uint64_t address,
               uint64_t key, void* context) {
    return write_with(ep, message_of(ranges, regions, count, to, context), address, key, transmit_flags(ep));
}
ssize_t write(fid_ep* ep, const void* bytes, size_t size, void* region, fi_addr_t to, uint64_t address, uint64_t key,
              void* context) {
    const iovec range = range_of(bytes, size);
    return writev(ep, &range, &region, 1, to, address, key, context);
}
ssize_t writedata(fid_ep* ep, const void* bytes, size_t size, void* region, uint64_t data, fi_addr_t to,
                  uint64_t address, uint64_t key, void* context) {
    const iovec range = range_of(bytes, size);
    return write_with(ep, message_of(&range, &region, 1, to, context, data), address, key,
                      transmit_flags(ep, FI_REMOTE_CQ_DATA));
}

// The vectors of an atomic are counted in elements, of which the target has as many.
struct AtomicCall {
    AtomicCall(const fi_ioc* ranges, void** regions, size_t count, fi_addr_t to, uint64_t address, uint64_t key,
               fi_datatype type, fi_op op, void* context)
        : target{.addr = address, .count = 0, .key = key},
          message{.msg_iov = ranges,
                  .desc = regions,
                  .iov_count = count,
                  .addr = to,
                  .rma_iov = &target,
                  .rma_iov_count = 1,
                  .datatype = type,
                  .op = op,
                  .context = context,
                  .data = 0} {
        for (size_t i = 0; ranges && i < count; ++i) target.count += ranges[i].count;
    }
    AtomicCall(const AtomicCall&) = delete;
    AtomicCall& operator=(const AtomicCall&) = delete;

    fi_rma_ioc target;
    fi_msg_atomic message;
};
fi_ioc elements_of(const void* bytes, size_t count) { return {.addr = const_cast<void*>(bytes), .count = count}; }

ssize_t atomic_writev(fid_ep* ep, const fi_ioc* ranges, void** regions, size_t count, fi_addr_t to, uint64_t address,
                      uint64_t key, fi_datatype type, fi_op op, void* context) {
    const AtomicCall call(ranges, regions, count, to, address, key, type, op, context);
    return base_of(ep).atomic->writemsg(ep, &call.message, transmit_flags(ep));
}
ssize_t atomic_write(fid_ep* ep, const void* bytes, size_t count, void* region, fi_addr_t to, uint64_t address,
                     uint64_t key, fi_datatype type, fi_op op, void* context) {
    const fi_ioc range = elements_of(bytes, count);
    return atomic_writev(ep, &range, &region, 1, to, address, key, type, op, context);
}
ssize_t fetchv(fid_ep* ep, const fi_ioc* ranges, void** regions, size_t count, fi_ioc* results, void** result_regions,
               size_t result_count, fi_addr_t to, uint64_t address, uint64_t key, fi_datatype type, fi_op op,
               void* context) {
    // FI_ATOMIC_READ has no operand: as many elements as it has results.
    AtomicCall call(ranges, regions, count, to, address, key, type, op, context);
    if (op == FI_ATOMIC_READ) {
        call.target.count = 0;
        for (size_t i = 0; results && i < result_count; ++i) call.target.count += results[i].count;
    }
    return base_of(ep).atomic->readwritemsg(ep, &call.message, results, result_regions, result_count,
                                            transmit_flags(ep));
}
ssize_t fetch(fid_ep* ep, const void* bytes, size_t count, void* region, void* result, void* result_region,
              fi_addr_t to, uint64_t address, uint64_t key, fi_datatype type, fi_op op, void* context) {
    const fi_ioc range = elements_of(bytes, count);
    fi_ioc fetched = elements_of(result, count);
    return fetchv(ep, &range, &region, 1, &fetched, &result_region, 1, to, address, key, type, op, context);
}
ssize_t comparev(fid_ep* ep, const fi_ioc* ranges, void** regions, size_t count, const fi_ioc* compared,
                 void** compared_regions, size_t compared_count, fi_ioc* results, void** result_regions,
                 size_t result_count, fi_addr_t to, uint64_t address, uint64_t key, fi_datatype type, fi_op op,
                 void* context) {
    const AtomicCall call(ranges, regions, count, to, address, key, type, op, context);
    return base_of(ep).atomic->compwritemsg(ep, &call.message, compared, compared_regions, compared_count, results,
                                            result_regions, result_count, transmit_flags(ep));
}
ssize_t compare(fid_ep* ep, const void* bytes, size_t count, void* region, const void* compared, void* compared_region,
                void* result, void* result_region, fi_addr_t to, uint64_t address, uint64_t key, fi_datatype type,
                fi_op op, void* context) {
    const fi_ioc range = elements_of(bytes, count), second = elements_of(compared, count);
    fi_ioc fetched = elements_of(result, count);
    return comparev(ep, &range, &region, 1, &second, &compared_region, 1, &fetched, &result_region, 1, to, address, key,
                    type, op, context);
}

// What names no context: refused while transfers wait for what their context names.
bool waits(fid_ep* ep) { return Endpoint::of(ep)->tx_flags & FI_TRIGGER; }

// The base's function of a table, called with the alias.
template <auto Table, auto Function, typename Signature>
struct Forwarding;
template <auto Table, auto Function, typename Result, typename... Arguments>
struct Forwarding<Table, Function, Result (*)(fid_ep*, Arguments...)> {
    static Result call(fid_ep* ep, Arguments... arguments) { return (base_of(ep).*Table->*Function)(ep, arguments...); }
    static Result inject(fid_ep* ep, Arguments... arguments) {
        return waits(ep) ? kNoCondition : call(ep, arguments...);
    }
};
#define SELVAGE_FORWARD(table, entry, how) \
    .entry = Forwarding<&fid_ep::table, &fi_ops_##table::entry, decltype(fi_ops_##table::entry)>::how

constexpr fi_ops_msg kMessages = {
    .size = sizeof(fi_ops_msg),
    .recv = recv,
    .recvv = recvv,
    SELVAGE_FORWARD(msg, recvmsg, call),
    .send = send,
    .sendv = sendv,
    SELVAGE_FORWARD(msg, sendmsg, call),
    SELVAGE_FORWARD(msg, inject, inject),
    .senddata = senddata,
    SELVAGE_FORWARD(msg, injectdata, inject),
};
constexpr fi_ops_tagged kTagged = {
    .size = sizeof(fi_ops_tagged),
    .recv = trecv,
    .recvv = trecvv,
    SELVAGE_FORWARD(tagged, recvmsg, call),
    .send = tsend,
    .sendv = tsendv,
    SELVAGE_FORWARD(tagged, sendmsg, call),
    SELVAGE_FORWARD(tagged, inject, inject),
    .senddata = tsenddata,
    SELVAGE_FORWARD(tagged, injectdata, inject),
};
constexpr fi_ops_rma kAccesses = {
    .size = sizeof(fi_ops_rma),
    .read = read,
    .readv = readv,
    SELVAGE_FORWARD(rma, readmsg, call),
    .write = write,
    .writev = writev,
    SELVAGE_FORWARD(rma, writemsg, call),
    SELVAGE_FORWARD(rma, inject, inject),
    .writedata = writedata,
    SELVAGE_FORWARD(rma, injectdata, inject),
};
constexpr fi_ops_atomic kAtomics = {
    .size = sizeof(fi_ops_atomic),
    .write = atomic_write,
    .writev = atomic_writev,
    SELVAGE_FORWARD(atomic, writemsg, call),
    SELVAGE_FORWARD(atomic, inject, inject),
    .readwrite = fetch,
    .readwritev = fetchv,
    SELVAGE_FORWARD(atomic, readwritemsg, call),
    .compwrite = compare,
    .compwritev = comparev,
    SELVAGE_FORWARD(atomic, compwritemsg, call),
    SELVAGE_FORWARD(atomic, writevalid, call),
    SELVAGE_FORWARD(atomic, readwritevalid, call),
    SELVAGE_FORWARD(atomic, compwritevalid, call),
};

}  // namespace

void choose_tables(Endpoint* alias) {
    const fid_ep& base = alias->base->descriptor;
    fid_ep& own = alias->descriptor;
    const bool triggers = (alias->tx_flags | alias->rx_flags) & FI_TRIGGER;
    own.msg = triggers ? const_cast<fi_ops_msg*>(&kMessages) : base.msg;
    own.tagged = triggers ? const_cast<fi_ops_tagged*>(&kTagged) : base.tagged;
    own.rma = triggers ? const_cast<fi_ops_rma*>(&kAccesses) : base.rma;
    own.atomic = triggers ? const_cast<fi_ops_atomic*>(&kAtomics) : base.atomic;
    own.collective = base.collective;
}

}  // namespace selvage::impl
