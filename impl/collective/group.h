// A collective group as one of its members has it (fi_join_collective), and the operations that are under way in it.
//
// What comes from a peer names a group by a number that all members make of the same facts: the members' addresses in
// their order, and how many groups of these members there have been. So members that join apply nothing but a barrier,
// and early messages of a group that is not joined here yet are those of an unknown number.
#pragma once

#include "impl/base/list.h"
#include "impl/base/object.h"
#include "impl/collective/member_messages.h"
#include "impl/collective/piece_choice.h"
#include "impl/collective/reduce.h"
#include "impl/collective/schedule.h"
#include "impl/events/eq.h"

namespace selvage::impl {

struct AvSet;
class Collectives;
struct Endpoint;
struct Group;

// Operations of a group run one after another, in the order of posting, which is the same at all members.
//
// A record that was used before is used again by an operation of the same arguments in the same position of as large a
// group, whatever the group is: what it is made of is there then (operation_records.h).
struct CollectiveOperation {
    // In the data of the first member's messages: the next operation of this class has whole blocks (piece_choice.h).
    static constexpr uint64_t kNextIsWhole = uint64_t{1} << 63;
    static constexpr uint32_t kKept = 3;  // rounds: as many as a group of eight needs for little data

    CollectiveOperation* next;  // in the group's list, or spare
    CollectiveOperation* previous;
    Group* group;
    uint32_t sequence;     // from 0, which is the join
    uint64_t data;         // of its messages: the sequence, and the digest; and kNextIsWhole
    std::byte* spaces[3];  // Space; the last is `scratch`, or malloc'ed
    void* context;
    uint64_t flags;
    int error;
    bool next_is_whole;  // as the first member says; of one that is divided
    int64_t began;       // at the first member: nanoseconds, or 0 when it is not timed

    uint32_t round_index;
    uint32_t started;      // steps of the round that were looked at
    uint32_t outstanding;  // that are under way
    const Round* round;    // the present one
    MemberStep steps[Round::kStepsMost];

    // What its arguments make of it.
    Plan plan;
    fi_addr_t root;  // as the call named it
    size_t count;
    fi_datatype type;
    fi_op op;
    Reducer reducer;
    uint64_t digest;     // of what all members have to call alike, in the upper half but its first bit
    std::byte* scratch;  // malloc'ed, or nullptr: plan.scratch bytes, which are few
    uint32_t made;       // of `first_rounds`
    Round first_rounds[kKept];
    Round later_round;

    // The data of a message to this step is what it has to be but for the first member's word.
    bool takes_word(const MemberStep& step, uint64_t with_data);
};

inline constexpr uint64_t kFirstFactor = 0xbf58476d1ce4e5b9, kSecondFactor = 0x94d049bb133111eb;
inline constexpr uint64_t kApart = 0x9e3779b97f4a7c15;  // what the numbers of two groups of the same members differ by

// Of an odd factor, modulo 2^64: each step doubles the bits that are right, of which there are three at first.
constexpr uint64_t inverse_of(uint64_t factor) {
    uint64_t inverse = factor;
    for (int i = 0; i < 5; ++i) inverse *= 2 - factor * inverse;
    return inverse;
}

// All bits of the value in each bit of the result.
constexpr uint64_t mix(uint64_t value) {
    value = (value ^ (value >> 30)) * kFirstFactor;
    value = (value ^ (value >> 27)) * kSecondFactor;
    return value ^ (value >> 31);
}
// What mix() made this of.
constexpr uint64_t unmix(uint64_t value) {
    value = (value ^ (value >> 31) ^ (value >> 62)) * inverse_of(kSecondFactor);
    value = (value ^ (value >> 27) ^ (value >> 54)) * inverse_of(kFirstFactor);
    return value ^ (value >> 30) ^ (value >> 60);
}
static_assert(unmix(mix(4711)) == 4711 && unmix(mix(~uint64_t{0} - 4711)) == ~uint64_t{0} - 4711);

// The number of a group whose members have this digest, and before which there were `count` of theirs; and back: any
// count of a number that is none of theirs.
inline uint64_t group_number(uint64_t digest, uint64_t count) { return mix(digest + count * kApart); }
inline uint64_t count_before(uint64_t digest, uint64_t number) { return (unmix(number) - digest) * inverse_of(kApart); }

struct Group {
    fid_mc descriptor{};
    Group* next = nullptr;  // that have something to do
    Group* previous = nullptr;
    Endpoint* endpoint = nullptr;  // holds a use of it
    EventQueue* eq = nullptr;      // makes progress on the endpoint for the join; the endpoint or its domain holds it
    JoinDrive drive;
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
    bool one_host = false;  // of all members' addresses, which are names of no host where they are texts
    bool joined = false;
    bool queued = false;    // in the list of those that have something to do
    bool running = false;   // an operation is being moved
    bool announce = false;  // the failure is still to be sent to some of the others
    bool shares = false;    // the endpoint's path, for the join
    // From this operation on all fail.
    int error = 0;
    uint32_t failed_from = 0;
    List<CollectiveOperation> operations;
    uint32_t whole = 0;                   // bit n: operations of piece_class() n have whole blocks
    PieceChoice* pieces = nullptr;        // of the first member, once an operation may be divided; malloc'ed
    CollectiveOperation* last = nullptr;  // a spare record: of the operation that ended last
    // Allocated before the join starts, so that reporting cannot fail.
    Event* joined_event = nullptr;
    Event* refused_event = nullptr;

    ~Group();
    // Takes the members of the set, in their order; 0 or a negative fabric errno.
    int take_members(AvSet& set, const Endpoint& endpoint);
    bool is_whole(const Shape& shape) const { return whole >> piece_class(shape) & 1; }
    bool covers(uint64_t tag) const { return tag - id < size; }
    // FI_ADDR_NOTAVAIL is none. `size` when there is none such.
    uint32_t find_address(fi_addr_t address) const;
    uint32_t find_source(fi_addr_t source) const;
};

}  // namespace selvage::impl
