// See session.h.
//
// The first member sends the others over a Link each what comes next: an operation, its size and how often.  All do it
// as often; the first one's clock counts.  Where they run before all others (Setting::realtime), they do so from their
// beginning to their end: a member that does not yet would wait for ever behind those that wait for it, as some of them
// that look every 20 us take all of a processor where a switch costs as much.
#include "conformance/bench/collective/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <thread>

#include "conformance/bench/collective/member.h"
#include "conformance/bench/cores.h"
#include "conformance/bench/subject.h"
#include "conformance/bench/transfer/blocks.h"
#include "conformance/bench/transfer/link.h"
#include "conformance/bench/transfer/plan.h"

namespace selvage::conformance::bench::collective {
namespace {

using transfer::hurry;
using transfer::Link;
using transfer::TwoProcesses;

struct OperationName {
    Operation operation;
    const char* name;
};
constexpr std::array kOperations = {
    OperationName{Operation::Barrier, "barrier"},     OperationName{Operation::Broadcast, "broadcast"},
    OperationName{Operation::Allreduce, "allreduce"}, OperationName{Operation::Allgather, "allgather"},
    OperationName{Operation::Alltoall, "alltoall"},
};
constexpr std::array<std::size_t, 5> kSizes = {8, 256, 4 << 10, 64 << 10, kPartMost};
/// In a block, whose time is the first member's: it may be through with its last operation long before the others are.
/// Open MPI's program has as many.
constexpr std::uint64_t kTurnsLeast = 16;

/// What the first member sends the others.
struct Order {
    Operation operation;
    std::size_t size;
    std::uint64_t turns;  ///< 0: no more
};

Workload row(const char* provider, int members, const OperationName& operation, std::size_t size) {
    Workload w;
    w.name = fmt::format("{}.{}.{}", provider, operation.name, members);
    w.title = operation.name;
    if (size != 0) {
        w.name += fmt::format(".{}", size);
        w.title += ", " + transfer::in_bytes(size);
    }
    w.place = {provider, operation.name, "collective", size};
    w.members = members;
    w.quick = size == 0 || size == 8 || size == 64 << 10;
    return w;
}

Operation operation_of(const Workload& w) {
    const auto* found = std::find_if(kOperations.begin(), kOperations.end(),
                                     [&](const OperationName& o) { return w.place.operation == o.name; });
    return found->operation;
}

/// Every other member, from its making to its end.
void far_member(const std::string& library, const std::string& provider, bool shares, Link& link,
                const Setting& setting) {
    const auto opened = open_for_measuring(library);
    Member member(opened->entries(), provider, shares);
    transfer::send_value(link, member.address());
    member.join(transfer::receive_value<Addresses>(link));
    while (!member.joined()) member.wait_a_moment();
    transfer::send_value(link, true);
    while (true) {
        const auto order = transfer::as_value<Order>(link.receive_during([&] { member.wait_a_moment(); }));
        if (order.turns == 0) break;
        hurry(setting, true);
        member.operate(Operation::Barrier, 0);
        for (std::uint64_t i = 0; i < order.turns; ++i) member.operate(order.operation, order.size);
    }
    transfer::send_value(link, true);
}

/// The members of one number, seen from the first.
class Group {
public:
    Group(const std::string& library, const std::string& provider, std::size_t members, const Setting& setting,
          const std::vector<int>& allowed)
        : setting_(setting) {
        const auto cores = cores_of(members, setting.cores, allowed);
        const bool shares = share_cores(cores, allowed);
        hurry(setting, true);  // and so do those that come of this one
        for (std::size_t i = 1; i < members; ++i) {
            Setting other = setting;
            other.cores[1] = cores[i];
            others_.push_back(std::make_unique<TwoProcesses>(
                other, [=](Link& link) { far_member(library, provider, shares, link, other); }));
        }
        opened_ = open_for_measuring(library);  // behind the others: they open it themselves
        member_ = std::make_unique<Member>(opened_->entries(), provider, shares);
        meet();
    }

    std::vector<double> measure(const Workload& row) {
        try {
            return samples_of(row);
        } catch (const CannotMeasure&) {
            look_for_crashes();
            throw;
        }
    }

    void end() {
        for (auto& other : others_) transfer::send_value(other->link(), Order{});
        for (auto& other : others_) wait_for(*other);
        hurry(setting_, false);
    }

private:
    std::vector<double> samples_of(const Workload& row) {
        const Operation operation = operation_of(row);
        const std::size_t size = row.place.size;
        block(operation, size, 4);  // what happens only at first has happened
        double fastest = 1e12;
        for (int i = 0; i < 3; ++i) fastest = std::min(fastest, block(operation, size, size <= 4096 ? 64 : 2));
        const auto blocks = transfer::blocks_for(fastest, setting_.effort, kTurnsLeast);
        return transfer::in_helpings(blocks, setting_.effort, [&](const transfer::Blocks& helping) {
            std::vector<double> samples;
            for (std::uint64_t b = 0; b < helping.count; ++b) samples.push_back(block(operation, size, helping.each));
            return samples;
        });
    }

    /// The error of an operation is what is left of a member that ended, and tells less. The kernel may report that end
    /// a moment later.
    void look_for_crashes() {
        constexpr std::chrono::milliseconds kMoment{200}, kBetween{10};
        for (const auto since = transfer::Clock::now(); transfer::Clock::now() - since < kMoment;) {
            for (auto& other : others_) other->link().look_for_crash();
            std::this_thread::sleep_for(kBetween);
        }
    }

    /// An answer of another member, while this one makes progress.
    std::string wait_for(TwoProcesses& other) {
        return other.link().receive_during([&] { member_->wait_a_moment(); });
    }

    void meet() {
        Addresses all = {};
        all.of[all.count++] = member_->address();
        for (auto& other : others_) all.of[all.count++] = transfer::receive_value<Address>(other->link());
        for (auto& other : others_) transfer::send_value(other->link(), all);
        member_->join(all);
        const auto since = transfer::Clock::now();
        while (!member_->joined()) {
            member_->wait_a_moment();
            others_.front()->link().look(since);
        }
        for (auto& other : others_) wait_for(*other);
    }

    /// @return nanoseconds of an operation.
    double block(Operation operation, std::size_t size, std::uint64_t turns) {
        for (auto& other : others_) transfer::send_value(other->link(), Order{operation, size, turns});
        hurry(setting_, true);
        member_->operate(Operation::Barrier, 0);
        const auto samples = transfer::time_blocks({1, turns}, [&] { member_->operate(operation, size); });
        return samples[0];
    }

    const Setting& setting_;
    std::vector<std::unique_ptr<TwoProcesses>> others_;
    std::shared_ptr<const Library> opened_;
    std::unique_ptr<Member> member_;
};

void measure_group(const std::string& library, Rows rows, const Setting& setting, const std::vector<int>& allowed,
                   const Tell& tell) {
    const Workload& first = *rows.front();
    try {
        Group group(library, first.place.provider, static_cast<std::size_t>(first.members), setting, allowed);
        for (const auto* row : rows) {
            tell.begin(*row);
            tell.samples(*row, group.measure(*row));
        }
        group.end();
    } catch (const CannotMeasure& e) {
        for (const auto* row : rows) tell.cannot(*row, e.what());  // those that were measured keep their samples
    }
}

}  // namespace

std::vector<Workload> collective_workloads() {
    std::vector<Workload> out;
    for (const char* provider : {"shm", "tcp"}) {
        for (const int members : {2, 4, 8}) {
            for (const auto& operation : kOperations) {
                const bool sized = operation.operation != Operation::Barrier;
                for (const std::size_t size : kSizes) {
                    if (sized || size == kSizes[0]) out.push_back(row(provider, members, operation, sized ? size : 0));
                }
            }
        }
    }
    return out;
}

void collective_session(const std::string& library, Rows rows, const Setting& setting, const Tell& tell) {
    const auto allowed = cores_allowed();  // before the first group pins this process
    std::vector<const Workload*> left(rows.begin(), rows.end());
    while (!left.empty()) {
        const int members = left.front()->members;
        const auto others =
            std::stable_partition(left.begin(), left.end(), [&](const Workload* w) { return w->members == members; });
        const Rows now(left.data(), static_cast<std::size_t>(others - left.begin()));
        measure_group(library, now, setting, allowed, tell);
        left.erase(left.begin(), others);
    }
}

}  // namespace selvage::conformance::bench::collective
