// The calls without a structure (fi_send, fi_readv, fi_atomic …) as those with one (fi_sendmsg, fi_readmsg,
// fi_atomicmsg …) and the flags that an endpoint has by default.
//
// For tables whose calls go somewhere else before they reach the data path: to the base of an alias that triggers
// (trigger/), past the checks of what is insisted on (insist/). The data path has forms of its own, which are shorter
// (engine/engine_calls.h, engine/memory_calls.h).
//
// `To` says where they go. `name` is that of the call, for the log:
//
//   static uint64_t transmit_flags(fid_ep*), receive_flags(fid_ep*)       of calls without flags
//   static ssize_t send(name, fid_ep*, const Message&, uint64_t flags)    and recv; fi_msg and fi_msg_tagged
//   static ssize_t read(name, fid_ep*, const fi_msg_rma&, uint64_t flags) and write
//   static ssize_t atomic(name, fid_ep*, const fi_msg_atomic&, uint64_t flags)
//   static ssize_t fetch(name, fid_ep*, const fi_msg_atomic&, const fi_msg_fetch&, uint64_t flags)
//   static ssize_t compare(name, fid_ep*, const fi_msg_atomic&, const fi_msg_compare&, const fi_msg_fetch&, flags)
#pragma once

#include <algorithm>

#include "impl/base/rdma.h"

namespace selvage::impl {

// Parts of a vector that are looked at. A longer one is beyond all limits, and refused by the data path.
inline constexpr size_t kPartsMax = 16;

template <typename To>
struct StructuredCalls {
    static ssize_t recvv(fid_ep* ep, const iovec* ranges, void** regions, size_t count, fi_addr_t from, void* context) {
        return To::recv("fi_recvv", ep, message(ranges, regions, count, from, context), To::receive_flags(ep));
    }
    static ssize_t recv(fid_ep* ep, void* bytes, size_t size, void* region, fi_addr_t from, void* context) {
        const iovec range = range_of(bytes, size);
        return To::recv("fi_recv", ep, message(&range, &region, 1, from, context), To::receive_flags(ep));
    }
    static ssize_t sendv(fid_ep* ep, const iovec* ranges, void** regions, size_t count, fi_addr_t to, void* context) {
        return To::send("fi_sendv", ep, message(ranges, regions, count, to, context), To::transmit_flags(ep));
    }
    static ssize_t send(fid_ep* ep, const void* bytes, size_t size, void* region, fi_addr_t to, void* context) {
        const iovec range = range_of(bytes, size);
        return To::send("fi_send", ep, message(&range, &region, 1, to, context), To::transmit_flags(ep));
    }
    static ssize_t senddata(fid_ep* ep, const void* bytes, size_t size, void* region, uint64_t data, fi_addr_t to,
                            void* context) {
        const iovec range = range_of(bytes, size);
        return To::send("fi_senddata", ep, message(&range, &region, 1, to, context, data), with_data(ep));
    }

    static ssize_t trecvv(fid_ep* ep, const iovec* ranges, void** regions, size_t count, fi_addr_t from, uint64_t tag,
                          uint64_t ignore, void* context) {
        return To::recv("fi_trecvv", ep, tagged(message(ranges, regions, count, from, context), tag, ignore),
                        To::receive_flags(ep));
    }
    static ssize_t trecv(fid_ep* ep, void* bytes, size_t size, void* region, fi_addr_t from, uint64_t tag,
                         uint64_t ignore, void* context) {
        const iovec range = range_of(bytes, size);
        return To::recv("fi_trecv", ep, tagged(message(&range, &region, 1, from, context), tag, ignore),
                        To::receive_flags(ep));
    }
    static ssize_t tsendv(fid_ep* ep, const iovec* ranges, void** regions, size_t count, fi_addr_t to, uint64_t tag,
                          void* context) {
        return To::send("fi_tsendv", ep, tagged(message(ranges, regions, count, to, context), tag),
                        To::transmit_flags(ep));
    }
    static ssize_t tsend(fid_ep* ep, const void* bytes, size_t size, void* region, fi_addr_t to, uint64_t tag,
                         void* context) {
        const iovec range = range_of(bytes, size);
        return To::send("fi_tsend", ep, tagged(message(&range, &region, 1, to, context), tag), To::transmit_flags(ep));
    }
    static ssize_t tsenddata(fid_ep* ep, const void* bytes, size_t size, void* region, uint64_t data, fi_addr_t to,
                             uint64_t tag, void* context) {
        const iovec range = range_of(bytes, size);
        return To::send("fi_tsenddata", ep, tagged(message(&range, &region, 1, to, context, data), tag), with_data(ep));
    }

    static ssize_t readv(fid_ep* ep, const iovec* ranges, void** regions, size_t count, fi_addr_t from,
                         uint64_t address, uint64_t key, void* context) {
        const Access call(message(ranges, regions, count, from, context), address, key);
        return To::read("fi_readv", ep, call.message, To::transmit_flags(ep));
    }
    static ssize_t read(fid_ep* ep, void* bytes, size_t size, void* region, fi_addr_t from, uint64_t address,
                        uint64_t key, void* context) {
        const iovec range = range_of(bytes, size);
        const Access call(message(&range, &region, 1, from, context), address, key);
        return To::read("fi_read", ep, call.message, To::transmit_flags(ep));
    }
    static ssize_t writev(fid_ep* ep, const iovec* ranges, void** regions, size_t count, fi_addr_t to, uint64_t address,
                          uint64_t key, void* context) {
        const Access call(message(ranges, regions, count, to, context), address, key);
        return To::write("fi_writev", ep, call.message, To::transmit_flags(ep));
    }
    static ssize_t write(fid_ep* ep, const void* bytes, size_t size, void* region, fi_addr_t to, uint64_t address,
                         uint64_t key, void* context) {
        const iovec range = range_of(bytes, size);
        const Access call(message(&range, &region, 1, to, context), address, key);
        return To::write("fi_write", ep, call.message, To::transmit_flags(ep));
    }
    static ssize_t writedata(fid_ep* ep, const void* bytes, size_t size, void* region, uint64_t data, fi_addr_t to,
                             uint64_t address, uint64_t key, void* context) {
        const iovec range = range_of(bytes, size);
        const Access call(message(&range, &region, 1, to, context, data), address, key);
        return To::write("fi_writedata", ep, call.message, with_data(ep));
    }

    static ssize_t atomicv(fid_ep* ep, const fi_ioc* parts, void** regions, size_t count, fi_addr_t to,
                           uint64_t address, uint64_t key, fi_datatype type, fi_op op, void* context) {
        const Atomic call({parts, regions, count}, {parts, count}, to, address, key, type, op, context);
        return To::atomic("fi_atomicv", ep, call.message, To::transmit_flags(ep));
    }
    static ssize_t atomic(fid_ep* ep, const void* bytes, size_t count, void* region, fi_addr_t to, uint64_t address,
                          uint64_t key, fi_datatype type, fi_op op, void* context) {
        const fi_ioc part = elements(bytes, count);
        const Atomic call({&part, &region, 1}, {&part, 1}, to, address, key, type, op, context);
        return To::atomic("fi_atomic", ep, call.message, To::transmit_flags(ep));
    }
    static ssize_t fetchv(fid_ep* ep, const fi_ioc* parts, void** regions, size_t count, fi_ioc* results,
                          void** result_regions, size_t result_count, fi_addr_t to, uint64_t address, uint64_t key,
                          fi_datatype type, fi_op op, void* context) {
        const Atomic call({parts, regions, count}, {results, result_count}, to, address, key, type, op, context);
        return To::fetch("fi_fetch_atomicv", ep, call.message, {results, result_regions, result_count},
                         To::transmit_flags(ep));
    }
    static ssize_t fetch(fid_ep* ep, const void* bytes, size_t count, void* region, void* result, void* result_region,
                         fi_addr_t to, uint64_t address, uint64_t key, fi_datatype type, fi_op op, void* context) {
        const fi_ioc part = elements(bytes, count);
        fi_ioc results = elements(result, count);
        const Atomic call({&part, &region, 1}, {&results, 1}, to, address, key, type, op, context);
        return To::fetch("fi_fetch_atomic", ep, call.message, {&results, &result_region, 1}, To::transmit_flags(ep));
    }
    static ssize_t comparev(fid_ep* ep, const fi_ioc* parts, void** regions, size_t count, const fi_ioc* comparands,
                            void** compare_regions, size_t compare_count, fi_ioc* results, void** result_regions,
                            size_t result_count, fi_addr_t to, uint64_t address, uint64_t key, fi_datatype type,
                            fi_op op, void* context) {
        const Atomic call({parts, regions, count}, {results, result_count}, to, address, key, type, op, context);
        return To::compare("fi_compare_atomicv", ep, call.message, {comparands, compare_regions, compare_count},
                           {results, result_regions, result_count}, To::transmit_flags(ep));
    }
    static ssize_t compare(fid_ep* ep, const void* bytes, size_t count, void* region, const void* comparand,
                           void* compare_region, void* result, void* result_region, fi_addr_t to, uint64_t address,
                           uint64_t key, fi_datatype type, fi_op op, void* context) {
        const fi_ioc part = elements(bytes, count), comparands = elements(comparand, count);
        fi_ioc results = elements(result, count);
        const Atomic call({&part, &region, 1}, {&results, 1}, to, address, key, type, op, context);
        return To::compare("fi_compare_atomic", ep, call.message, {&comparands, &compare_region, 1},
                           {&results, &result_region, 1}, To::transmit_flags(ep));
    }

private:
    static uint64_t with_data(fid_ep* ep) { return To::transmit_flags(ep) | FI_REMOTE_CQ_DATA; }
    static iovec range_of(const void* bytes, size_t size) {
        return {.iov_base = const_cast<void*>(bytes), .iov_len = size};
    }
    static fi_ioc elements(const void* bytes, size_t count) {
        return {.addr = const_cast<void*>(bytes), .count = count};
    }
    static fi_msg message(const iovec* ranges, void** regions, size_t count, fi_addr_t peer, void* context,
                          uint64_t data = 0) {
        return {.msg_iov = ranges, .desc = regions, .iov_count = count, .addr = peer, .context = context, .data = data};
    }
    static fi_msg_tagged tagged(const fi_msg& plain, uint64_t tag, uint64_t ignore = 0) {
        return {.msg_iov = plain.msg_iov,
                .desc = plain.desc,
                .iov_count = plain.iov_count,
                .addr = plain.addr,
                .tag = tag,
                .ignore = ignore,
                .context = plain.context,
                .data = plain.data};
    }

    // What the parts of a vector come to.
    template <typename Part>
    static size_t sum(const Part* parts, size_t count, size_t Part::*length) {
        size_t total = 0;
        for (size_t i = 0; parts && i < std::min(count, kPartsMax); ++i) total += parts[i].*length;
        return total;
    }

    // One remote range, as long as those of this side.
    struct Access {
        Access(const fi_msg& plain, uint64_t address, uint64_t key)
            : target{.addr = address, .len = sum(plain.msg_iov, plain.iov_count, &iovec::iov_len), .key = key},
              message{.msg_iov = plain.msg_iov,
                      .desc = plain.desc,
                      .iov_count = plain.iov_count,
                      .addr = plain.addr,
                      .rma_iov = &target,
                      .rma_iov_count = 1,
                      .context = plain.context,
                      .data = plain.data} {}
        Access(const Access&) = delete;
        Access& operator=(const Access&) = delete;

        fi_rma_iov target;
        fi_msg_rma message;
    };

    // One remote range, of as many elements as the vector that is counted. FI_ATOMIC_READ has results and no operands.
    struct Counted {
        const fi_ioc* parts;
        size_t count;
    };
    struct Operands {
        const fi_ioc* parts;
        void** regions;
        size_t count;
    };
    struct Atomic {
        Atomic(const Operands& operands, const Counted& counted, fi_addr_t to, uint64_t address, uint64_t key,
               fi_datatype type, fi_op op, void* context)
            : target{.addr = address, .count = sum(counted.parts, counted.count, &fi_ioc::count), .key = key},
              message{.msg_iov = operands.parts,
                      .desc = operands.regions,
                      .iov_count = operands.count,
                      .addr = to,
                      .rma_iov = &target,
                      .rma_iov_count = 1,
                      .datatype = type,
                      .op = op,
                      .context = context,
                      .data = 0} {}
        Atomic(const Atomic&) = delete;
        Atomic& operator=(const Atomic&) = delete;

        fi_rma_ioc target;
        fi_msg_atomic message;
    };
};

}  // namespace selvage::impl
