// See pairs.h.
#include "conformance/bench/pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "conformance/base/child.h"
#include "conformance/bench/subject.h"
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

double Result::instruction_ratio() const {
    const auto& a = sides[0].instructions;
    const auto& b = sides[1].instructions;
    return a && b && *a > 0 ? *b / *a : 0;
}

Met Result::met() const {
    const Goal& goal = workload->goal;
    const auto& [a, b] = sides;
    if (!goal.any()) return Met::NoGoal;
    const bool no_slower = goal.times <= 1;  // than a library that may not be able to do it at all
    if (!a.error.empty()) return no_slower && goal.floor <= 0 && !b.error.empty() ? Met::NoGoal : Met::No;
    if (goal.below > 0 && !reaches(workload->quantity, a.summary.median, goal.below)) return Met::No;
    if (goal.instructions > 0 && a.instructions && *a.instructions >= goal.instructions) return Met::No;
    if (goal.floor > 0 && floor_ratios[0] > 0 && !within(workload->quantity, floor_ratios[0], goal.floor))
        return Met::No;
    if (goal.times > 0 && ratio > 0 && ratio < goal.times) return Met::No;
    const bool no_ratio = goal.times > 0 && ratio <= 0 && !(no_slower && !b.error.empty());
    const bool no_floor = goal.floor > 0 && floor_ratios[0] <= 0;
    const bool no_count = goal.instructions > 0 && !a.instructions;
    return no_ratio || no_floor || no_count ? Met::Unknown : Met::Yes;
}

Result run_pairs(const Workload& workload, const std::array<Side, 2>& sides, unsigned pairs, const Effort& effort,
                 const std::function<void()>& at) {
    Result result;
    result.workload = &workload;
    std::array<std::vector<std::vector<double>>, 2> runs;
    for (unsigned pair = 0; pair < pairs; ++pair) {
        std::array<double, 2> medians{};
        for (std::size_t s = 0; s < 2; ++s) {
            std::string& error = result.sides[s].error;
            if (error.empty()) {
                runs[s].push_back(measure(workload, sides[s], effort, error));
                medians[s] = median(runs[s].back());
            }
            at();
        }
        const double ratio = times_as_good(workload.quantity, medians[0], medians[1]);
        if (ratio > 0) result.ratios.push_back(ratio);
    }
    for (std::size_t s = 0; s < 2; ++s) result.sides[s].summary = summarise(runs[s]);
    result.ratio = median(result.ratios);
    return result;
}

}  // namespace selvage::conformance::bench
