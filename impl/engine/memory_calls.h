// Engine: the tables of functions behind fi_read, fi_write, fi_atomic and their kin (compare engine_calls.h).
#pragma once

#include "impl/endpoint/atomic_types.h"
#include "impl/endpoint/endpoint_ops.h"
#include "impl/endpoint/triggered.h"
#include "impl/engine/engine_control.h"

namespace selvage::impl {

template <Transport T, bool Locked>
struct MemoryCalls {
    using Path = Engine<T, Locked>;
    static Path& path(const Endpoint* endpoint) { return static_cast<Path&>(*endpoint->path); }

    // One remote range.
    static ssize_t access(const Endpoint* endpoint, bool write, const iovec* ranges, void* const* regions, size_t count,
                          fi_addr_t to, uint64_t address, uint64_t key, uint64_t data, bool has_data, void* context,
                          uint64_t flags) {
        size_t length;
        if ((count && !ranges) || count > kRangesMax) return -FI_EINVAL;
        if (!total_of(ranges, count, &length)) return -FI_EMSGSIZE;
        const fi_rma_iov target{.addr = address, .len = length, .key = key};
        return path(endpoint).access({.write = write,
                                      .ranges = ranges,
                                      .count = count,
                                      .targets = &target,
                                      .target_count = 1,
                                      .to = to,
                                      .data = data,
                                      .has_data = has_data,
                                      .context = context,
                                      .flags = flags,
                                      .regions = regions});
    }
    static ssize_t access_message(fid_ep* ep, bool write, const fi_msg_rma* message, uint64_t flags) {
        if (!message) return -FI_EINVAL;
        if (flags & FI_TRIGGER) [[unlikely]]
            return post_triggered(ep, {write ? FI_OP_WRITE : FI_OP_READ, message, flags});
        const Endpoint* endpoint = Endpoint::of(ep);
        const bool has_data = write && (flags & FI_REMOTE_CQ_DATA);
        return path(endpoint).access({.write = write,
                                      .ranges = message->msg_iov,
                                      .count = message->iov_count,
                                      .targets = message->rma_iov,
                                      .target_count = message->rma_iov_count,
                                      .to = message->addr,
                                      .data = has_data ? message->data : 0,
                                      .has_data = has_data,
                                      .context = message->context,
                                      .flags = flags | endpoint->tx_always,
                                      .regions = message->desc});
    }

    static ssize_t read(fid_ep* ep, void* bytes, size_t size, void* region, fi_addr_t from, uint64_t address,
                        uint64_t key, void* context) {
        const Endpoint* endpoint = Endpoint::of(ep);
        const iovec range = range_of(bytes, size);
        return access(endpoint, false, &range, &region, 1, from, address, key, 0, false, context,
                      endpoint->tx_defaults);
    }
    static ssize_t readv(fid_ep* ep, const iovec* ranges, void** regions, size_t count, fi_addr_t from,
                         uint64_t address, uint64_t key, void* context) {
        const Endpoint* endpoint = Endpoint::of(ep);
        return access(endpoint, false, ranges, regions, count, from, address, key, 0, false, context,
                      endpoint->tx_defaults);
    }
    static ssize_t readmsg(fid_ep* ep, const fi_msg_rma* message, uint64_t flags) {
        return access_message(ep, false, message, flags);
    }
    static ssize_t write(fid_ep* ep, const void* bytes, size_t size, void* region, fi_addr_t to, uint64_t address,
                         uint64_t key, void* context) {
        const Endpoint* endpoint = Endpoint::of(ep);
        if constexpr (StagesMemory<T>) {
            if (names_hmem(&region, 1)) return write_later(endpoint, bytes, size, region, to, address, key, context);
        }
        const ssize_t done =
            path(endpoint).write_at_once(bytes, size, to, address, key, context, endpoint->tx_defaults);
        return done <= 0 ? done : write_later(endpoint, bytes, size, region, to, address, key, context);
    }
    [[gnu::noinline]] static ssize_t write_later(const Endpoint* endpoint, const void* bytes, size_t size, void* region,
                                                 fi_addr_t to, uint64_t address, uint64_t key, void* context) {
        const iovec range = range_of(bytes, size);
        return access(endpoint, true, &range, &region, 1, to, address, key, 0, false, context, endpoint->tx_defaults);
    }
    static ssize_t writev(fid_ep* ep, const iovec* ranges, void** regions, size_t count, fi_addr_t to, uint64_t address,
                          uint64_t key, void* context) {
        const Endpoint* endpoint = Endpoint::of(ep);
        return access(endpoint, true, ranges, regions, count, to, address, key, 0, false, context,
                      endpoint->tx_defaults);
    }
    static ssize_t writemsg(fid_ep* ep, const fi_msg_rma* message, uint64_t flags) {
        return access_message(ep, true, message, flags);
    }
    static ssize_t inject(fid_ep* ep, const void* bytes, size_t size, fi_addr_t to, uint64_t address, uint64_t key) {
        const iovec range = range_of(bytes, size);
        return access(Endpoint::of(ep), true, &range, nullptr, 1, to, address, key, 0, false, nullptr, FI_INJECT);
    }
    static ssize_t writedata(fid_ep* ep, const void* bytes, size_t size, void* region, uint64_t data, fi_addr_t to,
                             uint64_t address, uint64_t key, void* context) {
        const Endpoint* endpoint = Endpoint::of(ep);
        const iovec range = range_of(bytes, size);
        return access(endpoint, true, &range, &region, 1, to, address, key, data, true, context, endpoint->tx_defaults);
    }
    static ssize_t injectdata(fid_ep* ep, const void* bytes, size_t size, uint64_t data, fi_addr_t to, uint64_t address,
                              uint64_t key) {
        const iovec range = range_of(bytes, size);
        return access(Endpoint::of(ep), true, &range, nullptr, 1, to, address, key, data, true, nullptr, FI_INJECT);
    }

    // A vector of an atomic, as far as its form has it, with the fi_mr_desc of each part.
    struct Vector {
        const fi_ioc* parts = nullptr;
        size_t count = 0;
        void* const* regions = nullptr;

        size_t elements() const { return elements_of(parts, count); }
    };
    struct Vectors {
        Vector operands;
        Vector compare = {};
        Vector results = {};
    };
    static ssize_t atomic(const Endpoint* endpoint, AtomicForm form, const Vectors& vectors, const fi_rma_ioc* targets,
                          size_t target_count, fi_addr_t to, fi_datatype type, fi_op op, void* context,
                          uint64_t flags) {
        return path(endpoint).atomic({.form = form,
                                      .type = type,
                                      .op = op,
                                      .operands = vectors.operands.parts,
                                      .count = vectors.operands.count,
                                      .compare = vectors.compare.parts,
                                      .compare_count = vectors.compare.count,
                                      .results = vectors.results.parts,
                                      .result_count = vectors.results.count,
                                      .targets = targets,
                                      .target_count = target_count,
                                      .to = to,
                                      .context = context,
                                      .flags = flags,
                                      .regions = vectors.operands.regions,
                                      .compare_regions = vectors.compare.regions,
                                      .result_regions = vectors.results.regions});
    }
    // One target range, of as many elements as the vector that the form always has.
    static ssize_t atomic_one(fid_ep* ep, AtomicForm form, const Vectors& vectors, fi_addr_t to, uint64_t address,
                              uint64_t key, fi_datatype type, fi_op op, void* context) {
        const Endpoint* endpoint = Endpoint::of(ep);
        const size_t elements = form == AtomicForm::Base ? vectors.operands.elements() : vectors.results.elements();
        if (elements == kNoElements) return -FI_EINVAL;
        const fi_rma_ioc target{.addr = address, .count = elements, .key = key};
        return atomic(endpoint, form, vectors, &target, 1, to, type, op, context, endpoint->tx_defaults);
    }
    static ssize_t atomic_message(fid_ep* ep, AtomicForm form, const fi_msg_atomic* message, const Vectors& vectors,
                                  uint64_t flags) {
        const Endpoint* endpoint = Endpoint::of(ep);
        return atomic(endpoint, form, vectors, message->rma_iov, message->rma_iov_count, message->addr,
                      message->datatype, message->op, message->context, flags | endpoint->tx_always);
    }
    static fi_ioc elements(const void* bytes, size_t count) {
        return {.addr = const_cast<void*>(bytes), .count = count};
    }

    static ssize_t base(fid_ep* ep, const void* bytes, size_t count, void* region, fi_addr_t to, uint64_t address,
                        uint64_t key, fi_datatype type, fi_op op, void* context) {
        const fi_ioc operand = elements(bytes, count);
        return atomic_one(ep, AtomicForm::Base, {.operands = {&operand, 1, &region}}, to, address, key, type, op,
                          context);
    }
    static ssize_t basev(fid_ep* ep, const fi_ioc* vector, void** regions, size_t count, fi_addr_t to, uint64_t address,
                         uint64_t key, fi_datatype type, fi_op op, void* context) {
        return atomic_one(ep, AtomicForm::Base, {.operands = {vector, count, regions}}, to, address, key, type, op,
                          context);
    }
    static ssize_t basemsg(fid_ep* ep, const fi_msg_atomic* message, uint64_t flags) {
        if (!message) return -FI_EINVAL;
        if (flags & FI_TRIGGER) [[unlikely]]
            return post_triggered(ep, {FI_OP_ATOMIC, message, flags});
        return atomic_message(ep, AtomicForm::Base, message,
                              {.operands = {message->msg_iov, message->iov_count, message->desc}}, flags);
    }
    static ssize_t inject_base(fid_ep* ep, const void* bytes, size_t count, fi_addr_t to, uint64_t address,
                               uint64_t key, fi_datatype type, fi_op op) {
        const fi_ioc operand = elements(bytes, count);
        const fi_rma_ioc target{.addr = address, .count = count, .key = key};
        return atomic(Endpoint::of(ep), AtomicForm::Base, {.operands = {&operand, 1}}, &target, 1, to, type, op,
                      nullptr, FI_INJECT);
    }
    static ssize_t fetch(fid_ep* ep, const void* bytes, size_t count, void* region, void* result, void* result_region,
                         fi_addr_t to, uint64_t address, uint64_t key, fi_datatype type, fi_op op, void* context) {
        const fi_ioc operand = elements(bytes, count);
        const fi_ioc results = elements(result, count);
        return atomic_one(ep, AtomicForm::Fetch,
                          {.operands = {&operand, 1, &region}, .results = {&results, 1, &result_region}}, to, address,
                          key, type, op, context);
    }
    static ssize_t fetchv(fid_ep* ep, const fi_ioc* vector, void** regions, size_t count, fi_ioc* results,
                          void** result_regions, size_t result_count, fi_addr_t to, uint64_t address, uint64_t key,
                          fi_datatype type, fi_op op, void* context) {
        return atomic_one(ep, AtomicForm::Fetch,
                          {.operands = {vector, count, regions}, .results = {results, result_count, result_regions}},
                          to, address, key, type, op, context);
    }
    static ssize_t fetchmsg(fid_ep* ep, const fi_msg_atomic* message, fi_ioc* results, void** regions,
                            size_t result_count, uint64_t flags) {
        if (!message) return -FI_EINVAL;
        if (flags & FI_TRIGGER) [[unlikely]]
            return post_triggered(ep, {FI_OP_FETCH_ATOMIC, message, flags, {results, regions, result_count}});
        return atomic_message(ep, AtomicForm::Fetch, message,
                              {.operands = {message->msg_iov, message->iov_count, message->desc},
                               .results = {results, result_count, regions}},
                              flags);
    }
    static ssize_t compare(fid_ep* ep, const void* bytes, size_t count, void* region, const void* comparand,
                           void* compare_region, void* result, void* result_region, fi_addr_t to, uint64_t address,
                           uint64_t key, fi_datatype type, fi_op op, void* context) {
        const fi_ioc operand = elements(bytes, count);
        const fi_ioc comparands = elements(comparand, count);
        const fi_ioc results = elements(result, count);
        return atomic_one(ep, AtomicForm::Compare,
                          {.operands = {&operand, 1, &region},
                           .compare = {&comparands, 1, &compare_region},
                           .results = {&results, 1, &result_region}},
                          to, address, key, type, op, context);
    }
    static ssize_t comparev(fid_ep* ep, const fi_ioc* vector, void** regions, size_t count, const fi_ioc* comparands,
                            void** compare_regions, size_t compare_count, fi_ioc* results, void** result_regions,
                            size_t result_count, fi_addr_t to, uint64_t address, uint64_t key, fi_datatype type,
                            fi_op op, void* context) {
        return atomic_one(ep, AtomicForm::Compare,
                          {.operands = {vector, count, regions},
                           .compare = {comparands, compare_count, compare_regions},
                           .results = {results, result_count, result_regions}},
                          to, address, key, type, op, context);
    }
    static ssize_t comparemsg(fid_ep* ep, const fi_msg_atomic* message, const fi_ioc* comparands,
                              void** compare_regions, size_t compare_count, fi_ioc* results, void** regions,
                              size_t result_count, uint64_t flags) {
        if (!message) return -FI_EINVAL;
        if (flags & FI_TRIGGER) [[unlikely]] {
            return post_triggered(ep, {FI_OP_COMPARE_ATOMIC,
                                       message,
                                       flags,
                                       {results, regions, result_count},
                                       {comparands, compare_regions, compare_count}});
        }
        return atomic_message(ep, AtomicForm::Compare, message,
                              {.operands = {message->msg_iov, message->iov_count, message->desc},
                               .compare = {comparands, compare_count, compare_regions},
                               .results = {results, result_count, regions}},
                              flags);
    }

    static constexpr fi_ops_rma rma_table(bool reads, bool writes) {
        fi_ops_rma table = answering_rma<-FI_ENOSYS>();
        if (reads) {
            table.read = read;
            table.readv = readv;
            table.readmsg = readmsg;
        }
        if (writes) {
            table.write = write;
            table.writev = writev;
            table.writemsg = writemsg;
            table.inject = inject;
            table.writedata = writedata;
            table.injectdata = injectdata;
        }
        return table;
    }
    static constexpr fi_ops_atomic atomic_table(bool reads, bool writes) {
        fi_ops_atomic table = answering_atomic<-FI_ENOSYS>();
        if (writes) {
            table.write = base;
            table.writev = basev;
            table.writemsg = basemsg;
            table.inject = inject_base;
        }
        if (reads) {
            table.readwrite = fetch;
            table.readwritev = fetchv;
            table.readwritemsg = fetchmsg;
            table.compwrite = compare;
            table.compwritev = comparev;
            table.compwritemsg = comparemsg;
        }
        return table;
    }
    static constexpr fi_ops_rma kRmaTables[2][2] = {{rma_table(false, false), rma_table(false, true)},
                                                    {rma_table(true, false), rma_table(true, true)}};
    static constexpr fi_ops_atomic kAtomicTables[2][2] = {{atomic_table(false, false), atomic_table(false, true)},
                                                          {atomic_table(true, false), atomic_table(true, true)}};
};

}  // namespace selvage::impl
