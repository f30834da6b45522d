// Engine: operations of this side on memory of devices (staging.h). Over a plain transport it is empty.
//
// A source is copied when the operation is posted, and so is all that can fail of it: the call says so, and the peer
// never hears of it. What returns is copied once all of it is here.
#pragma once

#include "impl/base/create.h"
#include "impl/engine/engine_direct.h"
#include "impl/engine/staging.h"

namespace selvage::impl {

template <Transport T, bool Locked>
class EngineStaging : public EngineDirect<T, Locked> {
    using Base = EngineDirect<T, Locked>;

protected:
    // From EngineBase and Receiver.
    using Base::context_;
    // From EngineDirect.
    using Base::release_mr;

    static constexpr bool kStages = StagesMemory<T>;

    static bool names_hmem([[maybe_unused]] void* const* regions, [[maybe_unused]] size_t count) {
        if constexpr (kStages) return impl::names_hmem(regions, count);
        return false;
    }

    // Each 0, -FI_EAGAIN while there is no room for the copy, or the error of copying.
    int stage_source(Transmit& op, const iovec* ranges, void* const* regions, size_t count) {
        const int error = make_staging(op, op.length);
        if (error) return error;
        op.ranges[0] = range_of(op.staging->bytes, op.length);
        op.range_count = 1;
        return copy_in(ranges, regions, count, op.staging->bytes, op.length);
    }
    int stage_destination(Transmit& op, const iovec* ranges, void* const* regions, size_t count) {
        const int error = make_staging(op, op.length);
        if (error) return error;
        op.ranges[0] = range_of(op.staging->bytes, op.length);
        op.range_count = 1;
        op.staging->destination.add(ranges, regions, count);
        return 0;
    }
    // The ranges of the operation are the application's: operands, comparands and results.
    int stage_atomic(Transmit& op, const AtomicRequest& request) {
        const int error = make_staging(op, 3 * op.length);
        if (error) return error;
        std::byte* operands = op.staging->bytes;
        std::byte* compares = operands + op.length;
        int failed = copy_in(op.ranges, request.regions, op.range_count, operands, op.length);
        if (!failed) failed = copy_in(op.compare, request.compare_regions, op.compare_count, compares, op.length);
        if (failed) return failed;
        if (op.range_count) use_copy(op.ranges, op.range_count, operands, op.length);
        if (op.compare_count) use_copy(op.compare, op.compare_count, compares, op.length);
        if (!op.result_count) return 0;
        op.staging->destination.add(op.results, request.result_regions, op.result_count);
        op.staging->returned_at = 2 * op.length;
        use_copy(op.results, op.result_count, operands + op.staging->returned_at, op.length);
        return 0;
    }

    // What the operation returns is here. 0 or a positive errno.
    int land(const Transmit& op) {
        if (!op.staging) return 0;
        return op.staging->destination.scatter(0, op.staging->bytes + op.staging->returned_at, op.length);
    }

    // What the operation holds, whatever became of it.
    void release_buffers(Transmit& op) {
        release_mr(op);
        if constexpr (kStages) {
            if (!op.staging) return;
            staged_bytes_ -= op.staging->size;
            context_->copies.give(op.staging->bytes);
            destroy(op.staging);
            op.staging = nullptr;
        }
    }

private:
    int make_staging(Transmit& op, size_t size) {
        if (staged_bytes_ && (size > kStagedBytesMost || staged_bytes_ + size > kStagedBytesMost)) return -FI_EAGAIN;
        op.staging = create<Staging>();
        if (!op.staging) return -FI_EAGAIN;
        op.staging->bytes = context_->copies.take(size);
        if (!op.staging->bytes) return -FI_EAGAIN;
        op.staging->size = size;
        staged_bytes_ += size;
        return 0;
    }
    static int copy_in(const iovec* ranges, void* const* regions, size_t count, std::byte* to, size_t size) {
        HmemRanges source;
        source.add(ranges, regions, count);
        return -source.gather(0, to, size);
    }
    static void use_copy(iovec* ranges, uint32_t& count, std::byte* bytes, size_t size) {
        ranges[0] = range_of(bytes, size);
        count = 1;
    }

    uint64_t staged_bytes_ = 0;
};

}  // namespace selvage::impl
