// The memory of an exchange: where each operation's bytes lie, what was put there, and what is there now.
//
// Lies in the arenas and targets of a Pair; only for child processes.  One thread.  Built before the first operation is
// posted; every buffer keeps its place until the exchange is over.
#pragma once

#include <vector>

#include "conformance/drive/transfer/pair.h"
#include "conformance/drive/transfer/pattern.h"

namespace selvage::conformance {

/// The first bytes of each arena are no exchange's: a barrier's messages lie there (barrier.h).
inline constexpr std::size_t kBarrierRoom = 4 * kGuardBytes;

/// One operation's memory.
struct Buffers {
    std::vector<iovec> local;           ///< what is sent, or where something is received
    std::vector<iovec> result;          ///< fetching atomics
    std::vector<iovec> compare;         ///< comparing atomics
    std::vector<unsigned char> before;  ///< atomics: the target's values ahead of the operation, as they should be
    std::vector<unsigned char> after;   ///< and behind it
};

class Memory {
public:
    Memory(Pair& pair, const TransferSequence& sequence);
    /// False: the exchange needs more memory than there is, or than the library registers.
    [[nodiscard]] bool fits() const { return fits_; }
    Buffers& of(int index) { return all_[static_cast<std::size_t>(index)]; }
    /// The buffers of an operation, as its call names them.
    void name_buffers(int index, PostedCall& call);

    /// Overwrites the buffer that a transmit was given, as an application may once the transmit is over.
    void reuse(int index);
    /// What is in a receive's buffer, or in `length` bytes of it from `offset` on (a multi-receive's).
    model::Seen received(int index, int& bytes_of);
    model::Seen received_part(int index, std::uint64_t offset, std::uint64_t length, int& bytes_of);
    /// Where a send's bytes have got to, of all receive buffers of the peer.
    model::Seen arrived(int index);
    /// What a read or a fetch brought.
    model::Seen fetched(int index);
    /// What a write or an atomic left at the target.
    model::Seen left(int index);
    /// The byte at an address of the endpoint's process lies at this offset of an operation's local buffer; -1: it does
    /// not lie there.
    [[nodiscard]] std::int64_t offset_in(int index, std::uint64_t address);

private:
    void lay_out(int index);
    void lay_target(int index);
    [[nodiscard]] unsigned char* arena(model::Side side) { return pair_.end(side).memory() + kArenaOffset; }
    [[nodiscard]] unsigned char* target(model::Side side) { return pair_.end(side).memory() + kTargetOffset; }
    [[nodiscard]] std::vector<MemoryRange> ranges(int index, const std::vector<iovec>& pieces);
    void push(int index, const std::vector<iovec>& pieces);
    void push_all();
    void pull(int index, const std::vector<iovec>& pieces);
    void pull_target(int index);
    std::vector<iovec> take(model::Side side, std::uint64_t length, std::uint64_t pieces, std::uint64_t unit);
    model::Seen compare_received(Pieces pieces, std::uint64_t sent, int sender);
    bool guards_hold(const std::vector<iovec>& pieces) const;
    [[nodiscard]] bool surroundings_hold(int index);
    [[nodiscard]] const model::Operation& at(int index) const {
        return sequence_.operations[static_cast<std::size_t>(index)];
    }

    Pair& pair_;
    const TransferSequence& sequence_;
    std::vector<Buffers> all_;
    std::size_t used_[2] = {kBarrierRoom, kBarrierRoom};
    bool fits_ = true;
};

}  // namespace selvage::conformance
