// See process.h.
#include "conformance/stat/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

namespace selvage::conformance {
namespace {

constexpr std::string_view kLink = "/memfd:selvage-stat";

std::string folder_of(int pid) { return "/proc/" + std::to_string(pid); }

// What follows a word in /proc/PID/status, or nothing.
std::string status_line(int pid, std::string_view word) {
    std::ifstream in(folder_of(pid) + "/status");
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with(word)) return line.substr(word.size());
    }
    return {};
}

// The effective user of a process.
std::optional<unsigned> user_of(int pid) {
    std::istringstream in(status_line(pid, "Uid:"));
    unsigned real = 0;
    unsigned effective = 0;
    if (in >> real >> effective) return effective;
    return std::nullopt;
}

// The process's number as it sees itself, in a container of its own or not.
unsigned own_number(int pid) {
    std::istringstream in(status_line(pid, "NSpid:"));
    unsigned number = 0;
    for (unsigned next = 0; in >> next;) number = next;
    return number;
}

std::string command_of(int pid) {
    std::ifstream in(folder_of(pid) + "/comm");
    std::string out;
    std::getline(in, out);
    return out;
}

// The libfabric that a process has loaded, if any.
std::string library_of(int pid) {
    std::ifstream in(folder_of(pid) + "/maps");
    for (std::string line; std::getline(in, line);) {
        const auto at = line.find('/');
        if (at != std::string::npos && line.find("libfabric.so", at) != std::string::npos) return line.substr(at);
    }
    return {};
}

std::string nothing_in(int pid) {
    const std::string library = library_of(pid);
    const std::string loaded = library.empty() ? "no libfabric.so is loaded there" : "it has loaded " + library;
    return fmt::format("has no open endpoint of the reference library, or keeps no counters (FI_SELVAGE_STAT=0); {}",
                       loaded);
}

std::string not_readable(int pid) {
    const auto user = user_of(pid);
    if (!user) return "does not exist";
    if (*user != geteuid()) return fmt::format("belongs to another user ({})", *user);
    return "does not let itself be looked into (it is not dumpable)";
}

class File {
public:
    explicit File(const std::string& path)
        : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
    ~File() {
        if (descriptor_ >= 0) close(descriptor_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    [[nodiscard]] int descriptor() const { return descriptor_; }

private:
    int descriptor_;
};

}  // namespace

// There is one for each copy of the library that is loaded, and perhaps one of the parent that a child still has open.
bool read_process(int pid, ProcessStat& out, std::string& error) {
    namespace fs = std::filesystem;
    std::error_code failed;
    fs::directory_iterator at(folder_of(pid) + "/fd", failed);
    if (failed) {
        error = not_readable(pid);
        return false;
    }
    const unsigned number = own_number(pid);
    out.pid = pid;
    out.command = command_of(pid);
    bool found = false;
    for (; at != fs::directory_iterator(); at.increment(failed)) {
        if (failed) break;
        std::error_code gone;
        if (!fs::read_symlink(at->path(), gone).native().starts_with(kLink)) continue;
        const File file(at->path());
        if (file.descriptor() < 0) continue;  // closed meanwhile
        StatSnapshot snapshot;
        if (!read_stat_file(file.descriptor(), snapshot, error)) {
            error = "keeps a file of counters that " + error;
            out.damaged = true;
            return false;
        }
        if (number != 0 && snapshot.pid != number) continue;
        found = true;
        out.snapshot.pid = snapshot.pid;
        out.snapshot.skipped += snapshot.skipped;
        std::ranges::move(snapshot.endpoints, std::back_inserter(out.snapshot.endpoints));
    }
    if (!found) error = nothing_in(pid);
    return found;
}

std::vector<int> own_processes() {
    std::vector<int> out;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", failed)) {
        const std::string name = entry.path().filename();
        int pid = 0;
        const auto r = std::from_chars(name.data(), name.data() + name.size(), pid);
        if (r.ec != std::errc{} || r.ptr != name.data() + name.size()) continue;
        if (user_of(pid) == geteuid()) out.push_back(pid);
    }
    std::ranges::sort(out);
    return out;
}

}  // namespace selvage::conformance
