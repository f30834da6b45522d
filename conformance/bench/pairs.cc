// See pairs.h.
#include "conformance/bench/pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "conformance/base/child.h"
#include "conformance/bench/subject.h"
#include "conformance/bench/tools.h"
#include "model/value/version.h"

namespace selvage::conformance::bench {
namespace {

using namespace std::chrono_literals;

/// A child that says nothing for so long hangs.
constexpr auto kPatience = 60s;
/// First byte of a record.
constexpr char kSamples = 'S';
constexpr char kError = 'E';

void send(Channel& channel, char kind, std::string_view content) { channel.send(std::string(1, kind).append(content)); }

/// One run: `work` in a child; what it sends of kind kSamples is handed over.  @return the error, empty if none.
std::string run_one(const std::function<void(Channel&)>& work, const std::function<void(std::string_view)>& take) {
    bool came = false;
    std::string error;
    const Ending ending = run_in_child(
        [&](Channel& channel) {
            try {
                work(channel);
            } catch (const CannotMeasure& e) {
                send(channel, kError, e.what());
            }
        },
        [&](std::string_view record) {
            if (record.empty()) return;
            if (record[0] == kError) error = record.substr(1);
            if (record[0] != kSamples) return;
            came = true;
            take(record.substr(1));
        },
        kPatience);
    return came || !error.empty() ? error : how_it_ended(ending);
}

std::vector<double> as_samples(std::string_view bytes) {
    std::vector<double> samples(bytes.size() / sizeof(double));
    std::memcpy(samples.data(), bytes.data(), samples.size() * sizeof(double));
    return samples;
}

std::vector<double> measure(const Workload& workload, const Side& side, const Effort& effort, std::string& error) {
    std::vector<double> samples;
    error = run_one(
        [&](Channel& channel) {
            shift_addresses();
            const auto got = workload.run(side.path, effort);
            send(channel, kSamples, {reinterpret_cast<const char*>(got.data()), got.size() * sizeof(double)});
        },
        [&](std::string_view bytes) { samples = as_samples(bytes); });
    return samples;
}

bool reaches(Quantity quantity, double value, double limit) {
    return less_is_better(quantity) ? value < limit : value > limit;
}

/// A share of a floor.
bool within(Quantity quantity, double share, double limit) {
    return less_is_better(quantity) ? share <= limit : share >= limit;
}

}  // namespace

std::string how_it_ended(const Ending& ending) {
    switch (ending.kind) {
        case Ending::Kind::Crashed:
            return fmt::format("died of signal {}", ending.signal);
        case Ending::Kind::Hung:
            return "hung";
        case Ending::Kind::Exited:
            return fmt::format("ended the process with status {}", ending.status);
        case Ending::Kind::Done:
            break;
    }
    return "gave nothing";
}

double times_as_good(Quantity quantity, double ours, double theirs) {
    if (ours <= 0 || theirs <= 0) return 0;
    return less_is_better(quantity) ? theirs / ours : ours / theirs;
}

std::string identify(Side& side) {
    if (side.tool != nullptr) return side.tool->identify(side);
    return run_one(
        [&](Channel& channel) {
            const auto library = open_for_measuring(side.path);
            const model::Version version(library->entries().version());
            send(channel, kSamples, fmt::format("{}\n{}\n{}", library->path(), version.str(), library->build_id()));
        },
        [&](std::string_view text) {
            const auto first = text.find('\n');
            const auto second = text.find('\n', first + 1);
            side.resolved = text.substr(0, first);
            side.version = text.substr(first + 1, second - first - 1);
            side.build_id = text.substr(second + 1);
        });
}

std::string identity_of(const Side& side) {
    return side.tool != nullptr ? fmt::format("{} {}", side.tool->name, side.version) : side.build_id;
}

bool has_counterpart(const Side& side, const Workload& workload) {
    return side.tool == nullptr || side.tool->has(workload);
}

double Result::instruction_ratio(std::size_t rival) const {
    const auto& a = sides[0].instructions;
    const auto& b = sides[rival].instructions;
    return a && b && *a > 0 ? *b / *a : 0;
}

Met Result::met() const {
    const Goal& goal = workload->goal;
    if (!goal.any()) return Met::NoGoal;
    const Measured& a = sides[0];
    const Measured b = judge != 0 && judge < sides.size() ? sides[judge] : Measured{};
    const bool no_slower = goal.times <= 1;  // than a library that may not be able to do it at all
    if (!a.error.empty()) return no_slower && goal.floor <= 0 && !b.error.empty() ? Met::NoGoal : Met::No;
    if (goal.below > 0 && !reaches(workload->quantity, a.summary.median, goal.below)) return Met::No;
    if (goal.instructions > 0 && a.instructions && *a.instructions >= goal.instructions) return Met::No;
    if (goal.floor > 0 && a.floor_ratio > 0 && !within(workload->quantity, a.floor_ratio, goal.floor)) return Met::No;
    if (goal.beside > 0 && a.beside_ratio > 0 && !within(workload->quantity, a.beside_ratio, goal.beside))
        return Met::No;
    if (goal.times > 0 && b.ratio > 0 && b.ratio < goal.times) return Met::No;
    const bool no_ratio = goal.times > 0 && b.ratio <= 0 && !(no_slower && !b.error.empty());
    const bool no_floor = (goal.floor > 0 && a.floor_ratio <= 0) || (goal.beside > 0 && a.beside_ratio <= 0);
    const bool no_count = goal.instructions > 0 && !a.instructions;
    return no_ratio || no_floor || no_count ? Met::Unknown : Met::Yes;
}

Result empty_result(const Workload& workload, Sides sides) {
    Result result;
    result.workload = &workload;
    result.sides.resize(sides.size());
    const auto library = std::find_if(sides.begin() + (sides.empty() ? 0 : 1), sides.end(),
                                      [](const Side& s) { return s.tool == nullptr; });
    result.judge = library != sides.end() ? static_cast<std::size_t>(library - sides.begin()) : 0;
    return result;
}

Result run_pairs(const Workload& workload, Sides sides, unsigned pairs, const Effort& effort,
                 const std::function<void()>& at) {
    Result result = empty_result(workload, sides);
    std::vector<std::vector<std::vector<double>>> runs(sides.size());  // by side and pair
    for (unsigned pair = 0; pair < pairs; ++pair) {
        double first = 0;
        for (std::size_t s = 0; s < sides.size(); ++s) {
            Measured& side = result.sides[s];
            double value = 0;
            if (side.error.empty() && sides[s].tool == nullptr) {
                runs[s].push_back(measure(workload, sides[s], effort, side.error));
                value = median(runs[s].back());
            }
            if (s == 0) first = value;
            const double ratio = s == 0 ? 0 : times_as_good(workload.quantity, first, value);
            if (ratio > 0) side.ratios.push_back(ratio);
            at();
        }
    }
    for (std::size_t s = 0; s < sides.size(); ++s) {
        result.sides[s].summary = summarise(runs[s]);
        result.sides[s].ratio = median(result.sides[s].ratios);
    }
    return result;
}

}  // namespace selvage::conformance::bench
