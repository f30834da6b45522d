// What the end-to-end tests share: running the tool as a person would, and folders that vanish.
//
// Call from a single-threaded test.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/report/write.h"

namespace selvage::conformance {

/// What a program left behind.
struct Ran {
    int status = -1;  ///< what it exited with; -1 if it did not
    int signal = 0;   ///< it died of this
    bool timed_out = false;
    std::string out, err;
    double seconds = 0;
};

/// Variables for the environment of one run: "HOSTILE=crash:3"; "NAME" alone removes it.
using Environment = std::vector<std::string>;

/// Runs a program, with `input` as its standard input.  Its group is killed after `limit`.
Ran run_program(const std::vector<std::string>& command, const Environment& environment = {},
                std::string_view input = {}, std::chrono::seconds limit = std::chrono::seconds(120));
/// Runs the tool with these arguments.
Ran run_tool(std::vector<std::string> arguments, const Environment& environment = {}, std::string_view input = {},
             std::chrono::seconds limit = std::chrono::seconds(120));

/// Runs the tool and expects one line on stderr that holds `says`, nothing on stdout, and exit 2.
void expect_refusal(const std::vector<std::string>& arguments, std::string_view says, std::string_view input = {});

/// From here on this process has one processor, the one of BusyProcessor.
void pin_to_one_processor();

/// A processor on which others are always at work: they are when the constructor returns.
class BusyProcessor {
public:
    BusyProcessor();
    ~BusyProcessor();
    BusyProcessor(const BusyProcessor&) = delete;
    BusyProcessor& operator=(const BusyProcessor&) = delete;
    /// A shell's command that works there until it has stood in line for 1.5 s.
    [[nodiscard]] std::string work_in_line() const;

private:
    pid_t spinners_[3] = {};
};

/// A folder that goes when the test ends.
class Folder {
public:
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] std::string path(std::string_view name) const { return (root_ / name).string(); }
    /// Writes a file.  @return its path.
    [[nodiscard]] std::string write(std::string_view name, std::string_view content) const;

private:
    std::filesystem::path root_;
};

std::string slurp(const std::string& path);
/// The report behind --report FILE.json.
Report read_report(const std::string& path);
std::size_t lines_of(std::string_view text);
inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
/// True if a terminal would take some of it for a command.
bool has_escapes(std::string_view text);

}  // namespace selvage::conformance
