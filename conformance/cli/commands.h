// The commands of `selvage`.  Each adds its options to the command line and says what to run.
//
// Exit status: 0 all promises kept (or the query answered), 1 deviations found (or the case still shows), 2 could
// not run; then one line on stderr says why.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/drive/test_context.h"

namespace selvage::conformance {

inline constexpr int kKept = 0;
inline constexpr int kDeviates = 1;
inline constexpr int kCouldNotRun = 2;

/// Set by the command that was chosen; run after parsing.
using Run = std::function<int()>;

void add_check(CLI::App& app, Run& run);
void add_explain(CLI::App& app, Run& run);
void add_record(CLI::App& app, Run& run);
void add_replay(CLI::App& app, Run& run);
void add_clauses(CLI::App& app, Run& run);
void add_info(CLI::App& app, Run& run);
void add_profile(CLI::App& app, Run& run);
void add_bench(CLI::App& app, Run& run);
void add_merge(CLI::App& app, Run& run);
void add_coverage(CLI::App& app, Run& run);
void add_findings(CLI::App& app, Run& run);
void add_diff(CLI::App& app, Run& run);
void add_matrix(CLI::App& app, Run& run);
void add_verify(CLI::App& app, Run& run);
void add_stat(CLI::App& app, Run& run);
void add_completion(CLI::App& app, Run& run);
void add_manual(CLI::App& app, Run& run);

/// Prints "selvage: WHY" on stderr.  @return kCouldNotRun.
int could_not_run(const std::string& why);

/// Reads a whole file, or standard input for "-".  @return false and a one-line `error`.
bool read_file(const std::string& path, std::string& out, std::string& error);
/// Reads the value of an option that names an API version: one that the model describes.
/// @return false and one line in `error`.
bool read_api_version(std::string_view option, const std::string& text, model::Version& out, std::string& error);

struct Survey;
struct Report;
/// Reads reports that selvage check wrote as .json.  @return false and a one-line `error` that names the file.
bool read_reports(const std::vector<std::string>& paths, std::vector<Report>& out, std::string& error);
/// True if a report has a deviation that counts for the exit status.
bool has_deviation(const Report& report, bool strict);
/// Why a provider that was named can't be judged, as one line; empty if all can.  A library that dies of being asked
/// for its providers may have any.
std::string unknown_provider(const std::vector<std::string>& expected, const Survey& found);

/// What `selvage replay` is given where the files are traces.
struct ReplayTraces {
    std::vector<std::string> files, texts;
    std::string library;
    int seconds = 10;
    bool keep_going = false;
};
int replay_traces(ReplayTraces options);

/// Options that several commands share.
void add_library_option(CLI::App& command, std::string& library);

}  // namespace selvage::conformance
