// See session.h.
#include "conformance/bench/many/session.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <vector>

#include "conformance/bench/many/workers.h"

namespace selvage::conformance::bench::many {
namespace {

using Samples = std::map<Figure, std::vector<double>>;

constexpr std::uint64_t kWindow = 4;
constexpr std::size_t kBlocks = 3;
constexpr std::size_t kFirstMessages = 20;

/// Memory of the first `workers`, and what all share.
double memory_of(Processes& processes, std::size_t workers) {
    processes.order({Step::Weigh, 0, 0});
    double bytes = processes.shared_memory();
    for (std::size_t i = 0; i < workers; ++i) bytes += processes.report(i).memory;
    return bytes;
}

/// Memory is seen in pages: what fits in pages that were touched before, or is less than what was given back, is told
/// as one page, and never as none.  @return bytes.
double growth(double before, double after) {
    return std::max(after - before, static_cast<double>(sysconf(_SC_PAGESIZE)));
}

/// Blocks that take the time of the effort together.  @return nanoseconds of a message, one for each block.
std::vector<double> messages(Processes& processes, std::uint64_t window, std::size_t messages_of_turn,
                             const Effort& effort) {
    processes.talk(1, window);
    const double turn = processes.talk(2, window) / 2;
    const double block = std::chrono::duration<double, std::nano>(effort.time).count() / kBlocks;
    const auto turns = static_cast<std::uint64_t>(std::clamp(block / std::max(turn, 1.0), 1.0, 1e6));
    std::vector<double> samples(kBlocks);
    for (double& s : samples)
        s = processes.talk(turns, window) / static_cast<double>(turns) / static_cast<double>(messages_of_turn);
    return samples;
}

/// The memory of a peer is all that the endpoints and what they have exchanged takes, by their pairs.
Samples all_to_all(Processes& processes, const Scenario& scenario, const Effort& effort) {
    const std::size_t pairs = scenario.count * (scenario.count - 1);
    const double before = memory_of(processes, scenario.count);
    processes.order({Step::Open, 0, 0});
    processes.order({Step::Know, 0, 0});
    processes.talk(1);
    const double after = memory_of(processes, scenario.count);
    Samples out;
    out[Figure::Memory] = {growth(before, after) / static_cast<double>(pairs)};
    out[Figure::Message] = messages(processes, 1, pairs, effort);
    return out;
}

/// The memory of a peer is what has come with its first message: that of the receiver, and what all share.
Samples to_one(Processes& processes, const Scenario& scenario, const Effort& effort) {
    processes.order({Step::Open, 0, 0});
    processes.order({Step::Know, 0, 0});
    const double before = memory_of(processes, 1);
    Samples out;
    out[Figure::Storm] = {processes.talk(1)};
    const double after = memory_of(processes, 1);
    out[Figure::Memory] = {growth(before, after) / static_cast<double>(scenario.count)};
    out[Figure::Message] = messages(processes, kWindow, scenario.count * kWindow, effort);
    return out;
}

Samples first(Processes& processes) {
    Samples out;
    for (std::uint64_t turn = 1; turn <= kFirstMessages + 1; ++turn) {
        processes.order({Step::Open, 0, 0});
        processes.order({Step::Know, 0, 0});
        processes.order({Step::Talk, turn, 1});
        const Report& report = processes.report(0);
        if (turn > 1) out[Figure::First].push_back(static_cast<double>(report.ended - report.began));
    }
    return out;
}

Samples addresses(Processes& processes, const Scenario& scenario) {
    processes.order({Step::Open, 0, 0});
    const double before = memory_of(processes, 1);
    processes.order({Step::Know, 0, 0});
    const double after = memory_of(processes, 1);
    processes.order({Step::Talk, 1, 1});
    Samples out;
    out[Figure::Memory] = {growth(before, after) / static_cast<double>(scenario.count)};
    for (const Figure f : kAddressFigures) out[f] = {processes.report(0).figures[index_of(f)]};
    return out;
}

MakeWorker maker_of(Kind kind) {
    switch (kind) {
        case Kind::AllToAll:
            return make_all_to_all;
        case Kind::ToOne:
            return make_to_one;
        case Kind::First:
            return make_first;
        case Kind::Addresses:
            break;
    }
    return make_addresses;
}

Samples measure(const std::string& library, const Scenario& scenario, const Setting& setting) {
    Processes processes(library, scenario, setting, maker_of(scenario.kind));
    switch (scenario.kind) {
        case Kind::AllToAll:
            return all_to_all(processes, scenario, setting.effort);
        case Kind::ToOne:
            return to_one(processes, scenario, setting.effort);
        case Kind::First:
            return first(processes);
        case Kind::Addresses:
            break;
    }
    return addresses(processes, scenario);
}

}  // namespace

void many_session(const std::string& library, Rows rows, const Setting& setting, const Tell& tell) {
    std::vector<const Workload*> left(rows.begin(), rows.end());
    while (!left.empty()) {
        const Scenario scenario = item_of(*left.front()).scenario;
        const auto others = std::stable_partition(left.begin(), left.end(),
                                                  [&](const Workload* w) { return item_of(*w).scenario == scenario; });
        tell.begin(*left.front());
        try {
            const Samples samples = measure(library, scenario, setting);
            for (auto row = left.begin(); row != others; ++row) tell.samples(**row, samples.at(item_of(**row).figure));
        } catch (const CannotMeasure& e) {
            for (auto row = left.begin(); row != others; ++row) tell.cannot(**row, e.what());
        }
        left.erase(left.begin(), others);
    }
}

}  // namespace selvage::conformance::bench::many
