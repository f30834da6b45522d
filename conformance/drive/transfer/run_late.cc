// See run_state.h: what was promised and has not come may still be on its way.  A barrier behind it proves that it is
// not, where the order of the pair says so; where nothing proves it, time has to do.
#include "conformance/base/available_time.h"
#include "conformance/base/patience.h"
#include "conformance/case/operations.h"
#include "conformance/drive/transfer/never_came.h"
#include "conformance/drive/transfer/run_state.h"

#include <rdma/fi_endpoint.h>

#include <algorithm>
#include <thread>

namespace selvage::conformance {
namespace {

using model::Completion;
using model::Operation;
using model::Seen;
using model::Transfer;

constexpr auto kLongNap = std::chrono::milliseconds(1);  // where it is waited at length
constexpr unsigned kLongNaps = 8;                        // of them, between two looks at what is charged
constexpr unsigned kBarrierMicros = 500'000;             // of work, for a barrier to come through
constexpr unsigned kLostBarrierMicros = 60'000;          // once it is known that they get lost
constexpr unsigned kMostLostBarriers = 6;
constexpr unsigned kCounterRounds = 8;  // of barriers, until each adds as much to the counters as the one before

}  // namespace

// What would be called broken.  What is judged beside the operations is given to the model here alone; the parent
// knows it from the case.
SequenceRun::Charges SequenceRun::charges() {
    out_.version = model::Version(pair_.info().fabric_attr->api_version);
    out_.info = &pair_.answered();
    out_.format = sequence_.format;
    out_.selective_transmit = sequence_.selective_transmit;
    out_.selective_receive = sequence_.selective_receive;
    out_.transmit_flags = sequence_.transmit_flags;
    out_.receive_flags = sequence_.receive_flags;
    out_.min_multi_recv = sequence_.min_multi_recv;
    out_.queue_size = sequence_.queue_size;
    static model::Tally scratch;
    Charges broken;
    model::judge_traffic({out_, nullptr}, scratch, broken);
    out_.info = nullptr;
    return broken;
}

bool SequenceRun::are_absences(const Charges& charged) {
    return std::any_of(charged.begin(), charged.end(), never_came);
}

// An operation that gets no entry may not be over: its source or destination is memory that the next exchange uses.
bool SequenceRun::uses_memory_in_silence() const {
    const auto is_over = [](Seen seen) { return seen == Seen::Whole || seen == Seen::NotLooked; };
    for (std::size_t i = 0; i < out_.operations.size(); ++i) {
        const Operation& o = out_.operations[i];
        if (o.ret != 0 || !reaches_memory(o) || injected(o) || (is_over(o.local) && is_over(o.remote))) continue;
        if (std::none_of(out_.entries.begin(), out_.entries.end(),
                         [i](const Completion& c) { return c.operation == static_cast<int>(i); }))
            return true;
    }
    return false;
}

// The orders that are promised are those of what reaches the target: the end of a transfer, an error in particular,
// has a way back of its own, and so has a count.
bool SequenceRun::may_come_behind_barriers() {
    if (counted_ || !barrier_.proves(out_) || waits_for_bytes()) return true;
    for (std::size_t i = 0; i < out_.operations.size(); ++i) {
        const Operation& o = out_.operations[i];
        if (o.ret != 0 || o.what >= Transfer::Cancel || is_receive(o)) continue;
        if (std::none_of(out_.entries.begin(), out_.entries.end(),
                         [i](const Completion& c) { return c.operation == static_cast<int>(i); }))
            return true;
    }
    return false;
}

// What has not come may still be on its way, where the provider works on a thread of its own: a barrier goes behind
// it, and all is looked at again.  Where that proves nothing, time has to do.  It goes first: a barrier counts,
// too, and behind one that is lost no count is known.
void SequenceRun::wait_for_the_late(const Charges& charged) {
    const bool known_lost = patience_.lost >= kMostLostBarriers;
    if (known_lost || may_come_behind_barriers()) wait_at_length(charged);
    patience_.hasty = patience_.hasty || (known_lost && patience_.hurries && !patience_.at_length);
    if (patience_.starved || (known_lost && patience_.hasty)) return;
    send_barrier((known_lost ? kLostBarrierMicros : kBarrierMicros) * patience_factor());
    if (!through_ && !patience_.at_length) wait_at_length(charges());
    if (!patience_.at_length || patience_.starved || patience_.known == nullptr) return;
    for (const auto& broken : charges())
        if (never_came(broken)) patience_.known->add(absence_of(broken, pair_.info().ep_attr->type));
}

// Waits until nothing is charged any more that may be late, or the time is over.  In haste only for what is new.
void SequenceRun::wait_at_length(const Charges& charged) {
    if (pair_.info().ep_attr->type == FI_EP_DGRAM || !are_absences(charged)) return;
    if (patience_.hurries && !is_any_new(charged)) {
        patience_.hasty = true;
        return;
    }
    patience_.at_length = true;
    AvailableTime time;
    const auto limit = std::chrono::milliseconds(patience_.late_millis) * patience_factor();
    for (unsigned naps = 1; !time.is_over(limit); ++naps) {
        std::this_thread::sleep_for(kLongNap);
        const bool news = poll();
        if (news) drain(patience_.quiet_micros);
        // A count or bytes may come without an entry.
        if (!news && naps % kLongNaps != 0) continue;
        if (!barrier_.tried()) count(after_);
        look_again();
        if (are_absences(charges())) continue;
        patience_.spent = forecast_.waits() || work_is_missing();
        return;
    }
    patience_.timed = true;
    patience_.starved = time.gave_up();
}

bool SequenceRun::is_any_new(const Charges& charged) const {
    if (patience_.known == nullptr) return false;
    return std::any_of(charged.begin(), charged.end(), [this](const auto& broken) {
        return never_came(broken) && !patience_.known->contains(absence_of(broken, pair_.info().ep_attr->type));
    });
}

void SequenceRun::send_barrier(unsigned limit) {
    const bool proves = barrier_.proves(out_);
    const bool reliable = pair_.info().ep_attr->type != FI_EP_DGRAM;
    const bool passed = pass_barrier(limit);
    barrier_lost_ = barrier_.tried() && !passed;
    if (reliable && barrier_lost_) ++patience_.lost;
    through_ = proves && passed;
    if (reliable && !await_bytes(limit)) ++patience_.lost;
    const bool timed = reliable && !through_;
    patience_.timed = patience_.timed || timed;
    drain(timed && !barrier_lost_ ? kBytesMicros * patience_factor() : patience_.quiet_micros);
    if (passed && counted_)
        count_behind_barriers(limit);
    else if (!barrier_lost_)
        count(after_);
    look_again();
}

// A barrier is behind a message in the order of matching.  The bytes of a long one may come later, piece by piece;
// where no entry says when, its memory does.  @return false if they do not come.
bool SequenceRun::await_bytes(unsigned limit) {
    const auto until = worked_micros() + limit;
    const auto longest = Clock::now() + kLongestWait * patience_factor();
    while (waits_for_bytes()) {
        if (worked_micros() >= until || Clock::now() > longest) return false;
        for (unsigned i = 0; i < kLookRounds; ++i) poll();
    }
    return true;
}

bool SequenceRun::pass_barrier(unsigned limit) {
    return barrier_.pass(out_, limit, [this] { poll(); });
}

// A barrier counts too: what one adds is known once two have added the same.
void SequenceRun::count_behind_barriers(unsigned limit) {
    Counts one{}, two{};
    count(one);
    Counts added{};
    for (std::uint64_t behind = 1; behind < kCounterRounds; ++behind) {
        if (!pass_barrier(limit)) return;
        drain(patience_.quiet_micros);
        count(two);
        const Counts more = difference(two, one);
        if (behind > 1 && more == added) {
            for (std::size_t s = 0; s < 2; ++s)
                for (std::size_t i = 0; i < more[s].size(); ++i) after_[s][i] = two[s][i] - (behind + 1) * more[s][i];
            return;
        }
        added = more;
        one = two;
    }
}

}  // namespace selvage::conformance
