// See groups.h.
#include "conformance/generate/groups.h"

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

#include <algorithm>
#include <array>

#include "model/group/membership.h"

namespace selvage::conformance {
namespace {

using model::AddressSet;
using model::GroupScript;

constexpr std::uint64_t kOperations[] = {FI_BARRIER,  FI_ALLGATHER,      FI_ALLREDUCE, FI_BROADCAST, FI_SCATTER,
                                         FI_ALLTOALL, FI_REDUCE_SCATTER, FI_REDUCE,    FI_GATHER};
constexpr std::uint64_t kReductions[] = {FI_SUM,  FI_MIN,  FI_MAX, FI_PROD, FI_LOR,
                                         FI_LAND, FI_LXOR, FI_BOR, FI_BAND, FI_BXOR};
constexpr std::uint64_t kDatatypes[] = {FI_UINT64, FI_UINT8, FI_INT32, FI_DOUBLE, FI_FLOAT};
constexpr std::uint64_t kCounts[] = {1, 5, 600, 9000};  // from one element to more than fits a small message

// What fi_query_collective is to be asked for a barrier, and what no datatype of ours lacks.
GroupScript valid(GroupScript s) {
    if (s.operation == FI_BARRIER) {
        s.datatype = FI_VOID;
        s.op = FI_NOOP;
        s.count = 1;
    } else if (!model::reduces(s.operation)) {
        s.op = FI_NOOP;
    } else if (s.datatype == FI_FLOAT || s.datatype == FI_DOUBLE) {
        // Products of these are not exact, and they have no bits.
        if (s.op >= FI_PROD) s.op = FI_SUM;
    }
    if (!model::has_root(s.operation)) s.root = 0;
    return s;
}

GroupScript plain(std::uint64_t operation) {
    GroupScript s;
    s.members = 3;
    s.operation = operation;
    s.datatype = FI_UINT64;
    s.op = FI_SUM;
    s.count = 2;
    s.root = 1;
    return s;
}

}  // namespace

std::vector<GroupScript> collective_scripts() {
    std::vector<GroupScript> out;
    const auto add = [&out](const GroupScript& s) {
        const GroupScript v = valid(s);
        if (std::find(out.begin(), out.end(), v) == out.end()) out.push_back(v);
    };
    for (const std::uint64_t operation : kOperations) add(plain(operation));
    for (const std::uint64_t operation : kOperations) {
        GroupScript s = plain(operation);
        for (s.late = 0; s.late < static_cast<std::int64_t>(s.members); ++s.late) add(s);
    }
    for (std::uint64_t set = 1; set <= static_cast<std::uint64_t>(AddressSet::Diff); ++set) {
        GroupScript s = plain(static_cast<AddressSet>(set) == AddressSet::Universe ? FI_ALLREDUCE : FI_ALLGATHER);
        s.set = static_cast<AddressSet>(set);
        add(s);
        s.members = 4;
        add(s);
    }
    for (const std::uint64_t operation : kOperations)
        for (const std::uint64_t count : kCounts)
            for (std::uint64_t root = 0; root < 2; ++root) {
                GroupScript s = plain(operation);
                s.count = count;
                s.root = root;
                s.members = 2 + (count + root) % 3;
                add(s);
            }
    for (const std::uint64_t op : kReductions) {
        GroupScript s = plain(FI_ALLREDUCE);
        s.op = op;
        for (const std::uint64_t type : kDatatypes) {
            s.datatype = type;
            s.count = 8;
            add(s);
        }
    }
    return out;
}

std::vector<GroupScript> call_scripts() {
    std::vector<GroupScript> out;
    for (std::uint64_t call = 0; call <= static_cast<std::uint64_t>(model::ObjectCall::InsertUnknown); ++call) {
        GroupScript s;
        s.act = model::GroupAct::Calls;
        s.call = static_cast<model::ObjectCall>(call);
        s.members = 1;
        out.push_back(s);
    }
    return out;
}

GroupScript random_collective(Rng& rng) {
    GroupScript s;
    s.members = 2 + rng.below(model::kMostMembers - 1);
    s.operation = kOperations[rng.below(std::size(kOperations))];
    s.datatype = kDatatypes[rng.below(std::size(kDatatypes))];
    s.op = kReductions[rng.below(std::size(kReductions))];
    s.count = rng.chance(70) ? 1 + rng.below(64) : 1 + rng.below(model::kMostGroupCount);
    s.root = rng.below(s.members);
    s.late = rng.chance(50) ? static_cast<std::int64_t>(rng.below(s.members)) : model::kNobodyLate;
    if (rng.chance(30)) s.set = static_cast<AddressSet>(rng.below(static_cast<std::uint64_t>(AddressSet::Diff) + 1));
    return valid(s);
}

}  // namespace selvage::conformance
