// One connection as the device has it: a reliable queue pair, a ring of send buffers and one of receive buffers.
//
// Frames. Immediate data tells what a message is. A header is mostly zeros, and a page with a header is two packets: so
// what is zero stays at home. Most frames are their payload, with the operation in the immediate data and the size from
// the device; a tag goes before it.
//
// Sending. Every request takes a place among `posted_`, in order; completions come in the same order, so one that is
// signalled tells of all before it. Frames are signalled now and then, accesses to memory always. A short frame goes
// inline; others are copied into the next send buffer. Requests with more to follow wait in a chain and are handed to
// the device together.
//
// Credits. Each end posts kCredits receives for frames and some for credit messages; a frame costs the sender a credit,
// and how many receives were posted again rides on every message's immediate data, or on a message of its own. So no
// message ever finds no receive, and the device's own way out of that (receiver not ready) is never taken.
//
// Control is in link.cc; what is done per frame is inline here. Protected by the lock of the endpoint.
#pragma once

#include <arpa/inet.h>

#include <cstring>
#include <span>
#include <utility>

#include "impl/engine/transport.h"
#include "impl/transport/verbs/knobs.h"
#include "impl/transport/verbs/verbs_domain.h"

namespace selvage::impl::verbs {

// What a message is.
enum class Word : uint8_t {
    Frame = 1,  // header, payload
    Return,     // credits alone
    Note,       // of the handshake
    Bare,       // a frame whose header is zero but for size and op: payload
    FirstWord,  // and but for its first word: that, payload
    Lane,       // the numbers of a second queue pair (lane.h)
};

// Immediate data.
struct Immediate {
    uint16_t credits;
    Word kind;
    uint8_t op = 0;  // of a frame that has no header of its own

    uint32_t pack() const { return htonl(uint32_t{op} << 24 | static_cast<uint32_t>(kind) << 16 | credits); }
    static Immediate unpack(uint32_t data) {
        const uint32_t word = ntohl(data);
        return {.credits = static_cast<uint16_t>(word),
                .kind = static_cast<Word>(word >> 16),
                .op = static_cast<uint8_t>(word >> 24)};
    }
};

inline Word word_for(const Header& header) {
    if (header.flags | header.aux | header.word[1] | header.word[2]) return Word::Frame;
    return header.word[0] ? Word::FirstWord : Word::Bare;
}
// What of the header goes before the payload.
inline std::span<const std::byte> sent_of(const Header& header, Word kind) {
    if (kind == Word::Bare) return {};
    if (kind == Word::FirstWord) return std::as_bytes(std::span(header.word, 1));
    return std::as_bytes(std::span(&header, 1));
}
// The frame that arrived as `length` bytes: its header, and where its payload begins. nullptr: it is none.
inline const std::byte* read_frame(const Immediate& told, const std::byte* bytes, uint32_t length, Header* out) {
    if (told.kind == Word::Frame) {
        if (length < sizeof *out) return nullptr;
        memcpy(out, bytes, sizeof *out);
        return out->size == length - sizeof *out ? bytes + sizeof *out : nullptr;
    }
    *out = {.size = length, .op = told.op, .flags = 0, .aux = 0, .word = {}};
    if (told.kind == Word::FirstWord) {
        if (length < sizeof out->word[0]) return nullptr;
        memcpy(out->word, bytes, sizeof out->word[0]);
        out->size -= static_cast<uint32_t>(sizeof out->word[0]);
        bytes += sizeof out->word[0];
    }
    return out->size <= kFramePayloadMax ? bytes : nullptr;
}

// What to do when a request has completed.
inline constexpr uint8_t kTakesSlot = 1;  // it holds the oldest send buffer
inline constexpr uint8_t kIsAccess = 2;
inline constexpr uint8_t kReads = 4;  // an access of which something comes back

// The rest of an access.
struct Posted {
    uint32_t copy_size;  // of what comes back into a send buffer: goes to copy_to
    void* token;         // the engine's
    const std::byte* copy_from;
    void* copy_to;
    DeviceRange* acquired;
};

// Completions are found again by what their request was given as wr_id, after the link is gone, too: some devices leave
// them in the queue.
struct Ticket {
    static constexpr uint16_t kOfLane = 0x8000;  // not of the link, but of the lane beside it: no other number

    bool send;
    uint16_t number;  // of the request, or of the receive buffer
    uint16_t link;    // index in the transport's table
    uint32_t generation;

    uint64_t pack() const { return uint64_t{generation} << 33 | uint64_t{send} << 32 | uint64_t{link} << 16 | number; }
    static Ticket unpack(uint64_t id) {
        return {.send = (id >> 32 & 1) != 0,
                .number = static_cast<uint16_t>(id),
                .link = static_cast<uint16_t>(id >> 16),
                .generation = static_cast<uint32_t>(id >> 33)};
    }
};

class Link {
public:
    Link(const VerbsDomain& device, uint16_t index, uint32_t generation)
        : device_(device), index_(index), generation_(generation & (UINT32_MAX >> 1)) {}
    ~Link() { close(); }
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;

    // What comes after a read waits until it has come back. Before open().
    void set_fenced(bool fenced) { fenced_ = fenced; }
    // Creates the queue pair of an identifier, which stays the caller's, and posts all receives. 0 or a negative errno.
    int open(rdma_cm_id* id, ibv_cq* completions);
    void close();
    bool is_open() const { return qp_ != nullptr; }
    ibv_qp* pair() const { return qp_; }
    // Completions that the queue must have room for.
    static constexpr int kMostCompletions = static_cast<int>(kPosted + kReceives);

    uint16_t index() const { return index_; }
    uint32_t generation() const { return generation_; }
    uint32_t inline_max() const { return inline_max_; }
    bool idle() const { return head_ == tail_ && !chained_; }

    // With fewer requests than send buffers under way there is a buffer, whatever they are.
    bool room() const {
        return credits_ && (posted() < kCredits || (frame_room() && posted() < kPosted - kPostedReserve));
    }
    bool access_room() const { return frame_room() && accesses_ < kAccesses && posted() < kPosted - kPostedReserve; }

    // Sends a frame, or keeps it for the next call of the device when `more`. There must be room. False: the device
    // refused, and the link is of no use any more.
    bool send(const Frame& frame);
    // A note of the handshake, or of a lane; the same conditions.
    bool send_note(const void* bytes, size_t size, Word kind = Word::Note);
    // Requests that wait for others leave now.
    bool flush() { return !chained_ || push(); }
    // The other end should get its credits now: by a message of their own.
    bool owes() const { return owed_ >= kCreditsOwed; }
    bool send_credits_now() { return send_credits(false); }
    // There must be access_room(), with data also a credit. False: this access cannot be given to the device; nothing
    // was posted. *broken: the device refused.
    bool access(const DeviceAccess& access, bool* broken);
    // The engine's token of the access at a place, or nullptr.
    void* token_at(uint16_t number) const {
        return marks_[number % kPosted] & kIsAccess ? posted_[number % kPosted].token : nullptr;
    }
    // Makes sure that a completion comes for everything that was posted: idle() is then true some time.
    bool signal_all() { return signalled_ == head_ || posted() == kPosted || send_credits(true); }
    uint32_t credits() const { return credits_; }
    // For tests that play a hostile sender: the send buffer of the last frame.
    std::byte* last_slot() { return sends_ + size_t{(slot_head_ - 1) % kCredits} * kSlotBytes; }

    // A send completion: calls done(token) for it and every access before it. Without success, what was read is not
    // there.
    template <typename Done>
    void completed(uint16_t number, bool good, Done&& done);
    // A receive: its buffer, and the credits that came with it; then the buffer is given back.
    const std::byte* buffer(uint16_t number) const { return receives_ + size_t{number} * kSlotBytes; }
    bool take_credits(uint32_t count) {
        credits_ += count;
        return credits_ <= kCredits;
    }
    // `credited`: the sender paid a credit for it.
    void give_back(uint16_t number, bool credited) {
        ibv_recv_wr& request = receive_requests_[number];
        request.next = used_;
        used_ = &request;
        ++used_count_;
        returned_ += credited;
    }
    // How many were given back and wait to be posted again.
    uint32_t used() const { return used_count_; }
    // Posts them. False: the device refuses.
    bool repost();

private:
    uint32_t posted() const { return head_ - tail_; }
    bool frame_room() const { return slot_head_ - slot_tail_ < kCredits; }
    std::byte* slot() { return sends_ + size_t{slot_head_ % kCredits} * kSlotBytes; }
    uint32_t word(Word kind, uint8_t op = 0) {
        return Immediate{.credits = static_cast<uint16_t>(std::exchange(owed_, 0)), .kind = kind, .op = op}.pack();
    }
    bool send_short(const Frame& frame, Word kind, std::span<const std::byte> before);
    bool send_copied(Header header, const iovec* payload, size_t count, bool more);
    uint64_t next_id(uint8_t marks);
    unsigned next_flags(bool signal);
    ibv_send_wr& next_request(uint8_t marks, bool signal);
    bool finish(bool more);
    void read_under_way(int change) {
        reads_ += change;
        fence_ = reads_ && fenced_ ? unsigned{IBV_SEND_FENCE} : 0;
    }
    bool push();
    void access_done(Posted& place, bool good);
    bool send_credits(bool marker);
    int create_pair(rdma_cm_id* id, ibv_cq* completions);
    int allocate();
    bool describe(const DeviceAccess& access, ibv_send_wr& request, Posted& place, uint8_t* marks);

    const VerbsDomain& device_;
    ibv_qp* qp_ = nullptr;
    rdma_cm_id* id_ = nullptr;
    uint32_t lkey_ = 0;
    uint32_t inline_max_ = 0;
    uint32_t ranges_max_ = 1;
    // Places in posted_, modulo its size: completed ones end at tail_, those of the device and the chain at head_.
    uint32_t head_ = 0;
    uint32_t tail_ = 0;
    uint32_t signalled_ = 0;  // head_ after the last signalled request
    uint32_t slot_head_ = 0;
    uint32_t slot_tail_ = 0;
    uint32_t accesses_ = 0;
    int reads_ = 0;
    unsigned fence_ = 0;  // IBV_SEND_FENCE while reads are under way that others wait for
    bool fenced_ = false;
    uint32_t credits_ = kCredits;
    uint32_t owed_ = 0;  // receives posted again that the other end does not know of
    uint32_t used_count_ = 0;
    uint32_t returned_ = 0;  // credits among those that are used up and not posted again
    uint32_t chained_ = 0;
    std::byte* sends_ = nullptr;
    std::byte* receives_ = nullptr;
    uint16_t index_;
    uint32_t generation_;
    ibv_recv_wr* used_ = nullptr;  // of these
    // A short frame that goes at once: what never changes is there.
    ibv_send_wr short_{};
    ibv_sge short_pieces_[2] = {};
    uint64_t first_ticket_ = 0;  // of place 0
    uint8_t marks_[kPosted];
    ibv_send_wr chain_[kChain];
    ibv_sge pieces_[kChain][1 + kAccessRanges];
    Posted posted_[kPosted];
    ibv_recv_wr receive_requests_[kReceives];  // of each buffer, ready to be posted
    ibv_sge receive_pieces_[kReceives];
    ibv_mr* memory_ = nullptr;
    size_t mapped_ = 0;
};

// Takes the next place.
inline uint64_t Link::next_id(uint8_t marks) {
    const uint32_t place = head_++ % kPosted;
    marks_[place] = marks;
    slot_head_ += marks & kTakesSlot;
    return first_ticket_ | place;
}

// After next_id().
inline unsigned Link::next_flags(bool signal) {
    if (!signal && head_ % kSignalEvery) return fence_;
    signalled_ = head_;
    return fence_ | IBV_SEND_SIGNALED;
}

inline ibv_send_wr& Link::next_request(uint8_t marks, bool signal) {
    ibv_send_wr& request = chain_[chained_];
    request.next = nullptr;
    request.wr_id = next_id(marks);
    request.sg_list = pieces_[chained_];
    request.send_flags = next_flags(signal);
    if (chained_) chain_[chained_ - 1].next = &request;
    ++chained_;
    return request;
}

// Inline, from where it is.
inline bool Link::send_short(const Frame& frame, Word kind, std::span<const std::byte> before) {
    --credits_;
    short_.wr_id = next_id(kTakesSlot);
    short_.send_flags = next_flags(false) | IBV_SEND_INLINE;
    short_.imm_data = word(kind, frame.header.op);
    ibv_sge* first = short_pieces_ + 1;
    int count = 0;
    if (!before.empty()) {
        first = short_pieces_;
        first->addr = reinterpret_cast<uintptr_t>(before.data());
        first->length = static_cast<uint32_t>(before.size());
        ++count;
    }
    if (frame.header.size) [[likely]] {
        short_pieces_[1].addr = reinterpret_cast<uintptr_t>(frame.payload[0].iov_base);
        short_pieces_[1].length = frame.header.size;
        ++count;
    }
    short_.sg_list = first;
    short_.num_sge = count;
    ibv_send_wr* refused;
    return ibv_post_send(qp_, &short_, &refused) == 0;
}

inline bool Link::finish(bool more) { return (more && chained_ < kChain) || push(); }

inline bool Link::push() {
    ibv_send_wr* refused;
    chained_ = 0;
    return ibv_post_send(qp_, chain_, &refused) == 0;
}

inline bool Link::send(const Frame& frame) {
    // What waits in a chain has to stay where it is, and the device takes only so many pieces: it is copied.
    if (frame.more || chained_ || frame.count > 1) [[unlikely]]
        return send_copied(frame.header, frame.payload, frame.count, frame.more);
    const Word kind = word_for(frame.header);
    const std::span<const std::byte> before = sent_of(frame.header, kind);
    if (before.size() + frame.header.size > inline_max_) [[unlikely]]
        return send_copied(frame.header, frame.payload, frame.count, false);
    return send_short(frame, kind, before);
}

// Neither inline nor with a Frame: what both ways have in common would be worked out before the choice, and spilled.
[[gnu::noinline]] inline bool Link::send_copied(Header header, const iovec* payload, size_t count, bool more) {
    const Word kind = word_for(header);
    const std::span<const std::byte> before = sent_of(header, kind);
    const size_t total = before.size() + header.size;
    std::byte* buffer = slot();
    ibv_send_wr& request = next_request(kTakesSlot, false);
    --credits_;
    request.opcode = IBV_WR_SEND_WITH_IMM;
    request.imm_data = word(kind, header.op);
    if (total <= inline_max_) request.send_flags |= IBV_SEND_INLINE;
    if (!before.empty()) memcpy(buffer, before.data(), before.size());
    std::byte* at = buffer + before.size();
    for (size_t i = 0; i < count; ++i) {
        if (!payload[i].iov_len) continue;
        memcpy(at, payload[i].iov_base, payload[i].iov_len);
        at += payload[i].iov_len;
    }
    request.sg_list[0] = {reinterpret_cast<uintptr_t>(buffer), static_cast<uint32_t>(total), lkey_};
    request.num_sge = 1;
    return finish(more);
}

template <typename Done>
inline void Link::completed(uint16_t number, bool good, Done&& done) {
    // A completion of a request that was not posted cannot be; the distance is bounded all the same.
    const uint32_t count = ((number - tail_) % kPosted) + 1;
    if (count > posted()) return;
    for (uint32_t i = 0; i < count; ++i) {
        const uint8_t marks = marks_[tail_ % kPosted];
        slot_tail_ += marks & kTakesSlot;
        if (marks & kIsAccess) [[unlikely]] {
            Posted& place = posted_[tail_ % kPosted];
            --accesses_;
            if (marks & kReads) read_under_way(-1);
            access_done(place, good);
            ++tail_;
            done(place.token);
        } else {
            ++tail_;
        }
    }
}

}  // namespace selvage::impl::verbs
