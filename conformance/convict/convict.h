// Compiles and runs the C program of each finding on the library that was judged: what the program shows counts.
//
// A finding of grade fatal or violation that none of some runs of its program shows becomes one of grade intermittent.
// Some programs run at a time, and already while other findings are looked for; findings with the same program share
// its runs.  Afterwards no thread is left.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "conformance/convict/compiler.h"
#include "conformance/report/finding.h"

namespace selvage::conformance {

/// What programs are made and run with.
struct Court {
    std::optional<Compiler> compiler;
    std::string why_none;  ///< without a compiler
    std::string library;   ///< path of the library under test
    bool remote = false;   ///< side B of what takes two processes was on another machine
};

/// Runs programs while findings are still coming: each begins as soon as there is a lane for it.
class ProgramQueue {
public:
    /// @param court outlives it.
    explicit ProgramQueue(const Court& court);
    /// Those that have not begun never do.
    ~ProgramQueue();
    ProgramQueue(const ProgramQueue&) = delete;
    ProgramQueue& operator=(const ProgramQueue&) = delete;

    /// A finding that the report is likely to have.  One thread.
    void begin(const Deviation& finding);
    /// Runs what is left of the programs of all findings; notes how each ended, and changes their grades.
    /// @param on_done called with how many are done; by one thread at a time.
    void finish(Report& report, const std::function<void(std::size_t done)>& on_done);

private:
    class Lanes;
    const Court& court_;
    std::unique_ptr<Lanes> lanes_;  ///< made at the first finding
};

/// The same for findings that are all there.
void convict(Report& report, const Court& court, const std::function<void(std::size_t done)>& on_done);

/// How many programs the findings of a report have.
std::size_t count_programs(const Report& report);

}  // namespace selvage::conformance
