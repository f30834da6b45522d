// See barrier.h.
#include "conformance/drive/transfer/barrier.h"

#include <rdma/fi_errno.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <thread>

#include "conformance/base/patience.h"
#include "conformance/case/operations.h"
#include "conformance/drive/transfer/buffers.h"

namespace selvage::conformance {
namespace {

using model::Operation;
using model::Side;
using model::Traffic;
using model::Transfer;

constexpr std::size_t kLength = 8;  // of a message
constexpr std::chrono::microseconds kNap(50), kNapMost(200);
constexpr unsigned kLeastRounds = 2000;  // looks, however long they take on a machine that is busy beyond measure
constexpr std::array<std::uint64_t, 6> kTags = {0x5E1A, 0x2BAD, 0x7E57, 0x3C3C, 0x1234, 0x4321};

// A step that did not come through keeps its own for as long as there are others.
std::uint64_t next_context() {
    static std::size_t next = 0;
    return (kBarrierContexts + next++ % (kContexts - kBarrierContexts)) * kContextLength;
}

bool accepted(const Operation& o) { return o.ret == 0 && o.what < Transfer::Cancel; }

std::uint64_t flags_of(const TransferSequence& e, const Operation& o) {
    return o.form == model::CallForm::Message ? o.flags : e.receive_flags;
}

// How often the operation is known to have ended.
std::size_t entries_of(const Traffic& done, std::size_t operation) {
    return static_cast<std::size_t>(std::count_if(done.entries.begin(), done.entries.end(), [&](const auto& c) {
        return c.operation == static_cast<int>(operation);
    }));
}

// Both of two directions, or neither of them, which means both.
bool both(std::uint64_t caps, std::uint64_t one, std::uint64_t all) { return (caps & all) == 0 || (caps & one) == one; }

}  // namespace

std::int64_t worked_micros() {
    timespec t = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return std::int64_t{t.tv_sec} * 1'000'000 + t.tv_nsec / 1000;
}

bool Barrier::took(const QueueEntry& entry) {
    const auto is_own = [&](Side side) {
        const std::uint64_t slot = (entry.context - pair_.end(side).memory_address()) / kContextLength;
        return slot >= kBarrierContexts && slot < kContexts;
    };
    if (!is_own(Side::A) && !is_own(Side::B)) return false;
    ++came_;
    failed_ = failed_ || entry.failed != 0;
    return true;
}

// No receive of the exchange takes a message with that tag, and none of the exchange's messages has it.
bool Barrier::may_tag(const Traffic& done, std::uint64_t tag) const {
    for (std::size_t i = 0; i < done.operations.size(); ++i) {
        const Operation& o = done.operations[i];
        if (!accepted(o)) continue;
        if (o.what == Transfer::TaggedSend && o.tag == tag) return false;
        if (o.what != Transfer::TaggedRecv || ((o.tag ^ tag) & ~o.ignore) != 0) continue;
        if (entries_of(done, i) == 0) return false;
    }
    return true;
}

// Every receive has ended, and has taken a message: neither is left for the other.
bool Barrier::may_send(const Traffic& done) const {
    std::size_t sent[2] = {}, received[2] = {};
    for (std::size_t i = 0; i < done.operations.size(); ++i) {
        const Operation& o = done.operations[i];
        if (!accepted(o)) continue;
        if (o.what == Transfer::Send) ++sent[static_cast<std::size_t>(peer_of(o.side))];
        if (o.what != Transfer::Recv) continue;
        if ((flags_of(sequence_, o) & FI_MULTI_RECV) != 0 || entries_of(done, i) == 0) return false;
        ++received[static_cast<std::size_t>(o.side)];
    }
    return sent[0] == received[0] && sent[1] == received[1];
}

std::vector<Barrier::Step> Barrier::steps(const Traffic& done) const {
    const fi_info& info = pair_.info();
    std::vector<Step> out;
    if (info.ep_attr->type == FI_EP_DGRAM) return out;
    if (both(info.caps, FI_SEND | FI_RECV, FI_SEND | FI_RECV)) {
        const bool tagged = (info.caps & FI_TAGGED) != 0 &&
                            std::any_of(kTags.begin(), kTags.end(), [&](auto tag) { return may_tag(done, tag); });
        if (tagged) {
            out.push_back(Step::Tagged);
        } else if ((info.caps & FI_MSG) != 0 && may_send(done)) {
            out.push_back(Step::Message);
        }
    }
    const std::uint64_t reads = FI_READ | FI_REMOTE_READ;
    if ((info.caps & FI_RMA) != 0 && both(info.caps, reads, reads | FI_WRITE | FI_REMOTE_WRITE))
        out.push_back(Step::Read);
    return out;
}

bool Barrier::proves(const Traffic& done) const {
    const fi_info& info = pair_.info();
    const std::uint64_t order = info.tx_attr->msg_order & info.rx_attr->msg_order;
    const auto all = steps(done);
    const bool reads = std::find(all.begin(), all.end(), Step::Read) != all.end();
    const bool sends = all.size() > (reads ? 1U : 0U);
    const auto behind = [&](std::uint64_t send_after, std::uint64_t read_after) {
        return (sends && (order & send_after) != 0) || (reads && (order & read_after) != 0);
    };
    return std::all_of(done.operations.begin(), done.operations.end(), [&](const Operation& o) {
        if (!accepted(o) || is_receive(o)) return true;
        if (is_send(o)) return behind(FI_ORDER_SAS, FI_ORDER_RAS);
        if (o.what == Transfer::Read) return behind(FI_ORDER_SAR, FI_ORDER_RAR | FI_ORDER_RMA_RAR);
        // Longer ones are not in order.
        const bool short_enough = bytes_of(o) <= info.ep_attr->max_order_raw_size;
        return behind(FI_ORDER_SAW, short_enough ? FI_ORDER_RAW : 0);
    });
}

// Posts a call with a buffer of the side's own.
bool Barrier::post(PostedCall call, std::size_t buffer) {
    call.operation.form = model::CallForm::Message;
    call.operation.flags = FI_COMPLETION;
    call.operation.length = kLength;
    call.context = next_context();
    call.buffer = kArenaOffset + buffer * kGuardBytes;
    for (;;) {
        const std::int64_t ret = pair_.end(call.operation.side).post(call);
        if (ret == 0) return true;
        if (ret != -FI_EAGAIN || !wait()) return false;
        (*poll_)();
    }
}

bool Barrier::come(unsigned entries) {
    while (came_ < entries && !failed_) {
        (*poll_)();
        if (came_ < entries && !wait()) return false;
    }
    return !failed_;
}

// What counts is how long this thread has worked, or slept, no more than kNapMost of each nap: where many want the
// processor the provider's own thread has had as much of it, however long that took.  It sleeps, as a thread that
// yields beside one that never sleeps has to wait until the other's share is used up (5 ms on average where a nap
// takes 0.1).
bool Barrier::wait() {
    if (rounds_++ % 16 != 15) return true;
    const auto began = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(kNap);
    const auto slept = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began);
    until_worked_ -= std::min(slept, kNapMost).count();
    if (worked_micros() >= until_worked_) return false;
    return rounds_ < kLeastRounds || std::chrono::steady_clock::now() < until_;
}

bool Barrier::message(Step step, Side from) {
    PostedCall in, out;
    in.operation.what = step == Step::Tagged ? Transfer::TaggedRecv : Transfer::Recv;
    out.operation.what = step == Step::Tagged ? Transfer::TaggedSend : Transfer::Send;
    in.operation.side = peer_of(from);
    out.operation.side = from;
    if (step == Step::Tagged) in.operation.tag = out.operation.tag = tag_;
    came_ = 0;
    return post(in, 1) && post(out, 0) && come(2);
}

bool Barrier::read(Side from) {
    PostedCall call;
    call.operation.what = Transfer::Read;
    call.operation.side = from;
    call.operation.offset = kRegionLength - kLength;
    call.target = pair_.region_of_peer(from, FI_REMOTE_READ | FI_REMOTE_WRITE);
    if (call.target.registered == 0) return false;
    came_ = 0;
    return post(call, 2) && come(1);
}

bool Barrier::pass(const Traffic& done, unsigned micros, const std::function<void()>& poll) {
    poll_ = &poll;
    rounds_ = 0;
    until_worked_ = worked_micros() + micros;
    until_ = std::chrono::steady_clock::now() + kLongestWait * patience_factor();
    failed_ = false;
    const auto tag = std::find_if(kTags.begin(), kTags.end(), [&](auto t) { return may_tag(done, t); });
    if (tag != kTags.end()) tag_ = *tag;
    const auto all = steps(done);
    tried_ = !all.empty();
    for (const Step step : all) {
        if (step == Step::Read) {
            if (!read(Side::A) || !read(Side::B)) return false;
        } else if (!message(step, Side::A) || !message(step, Side::B) || !message(step, Side::A)) {
            return false;
        }
    }
    return !all.empty();
}

}  // namespace selvage::conformance
