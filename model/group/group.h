// What a few endpoints of one process did together by a fixed script, and what was seen of each.
//
// A script says who is there, who belongs to the group and what all of them call; GroupSeen is what came of it: results
// of calls, events, entries, and the numbers in the buffers.  Inputs are a function of member and element (input_of),
// so that the model knows every result.  Values only; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "model/value/info.h"
#include "model/value/version.h"

namespace selvage::model {

inline constexpr std::uint64_t kMostMembers = 4;
inline constexpr std::uint64_t kMostGroupValues = 64;
inline constexpr std::uint64_t kMostGroupCount = 20000;
inline constexpr std::int64_t kNobodyLate = -1;

/// What the members do.
enum class GroupAct : std::uint8_t {
    Collective,     ///< they join two groups, one after the other, and carry out the same operation in each
    NamedContexts,  ///< a plain endpoint sends to each receive context of a scalable one; members are those contexts
    Multicast,      ///< they join a multicast group, and the first sends to it
    UnknownSender,  ///< the first sends to the second, which does not have its address
    UserIds,        ///< the first sends to the second, which has given its address an identifier
    OtherKeys,      ///< the first sends to the second, whose domain has another key, and to the third
    Calls,          ///< calls on objects that nothing else uses; the first member alone has facts
};

/// Calls: which.
enum class ObjectCall : std::uint8_t {
    QueueWait,            ///< fi_cq_sread of an empty queue, with a time
    QueueLook,            ///< the same with a time of 0
    QueueSignal,          ///< fi_cq_signal while another thread waits in fi_cq_sread
    CounterWait,          ///< fi_cntr_wait for more than the counter counts, with a time
    TryWait,              ///< fi_trywait on an event queue that holds an event
    CloseEvents,          ///< fi_close of an event queue that an endpoint is bound to
    ClosePollSet,         ///< fi_close of a poll set with a completion queue in it
    CloseWaitSet,         ///< fi_close of a wait set that a completion queue waits with
    CloseRegion,          ///< fi_close of a memory region that is bound to a counter
    CloseCounter,         ///< fi_close of the counter
    RegionFlags,          ///< fi_mr_reg with a flag that no header has
    RegionInterface,      ///< fi_mr_regattr with another iface, without FI_HMEM
    RegionRawKey,         ///< fi_mr_raw_attr with room for less than the key
    LowestIndex,          ///< fi_av_insert into a table with a gap
    ShortLookup,          ///< fi_av_lookup with room for four bytes
    InsertStatus,         ///< fi_av_insert with FI_SYNC_ERR
    InsertSymmetric,      ///< fi_av_insertsym of two nodes with two services
    InsertString,         ///< fi_av_insertsvc of an address as a string
    InsertWithoutEvents,  ///< fi_av_insert into a vector with FI_EVENT and no event queue
    InsertEvent,          ///< fi_av_insert into a vector with FI_EVENT
    VectorContext,        ///< the context of an address vector
    ShortName,            ///< fi_getname with room for four bytes
    PeerToPeer,           ///< fi_setopt of FI_OPT_FI_HMEM_P2P to FI_HMEM_P2P_REQUIRED
    TriggerVariables,     ///< fi_getopt of FI_OPT_XPU_TRIGGER
    OperationFlags,       ///< fi_control with FI_GETOPSFLAG on an endpoint
    EnableToSend,         ///< fi_enable without a queue for what is sent
    EnableToReceive,      ///< fi_enable without a queue for what is received
    OtherDomain,          ///< fi_ep_bind of a completion queue of another domain
    SharedUnbound,        ///< fi_enable without the shared receive context
    ManyBuffers,          ///< fi_recvv with more buffers than rx_attr.iov_limit
    ListenAlone,          ///< fi_listen without an event queue
    Backlog,              ///< fi_control with FI_BACKLOG on a passive endpoint
    LongConnectData,      ///< fi_connect with more data than FI_OPT_CM_DATA_SIZE
    SharedTwice,          ///< fi_ep_bind of a second shared receive context
    InsertUnknown,        ///< fi_av_insertsvc of a name that no node has
};

/// How the set of addresses of the second group is made.  The first one's is a Range of all.
enum class AddressSet : std::uint8_t {
    Range,      ///< from the first to the last, with a stride of 1
    Universe,   ///< FI_UNIVERSE
    Stride,     ///< a range with a stride of 2
    Insert,     ///< empty, then each from the last to the first
    Remove,     ///< Range without the first
    Union,      ///< all but the first, and the first two
    Intersect,  ///< all but the first, then the first; of these the first two
    Diff,       ///< the same, without the second
};

struct GroupScript {
    GroupAct act = GroupAct::Collective;
    ObjectCall call = ObjectCall::QueueWait;
    std::uint64_t members = 2;
    AddressSet set = AddressSet::Range;
    std::uint64_t operation = 0;  ///< enum fi_collective_op
    std::uint64_t datatype = 0;   ///< enum fi_datatype
    std::uint64_t op = 0;         ///< enum fi_op
    std::uint64_t count = 1;      ///< elements that each member contributes or gets
    std::uint64_t root = 0;
    std::int64_t late = kNobodyLate;  ///< calls when all others have waited for a while
    bool operator==(const GroupScript&) const = default;
};

/// What is seen of a member, each a number.
enum class GroupFact : std::uint8_t {
    SetReturned,    ///< the first call on a set that failed
    AddrReturned,   ///< fi_av_set_addr
    QueryReturned,  ///< fi_query_collective
    JoinReturned,
    Joined,       ///< events FI_JOIN_COMPLETE
    JoinError,    ///< err of an event of error
    JoinedEarly,  ///< events before the late member called
    JoinFid,      ///< 1: the event's fid is that of the group
    JoinContext,  ///< 1: its context is that of the call
    Returned,     ///< by the call of the operation
    Entries,      ///< of success, with its context
    Errors,
    Error,         ///< err of the last of these
    Early,         ///< entries before the late member called
    GroupAddress,  ///< 1: fi_mc_addr gives one
    Closed,        ///< fi_close of the group
    OpenReturned,  ///< the first call that failed while a receive context was opened
    SendReturned,
    Messages,     ///< receives that are complete
    Message,      ///< what the last of them brought
    Source,       ///< the address that fi_cq_readfrom returned with it
    SourceKnown,  ///< 1: the address of an unknown sender is in the entry of error
    Stored,       ///< Calls: what the call stored, or how long it took in milliseconds
};
inline constexpr std::size_t kGroupFacts = static_cast<std::size_t>(GroupFact::Stored) + 1;

struct GroupMember {
    std::array<std::int64_t, kGroupFacts> facts{};
    std::array<std::uint64_t, kMostGroupValues> values{};  ///< of its result; of a large one evenly chosen: place_of
    [[nodiscard]] std::int64_t at(GroupFact f) const { return facts[static_cast<std::size_t>(f)]; }
};

struct GroupRound {
    std::array<GroupMember, kMostMembers> members;
    bool began = false;   ///< its first call was made
    bool posted = false;  ///< all members called the operation
};

struct GroupSeen {
    std::string failed;  ///< the call ahead of both rounds that failed; empty: none did
    std::int64_t ret = 0;
    std::array<GroupRound, 2> rounds;  ///< Collective: the group of all, then that of the script; others: the second
    int crashed_signal = 0;
    bool hung = false, exited = false;
    [[nodiscard]] bool crashed() const { return crashed_signal != 0 || hung || exited; }
};

/// `group`: a predicate looks at all of it.
struct GroupCase {
    Version version;
    const Info& info;  ///< what the endpoints were opened with
    const GroupScript& script;
    const GroupSeen& seen;
};

/// Element i of what member m contributes.
inline std::uint64_t input_of(std::uint64_t m, std::uint64_t i) {
    return i % 4 == 3 ? (m + i / 4) % 2 : (m * 29 + i * 7 + 1) % 127;
}
/// Which element of a result of `total` elements value k is.
inline std::uint64_t place_of(std::uint64_t k, std::uint64_t total) {
    return total <= kMostGroupValues ? k : k * total / kMostGroupValues;
}

}  // namespace selvage::model
