// Engine: atomic operations. One frame carries targets, operands and comparands; the target applies them when it
// arrives and answers with what was there before.
#pragma once

#include "impl/engine/atomic_kernels.h"
#include "impl/engine/engine_rma.h"

namespace selvage::impl {

inline constexpr size_t kNoElements = SIZE_MAX;

// The elements of a vector together, or kNoElements when it is not one.
template <typename Vector>
size_t elements_of(const Vector* vector, size_t count) {
    size_t total = 0;
    if (count > kRangesMax || (count && !vector)) return kNoElements;
    for (size_t i = 0; i < count; ++i) {
        if (__builtin_add_overflow(total, vector[i].count, &total)) return kNoElements;
    }
    return total;
}

inline void take_elements(const fi_ioc* vector, size_t count, size_t size, iovec* out) {
    for (size_t i = 0; i < count; ++i) out[i] = range_of(vector[i].addr, vector[i].count * size);
}

template <Transport T, bool Locked>
class EngineAtomics : public EngineRma<T, Locked> {
    using Base = EngineRma<T, Locked>;

protected:
    using typename Base::Guard;
    using typename Base::Peer;
    // From EngineBase and Receiver.
    using Base::endpoint_, Base::options_;
    // From EnginePeers.
    using Base::drop, Base::look_up;
    // From EngineResponder.
    using Base::reply, Base::respond;
    // From EngineDirect.
    using Base::plan_atomic;
    // From EngineStaging.
    using Base::kStages, Base::names_hmem, Base::stage_atomic;
    // From EngineSender.
    using Base::begin_transmit, Base::bounces_, Base::check_flags, Base::may_complete, Base::post, Base::refuse,
        Base::transmits_;
    // From EngineRmaTarget.
    using Base::access_failed, Base::check_commit, Base::event, Base::on_hmem, Base::resolve;
    // From EngineRma.
    using Base::commit_flag, Base::may_be_quiet, Base::without_commit;

public:
    ssize_t atomic(const AtomicRequest& request) { return this->making_room(try_to_post(request)); }

private:
    ssize_t try_to_post(const AtomicRequest& request) {
        size_t elements;
        const ssize_t invalid = check_atomic(request, &elements);
        if (invalid) return invalid;
        const size_t size = atomic_type_size(request.type);

        Guard guard(*this);
        if (!may_complete(request.flags)) return -FI_EAGAIN;
        Peer* peer;
        const int error = look_up(request.to, &peer);
        if (error) return error;
        Transmit* op;
        const ssize_t full =
            begin_transmit(*peer, Transmit::Kind::Atomic, request.context, request.flags, elements * size, &op);
        if (full) return full;
        op->fetches = request.form != AtomicForm::Base;
        op->expects_answer = op->fetches || !may_be_quiet(request.flags);
        const bool hmem = names_hmem(request.regions, request.count) ||
                          names_hmem(request.compare_regions, request.compare_count) ||
                          names_hmem(request.result_regions, request.result_count);
        if (!take_operands(*op, request, size, (request.flags & FI_INJECT) && !hmem)) return refuse(*op, -FI_EAGAIN);
        if (hmem) {
            if (const int failed = stage_atomic(*op, request)) return refuse(*op, failed);
        }
        PayloadWriter writer(op->prefix);
        for (size_t i = 0; i < request.target_count; ++i) {
            const fi_rma_ioc& target = request.targets[i];
            writer.put(Target{.address = target.addr, .length = target.count * size, .key = target.key});
        }
        op->prefix_size = static_cast<uint32_t>(writer.size());
        const size_t operands = request.op == FI_ATOMIC_READ ? 0 : op->length;
        const size_t compares = request.form == AtomicForm::Compare ? op->length : 0;
        const AtomicWord word{.form = static_cast<uint8_t>(request.form),
                              .type = static_cast<uint8_t>(request.type),
                              .op = static_cast<uint8_t>(request.op),
                              .count = static_cast<uint32_t>(elements)};
        op->header = {.size = static_cast<uint32_t>(op->prefix_size + operands + compares),
                      .op = static_cast<uint8_t>(FrameOp::Atomic),
                      .flags = commit_flag(request.flags),
                      .aux = static_cast<uint16_t>(request.target_count),
                      .word = {op->expects_answer ? transmits_.id(op) : 0, word.pack(), 0}};
        if (!op->expects_answer) ++op->peer->sending.quiet;
        plan_atomic(request, *op);
        return post(*op);
    }

protected:
    [[gnu::noinline]] void on_atomic(Peer& peer, const Header& header, const std::byte* payload) {
        const AtomicWord word = AtomicWord::unpack(header.word[1]);
        PayloadReader reader(payload, header.size);
        Target targets[kRangesMax];
        uint64_t total;
        size_t most;
        if (word.form > static_cast<uint8_t>(AtomicForm::Compare)) return drop(peer, kBrokenProtocol);
        const auto form = static_cast<AtomicForm>(word.form);
        const auto type = static_cast<fi_datatype>(word.type);
        const auto op = static_cast<fi_op>(word.op);
        if (atomic_valid(form, type, op, &most) || !word.count || word.count > most) return drop(peer, kBrokenProtocol);
        const size_t length = word.count * atomic_type_size(type);
        const bool fetches = form != AtomicForm::Base;
        const bool compares = form == AtomicForm::Compare;
        const size_t operands = op == FI_ATOMIC_READ ? 0 : length;
        const bool valid = header.aux && header.aux <= kRangesMax && (!fetches || header.word[0]) &&
                           reader.take(targets, header.aux) && sum_lengths(targets, header.aux, &total) &&
                           total == length && reader.left() == operands + (compares ? length : 0);
        if (!valid) return drop(peer, kBrokenProtocol);
        const uint64_t access = (fetches ? FI_REMOTE_READ : 0) | (op == FI_ATOMIC_READ ? 0 : FI_REMOTE_WRITE);
        Resolved memory;
        int error = resolve(targets, header.aux, access, &memory);
        const bool commits = header.flags & kFrameCommit;
        if (!error && commits) error = check_commit(memory);
        if (error) return access_failed(peer, header.word[0], error, true);
        std::byte results[kAtomicBytesMax];
        const AtomicOperation operation{.type = type,
                                        .op = op,
                                        .operand = operands ? reader.rest() : nullptr,
                                        .compare = compares ? reader.rest() + operands : nullptr,
                                        .result = fetches ? results : nullptr,
                                        .access = access};
        if (on_hmem(memory)) {
            const int failed = apply_hmem_atomic(*endpoint_->domain, targets, header.aux, operation);
            if (failed) return access_failed(peer, header.word[0], failed, true);
        } else {
            apply_atomic(type, op, memory, operation.operand, operation.compare, operation.result, word.count);
        }
        if (const int failed = commits ? flush_persistent(memory) : 0)
            return access_failed(peer, header.word[0], failed, true);
        if (options_.rma_events && op != FI_ATOMIC_READ) {
            count_region_writes(*endpoint_->domain, options_.domain_locked, targets, header.aux);
        }
        event(peer, fetches ? kSlotRemoteRead : kSlotRemoteWrite, 0, 0, 0, false);
        if (!header.word[0]) return;
        if (!fetches) return reply(peer, header.word[0], 0);
        const Header answer{.size = static_cast<uint32_t>(length),
                            .op = static_cast<uint8_t>(FrameOp::ReadReply),
                            .flags = 0,
                            .aux = 0,
                            .word = {header.word[0], 0, 0}};
        respond(peer, answer, results);
    }

private:
    // 0 with the number of elements, or why the request is none.
    ssize_t check_atomic(const AtomicRequest& request, size_t* elements) const {
        size_t most;
        if (atomic_valid(request.form, request.type, request.op, &most)) return -FI_EOPNOTSUPP;
        if (!request.target_count || request.target_count > options_.rma_iov_max) return -FI_EINVAL;
        if (request.count > options_.iov_max || request.compare_count > options_.iov_max ||
            request.result_count > options_.iov_max) {
            return -FI_EINVAL;
        }
        *elements = elements_of(request.targets, request.target_count);
        if (*elements == kNoElements || !*elements) return -FI_EINVAL;
        if (*elements > most) return -FI_EMSGSIZE;
        const bool reads = request.op == FI_ATOMIC_READ;
        if (!reads && elements_of(request.operands, request.count) != *elements) return -FI_EINVAL;
        if (request.form == AtomicForm::Compare && elements_of(request.compare, request.compare_count) != *elements) {
            return -FI_EINVAL;
        }
        if (request.form != AtomicForm::Base && elements_of(request.results, request.result_count) != *elements) {
            return -FI_EINVAL;
        }
        if (request.flags & FI_TAGGED) return -FI_EOPNOTSUPP;
        return check_flags(reads ? request.flags : without_commit(request.flags),
                           *elements * atomic_type_size(request.type));
    }

    bool take_operands(Transmit& op, const AtomicRequest& request, size_t size, bool copied) {
        take_elements(request.results, op.fetches ? request.result_count : 0, size, op.results);
        op.result_count = op.fetches ? static_cast<uint32_t>(request.result_count) : 0;
        if (request.op == FI_ATOMIC_READ) return true;
        take_elements(request.operands, request.count, size, op.ranges);
        op.range_count = static_cast<uint32_t>(request.count);
        if (request.form == AtomicForm::Compare) {
            take_elements(request.compare, request.compare_count, size, op.compare);
            op.compare_count = static_cast<uint32_t>(request.compare_count);
        }
        if (!copied) return true;
        std::byte* bounce = bounces_.at(op.index);
        if (!bounce) return false;
        gather(op.ranges, op.range_count, 0, bounce, op.length);
        op.ranges[0] = range_of(bounce, op.length);
        op.range_count = 1;
        if (!op.compare_count) return true;
        gather(op.compare, op.compare_count, 0, bounce + kAtomicBytesMax, op.length);
        op.compare[0] = range_of(bounce + kAtomicBytesMax, op.length);
        op.compare_count = 1;
        return true;
    }
};

}  // namespace selvage::impl
