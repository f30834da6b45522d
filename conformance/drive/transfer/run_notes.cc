// See run_state.h: what is seen of a sequence: the entries of the queues, as they come, and, when it is over, counters,
// memory and contexts.
#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstring>

#include "conformance/case/operations.h"
#include "conformance/drive/transfer/pattern.h"
#include "conformance/drive/transfer/run_state.h"

namespace selvage::conformance {
namespace {

using model::Completion;
using model::Operation;
using model::Seen;
using model::Side;
using model::Transfer;

constexpr unsigned char kContextFill = 0xC5;
static_assert(sizeof(fi_deferred_work) <= kContextLength);

}  // namespace

void SequenceRun::look_again() {
    note_counts();
    look_at_memory();
}

// The context that an operation is posted with: its own, or that of the operation it speaks of.
std::uint64_t SequenceRun::context_for(int index, const Operation& o) {
    const int of = o.of >= 0 && o.of < index ? slot_of(o.of) : index;
    if (!cancels(o)) owner_[static_cast<std::size_t>(of)] = index;
    const MemoryRange slot = slot_at(of);
    if (of != index) return slot.offset;
    Endpoint& end = pair_.end(o.side);
    std::memset(end.memory() + slot.offset, kContextFill, slot.length);
    end.push(slot);
    return slot.offset;
}

MemoryRange SequenceRun::slot_at(int index) const {
    return {contexts_ + static_cast<std::uint64_t>(index) * kContextLength, kContextLength};
}

// What has become of an operation's own context.
model::ContextMemory SequenceRun::context_memory(int index) {
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

bool SequenceRun::injected_call(const Operation& o) {
    return o.form == CallForm::Inject || o.form == CallForm::InjectData;
}

int SequenceRun::slot_of(int index) {
    const Operation& o = at(index);
    return !cancels(o) && o.of >= 0 && o.of < index ? slot_of(o.of) : index;
}

// Whichever queue it came from; -1: none.
int SequenceRun::operation_of(std::uint64_t context) {
    for (const Side side : {Side::A, Side::B}) {
        const std::uint64_t slot = (context - pair_.end(side).memory_address() - contexts_) / kContextLength;
        const int owner = slot < kSlots ? owner_[slot] : -1;
        if (owner >= 0 && at(owner).side == side) return owner;
    }
    return -1;
}

void SequenceRun::note(Side side, bool transmit, const QueueEntry& e) {
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
    stray_ = stray_ || (c.operation < 0 && (c.flags & FI_REMOTE_CQ_DATA) == 0 && sequence_.format >= FI_CQ_FORMAT_MSG);
    forecast_.read(c.operation, c.error != 0 || (c.flags & FI_MULTI_RECV) != 0);
    // Whatever its level, a completion gives the buffer back.
    if (c.operation >= 0 && transmit_is_over(c)) memory_.reuse(c.operation);
    if (out_.entries.size() < kMostEntries) out_.entries.push_back(c);
}

bool SequenceRun::transmit_is_over(const Completion& c) {
    const Operation& o = at(c.operation);
    return c.transmit && c.error == 0 && !is_receive(o) && o.what != Transfer::Read && o.what < Transfer::Cancel;
}

void SequenceRun::look(Completion& c) {
    const Operation& o = at(c.operation);
    if (is_receive(o)) {
        const bool many = (o.flags & FI_MULTI_RECV) != 0 || (sequence_.receive_flags & FI_MULTI_RECV) != 0;
        if (sequence_.format >= FI_CQ_FORMAT_MSG && c.length == 0) return;
        // Of a peek only what it says that it has copied.
        if ((o.flags & FI_PEEK) != 0 && (c.buffer_offset != 0 || o.length == 0 || c.error != 0)) return;
        c.seen =
            many && c.buffer_offset >= 0
                ? memory_.received_part(c.operation, static_cast<std::uint64_t>(c.buffer_offset), c.length, c.bytes_of)
                : memory_.received(c.operation, c.bytes_of);
    } else if (is_send(o)) {
        c.seen = memory_.arrived(c.operation);
    } else if (o.what == Transfer::Write || o.what == Transfer::Atomic) {
        c.seen = memory_.left(c.operation);
    } else if (reaches_memory(o)) {
        c.seen = memory_.fetched(c.operation);
    }
}

SequenceRun::Counts SequenceRun::difference(const Counts& a, const Counts& b) {
    Counts out{};
    for (std::size_t s = 0; s < 2; ++s)
        for (std::size_t i = 0; i < out[s].size(); ++i) out[s][i] = moved(a[s][i], b[s][i]);
    return out;
}

void SequenceRun::count(Counts& into) {
    for (const Side side : kSides)
        into[static_cast<std::size_t>(side)] = counted_ ? pair_.end(side).counters() : CounterValues{};
}

void SequenceRun::note_counts() {
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

void SequenceRun::look_at_memory() {
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

}  // namespace selvage::conformance
