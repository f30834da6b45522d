// The probe for group cases: the script is run in a child of its own, which may crash, hang or leave things open.
#include <rdma/fi_errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstring>

#include "conformance/base/available_time.h"
#include "conformance/base/patience.h"
#include "conformance/drive/probe.h"
#include "conformance/harness/codec.h"
#include "conformance/runtime/group.h"
#include "model/group/group.h"
#include "model/group/membership.h"

namespace selvage::conformance {
namespace {

using namespace model;
using Clock = std::chrono::steady_clock;

// A script that takes so long has waited for what did not come.
constexpr std::chrono::milliseconds kInVain{1500};
// The longest of one call on an object of its own, whose longest wait is for two seconds.
constexpr std::chrono::milliseconds kOneCall{4000};
// Work of the one that may spend those on a processor.
constexpr std::chrono::milliseconds kWaitingWork = std::chrono::milliseconds(2000) + kLongestWork;

static_assert(MEMBERS == kMostMembers && VALUES == kMostGroupValues && FACTS == kGroupFacts);
static_assert(STORED == static_cast<int>(GroupFact::Stored) && ENTRIES == static_cast<int>(GroupFact::Entries));
static_assert(SET_DIFF == static_cast<int>(AddressSet::Diff) && CALLS == static_cast<int>(GroupAct::Calls));
static_assert(OBJECT_CALLS == static_cast<int>(ObjectCall::InsertUnknown) + 1);

// What the child writes and this process reads, also when the child has died.
struct Shared {
    group_seen seen;
    char failed[64];
    int entry;  // which entry of the answer was opened; -1: none
};

class SharedMemory {
public:
    SharedMemory()
        : at_(static_cast<Shared*>(
              mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
        if (at_ == MAP_FAILED) at_ = nullptr;
        if (at_ != nullptr) at_->entry = -1;
    }
    ~SharedMemory() {
        if (at_ != nullptr) munmap(at_, sizeof(Shared));
    }
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;
    [[nodiscard]] Shared* get() const { return at_; }

private:
    Shared* at_;
};

// In the child: since it asked first.
std::int64_t available_millis() {
    static AvailableTime since;
    return std::chrono::duration_cast<std::chrono::milliseconds>(since.passed()).count();
}

group_script script_of(const GroupScript& s, bool hasty) {
    group_script out{};
    out.act = static_cast<group_act>(s.act);
    out.call = static_cast<object_call>(s.call);
    out.members = static_cast<int>(s.members);
    out.set = static_cast<set_recipe>(s.set);
    for (const std::uint64_t m : members_of(s.set, s.members)) out.joins |= 1U << m;
    out.operation = static_cast<fi_collective_op>(s.operation);
    out.datatype = static_cast<fi_datatype>(s.datatype);
    out.op = static_cast<fi_op>(s.op);
    out.count = s.count;
    out.root = static_cast<int>(s.root);
    out.late = static_cast<int>(s.late);
    out.hasty = hasty ? 1 : 0;
    out.looked = sign_of_life;
    out.available_millis = available_millis;
    return out;
}

void run_in(TestContext& context, const Case& c, Shared& shared) {
    const Entries& entries = context.library().entries();
    const group_script script = script_of(c.group, context.groups().is_short());
    Arena arena(room_for(c.first));
    const Encoded call = encode(c.first, arena, {});
    fi_info* list = nullptr;
    if (entries.getinfo(call.version, call.node, call.service, call.flags, call.hints, &list) != 0) return;
    int index = 0;
    for (fi_info* info = list; info != nullptr; info = info->next, ++index) {
        Info offer;
        decode(info, {}, offer);
        if (!offer_is_of(offer, c.provider)) continue;
        fid_fabric* fabric = nullptr;
        if (entries.fabric(info->fabric_attr, reinterpret_cast<void**>(&fabric), nullptr) != 0) return;
        shared.entry = index;
        run_group(fabric, info, &script, &shared.seen);
        // The name is in this process's memory alone.
        if (shared.seen.failed != nullptr) std::strncpy(shared.failed, shared.seen.failed, sizeof shared.failed - 1);
        fi_close(&fabric->fid);
        return;
    }
}

GroupSeen parse(const Shared& shared, const Ending& ending) {
    GroupSeen out;
    out.failed = shared.failed;
    out.ret = shared.seen.ret;
    for (std::size_t r = 0; r < out.rounds.size(); ++r) {
        const group_round& from = shared.seen.round[r];
        out.rounds[r].began = from.began != 0;
        out.rounds[r].posted = from.posted != 0;
        for (std::size_t m = 0; m < kMostMembers; ++m) {
            std::copy(std::begin(from.fact[m]), std::end(from.fact[m]), out.rounds[r].members[m].facts.begin());
            std::copy(std::begin(from.value[m]), std::end(from.value[m]), out.rounds[r].members[m].values.begin());
        }
    }
    out.crashed_signal = ending.kind == Ending::Kind::Crashed ? ending.signal : 0;
    out.hung = ending.kind == Ending::Kind::Hung;
    out.exited = ending.kind == Ending::Kind::Exited;
    return out;
}

// As run_in_child has them.
struct Limits {
    std::chrono::milliseconds quiet, busy;
};

Limits limits_of(TestContext& context, const GroupScript& s) {
    if (s.act != GroupAct::Calls) return {context.groups().of_a_call(), {}};
    return {kOneCall, s.call == ObjectCall::QueueSignal ? kWaitingWork : kLongestWork};
}

}  // namespace

void probe_group(TestContext& context, const Case& c, Tally& tally, std::vector<Because>& broken) {
    const SharedMemory shared;
    if (shared.get() == nullptr) return;
    const auto began = Clock::now();
    const Limits limits = limits_of(context, c.group);
    const Ending ending = run_in_child([&](Channel&) { run_in(context, c, *shared.get()); }, [](std::string_view) {},
                                       limits.quiet, limits.busy);
    const auto took = Clock::now() - began;
    const Answer answer = context.single().issue(c.first).answer;
    const int entry = shared.get()->entry;
    if (entry < 0 || static_cast<std::size_t>(entry) >= answer.offers.size()) return;
    const GroupSeen seen = parse(*shared.get(), ending);
    judge_group({c.first.version, answer.offers[static_cast<std::size_t>(entry)], c.group, seen}, tally, broken);
    if (broken.empty() || c.group.act == GroupAct::Calls) return;
    if (seen.hung) context.groups().learn_that_it_hangs();
    if (!seen.hung && took >= kInVain) context.groups().learn_that_it_loses();
}

}  // namespace selvage::conformance
