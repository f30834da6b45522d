// A long transfer that both sides copy: the receiver reads chunks of it from the front (process_vm_readv) while its
// sender, which only polls then, writes chunks from the back (process_vm_writev). The words lie in the slot of the
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
//   1. store source, destination, length, chunk       1. load `claims` (acquire): chunks are left
//   2. store `claims` (release): a new generation,    2. load source, destination, length, chunk; check them
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

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "impl/transport/shm/layout.h"

namespace selvage::impl::shm {

// Shorter transfers are pulled by the receiver alone.
inline constexpr size_t kSharedPullMin = 64 * 1024;
inline constexpr uint32_t kSharedChunksMost = 8;

// Bytes of a chunk. Each is a system call of a microsecond, and it is the longest that one side may have to wait for
// the other at the end.
constexpr size_t shared_chunk(size_t length) {
    const size_t parts = length < 1024 * 1024 ? 2 : length < 4 * 1024 * 1024 ? 4 : kSharedChunksMost;
    return ((length - 1) / parts + kPage) / kPage * kPage;
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

// One transfer. Of addresses in other processes nothing is known but what its words say.
struct SharedPull {
    uint64_t source;       // in the sender's memory
    uint64_t destination;  // in the receiver's
    uint64_t length;
    uint64_t chunk;

    // REQUIRES: is_valid().
    uint32_t chunks() const { return static_cast<uint32_t>((length - 1) / chunk + 1); }
    bool is_valid() const {
        return length >= kSharedPullMin && chunk >= kPage && (length - 1) / chunk < kSharedChunksMost &&
               source <= UINT64_MAX - length && destination <= UINT64_MAX - length;
    }
    uint64_t offset(const ChunkRange& range) const { return range.first * chunk; }
    uint64_t bytes(const ChunkRange& range) const { return std::min(range.end * chunk, length) - range.first * chunk; }
};

// The receiver's end of one slot.
class SharedPullReceiver {
public:
    // REQUIRES: pull.is_valid(), and that the last transfer has nothing left and is finished.
    void open(SharedPullWords& words, const SharedPull& pull) {
        words_ = &words;
        chunks_ = senders_ = pull.chunks();
        taken_ = 0;
        words.source.store(pull.source, std::memory_order_relaxed);
        words.destination.store(pull.destination, std::memory_order_relaxed);
        words.length.store(pull.length, std::memory_order_relaxed);
        words.chunk.store(pull.chunk, std::memory_order_relaxed);
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
        pull->source = words_.source.load(std::memory_order_relaxed);
        pull->destination = words_.destination.load(std::memory_order_relaxed);
        pull->length = words_.length.load(std::memory_order_relaxed);
        pull->chunk = words_.chunk.load(std::memory_order_relaxed);
        done_ = {.generation = claims.generation, .chunks = 0, .failed = 0};
        if (!pull->is_valid()) return false;
        chunks_ = pull->chunks();
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
    SharedPullWords& words_;
    uint64_t seen_ = 0;
    uint32_t chunks_ = 0;  // of the transfer
    Finished done_{};
};

}  // namespace selvage::impl::shm
