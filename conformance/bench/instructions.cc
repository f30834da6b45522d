// See instructions.h.
#include "conformance/bench/instructions.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define SELVAGE_CALLGRIND 1
#endif

namespace selvage::conformance::bench {
namespace {

namespace fs = std::filesystem;

/// A folder for callgrind's files; goes with the object.
class Folder {
public:
    Folder() {
        std::string name = (fs::temp_directory_path() / "selvage-bench-XXXXXX").string();
        if (mkdtemp(name.data()) != nullptr) path = name;
    }
    ~Folder() {
        std::error_code ignored;
        if (!path.empty()) fs::remove_all(path, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    fs::path path;
};

[[noreturn]] void become(const std::vector<std::string>& command) {
    if (const int nowhere = open("/dev/null", O_RDWR); nowhere >= 0) {
        for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nowhere, fd);
    }
    std::vector<char*> argv;
    argv.reserve(command.size() + 1);
    for (const auto& a : command) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    _exit(127);
}

/// @return the exit status; nothing if it died or could not be started.
std::optional<int> run(const std::vector<std::string>& command) {
    const pid_t child = fork();
    if (child < 0) return std::nullopt;
    if (child == 0) become(command);
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return std::nullopt;
    }
    if (!WIFEXITED(status)) return std::nullopt;
    return WEXITSTATUS(status);
}

/// One dump of callgrind: "desc: Trigger: Client Request: NAME" and "totals: COUNT".
struct Dump {
    std::string name;
    double total = 0;
};

Dump read_dump(const fs::path& file) {
    constexpr std::string_view kName = "desc: Trigger: Client Request: ";
    constexpr std::string_view kTotal = "totals: ";
    Dump dump;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with(kName)) dump.name = line.substr(kName.size());
        if (line.starts_with(kTotal)) dump.total = std::strtod(line.c_str() + kTotal.size(), nullptr);
    }
    return dump;
}

/// The names of dumps: "WORKLOAD n" for n calls, "WORKLOAD 2n" for twice as many.
std::map<std::string, double> per_call(const fs::path& folder, const Suite& suite) {
    std::map<std::string, double> totals;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const Dump dump = read_dump(entry.path());
        totals[dump.name] = dump.total;
    }
    std::map<std::string, double> out;
    for (const auto& w : suite.workloads()) {
        const auto once = totals.find(w.name + " n");
        const auto twice = totals.find(w.name + " 2n");
        if (once == totals.end() || twice == totals.end()) continue;
        out[w.name] = (twice->second - once->second) / static_cast<double>(w.counted_calls);
    }
    return out;
}

std::vector<std::string> command_line(const fs::path& folder, const std::string& suite, const std::string& library,
                                      std::span<const std::string> only) {
    std::error_code ignored;
    std::vector<std::string> command = {"valgrind",
                                        "--tool=callgrind",
                                        "--instr-atstart=no",
                                        "--callgrind-out-file=" + (folder / "count").string(),
                                        fs::read_symlink("/proc/self/exe", ignored).string(),
                                        "bench-count",
                                        "--suite",
                                        suite,
                                        "--library",
                                        library};
    for (const auto& name : only) command.insert(command.end(), {"--only", name});
    return command;
}

#if defined(SELVAGE_CALLGRIND) && !defined(SELVAGE_SANITIZED)

constexpr const char* kNotBuilt = nullptr;

void count(const std::string& name, const Loop& loop, std::uint64_t calls) {
    const std::string once = name + " n";  // callgrind reads the names after the statement that passes them
    const std::string twice = name + " 2n";
    CALLGRIND_START_INSTRUMENTATION;
    loop(calls);  // what happens only at first has happened
    CALLGRIND_ZERO_STATS;
    loop(calls);
    CALLGRIND_DUMP_STATS_AT(once.c_str());
    loop(2 * calls);
    CALLGRIND_DUMP_STATS_AT(twice.c_str());
    CALLGRIND_STOP_INSTRUMENTATION;
}

#else

#ifdef SELVAGE_SANITIZED
constexpr const char* kNotBuilt = "a sanitizer's instructions would be counted along";
#else
constexpr const char* kNotBuilt = "built without valgrind/callgrind.h";
#endif

void count(const std::string&, const Loop&, std::uint64_t) {}

#endif

}  // namespace

Counts count_instructions(const std::string& suite, const std::string& library, std::span<const std::string> only) {
    Counts counts;
    const Folder folder;
    if (kNotBuilt != nullptr) {
        counts.why_not = kNotBuilt;
    } else if (folder.path.empty()) {
        counts.why_not = "no folder for callgrind's files";
    } else {
        const auto status = run(command_line(folder.path, suite, library, only));
        if (status == 127) counts.why_not = "valgrind is not installed";
        // What was counted before an untimely end still counts.
        if (status != 127) counts.per_call = per_call(folder.path, *find_suite(suite));
        if (status != 0 && counts.why_not.empty() && counts.per_call.empty()) counts.why_not = "valgrind failed";
    }
    return counts;
}

int count_here(const Suite& suite, const std::string& library, std::span<const std::string> only) {
    for (const auto& w : suite.workloads()) {
        if (!w.ready || std::find(only.begin(), only.end(), w.name) == only.end()) continue;
        try {
            count(w.name, w.ready(library), w.counted_calls);
        } catch (const CannotMeasure&) {  // the run by the clock says why
        }
    }
    return 0;
}

}  // namespace selvage::conformance::bench
