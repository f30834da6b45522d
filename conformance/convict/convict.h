// Compiles and runs the C program of each finding on the library that was judged: what the program shows counts.
//
// A finding of grade fatal or violation that none of some runs of its program shows becomes one of grade intermittent.
// Some programs run at a time; findings with the same program share its runs.  Afterwards no thread is left.
#pragma once

#include <functional>
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
};

/// Runs the programs of all findings; notes how each ended, and changes their grades.
/// @param on_done called after each program with how many are done; by one thread at a time.
void convict(Report& report, const Court& court, const std::function<void(std::size_t done)>& on_done);

/// How many programs convict() runs.
std::size_t count_programs(const Report& report);

}  // namespace selvage::conformance
