// What selvage check runs: each property on each provider, chosen by GoogleTest's filters and shards.
//
// Each is a GoogleTest test, PROPERTY.PROVIDER; all that were chosen are run as jobs before the first test, and a test
// then reports what came of its own.  Main thread only; once in a process.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "conformance/base/terminal.h"
#include "conformance/cli/shard.h"
#include "conformance/convict/convict.h"
#include "conformance/report/finding.h"
#include "conformance/run/jobs.h"
#include "conformance/run/runner.h"

namespace selvage::conformance {

/// What the tests share while GoogleTest runs them.
struct Session {
    const Plan* plan = nullptr;
    unsigned at_once = 1;
    Report report;
    Progress* progress = nullptr;
    ProgramQueue* programs = nullptr;     ///< of what was found
    std::vector<Job> jobs;                ///< by number of the test
    std::vector<std::size_t> chosen;      ///< those that this run does
    std::map<std::size_t, JobResult> by;  ///< what came of them
};

using Properties = std::vector<std::unique_ptr<Property>>;

/// Runs what was chosen of all properties on the providers of the report, and adds it to the report.
void run_session(Session& session, const Properties& properties, const Shard& shard);
/// Why clauses were not reached, as far as that is this part's to say.
void explain_session(Session& session, const Properties& properties, const Shard& shard);
/// Runs the programs of findings that are still to be run.
void run_programs(const Court& court, Session& session);
/// Properties of which nothing is known since their processes ended; empty if there are none.
std::string troubles_of(const Session& session);

}  // namespace selvage::conformance
