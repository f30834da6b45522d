// A long transfer, or several, that both sides copy: the receiver reads chunks from the front (process_vm_readv) while
// its sender, which only polls then, writes chunks from the back (process_vm_writev). The words lie in the slot of the
// sender in the receiver's region (layout.h); shm_shared_pull.cc copies. Header only; no system call, no pointer of the
// peer's is followed. Called with the endpoint's lock held, from the endpoint that has that end.
//
// Nobody else writes into the memory of another process, so this is what it must keep:
//   1. A sender writes only a chunk that it has claimed from a transfer that is open. Who claims does so by a
//      compare-and-exchange of `claims`, which carries the generation of the transfer: each chunk is copied by one of
//      the two, and a sender that comes late finds another generation, or nothing left.
//   2. The receiver does not leave its call of pull() before nothing is left to claim and every chunk that the sender
//      claimed is finished, or the sender's process is gone. So nothing is written after a completion, a cancel or
//      fi_close. A sender that is stopped between its claim and the end of its write makes the receiver wait until it
//      goes on or dies.
//
//   receiver                                          sender
//   1. store the ranges                               1. load `claims` (acquire): chunks are left
//   2. store `claims` (release): a new generation,    2. load the ranges; check them
//      all chunks                                     3. exchange `claims` (acq_rel) if it is as it was: one chunk
//   3. exchange `claims` (acq_rel): one chunk less       less at the back
//      at the front; read it; again until none is     4. write the chunk, if the receiver lives
//      left                                           5. store `finished` (release): generation, number
//   4. load `finished` (acquire) until it is the
//      number of the chunks that it did not get
//
// What the sender loads in its step 2 belongs to the generation that it claims from: the exchange succeeds only while
// chunks of that one are left, and the receiver stores the next one's words behind its last exchange, which has seen
// the sender's. models/shared_pull.pml checks both rules, with a sender that dies at any step.
//
// The words can be written by any process of the user (layout.h). So the receiver keeps what it took itself, and takes
// `claims` for no more than where the sender's chunks begin; what it copied stays within its own range, whatever is
// there. The sender checks the words after it has copied them, and its engine that the source was offered.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "impl/transport/shm/layout.h"

namespace selvage::impl::shm {

// Less, all together, is pulled by the receiver alone, and what is pulled with a shorter transfer, whose sender does
// not look.
inline constexpr size_t kSharedPullMin = 64 * 1024;
inline constexpr size_t kSharedEachMin = 16 * 1024;
inline constexpr uint32_t kSharedChunksMost = 8;

// Into how many chunks so many bytes are cut. Each is a system call of a microsecond, and it is the longest that one
// side may have to wait for the other at the end.
constexpr uint32_t shared_chunks(uint64_t length) {
    return length < 1024 * 1024 ? 2 : length < 4 * 1024 * 1024 ? 4 : kSharedChunksMost;
}

// The word `claims`: the chunks [first, end) are nobody's yet.
struct Claims {
    uint32_t generation;
    uint16_t first;
    uint16_t end;

    static Claims of(uint64_t word) { return std::bit_cast<Claims>(word); }
    uint64_t word() const { return std::bit_cast<uint64_t>(*this); }
    bool is_left() const { return first < end; }
};

// The word `finished`: so many of the sender's chunks, and how many of these it could not copy.
struct Finished {
    uint32_t generation;
    uint16_t chunks;
    uint16_t failed;

    static Finished of(uint64_t word) { return std::bit_cast<Finished>(word); }
    uint64_t word() const { return std::bit_cast<uint64_t>(*this); }
};

// Some chunks: [first, end).
struct ChunkRange {
    uint32_t first = 0;
    uint32_t end = 0;
    explicit operator bool() const { return first < end; }
};

// From one range of the sender's memory to one of the receiver's, as long. Of addresses in other processes nothing is
// known but what their words say.
struct SharedRange {
    uint64_t source;
    uint64_t destination;
    uint64_t length;
};

// One transfer, or several. A chunk is a part of each range, the same one: programs use a buffer again and again, and
// then each side has its part of it in its own cache, also where several of the ranges are one.
struct SharedPull {
    SharedRange ranges[kSharedRangesMost];
    uint32_t count;
    uint32_t chunks;

    bool is_valid() const {
        return count && count <= kSharedRangesMost && std::all_of(ranges, ranges + count, fits) && chunks &&
               chunks <= kSharedChunksMost;
    }

    // Where the bytes of some chunks lie, in the sender's memory and in the receiver's: at most kSharedRangesMost
    // ranges each.  @return how many.  REQUIRES: is_valid().
    size_t slice(const ChunkRange& range, iovec* sources, iovec* destinations) const {
        size_t out = 0;
        for (uint32_t i = 0; i < count; ++i) {
            const SharedRange& all = ranges[i];
            const uint64_t chunk = ((all.length - 1) / chunks + kPage) / kPage * kPage;
            const uint64_t begin = std::min(range.first * chunk, all.length);
            const uint64_t size = std::min(range.end * chunk, all.length) - begin;
            if (!size) continue;
            sources[out] = {.iov_base = reinterpret_cast<void*>(all.source + begin), .iov_len = size};
            destinations[out++] = {.iov_base = reinterpret_cast<void*>(all.destination + begin), .iov_len = size};
        }
        return out;
    }

private:
    static constexpr uint64_t kLongest = uint64_t{1} << 48;
    static bool fits(const SharedRange& range) {
        return range.length >= kSharedEachMin && range.length <= kLongest &&
               range.source <= UINT64_MAX - range.length && range.destination <= UINT64_MAX - range.length;
    }
};

// The receiver's end of one slot.
class SharedPullReceiver {
public:
    // REQUIRES: pull.is_valid(), and that the last transfer has nothing left and is finished.
    void open(SharedPullWords& words, const SharedPull& pull) {
        words_ = &words;
        chunks_ = senders_ = pull.chunks;
        taken_ = 0;
        words.chunks.store(pull.chunks, std::memory_order_relaxed);
        words.count.store(pull.count, std::memory_order_relaxed);
        for (uint32_t i = 0; i < pull.count; ++i) {
            words.ranges[i].source.store(pull.ranges[i].source, std::memory_order_relaxed);
            words.ranges[i].destination.store(pull.ranges[i].destination, std::memory_order_relaxed);
            words.ranges[i].length.store(pull.ranges[i].length, std::memory_order_relaxed);
        }
        const Claims all{.generation = ++generation_, .first = 0, .end = static_cast<uint16_t>(chunks_)};
        words.claims.store(all.word(), std::memory_order_release);
    }

    // The next chunk from the front, or all that are left: if the caller says so, or nobody has come for any by the
    // time of the second. None: nothing is left, for the sender either.
    ChunkRange claim(bool all) {
        uint64_t seen = words_->claims.load(std::memory_order_relaxed);
        Claims next;
        uint32_t end;
        do {
            end = std::clamp<uint32_t>(Claims::of(seen).end, taken_, chunks_);
            const bool alone = taken_ && end == chunks_;
            const uint32_t taken = all || alone ? end : std::min(taken_ + 1, end);
            next = {
                .generation = generation_, .first = static_cast<uint16_t>(taken), .end = static_cast<uint16_t>(end)};
        } while (!words_->claims.compare_exchange_weak(seen, next.word(), std::memory_order_acq_rel,
                                                       std::memory_order_relaxed));
        const ChunkRange claimed{.first = taken_, .end = next.first};
        taken_ = next.first;
        senders_ = end;
        return claimed;
    }

    // The sender's chunks. REQUIRES: claim() found none.
    ChunkRange senders() const { return {.first = senders_, .end = chunks_}; }

    // The sender has finished all of them; *failed: some were not copied. REQUIRES: claim() found none.
    bool is_finished(bool* failed) const {
        const Finished said = Finished::of(words_->finished.load(std::memory_order_acquire));
        *failed = said.failed;
        return said.generation == generation_ && said.chunks == chunks_ - senders_;
    }

private:
    SharedPullWords* words_ = nullptr;
    uint32_t generation_ = 0;
    uint32_t chunks_ = 0;   // of the transfer
    uint32_t taken_ = 0;    // by this side: those below
    uint32_t senders_ = 0;  // the sender's: those from here on
};

// The sender's end of one transfer.
class SharedPullSender {
public:
    explicit SharedPullSender(SharedPullWords& words) : words_(words) {}

    // There is a transfer with chunks to claim, and what it says is valid.
    bool find(SharedPull* pull) {
        seen_ = words_.claims.load(std::memory_order_acquire);
        const Claims claims = Claims::of(seen_);
        if (!claims.is_left()) [[likely]]
            return false;
        copy_words(pull);
        done_ = {.generation = claims.generation, .chunks = 0, .failed = 0};
        if (!pull->is_valid()) return false;
        chunks_ = pull->chunks;
        return claims.end <= chunks_;
    }

    // The last chunk that is left of that transfer; none if there is none, or if the word, which may have changed since
    // find(), leaves chunks that the transfer does not have. REQUIRES: find(), and that the chunk before is finished.
    ChunkRange claim() {
        while (done_.chunks < kSharedChunksMost) {
            Claims claims = Claims::of(seen_);
            if (claims.generation != done_.generation || !claims.is_left() || claims.end > chunks_) break;
            --claims.end;
            if (!words_.claims.compare_exchange_weak(seen_, claims.word(), std::memory_order_acq_rel,
                                                     std::memory_order_acquire))
                continue;
            seen_ = claims.word();
            return {.first = claims.end, .end = claims.end + 1u};
        }
        return {};
    }
    // Of the chunk that was claimed nothing more is written.
    void finish(bool copied) {
        ++done_.chunks;
        if (!copied) ++done_.failed;
        words_.finished.store(done_.word(), std::memory_order_release);
    }

private:
    void copy_words(SharedPull* pull) const {
        pull->chunks = words_.chunks.load(std::memory_order_relaxed);
        pull->count = words_.count.load(std::memory_order_relaxed);
        for (uint32_t i = 0; i < std::min<size_t>(pull->count, kSharedRangesMost); ++i) {
            pull->ranges[i] = {.source = words_.ranges[i].source.load(std::memory_order_relaxed),
                               .destination = words_.ranges[i].destination.load(std::memory_order_relaxed),
                               .length = words_.ranges[i].length.load(std::memory_order_relaxed)};
        }
    }

    SharedPullWords& words_;
    uint64_t seen_ = 0;
    uint32_t chunks_ = 0;  // of the transfer
    Finished done_{};
};

}  // namespace selvage::impl::shm
