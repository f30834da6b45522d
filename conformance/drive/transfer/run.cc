// See run.h.
#include "conformance/drive/transfer/run.h"

#include <rdma/fi_errno.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <thread>

#include "conformance/base/available_time.h"
#include "conformance/base/patience.h"
#include "conformance/case/operations.h"
#include "conformance/drive/transfer/barrier.h"
#include "conformance/drive/transfer/buffers.h"
#include "conformance/drive/transfer/forecast.h"
#include "conformance/drive/transfer/let_through.h"
#include "conformance/drive/transfer/never_came.h"
#include "conformance/drive/transfer/pattern.h"
#include "model/judge/judge.h"

namespace selvage::conformance {
namespace {

using model::CallForm;
using model::Completion;
using model::Operation;
using model::Seen;
using model::Side;
using model::Traffic;
using model::Transfer;
using Clock = std::chrono::steady_clock;
using Charges = std::vector<model::Because>;

constexpr unsigned kLookRounds = 8;    // of reading all queues, between two looks at the clock
constexpr unsigned kQuietRounds = 24;  // of them, at the least
constexpr unsigned kMissingRounds = 256;
constexpr unsigned kRemoteLooks = 4;  // at a time, where to ask for one takes longer than the look
static_assert(kRemoteLooks <= kMostLooks && kLookRounds % kRemoteLooks == 0);
constexpr auto kNap = std::chrono::microseconds(50);  // behind those, so that who waits leaves the processor to others
constexpr auto kLongNap = std::chrono::milliseconds(1);  // where it is waited at length
constexpr unsigned kLongNaps = 8;                        // of them, between two looks at what is charged
constexpr unsigned kBarrierMicros = 500'000;             // of work, for a barrier to come through
constexpr unsigned kLostBarrierMicros = 60'000;          // once it is known that they get lost
constexpr unsigned kMostLostBarriers = 6;
constexpr unsigned kCounterRounds = 8;     // of barriers, until each adds as much to the counters as the one before
constexpr unsigned kBytesMicros = 20'000;  // without news while a message is missing that no entry reports
constexpr std::size_t kMostEntries = 4096;
constexpr std::size_t kSlots = 64;                               // contexts of one exchange, on each side
constexpr std::size_t kRounds = 64;                              // exchanges before a context is used again
constexpr auto kRestTime = std::chrono::milliseconds(2000);      // without a call, for what needs none to come
constexpr auto kKnownRestTime = std::chrono::milliseconds(300);  // once it is known that it does not
constexpr unsigned kMostVainRests = 3;
constexpr unsigned char kContextFill = 0xC5;
static_assert(kSlots * kRounds == kBarrierContexts);
constexpr std::array kSides = {Side::A, Side::B};
constexpr std::size_t kWork = COUNTERS - 1;  // the counter of deferred work
static_assert(sizeof(fi_deferred_work) <= kContextLength);

std::uint64_t moved(std::uint64_t now, std::uint64_t before) { return now - before; }

class Run {
public:
    Run(Pair& pair, const TransferSequence& sequence, Patience& patience, Traffic& out)
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
        static std::size_t round = 0;
        contexts_ = kSlots * (round++ % kRounds) * kContextLength;
    }

    bool all() {
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

private:
    void look_again() {
        note_counts();
        look_at_memory();
    }

    // What would be called broken.  What is judged beside the operations is given to the model here alone; the parent
    // knows it from the case.
    Charges charges() {
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

    static bool are_absences(const Charges& charged) { return std::any_of(charged.begin(), charged.end(), never_came); }

    // An operation that gets no entry may not be over: its source or destination is memory that the next exchange uses.
    [[nodiscard]] bool uses_memory_in_silence() const {
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
    [[nodiscard]] bool may_come_behind_barriers() {
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
    void wait_for_the_late(const Charges& charged) {
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
    void wait_at_length(const Charges& charged) {
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
    [[nodiscard]] bool is_any_new(const Charges& charged) const {
        if (patience_.known == nullptr) return false;
        return std::any_of(charged.begin(), charged.end(), [this](const auto& broken) {
            return never_came(broken) && !patience_.known->contains(absence_of(broken, pair_.info().ep_attr->type));
        });
    }

    void send_barrier(unsigned limit) {
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
    bool await_bytes(unsigned limit) {
        const auto until = worked_micros() + limit;
        const auto longest = Clock::now() + kLongestWait * patience_factor();
        while (waits_for_bytes()) {
            if (worked_micros() >= until || Clock::now() > longest) return false;
            for (unsigned i = 0; i < kLookRounds; ++i) poll();
        }
        return true;
    }

    bool pass_barrier(unsigned limit) {
        return barrier_.pass(out_, limit, [this] { poll(); });
    }

    // A barrier counts too: what one adds is known once two have added the same.
    void count_behind_barriers(unsigned limit) {
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
                    for (std::size_t i = 0; i < more[s].size(); ++i)
                        after_[s][i] = two[s][i] - (behind + 1) * more[s][i];
                return;
            }
            added = more;
            one = two;
        }
    }

    // Reads the queues until nothing has come for so long, whatever should.
    void drain(unsigned micros) {
        auto last = Clock::now();
        for (unsigned rounds = 0; rounds < kQuietRounds || Clock::now() - last < std::chrono::microseconds(micros);) {
            rounds += looks_;
            if (!poll()) continue;
            rounds = 0;
            last = Clock::now();
        }
    }

    Operation& at(int index) { return out_.operations[static_cast<std::size_t>(index)]; }

    void step(int index) {
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
    void try_alone(Operation& o, const PostedCall& call) {
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
    void rest(int index) {
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

    [[nodiscard]] bool injected(const Operation& o) const {
        if (is_receive(o) || o.what == Transfer::Read || o.what >= Transfer::Cancel || o.deferred) return false;
        if (o.form == CallForm::Inject || o.form == CallForm::InjectData) return true;
        return ((o.form == CallForm::Message ? o.flags : sequence_.transmit_flags) & FI_INJECT) != 0;
    }

    // Whether the library says that it can do this.
    void query_valid(Operation& o) {
        o.length = bytes_of(o);
        o.valid_query = true;
        o.valid_count = pair_.end(o.side).valid_count(o);
    }

    // The context that an operation is posted with: its own, or that of the operation it speaks of.
    std::uint64_t context_for(int index, const Operation& o) {
        const int of = o.of >= 0 && o.of < index ? slot_of(o.of) : index;
        if (!cancels(o)) owner_[static_cast<std::size_t>(of)] = index;
        const MemoryRange slot = slot_at(of);
        if (of != index) return slot.offset;
        Endpoint& end = pair_.end(o.side);
        std::memset(end.memory() + slot.offset, kContextFill, slot.length);
        end.push(slot);
        return slot.offset;
    }
    [[nodiscard]] MemoryRange slot_at(int index) const {
        return {contexts_ + static_cast<std::uint64_t>(index) * kContextLength, kContextLength};
    }

    // What has become of an operation's own context.
    [[nodiscard]] model::ContextMemory context_memory(int index) {
        using model::ContextMemory;
        const Operation& o = out_.operations[static_cast<std::size_t>(index)];
        if (o.ret != 0 || o.of >= 0 || injected_call(o) || waits_for_counter(o)) return ContextMemory::NotLooked;
        Endpoint& end = pair_.end(o.side);
        end.pull(slot_at(index));
        const unsigned char* const bytes = end.memory() + slot_at(index).offset;
        const auto changed = [bytes](std::size_t from, std::size_t to) {
            return std::any_of(bytes + from, bytes + to, [](unsigned char b) { return b != kContextFill; });
        };
        if (changed(sizeof(fi_context2), kContextLength)) return ContextMemory::Beyond;
        if (changed(sizeof(fi_context), sizeof(fi_context2))) return ContextMemory::Second;
        return changed(0, sizeof(fi_context)) ? ContextMemory::Written : ContextMemory::Untouched;
    }
    static bool injected_call(const Operation& o) {
        return o.form == CallForm::Inject || o.form == CallForm::InjectData;
    }
    int slot_of(int index) {
        const Operation& o = at(index);
        return !cancels(o) && o.of >= 0 && o.of < index ? slot_of(o.of) : index;
    }
    // Whichever queue it came from; -1: none.
    int operation_of(std::uint64_t context) {
        for (const Side side : {Side::A, Side::B}) {
            const std::uint64_t slot = (context - pair_.end(side).memory_address() - contexts_) / kContextLength;
            const int owner = slot < kSlots ? owner_[slot] : -1;
            if (owner >= 0 && at(owner).side == side) return owner;
        }
        return -1;
    }

    void beat() {
        if (patience_.beat != nullptr) patience_.beat->fetch_add(1, std::memory_order_relaxed);
    }

    // Reads every queue, `looks_` times at the most.  @return true if something came.
    bool poll() {
        beat();
        bool any = false;
        for (const Side side : {Side::A, Side::B}) any |= read(side);
        return any;
    }

    bool read(Side side) {
        pair_.end(side).read(looks_, read_);
        if (out_.detail.empty()) out_.detail = read_.trouble;
        for (const QueueEntry& e : read_.received) note(side, false, e);
        for (const QueueEntry& e : read_.transmitted) note(side, true, e);
        return !read_.received.empty() || !read_.transmitted.empty();
    }

    void note(Side side, bool transmit, const QueueEntry& e) {
        if (barrier_.took(e)) return;
        failed_ = failed_ || e.failed != 0;
        broke_ = broke_ || (e.failed != 0 && e.err != FI_ECANCELED);
        Completion c;
        c.side = side;
        c.transmit = transmit;
        c.operation = operation_of(e.context);
        c.flags = e.flags;
        c.length = e.len;
        c.data = e.data;
        c.tag = e.tag;
        c.error = e.err;
        c.overflow = e.olen;
        c.error_data = e.err_data_size;
        c.from_peer = e.source == THE_PEER;
        c.from_wrong = e.source == ANOTHER;
        c.after = reached_;
        if (c.operation >= 0) {
            c.buffer_offset = e.buffer != 0 ? memory_.offset_in(c.operation, e.buffer) : -1;
            look(c);
        }
        stray_ =
            stray_ || (c.operation < 0 && (c.flags & FI_REMOTE_CQ_DATA) == 0 && sequence_.format >= FI_CQ_FORMAT_MSG);
        forecast_.read(c.operation, c.error != 0 || (c.flags & FI_MULTI_RECV) != 0);
        // Whatever its level, a completion gives the buffer back.
        if (c.operation >= 0 && transmit_is_over(c)) memory_.reuse(c.operation);
        if (out_.entries.size() < kMostEntries) out_.entries.push_back(c);
    }

    bool transmit_is_over(const Completion& c) {
        const Operation& o = at(c.operation);
        return c.transmit && c.error == 0 && !is_receive(o) && o.what != Transfer::Read && o.what < Transfer::Cancel;
    }

    void look(Completion& c) {
        const Operation& o = at(c.operation);
        if (is_receive(o)) {
            const bool many = (o.flags & FI_MULTI_RECV) != 0 || (sequence_.receive_flags & FI_MULTI_RECV) != 0;
            if (sequence_.format >= FI_CQ_FORMAT_MSG && c.length == 0) return;
            // Of a peek only what it says that it has copied.
            if ((o.flags & FI_PEEK) != 0 && (c.buffer_offset != 0 || o.length == 0 || c.error != 0)) return;
            c.seen = many && c.buffer_offset >= 0
                         ? memory_.received_part(c.operation, static_cast<std::uint64_t>(c.buffer_offset), c.length,
                                                 c.bytes_of)
                         : memory_.received(c.operation, c.bytes_of);
        } else if (is_send(o)) {
            c.seen = memory_.arrived(c.operation);
        } else if (o.what == Transfer::Write || o.what == Transfer::Atomic) {
            c.seen = memory_.left(c.operation);
        } else if (reaches_memory(o)) {
            c.seen = memory_.fetched(c.operation);
        }
    }

    // A message that no entry reports is on its way.
    bool waits_for_bytes() {
        if (broke_) return false;
        return std::any_of(forecast_.silent().begin(), forecast_.silent().end(), [this](int i) {
            int bytes_of = -1;
            const Seen seen = memory_.received(i, bytes_of);
            return seen == Seen::Untouched || seen == Seen::Short;
        });
    }

    // Deferred work mostly has no entry: its completion counter counts it.
    bool work_is_missing() {
        return std::any_of(kSides.begin(), kSides.end(), [this](Side side) {
            const std::uint64_t due = forecast_.work_due(side);
            if (due == 0) return false;
            const CounterValues now = pair_.end(side).counters(), &before = before_[static_cast<std::size_t>(side)];
            return moved(now[kWork], before[kWork]) + moved(now[kWork + COUNTERS], before[kWork + COUNTERS]) < due;
        });
    }

    // Reads the queues until nothing more is to come.  @return false if time ran out.
    bool drain() {
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

    using Counts = std::array<CounterValues, 2>;
    static Counts difference(const Counts& a, const Counts& b) {
        Counts out{};
        for (std::size_t s = 0; s < 2; ++s)
            for (std::size_t i = 0; i < out[s].size(); ++i) out[s][i] = moved(a[s][i], b[s][i]);
        return out;
    }
    void count(Counts& into) {
        for (const Side side : kSides)
            into[static_cast<std::size_t>(side)] = counted_ ? pair_.end(side).counters() : CounterValues{};
    }

    void note_counts() {
        for (std::size_t s = 0; s < 2; ++s) {
            const auto diff = [&](std::size_t i) { return moved(after_[s][i], before_[s][i]); };
            model::Counted& c = out_.counted[s];
            c.send = diff(0), c.recv = diff(1), c.read = diff(2), c.write = diff(3);
            c.remote_read = diff(4), c.remote_write = diff(5);
            c.work = diff(kWork), c.work_errors = diff(kWork + COUNTERS);
            c.send_errors = diff(COUNTERS), c.recv_errors = diff(COUNTERS + 1);
            c.read_errors = diff(COUNTERS + 2), c.write_errors = diff(COUNTERS + 3);
        }
    }

    void look_at_memory() {
        for (int i = 0; i < static_cast<int>(out_.operations.size()); ++i) {
            Operation& o = at(i);
            if (o.what < Transfer::Cancel) o.context = context_memory(i);
            if (is_receive(o)) {
                const bool many = (o.flags & FI_MULTI_RECV) != 0 || (sequence_.receive_flags & FI_MULTI_RECV) != 0;
                o.local = memory_.received(i, o.bytes_of);
                if (many && o.local != Seen::Untouched) o.local = Seen::NotLooked;
            } else if (o.what == Transfer::Write || o.what == Transfer::Atomic) {
                o.remote = memory_.left(i);
            } else if (is_atomic(o)) {
                o.remote = memory_.left(i);
                o.local = memory_.fetched(i);
            } else if (o.what == Transfer::Read) {
                o.local = memory_.fetched(i);
            }
        }
    }

    // Takes back what is left.  @return true if nothing was odd.
    bool tidy() {
        const bool clean = out_.drained && !stray_ && !failed_ && !forecast_.waits() && !forecast_.leftovers() &&
                           !barrier_lost_ && !charge_.let_through && out_.detail.empty() &&
                           out_.entries.size() < kMostEntries;
        return clean && std::all_of(out_.operations.begin(), out_.operations.end(),
                                    [](const Operation& o) { return o.ret == 0 || cancels(o); });
    }

    Pair& pair_;
    const TransferSequence& sequence_;
    Patience& patience_;
    Charge no_charge_;  // where nobody asks for one
    Charge& charge_;
    Traffic& out_;
    Memory memory_;
    Forecast forecast_;
    Barrier barrier_;
    bool barrier_lost_ = false;
    bool rested_hastily_ = false;  // once it is known that nothing comes without a call
    bool through_ = false;         // a barrier has proved that all came that will
    std::vector<int> owner_;       // by slot of a context: the operation that was posted with it last
    std::uint64_t contexts_ = 0;   // offset of the first one in each side's memory
    const unsigned looks_;         // of one side, before it is the other's turn
    Arrivals read_;
    std::uint64_t reached_ = 0;  // how many operations are behind us, whatever they are
    const bool counted_;         // counters are looked at
    Counts before_{}, after_{};
    bool stray_ = false;
    bool failed_ = false;
    bool broke_ = false;  // failed without being cancelled, so that a message may never come
    Clock::time_point began_;
};

}  // namespace

bool run_sequence(Pair& pair, const TransferSequence& sequence, Patience& patience, Traffic& out) {
    return Run(pair, sequence, patience, out).all();
}

}  // namespace selvage::conformance
