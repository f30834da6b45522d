// A collective group as one of its members has it (fi_join_collective), and the operations that are under way in it.
//
// What comes from a peer names a group by a number that all members make of the same facts: the members' addresses in
// their order, and how many groups of these members there have been. So members that join apply nothing but a barrier,
// and early messages of a group that is not joined here yet are those of an unknown number.
#pragma once

#include "impl/base/list.h"
#include "impl/base/object.h"
#include "impl/collective/member_messages.h"
#include "impl/collective/reduce.h"
#include "impl/collective/schedule.h"

namespace selvage::impl {

struct AvSet;
class Collectives;
struct CollectiveOperation;
struct Endpoint;
struct Event;
struct EventQueue;
struct Group;

// A message of the present round.
class MemberStep final : public InternalOperation {
public:
    void completed(const Completion& completion, CompletionQueue*) override;
    void failed(const FailedCompletion& completion, CompletionQueue*) override;

    CollectiveOperation* operation = nullptr;
    bool pending = false;   // under way
    bool receives = false;  // and then what has to come:
    uint64_t size = 0;
    uint64_t data = 0;

private:
    void ended(int error);
};

// Operations of a group run one after another, in the order of posting, which is the same at all members.
struct CollectiveOperation {
    CollectiveOperation* next;  // in the group's list, or spare
    CollectiveOperation* previous;
    Group* group;
    uint32_t sequence;  // from 0, which is the join
    uint64_t data;      // of its messages: the sequence, and a digest of what all members have to call alike
    Plan plan;
    Reducer reducer;
    std::byte* spaces[3];  // Space; the last is malloc'ed
    void* context;
    uint64_t flags;
    int error;

    uint32_t round_index;
    uint32_t started;      // steps of the round that were looked at
    uint32_t outstanding;  // that are under way
    Round round;
    MemberStep steps[Round::kStepsMost];
};

struct Group {
    fid_mc descriptor{};
    Group* next = nullptr;  // that have something to do
    Group* previous = nullptr;
    Endpoint* endpoint = nullptr;  // holds a use of it
    EventQueue* eq = nullptr;      // makes progress on the endpoint; the endpoint or its domain holds it
    Collectives* owner = nullptr;
    uint64_t id = 0;
    uint64_t digest = 0;               // of the members
    uint64_t supported = 0;            // FI_BARRIER_SET and its kin
    MemberAddress* members = nullptr;  // malloc'ed
    int* lost = nullptr;               // the errno for which each member was lost, or 0; malloc'ed
    bool* notified = nullptr;          // which members the failure was sent to; malloc'ed
    uint32_t size = 0;
    uint32_t self = 0;
    uint32_t sequence = 0;  // of the next operation
    bool joined = false;
    bool queued = false;    // in the list of those that have something to do
    bool running = false;   // an operation is being moved
    bool announce = false;  // the failure is still to be sent to some of the others
    // From this operation on all fail.
    int error = 0;
    uint32_t failed_from = 0;
    List<CollectiveOperation> operations;
    // Allocated before the join starts, so that reporting cannot fail.
    Event* joined_event = nullptr;
    Event* refused_event = nullptr;

    ~Group();
    // Takes the members of the set, in their order; 0 or a negative fabric errno.
    int take_members(AvSet& set, const Endpoint& endpoint);
    bool covers(uint64_t tag) const { return tag - id < size; }
    // FI_ADDR_NOTAVAIL is none. `size` when there is none such.
    uint32_t find_address(fi_addr_t address) const;
    uint32_t find_source(fi_addr_t source) const;
};

}  // namespace selvage::impl
