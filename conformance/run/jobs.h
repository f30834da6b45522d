// Properties that run beside one another: each on each provider is a process of its own, a job.
//
// Invariants:
// 1. A job learns nothing from another one.
// 2. All jobs are forked before the first one begins, so what a job finds in its memory depends neither on how many run
//    at a time nor on which one ended first.
// 3. A job whose process ends before it has returned a result has no verdict.
//
// The parent's side, single-threaded.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "conformance/properties/property.h"
#include "conformance/report/finding.h"

namespace selvage::conformance {

struct Job {
    Property* property = nullptr;
    std::string provider;
};

/// What came of one.
struct JobResult {
    ProviderResult counts;              ///< of this property alone
    std::vector<Deviation> deviations;  ///< in the order in which they were found
    std::string trouble;                ///< why there is no verdict; empty if there is one
};

/// Called as jobs go on; `job` is an index into the list.
struct JobEvents {
    std::function<void(std::size_t job)> began;
    std::function<void(std::size_t job, std::uint64_t done)> at;
    /// A deviation, before the job has ended; its result is likely to have it.  May be empty.
    std::function<void(std::size_t job, const Deviation& deviation)> found{};
    std::function<void(std::size_t job, const JobResult& result)> ended;
};

/// One more than there are processors, as jobs wait for what never comes; at most four.
unsigned default_jobs();

/// Runs all jobs, so many at once.  Those of the property that is last in the list begin first, on all providers: they
/// take longest, and at the end one that is left alone leaves processors idle.
/// @return their results, in the order of the list.
std::vector<JobResult> run_jobs(const Plan& plan, const std::vector<Job>& jobs, unsigned at_once,
                                const JobEvents& events);

/// Adds a result to a report, which has its provider.
void add_result(const JobResult& result, Report& report);

}  // namespace selvage::conformance
