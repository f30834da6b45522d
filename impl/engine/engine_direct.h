// Engine: reads, writes, 64-bit atomics and long messages that the device does by itself (NativeRma<T>).
//
// An access is prepared in both ways, and which it goes is decided when its turn comes, as only a peer that is
// connected tells whether its memory can be reached. What the device does is in order with frames that are sent later;
// an access of the device waits for those that the peer's engine was asked for, where the endpoint's order says so.
#pragma once

#include "impl/engine/engine_pull.h"
#include "impl/engine/requests.h"

namespace selvage::impl {

// Long messages of one range: read by the receiver's device, or sent by the sender's. Receives are distinguished from
// operations by a bit of the token that no index has.
inline constexpr uint64_t kFetchToken = uint64_t{1} << 31;

template <Transport T, bool Locked>
class EngineDirect : public EnginePull<T, Locked> {
    using Base = EnginePull<T, Locked>;

protected:
    using typename Base::Peer;
    // From EngineBase and Receiver.
    using Base::context_, Base::options_, Base::receive_placed, Base::state_in, Base::transport_;

public:
    void placed(Peer& peer, void* token) {
        Receive* receive = context_->receives.find(reinterpret_cast<uintptr_t>(token));
        const bool awaited = receive && receive->owner == this && receive->peer && receive->peer == state_in(peer) &&
                             receive->placement && !receive->finished;
        if (!awaited) return;
        receive->placement = false;
        receive->received = receive->wanted;
        receive_placed(receive, receive->message.frame_flags & kFrameConfirm);
    }

protected:
    void plan_access(const AccessRequest& request, Transmit& op) const {
        if constexpr (NativeRma<T>) {
            if (!may_be_direct(op.flags, op.length) || request.target_count != 1 || is_staged(op)) return;
            if (request.has_data && request.data > UINT32_MAX) return;
            const fi_rma_iov& target = request.targets[0];
            op.direct = true;
            op.device.kind = request.write ? DeviceAccess::Kind::Write : DeviceAccess::Kind::Read;
            op.device.target = {.address = target.addr, .length = target.len, .key = target.key};
            op.device.has_data = request.has_data;
            op.device.data = static_cast<uint32_t>(request.data);
            op.device.named = options_.names_regions && request.regions && !(op.flags & FI_INJECT);
            for (size_t i = 0; op.device.named && i < request.count; ++i) {
                op.device.regions[i] = static_cast<const MemoryRegion*>(request.regions[i]);
            }
        } else {
            static_cast<void>(request), static_cast<void>(op);
        }
    }

    // One 64-bit integer at its natural address: added to, or compared and swapped.
    void plan_atomic(const AtomicRequest& request, Transmit& op) const {
        if constexpr (NativeRma<T>) {
            const bool integer = request.type == FI_INT64 || request.type == FI_UINT64;
            const bool adds = request.op == FI_SUM && request.form != AtomicForm::Compare;
            const bool swaps = request.op == FI_CSWAP && request.form == AtomicForm::Compare;
            if (!integer || (!adds && !swaps) || op.length != sizeof(uint64_t)) return;
            if (!may_be_direct(op.flags, op.length) || request.target_count != 1 || request.targets[0].addr % 8) return;
            if (is_staged(op)) return;
            // One element each, but perhaps among empty ranges.
            if (op.range_count != 1 || (swaps && op.compare_count != 1) || (op.fetches && op.result_count != 1)) return;
            const fi_rma_ioc& target = request.targets[0];
            op.direct = true;
            op.device.kind = adds ? DeviceAccess::Kind::Add : DeviceAccess::Kind::CompareSwap;
            op.device.target = {.address = target.addr, .length = sizeof(uint64_t), .key = target.key};
            memcpy(&op.device.operand, op.ranges[0].iov_base, sizeof op.device.operand);
            if (swaps) memcpy(&op.device.compare, op.compare[0].iov_base, sizeof op.device.compare);
            op.device.has_data = false;
            op.device.named = false;
        } else {
            static_cast<void>(request), static_cast<void>(op);
        }
    }

    bool goes_direct(const Peer& peer, const Transmit& op) const {
        if constexpr (NativeRma<T>) {
            return op.direct && op.stage == Transmit::Stage::Queued &&
                   transport_.reaches(peer, op.device.target.key, op.kind == Transmit::Kind::Atomic);
        } else {
            static_cast<void>(peer), static_cast<void>(op);
            return false;
        }
    }

    AccessResult send_direct(Peer& peer, Transmit& op) {
        if constexpr (NativeRma<T>) {
            const bool atomic = op.kind == Transmit::Kind::Atomic;
            const iovec nowhere{.iov_base = nullptr, .iov_len = sizeof(uint64_t)};
            const iovec* result = op.fetches ? op.results : &nowhere;
            const DeviceAccess access{.kind = op.device.kind,
                                      .local = atomic ? result : op.ranges,
                                      .count = atomic ? 1 : op.range_count,
                                      .length = op.length,
                                      .address = op.device.target.address,
                                      .key = op.device.target.key,
                                      .has_data = op.device.has_data,
                                      .data = op.device.data,
                                      .operand = op.device.operand,
                                      .compare = op.device.compare,
                                      .regions = op.device.named ? op.device.regions : nullptr,
                                      .token = token_of(op)};
            const AccessResult posted = transport_.access(peer, access);
            if (posted != AccessResult::Posted) return posted;
            op.way = Transmit::Way::Direct;
            op.expects_answer = true;
            op.large = false;
            return posted;
        } else {
            static_cast<void>(peer), static_cast<void>(op);
            return AccessResult::Impossible;
        }
    }

    // How a message is announced that is not to come in segments.
    bool plan_long(const SendRequest& request, Transmit& op, Header& header, PayloadWriter& writer) {
        if constexpr (NativeRma<T>) {
            if (op.range_count != 1 || (request.flags & FI_INJECT) || is_staged(op)) return false;
            const bool named = options_.names_regions && request.regions && request.count == 1;
            const auto* region = named ? static_cast<const MemoryRegion*>(request.regions[0]) : nullptr;
            if (!transport_.find_source(op.ranges[0], region, &op.source)) return false;
            if (op.source.exported) {
                header.aux = 2;
                header.flags |= kFrameExported;
                writer.put(LocalRange{.address = op.source.address, .length = op.length});
                writer.put(LocalRange{.address = op.source.key, .length = 0});
            } else {
                header.flags |= kFrameDirect;
                if (request.flags & FI_DELIVERY_COMPLETE) header.flags |= kFrameConfirm;
            }
            return true;
        } else {
            static_cast<void>(request), static_cast<void>(op), static_cast<void>(header), static_cast<void>(writer);
            return false;
        }
    }

    void release_mr(const Transmit& op) {
        if constexpr (NativeRma<T>) {
            if (op.source.token) T::release_mr(op.source.token);
        } else {
            static_cast<void>(op);
        }
    }

    // False: it comes in segments.
    bool fetch_direct(Peer& peer, Receive& receive, const LocalRange* ranges) {
        if constexpr (NativeRma<T>) {
            if (!(receive.message.frame_flags & kFrameExported) || (receive.flags & kOnHmem)) return false;
            iovec local[kRangesMax];
            const size_t count = slice(receive.ranges, receive.range_count, 0, receive.wanted, local);
            const auto* region = static_cast<const MemoryRegion*>(receive.region);
            const bool named = options_.names_regions && region && count == 1;
            const DeviceAccess access{.kind = DeviceAccess::Kind::Fetch,
                                      .local = local,
                                      .count = count,
                                      .length = receive.wanted,
                                      .address = ranges[0].address,
                                      .key = ranges[1].address,
                                      .has_data = false,
                                      .data = 0,
                                      .operand = 0,
                                      .compare = 0,
                                      .regions = named ? &region : nullptr,
                                      .token = reinterpret_cast<void*>(Pool<Receive>::id(&receive) | kFetchToken)};
            receive.fetched = transport_.access(peer, access) == AccessResult::Posted;
            return receive.fetched;
        } else {
            static_cast<void>(peer), static_cast<void>(receive), static_cast<void>(ranges);
            return false;
        }
    }

    // After an error the peer goes down, and what arrives from it with it.
    void fetched(Peer& peer, uint64_t id, int error) {
        Receive* receive = context_->receives.find(id);
        const bool awaited = receive && receive->owner == this && receive->peer && receive->peer == state_in(peer) &&
                             receive->fetched && !receive->finished;
        if (!awaited || error) return;
        receive->fetched = false;
        receive->received = receive->wanted;
        receive_placed(receive, true);
    }

    // False: it comes in segments.
    bool place_directly(Peer& peer, Receive& receive) {
        if constexpr (NativeRma<T>) {
            if (!(receive.message.frame_flags & kFrameDirect) || (receive.flags & kOnHmem)) return false;
            iovec place[kRangesMax];
            if (slice(receive.ranges, receive.range_count, 0, receive.wanted, place) != 1) return false;
            const auto* region = options_.names_regions ? static_cast<const MemoryRegion*>(receive.region) : nullptr;
            receive.placement =
                transport_.place_directly(peer, place[0], region, reinterpret_cast<void*>(Pool<Receive>::id(&receive)));
            return receive.placement;
        } else {
            static_cast<void>(peer), static_cast<void>(receive);
            return false;
        }
    }

    // The receiver holds memory ready for it. False: it cannot have asked for that.
    bool send_long(Peer& peer, Transmit& op) {
        if constexpr (NativeRma<T>) {
            if (!(op.header.flags & kFrameDirect)) return false;
            LongRange wanted = op.source;
            wanted.length = static_cast<uint32_t>(op.wanted);
            if (!transport_.send_long(peer, wanted, token_of(op))) return false;
            ++op.held;
            if (!(op.header.flags & kFrameConfirm)) op.enter(Transmit::Stage::Answered);
            return true;
        } else {
            static_cast<void>(peer), static_cast<void>(op);
            return false;
        }
    }

    static void* token_of(const Transmit& op) { return reinterpret_cast<void*>(Pool<Transmit>::id(&op)); }

private:
    // A copy is not worth registering, and gone when the operation is over.
    static bool is_staged([[maybe_unused]] const Transmit& op) {
        if constexpr (StagesMemory<T>) return op.staging;
        return false;
    }
    // Without length no key is looked at; delivery is what the peer's engine confirms.
    bool may_be_direct(uint64_t flags, size_t length) const {
        return options_.direct && length && length <= UINT32_MAX &&
               !(flags & (FI_DELIVERY_COMPLETE | FI_COMMIT_COMPLETE));
    }
};

}  // namespace selvage::impl
