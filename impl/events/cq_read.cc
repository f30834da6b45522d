// Reading completion queues: fi_cq_read, fi_cq_sread and their kin, one instance per format.
#include <algorithm>

#include "impl/events/cq.h"
#include "impl/progress/wait_block.h"

namespace selvage::impl {

bool CompletionQueue::holds(size_t entries) {
    lock();
    const bool enough = ring.size() >= entries || ring.failures() || ring.overrun();
    unlock();
    return enough;
}

namespace {

template <fi_cq_format kFormat>
struct EntryOf;
template <>
struct EntryOf<FI_CQ_FORMAT_CONTEXT> {
    using Type = fi_cq_entry;
};
template <>
struct EntryOf<FI_CQ_FORMAT_MSG> {
    using Type = fi_cq_msg_entry;
};
template <>
struct EntryOf<FI_CQ_FORMAT_DATA> {
    using Type = fi_cq_data_entry;
};
template <>
struct EntryOf<FI_CQ_FORMAT_TAGGED> {
    using Type = fi_cq_tagged_entry;
};

static_assert(offsetof(Completion, context) == offsetof(fi_cq_tagged_entry, op_context));
static_assert(offsetof(Completion, flags) == offsetof(fi_cq_tagged_entry, flags));
static_assert(offsetof(Completion, length) == offsetof(fi_cq_tagged_entry, len));
static_assert(offsetof(Completion, buffer) == offsetof(fi_cq_tagged_entry, buf));
static_assert(offsetof(Completion, data) == offsetof(fi_cq_tagged_entry, data));
static_assert(offsetof(Completion, tag) == offsetof(fi_cq_tagged_entry, tag));

// The answer of a queue that holds no entry.
ssize_t nothing_there(const CompletionQueue& cq) { return cq.ring.overrun() ? -FI_EAVAIL : -FI_EAGAIN; }

// "fi_cq_readfrom will return -FI_EAVAIL" of an unknown source; fi_cq_read, which reports none, has the completion.
bool reads_as_success(CompletionQueue& cq, size_t index, const fi_addr_t* sources) {
    return !sources && cq.ring.succeeds_without_source(index);
}

// With the queue's lock held.
template <fi_cq_format kFormat>
ssize_t take_entries(CompletionQueue& cq, void* buffer, size_t count, fi_addr_t* sources) {
    using Entry = typename EntryOf<kFormat>::Type;
    if (!sources && cq.ring.failures()) [[unlikely]]
        cq.ring.drop_unrequested();
    const size_t queued = cq.ring.size();
    if (!queued) return nothing_there(cq);
    auto* out = static_cast<unsigned char*>(buffer);
    const size_t wanted = std::min(count, queued);
    size_t taken = 0;
    while (taken < wanted) {
        const CompletionSlot& slot = cq.ring.at(taken);
        if (slot.failure) [[unlikely]] {
            if (!reads_as_success(cq, taken, sources)) break;
            cq.ring.make_success(taken);
        }
        memcpy(out, &slot.completion, sizeof(Entry));
        out += sizeof(Entry);
        if (sources) sources[taken] = slot.completion.source;
        ++taken;
    }
    if (taken) {
        cq.ring.pop(taken);
        return static_cast<ssize_t>(taken);
    }
    return !cq.ring.at(0).failure || reads_as_success(cq, 0, sources) ? 0 : -FI_EAVAIL;
}

template <fi_cq_format kFormat>
ssize_t take(CompletionQueue& cq, void* buffer, size_t count, fi_addr_t* sources) {
    // Nothing there, and no lock needed to know: an entry of this thread's making would be seen.
    if (!cq.ring.size()) return nothing_there(cq);
    cq.lock();
    const ssize_t result = take_entries<kFormat>(cq, buffer, count, sources);
    cq.unlock();
    return result;
}

// What is there already is given without progress, but not for ever: peers may wait for it.
constexpr uint32_t kReadsWithoutProgress = 8;

template <fi_cq_format kFormat>
[[gnu::noinline]] ssize_t readfrom_cq(fid_cq* descriptor, void* buffer, size_t count, fi_addr_t* sources) {
    auto* cq = CompletionQueue::of(descriptor);
    const uint32_t reads = cq->reads.load(std::memory_order_relaxed);
    if (!cq->ring.size() || !count || reads >= kReadsWithoutProgress) {
        cq->reads.store(0, std::memory_order_relaxed);
        cq->progress.advance();
    } else {
        cq->reads.store(reads + 1, std::memory_order_relaxed);
    }
    if (count && !buffer) return -FI_EINVAL;
    const ssize_t result = take<kFormat>(*cq, buffer, count, sources);
    // An error entry says nothing of how long the application has waited: one comes for each FI_PEEK that finds
    // nothing.
    if (result == -FI_EAGAIN)
        cq->idle.empty();
    else if (result > 0)
        cq->idle.found();
    return result;
}

// The only entry that is asked for, or there, of a queue that nobody else uses. False: it is no success, or there are
// more.
template <fi_cq_format kFormat>
[[gnu::always_inline]] inline bool take_one(CompletionQueue& cq, void* buffer, size_t count, size_t queued) {
    const CompletionSlot& slot = cq.ring.front();
    if (slot.failure || (count != 1 && queued != 1)) [[unlikely]]
        return false;
    cq.idle.found();
    memcpy(buffer, &slot.completion, sizeof(typename EntryOf<kFormat>::Type));
    cq.ring.pop(1);
    return true;
}

// The same after progress.
template <fi_cq_format kFormat>
[[gnu::noinline]] ssize_t look_and_read(fid_cq* descriptor, void* buffer, size_t count) {
    auto* cq = CompletionQueue::of(descriptor);
    cq->progress.advance();
    cq->reads.store(0, std::memory_order_relaxed);
    const size_t queued = cq->ring.size();
    if (!queued) {
        const ssize_t result = nothing_there(*cq);
        if (result == -FI_EAGAIN) cq->idle.empty();
        return result;
    }
    if (take_one<kFormat>(*cq, buffer, count, queued)) return 1;
    return readfrom_cq<kFormat>(descriptor, buffer, count, nullptr);
}

template <fi_cq_format kFormat>
ssize_t read_cq(fid_cq* descriptor, void* buffer, size_t count) {
    auto* cq = CompletionQueue::of(descriptor);
    if (!cq->serialised || !buffer || !count) [[unlikely]]
        return readfrom_cq<kFormat>(descriptor, buffer, count, nullptr);
    const uint32_t reads = cq->reads.load(std::memory_order_relaxed) + 1;
    const size_t queued = cq->ring.size();
    if (!queued || reads > kReadsWithoutProgress) return look_and_read<kFormat>(descriptor, buffer, count);
    if (!take_one<kFormat>(*cq, buffer, count, queued)) return readfrom_cq<kFormat>(descriptor, buffer, count, nullptr);
    cq->reads.store(reads, std::memory_order_relaxed);
    return 1;
}

// How many entries a blocked reader asks for. A queue never waits for more than it was opened for.
size_t threshold_of(const CompletionQueue& cq, const void* condition) {
    if (cq.condition != FI_CQ_COND_THRESHOLD) return 1;
    return std::clamp<size_t>(reinterpret_cast<uintptr_t>(condition), 1, cq.size);
}

// Blocks until completions, an error, a call of fi_cq_signal, an interruption or the deadline. A signal that comes
// while nobody waits ends the next wait: who signals cannot know whether the other thread is there already. One signal
// ends all waits under way, each of which compares with what it found when it began.
template <fi_cq_format kFormat>
ssize_t sreadfrom_cq(fid_cq* descriptor, void* buffer, size_t count, fi_addr_t* sources, const void* condition,
                     int timeout) {
    auto* cq = CompletionQueue::of(descriptor);
    if (!cq->wait.waits_here() || (count && !buffer)) return -FI_EINVAL;
    const size_t threshold = threshold_of(*cq, condition);
    if (threshold == 1 && cq->ring.size()) {
        const ssize_t result = readfrom_cq<kFormat>(descriptor, buffer, count, sources);
        if (result != -FI_EAGAIN) return result;  // else another thread has taken what was there
    }
    const Deadline deadline(timeout);
    const uint32_t answered = cq->answered_wakeups.load();
    for (;;) {
        const auto woken = block(cq->wait, cq->progress, deadline,
                                 [&] { return cq->holds(threshold) || cq->wakeups.load() != answered; });
        const ssize_t result = take<kFormat>(*cq, buffer, count, sources);
        if (result != -FI_EAGAIN || woken != Blocked::Ready) return result;
        const uint32_t wakeups = cq->wakeups.load();
        if (wakeups != answered) cq->answered_wakeups.store(wakeups);
        if (wakeups != answered || deadline.passed()) return result;
    }
}

template <fi_cq_format kFormat>
ssize_t sread_cq(fid_cq* descriptor, void* buffer, size_t count, const void* condition, int timeout) {
    return sreadfrom_cq<kFormat>(descriptor, buffer, count, nullptr, condition, timeout);
}

int signal_cq(fid_cq* descriptor) {
    auto* cq = CompletionQueue::of(descriptor);
    if (cq->wait.kind() == FI_WAIT_NONE) return -FI_EINVAL;
    cq->wakeups.fetch_add(1);
    cq->wait.signal();
    return 0;
}

template <fi_cq_format kFormat>
constexpr fi_ops_cq make_ops() {
    return {
        .size = sizeof(fi_ops_cq),
        .read = read_cq<kFormat>,
        .readfrom = readfrom_cq<kFormat>,
        .readerr = read_cq_error,
        .sread = sread_cq<kFormat>,
        .sreadfrom = sreadfrom_cq<kFormat>,
        .signal = signal_cq,
        .strerror = strerror_cq,
    };
}

}  // namespace

constinit const fi_ops_cq kCqOps[FI_CQ_FORMAT_TAGGED + 1] = {
    make_ops<FI_CQ_FORMAT_CONTEXT>(),  // unspecified
    make_ops<FI_CQ_FORMAT_CONTEXT>(), make_ops<FI_CQ_FORMAT_MSG>(),
    make_ops<FI_CQ_FORMAT_DATA>(),    make_ops<FI_CQ_FORMAT_TAGGED>(),
};

}  // namespace selvage::impl
