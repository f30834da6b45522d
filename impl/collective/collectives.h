// The collective operations of one endpoint: its groups, and the executor that runs schedules over messages between
// members. The engine of an endpoint with FI_COLLECTIVE has one. All calls are made with the endpoint's lock held.
//
// A message carries a tag, which is the number of its group and the sender's place in it, and data, which is the number
// of the operation and a digest of its arguments: members that call different things get an error, not each other's
// bytes.
//
// Failure. What cannot be sent or received fails its operation, and with it all later ones of the group; earlier ones
// are not touched. Whoever sees that sends it to all other members (send_abort), as does who receives it, so it reaches
// everybody who is connected to anybody. A member that is lost after it has sent all that an operation needs of it
// breaks nothing: only who needs it fails. An operation that failed is complete when none of its messages is under way
// any more, since they read and write the application's memory; members that failed answer what they no longer want,
// as do those that have left a group: with an abort, where the message came whole.
#pragma once

#include "impl/collective/operation_records.h"

namespace selvage::impl {

class Collectives {
public:
    // What fi_query_collective tells.
    static constexpr size_t kBytesMost = size_t{1} << 32;
    static constexpr size_t kMembersMost = size_t{1} << 16;

    Collectives(Endpoint& endpoint, MemberMessages& messages);
    ~Collectives();
    Collectives(const Collectives&) = delete;
    Collectives& operator=(const Collectives&) = delete;

    // For the application. The group is entered; where its members have to meet first, that begins. 0 or a negative
    // errno, and then the group is as it was.
    int enter(Group& group, bool meets);
    // Whether an address of a group was given out and is not closed.
    bool knows(fi_addr_t address) const { return find(address) != nullptr; }
    // -FI_EBUSY while an operation is under way.
    int leave(Group& group);
    ssize_t post(const CollectiveCall& call);

    // For the engine.
    // False: nothing is left to do now. In the calls below nothing is posted: that is done here.
    bool advance();
    bool has_work() const { return !ready_.empty(); }
    void lost(fi_addr_t source, int error);
    void aborted(uint64_t group, fi_addr_t source, uint32_t sequence, int error);
    // Whose tag it is in a group that was entered; `refuses`: the group has failed. nullptr: none's.
    MemberAddress* member_of(uint64_t tag, bool* refuses) const {
        for (size_t i = 0; i < places_; ++i) {
            Group* group = groups_[i];
            if (!group || !group->covers(tag)) continue;
            *refuses = group->error;
            return &group->members[tag - group->id];
        }
        return nullptr;
    }
    // All members of the groups that were entered, with their group.
    template <typename Visit>
    void for_each_member(Visit visit) const {
        for (size_t i = 0; i < places_; ++i) {
            for (uint32_t m = 0; groups_[i] && m < groups_[i]->size; ++m) visit(*groups_[i], groups_[i]->members[m]);
        }
    }
    // Why nobody will receive a message: its operation has failed here, or this member has left its group. `error` is 0
    // where somebody may.
    struct Refusal {
        int error = 0;
        uint64_t group = 0;  // its number
    };
    Refusal refusal(uint64_t tag, uint64_t data) const;

    // For the steps.
    void advance_soon(Group& group);

    static uint32_t sequence_of(uint64_t data) { return static_cast<uint32_t>(data); }

private:
    static constexpr size_t kGroupsMost = 4096;
    static constexpr size_t kRemembered = 64;
    // The number of a group stands for nothing else that transfers name.
    static constexpr fi_addr_t kGroupAddress = fi_addr_t{1} << 63;

    // Aborts of groups that are not joined here yet. The oldest goes for another.
    struct EarlyAbort {
        uint64_t id = 0;
        fi_addr_t source = FI_ADDR_NOTAVAIL;
        uint32_t sequence = 0;
        int error = 0;
    };
    // How many groups of these members were entered. Those that are not in groups_ were left.
    struct Joins {
        uint64_t digest;
        uint64_t count;
        uint32_t members;
    };

    Group* find(fi_addr_t address) const;
    static int check(const Group& group, const CollectiveCall& call, uint32_t* root);
    bool make_room();
    Joins* joins_of(const Group& group);
    bool was_left(uint64_t tag, uint64_t* number) const;
    void run(Group& group);
    bool run_first(Group& group, bool* again);
    bool start_steps(CollectiveOperation& operation);
    bool is_over_at_once(CollectiveOperation& operation);
    bool do_short_step(Group& group, const Step& step, uint64_t data, std::byte* bytes);
    uint32_t do_short_steps(Group& group, const CollectiveCall& call, uint64_t data);
    int start_step(CollectiveOperation& operation, uint32_t index);
    bool withdraw(CollectiveOperation& operation, uint32_t index);
    static void begin_divided(CollectiveOperation& operation);
    static void finish_divided(CollectiveOperation& operation);
    void do_local_steps(CollectiveOperation& operation);
    void fail(Group& group, uint32_t from, int error);
    void give_up(CollectiveOperation& operation);
    void notify_others(Group& group);
    void end_sharing(Group& group);
    void finish(CollectiveOperation& operation);

    Endpoint& endpoint_;
    MemberMessages& messages_;
    Group** groups_ = nullptr;  // by place; free places are nullptr
    size_t places_ = 0;
    uint64_t serial_ = 0;  // of the last group
    Joins* joins_ = nullptr;
    size_t joins_count_ = 0;
    List<Group> ready_;
    OperationRecords operations_;
    EarlyAbort early_[kRemembered];
    size_t next_early_ = 0;
};

}  // namespace selvage::impl
