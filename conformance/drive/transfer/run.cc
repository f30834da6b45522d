// See run.h: the calls of a sequence, one after the other, and reading the queues in between.
#include "conformance/drive/transfer/run.h"

#include <rdma/fi_errno.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "conformance/base/available_time.h"
#include "conformance/case/operations.h"
#include "conformance/drive/transfer/let_through.h"
#include "conformance/drive/transfer/run_state.h"

namespace selvage::conformance {
namespace {

using model::CallForm;
using model::Operation;
using model::Seen;
using model::Side;
using model::Traffic;
using model::Transfer;

constexpr unsigned kQuietRounds = 24;  // of reading all queues, at the least
constexpr unsigned kMissingRounds = 256;
constexpr unsigned kRemoteLooks = 4;  // at a time, where to ask for one takes longer than the look
static_assert(kRemoteLooks <= kMostLooks);
constexpr auto kNap = std::chrono::microseconds(50);  // behind those, so that who waits leaves the processor to others
constexpr std::size_t kRounds = 64;                   // exchanges before a context is used again
constexpr auto kRestTime = std::chrono::milliseconds(2000);      // without a call, for what needs none to come
constexpr auto kKnownRestTime = std::chrono::milliseconds(300);  // once it is known that it does not
constexpr unsigned kMostVainRests = 3;

}  // namespace

SequenceRun::SequenceRun(Pair& pair, const TransferSequence& sequence, Patience& patience, Traffic& out)
    : pair_(pair),
      sequence_(sequence),
      patience_(patience),
      charge_(patience.charge != nullptr ? *patience.charge : no_charge_),
      out_(out),
      memory_(pair, sequence),
      forecast_(sequence, {.directed = (pair.info().caps & FI_DIRECTED_RECV) != 0,
                           .reliable = pair.info().ep_attr->type != FI_EP_DGRAM}),
      barrier_(pair, sequence),
      owner_(kSlots, -1),
      looks_(pair.is_in_one_process() ? 1 : kRemoteLooks),
      counted_(sequence.counters ||
               std::any_of(sequence.operations.begin(), sequence.operations.end(), is_deferred_transfer)),
      began_(Clock::now()) {
    static_assert(kSlots * kRounds == kBarrierContexts && kLookRounds % kRemoteLooks == 0);
    static std::size_t round = 0;
    contexts_ = kSlots * (round++ % kRounds) * kContextLength;
}

bool SequenceRun::all() {
    out_.operations = sequence_.operations;
    out_.region_length = kRegionLength;
    out_.counters = sequence_.counters;
    if (!memory_.fits() || sequence_.operations.size() > kMostOperations) {
        out_.detail = "the program needs more memory than there is";
        return true;
    }
    count(before_);
    for (std::size_t i = 0; i < sequence_.operations.size(); ++i) {
        step(static_cast<int>(i));
        reached_ = i + 1;
    }
    out_.drained = drain();
    count(after_);
    look_again();
    const bool silent = uses_memory_in_silence();
    const Charges charged = charges();
    if (!patience_.starved && (!charged.empty() || silent)) wait_for_the_late(charged);
    patience_.hasty = patience_.hasty || rested_hastily_;
    if (patience_.starved) out_.drained = false;
    return tidy() && (through_ || !silent || !uses_memory_in_silence());
}

void SequenceRun::step(int index) {
    Operation& o = at(index);
    if (!charge_.let_through && (o.what < Transfer::Cancel || moves_counter(o))) charge_.operation = index;
    if (o.what == Transfer::Progress) {
        if (o.rest)
            rest(index);
        else
            drain();
        return;
    }
    if (is_atomic(o)) query_valid(o);
    Endpoint& end = pair_.end(o.side);
    PostedCall call;
    call.operation = o;
    call.context = context_for(index, o);
    memory_.name_buffers(index, call);
    if (reaches_memory(o)) call.target = pair_.region_of_peer(o.side, o.region_access);
    o.ret = end.post(call);
    o.again = o.ret == -FI_EAGAIN;
    beat();
    if (o.rest) try_alone(o, call);
    const auto until = Clock::now() + std::chrono::milliseconds(patience_.missing_millis);
    for (unsigned tries = 0; o.ret == -FI_EAGAIN && !cancels(o) && !o.rest; ++tries) {
        if (tries > kMissingRounds && Clock::now() > until) break;
        if (tries > kMissingRounds) std::this_thread::sleep_for(kNap);
        poll();
        o.ret = end.post(call);
    }
    if (o.ret != 0) return;
    if (!charge_.let_through && is_let_through(sequence_, pair_.answered(), o)) {
        charge_.operation = index;
        charge_.let_through = true;
    }
    forecast_.posted(index);
    // From here on the buffer is ours again.
    if (injected(o)) memory_.reuse(index);
}

// Makes the call again and reads the queues of its side, while the peer makes no call.
void SequenceRun::try_alone(Operation& o, const PostedCall& call) {
    const bool hasty = patience_.hurries && patience_.vain_rests >= kMostVainRests;
    AvailableTime time;
    while (o.ret == -FI_EAGAIN && !time.is_over(hasty ? kKnownRestTime : kRestTime)) {
        beat();
        read(o.side);
        std::this_thread::sleep_for(kNap);
        o.ret = pair_.end(o.side).post(call);
    }
    if (o.ret != -FI_EAGAIN) return;
    patience_.starved = patience_.starved || time.gave_up();
    if (time.gave_up()) o.rest = false;  // then it says nothing
    ++patience_.vain_rests;
    patience_.timed = true;
    rested_hastily_ = rested_hastily_ || hasty;
}

// Calls nothing until the bytes of all messages and writes so far have come, or the time is over.
void SequenceRun::rest(int index) {
    const bool hasty = patience_.hurries && patience_.vain_rests >= kMostVainRests;
    AvailableTime time;
    Operation& o = at(index);
    do {
        beat();  // no call hangs
        o.awaited = -1;
        o.rested = 0;
        for (int i = 0; i < index && o.awaited < 0; ++i) {
            const Operation& x = at(i);
            const bool moves = (is_send(x) || x.what == Transfer::Write) && x.ret == 0 && x.length > 0;
            if (!moves || forecast_.holds(i)) continue;
            ++o.rested;
            if ((is_send(x) ? memory_.arrived(i) : memory_.left(i)) != Seen::Whole) o.awaited = i;
        }
        if (o.awaited >= 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
    } while (o.awaited >= 0 && !time.is_over(hasty ? kKnownRestTime : kRestTime));
    if (o.awaited < 0) return;
    patience_.starved = patience_.starved || time.gave_up();
    if (time.gave_up()) o.rested = 0;  // then it says nothing
    ++patience_.vain_rests;
    patience_.timed = true;
    rested_hastily_ = rested_hastily_ || hasty;
}

bool SequenceRun::injected(const Operation& o) const {
    if (is_receive(o) || o.what == Transfer::Read || o.what >= Transfer::Cancel || o.deferred) return false;
    if (o.form == CallForm::Inject || o.form == CallForm::InjectData) return true;
    return ((o.form == CallForm::Message ? o.flags : sequence_.transmit_flags) & FI_INJECT) != 0;
}

// Whether the library says that it can do this.
void SequenceRun::query_valid(Operation& o) {
    o.length = bytes_of(o);
    o.valid_query = true;
    o.valid_count = pair_.end(o.side).valid_count(o);
}

void SequenceRun::beat() {
    if (patience_.beat != nullptr) patience_.beat->fetch_add(1, std::memory_order_relaxed);
}

// Reads every queue, `looks_` times at the most.  @return true if something came.
bool SequenceRun::poll() {
    beat();
    bool any = false;
    for (const Side side : {Side::A, Side::B}) any |= read(side);
    return any;
}

bool SequenceRun::read(Side side) {
    pair_.end(side).read(looks_, read_);
    if (out_.detail.empty()) out_.detail = read_.trouble;
    for (const QueueEntry& e : read_.received) note(side, false, e);
    for (const QueueEntry& e : read_.transmitted) note(side, true, e);
    return !read_.received.empty() || !read_.transmitted.empty();
}

// A message that no entry reports is on its way.
bool SequenceRun::waits_for_bytes() {
    if (broke_) return false;
    return std::any_of(forecast_.silent().begin(), forecast_.silent().end(), [this](int i) {
        int bytes_of = -1;
        const Seen seen = memory_.received(i, bytes_of);
        return seen == Seen::Untouched || seen == Seen::Short;
    });
}

// Deferred work mostly has no entry: its completion counter counts it.
bool SequenceRun::work_is_missing() {
    return std::any_of(kSides.begin(), kSides.end(), [this](Side side) {
        const std::uint64_t due = forecast_.work_due(side);
        if (due == 0) return false;
        const CounterValues now = pair_.end(side).counters(), &before = before_[static_cast<std::size_t>(side)];
        return moved(now[kWork], before[kWork]) + moved(now[kWork + COUNTERS], before[kWork + COUNTERS]) < due;
    });
}

// Reads the queues until nothing has come for so long, whatever should.
void SequenceRun::drain(unsigned micros) {
    auto last = Clock::now();
    for (unsigned rounds = 0; rounds < kQuietRounds || Clock::now() - last < std::chrono::microseconds(micros);) {
        rounds += looks_;
        if (!poll()) continue;
        rounds = 0;
        last = Clock::now();
    }
}

// Reads the queues until nothing more is to come.  @return false if time ran out.
bool SequenceRun::drain() {
    auto last = Clock::now();
    unsigned quiet = patience_.quiet_micros;
    bool looked = false;
    for (unsigned rounds = 0;;) {
        if (poll()) {
            rounds = 0;
            last = Clock::now();
        }
        rounds += looks_;
        if (rounds % kLookRounds != 0) continue;
        const bool waits = forecast_.waits() || work_is_missing();
        if (rounds < (waits ? kMissingRounds : kQuietRounds)) continue;
        if (!waits && !looked) {
            looked = true;
            if (waits_for_bytes()) quiet = kBytesMicros;
        }
        const auto now = Clock::now();
        if (now - began_ > std::chrono::milliseconds(patience_.total_millis)) return !waits;
        const auto patience =
            waits ? std::chrono::microseconds(patience_.missing_millis * 1000) : std::chrono::microseconds(quiet);
        if (now - last < patience) {
            if (waits) std::this_thread::sleep_for(kNap);
            continue;
        }
        patience_.spent = patience_.spent || waits;
        return true;
    }
}

// Takes back what is left.  @return true if nothing was odd.
bool SequenceRun::tidy() {
    const bool clean = out_.drained && !stray_ && !failed_ && !forecast_.waits() && !forecast_.leftovers() &&
                       !barrier_lost_ && !charge_.let_through && out_.detail.empty() &&
                       out_.entries.size() < kMostEntries;
    return clean && std::all_of(out_.operations.begin(), out_.operations.end(),
                                [](const Operation& o) { return o.ret == 0 || cancels(o); });
}

bool run_sequence(Pair& pair, const TransferSequence& sequence, Patience& patience, Traffic& out) {
    return SequenceRun(pair, sequence, patience, out).all();
}

}  // namespace selvage::conformance
