// Workloads that are measured one after another in one process, since making ready takes longer than measuring.
//
// A session runs in a child.  It sends each workload that it begins, then its samples or why there are none; should the
// child die or hang, that workload is at fault and another child measures the rest.  Pairs are runs F A B F A B F, with
// more rivals F A B C F A B C F: the floor stands on both sides of each pair, and a pair on whose sides it differs much
// is measured anew.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "conformance/bench/pairs.h"
#include "conformance/bench/workload.h"

namespace selvage::conformance::bench {

/// How a session reports.  For every workload either samples or cannot is called, at most once.
struct Tell {
    std::function<void(const Workload&)> begin;
    std::function<void(const Workload&, std::span<const double>)> samples;
    std::function<void(const Workload&, const std::string& why)> cannot;
};

using Rows = std::span<const Workload* const>;
/// Measures rows of one provider, in a child process that has opened no library yet.
using Session = void (*)(const std::string& library, Rows rows, const Setting& setting, const Tell& tell);

/// What one run of a session gave, by the workload's name.
struct Seen {
    std::map<std::string, std::vector<double>> samples;
    std::map<std::string, std::string> errors;
};

/// One run in children of its own.  Every row is in the result.
/// @param at called after each row.
Seen run_session(Session session, const std::string& library, Rows rows, const Setting& setting,
                 const std::function<void()>& at);

/// Figures of one floor.
struct Floor {
    const Workload* workload = nullptr;
    Measured measured;
};

struct SessionResults {
    std::vector<Result> results;
    std::vector<Floor> floors;
    unsigned again = 0;     ///< pairs that were measured anew
    unsigned unsteady = 0;  ///< pairs that were kept although the floor moved
};

/// How far a floor may move beside a pair.
inline constexpr double kSteady = 1.15;
/// Whether floors marked as steady agree.
bool same_machine(Rows floors, const Seen& before, const Seen& after);

struct Suite;
/// @param at called after each row of each run; `over` after each provider, with its name.
SessionResults run_sessions(const Suite& suite, std::span<const Workload> workloads, std::span<const Workload> floors,
                            Sides sides, unsigned pairs, const Setting& setting, const std::function<void()>& at,
                            const std::function<void(const std::string& provider)>& over);

}  // namespace selvage::conformance::bench
