// What collectives need of the engine below them: messages between the members of a group, in a matching space of their
// own. All calls are made with the endpoint's lock held; an operation may complete within the call that starts it.
#pragma once

#include <cstddef>

#include "impl/events/internal_operation.h"

namespace selvage::impl {

class MemberStep;
struct PeerBase;

// A message of up to kBytesMost bytes that came before its receive.
struct ShortMessage {
    static constexpr size_t kBytesMost = 256;

    ShortMessage* next;
    uint32_t index;       // of Pool
    uint32_t generation;  // of Pool
    uint64_t data;
    uint64_t length;
    std::byte bytes[kBytesMost];
};

// Short messages of a member of a group, as the engine keeps them (engine/receiver_short.cc): those that came before
// their receives, or the receive that the next message is for. Not both.
//
// All messages of the member that the engine keeps elsewhere came later than those here, and all receives for them that
// are posted elsewhere were posted later than the one here.
struct ShortQueue {
    // Whether the first one is of this operation, and as long as its receive. REQUIRES: first
    bool starts_with(uint64_t data, uint64_t length) const { return first->data == data && first->length == length; }

    ShortMessage* first = nullptr;
    ShortMessage* last = nullptr;   // where there is a first one
    PeerBase* peer = nullptr;       // that sent these; nullptr: it is lost
    MemberStep* waiting = nullptr;  // receives MemberStep::size bytes
    void* bytes = nullptr;          // and these it writes
};

// A member as the endpoint knows it.
struct MemberAddress {
    fi_addr_t address;  // what transfers name
    fi_addr_t source;   // what arrivals are compared by
    ShortQueue queue = {};
};

struct CollectiveOperation;

// A message of an operation, while it is under way.
class MemberStep final : public InternalOperation {
public:
    void completed(const Completion& completion, CompletionQueue*) override;
    void failed(const FailedCompletion& completion, CompletionQueue*) override;
    // The same, without a call that is looked up: it was sent whole, or came whole and is in its place.
    void sent() { ended(0); }
    void arrived(uint64_t with_data, uint64_t length);
    // `error`: a positive errno, or 0.
    void ended(int error);

    CollectiveOperation* operation = nullptr;
    bool pending = false;   // under way
    bool receives = false;  // and then what has to come:
    uint64_t size = 0;
    uint64_t data = 0;
};

class MemberMessages {
public:
    // Messages of one tag to one member arrive in the order of sending, and are received in the order of posting.
    // `data` comes with the message. 0, -FI_EAGAIN for later, or another negative errno.
    virtual int send_to(const MemberAddress& member, uint64_t tag, uint64_t data, const void* bytes, size_t size,
                        MemberStep& step) = 0;
    // The same of up to ShortMessage::kBytesMost bytes to which nothing is in the way: they are sent whole. False: not,
    // send_to() is to be called.
    virtual bool send_short(const MemberAddress& member, uint64_t tag, uint64_t data, const void* bytes,
                            size_t size) = 0;
    // As send_to(). With `lost` the member is gone: only what it has sent before is received.
    virtual int receive_from(MemberAddress& member, uint64_t tag, void* bytes, size_t size, bool lost,
                             MemberStep& step) = 0;
    // A receive that has no message goes, without completion. False: it has one, or is complete.
    virtual bool withdraw(MemberStep& step) = 0;
    // The first of the member's short messages goes, to `bytes`. REQUIRES: member.queue.first
    virtual void take_short(MemberAddress& member, void* bytes) = 0;
    // All short messages of the member go, and it learns that this one has left the group.
    virtual void discard_short(MemberAddress& member, uint64_t group) = 0;
    // The end of a send that is under way is reported to `instead`, and no longer to `step`.
    virtual void redirect(MemberStep& step, InternalOperation& instead) = 0;
    // Messages without a receive that Collectives::refusal() names are answered and go.
    virtual void discard_refused() = 0;
    // 0, -FI_EAGAIN for later, or another negative errno: from here the member does not learn of it.
    virtual int send_abort(const MemberAddress& member, uint64_t group, uint32_t sequence, int error) = 0;

    // A join is over, and nothing is left to be said of it (DataPath::unshare). False: who reads the event queue goes
    // on to make progress.
    virtual bool join_is_over() = 0;
    // There is something to do: the next progress calls Collectives::advance().
    virtual void request_advance() = 0;
    // The completion of a collective operation for the application. `flags` with FI_COMPLETION: an entry.
    virtual bool may_report(uint64_t flags) = 0;
    virtual void report_collective(void* context, uint64_t flags, int error) = 0;

protected:
    ~MemberMessages() = default;
};

}  // namespace selvage::impl
