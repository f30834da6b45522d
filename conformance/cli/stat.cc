// selvage stat: what the endpoints of running processes keep, dropped, and sent another way than usual.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>

#include "conformance/base/terminal.h"
#include "conformance/cli/commands.h"
#include "conformance/stat/process.h"

namespace selvage::conformance {
namespace {

struct StatOptions {
    int pid = 0;  // 0: all of this user
    std::string file;
    bool json = false;
};

std::string bytes_in_words(std::uint64_t bytes) {
    static constexpr std::array<const char*, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) return fmt::format("{} B", bytes);
    auto value = static_cast<double>(bytes) / 1024;
    std::size_t unit = 0;
    for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
    return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string row(const CounterSet& c, bool endpoint, std::string_view who) {
    const auto n = [&](Counter counter) { return c.at(counter); };
    const auto drops = n(Counter::BadFrames) + n(Counter::OverBudget) + n(Counter::NoMemory);
    const std::string refused = endpoint ? std::to_string(n(Counter::Refused) + n(Counter::Expired)) : std::string("-");
    return fmt::format("{:>7} {:>10} {:>10} {:>9} {:>10} {:>10} {:>7} {:>7} {:>6} {:>5} {:>5} {:>7}  {}",
                       n(Counter::KeptMessages), bytes_in_words(n(Counter::KeptBytes)),
                       bytes_in_words(n(Counter::KeptBytesMost)), n(Counter::Announcements),
                       bytes_in_words(n(Counter::AnswerBytes)), n(Counter::Unexpected), n(Counter::AnnouncedShort),
                       n(Counter::InFrames), drops, n(Counter::Lost), n(Counter::Reconnects), refused, who);
}

std::string heading() {
    return fmt::format("{:>7} {:>10} {:>10} {:>9} {:>10} {:>10} {:>7} {:>7} {:>6} {:>5} {:>5} {:>7}  {}", "kept",
                       "bytes", "at most", "announced", "answers", "unexpected", "short", "frames", "drops", "lost",
                       "again", "refused", "of");
}

std::string in_words(const PeerStat& peer) {
    std::string out = peer.address.empty() ? "(peer without a known address)" : printable(peer.address);
    if (peer.down) out += fmt::format("  down: {}", std::strerror(static_cast<int>(peer.last_error)));
    return out;
}

void print(const ProcessStat& process) {
    fmt::print("{}\n", tinted(fmt::format("process {}  {}", process.pid, printable(process.command)), Tint::Bold));
    if (process.snapshot.endpoints.empty()) fmt::print("  no endpoint\n");
    for (const auto& e : process.snapshot.endpoints) {
        fmt::print("  endpoint {}  {}  {}\n", e.number, printable(e.provider), printable(e.address));
        fmt::print("{}\n{}\n", tinted(heading(), Tint::Dim), row(e.counters, true, "all"));
        for (const auto& p : e.peers) fmt::print("{}\n", row(p.counters, false, in_words(p)));
    }
    if (process.snapshot.skipped != 0)
        fmt::print(stderr, "selvage: process {}: {} records were being changed and are left out\n", process.pid,
                   process.snapshot.skipped);
}

nlohmann::json counters_json(const CounterSet& counters) {
    nlohmann::json out = nlohmann::json::object();
    for (std::size_t i = 0; i < kStatCounters; ++i) out[name_of(static_cast<Counter>(i))] = counters.values[i];
    return out;
}

nlohmann::json to_json(const ProcessStat& process) {
    auto endpoints = nlohmann::json::array();
    for (const auto& e : process.snapshot.endpoints) {
        auto peers = nlohmann::json::array();
        for (const auto& p : e.peers) {
            peers.push_back({{"address", printable(p.address)},
                             {"state", p.down ? "down" : "active"},
                             {"last_error", p.last_error},
                             {"counters", counters_json(p.counters)}});
        }
        endpoints.push_back({{"number", e.number},
                             {"provider", printable(e.provider)},
                             {"address", printable(e.address)},
                             {"counters", counters_json(e.counters)},
                             {"peers", peers}});
    }
    return {{"pid", process.pid},
            {"command", printable(process.command)},
            {"skipped", process.snapshot.skipped},
            {"endpoints", endpoints}};
}

bool read_saved(const std::string& path, ProcessStat& out, std::string& error) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) {
        error = path + ": can't be read";
        return false;
    }
    const bool read = read_stat_file(file, out.snapshot, error);
    close(file);
    if (!read) error = path + ": " + error;
    out.pid = static_cast<int>(out.snapshot.pid);
    return read;
}

// What was asked for; empty with an `error`.
std::vector<ProcessStat> collect(const StatOptions& options, std::string& error) {
    std::vector<ProcessStat> out;
    ProcessStat one;
    if (!options.file.empty()) {
        if (read_saved(options.file, one, error)) out.push_back(std::move(one));
    } else if (options.pid != 0) {
        if (read_process(options.pid, one, error)) {
            out.push_back(std::move(one));
        } else {
            error = fmt::format("process {} {}", options.pid, error);
        }
    } else {
        for (const int pid : own_processes()) {
            ProcessStat process;
            if (read_process(pid, process, error)) {
                out.push_back(std::move(process));
            } else if (process.damaged) {
                fmt::print(stderr, "selvage: process {} {}\n", pid, printable(error));
            }
        }
        error = "no process of this user has an endpoint of the reference library that it keeps counters of";
    }
    return out;
}

int stat(const StatOptions& options) {
    std::string error;
    const auto processes = collect(options, error);
    if (processes.empty()) return could_not_run(error);
    if (!options.json) {
        for (const auto& p : processes) print(p);
        return kKept;
    }
    auto list = nlohmann::json::array();
    for (const auto& p : processes) list.push_back(to_json(p));
    fmt::print("{}\n", nlohmann::json{{"processes", list}}.dump(2));
    return kKept;
}

}  // namespace

void add_stat(CLI::App& app, Run& run) {
    auto options = std::make_shared<StatOptions>();
    auto* command = app.add_subcommand("stat", "what the endpoints of running processes keep, drop and fall back to");
    auto* pid = command->add_option("PID", options->pid, "a process of this user (default: all that have endpoints)");
    pid->check(CLI::Range(1, 1 << 30));
    command->add_option("--file", options->file, "a copy of a process's file of counters, in place of a process")
        ->type_name("FILE")
        ->excludes(pid);
    command->add_flag("--json", options->json, "print all counters as JSON, bytes as whole numbers");
    command->footer(
        "Processes that run on the reference library count what goes another way than usual; they are read without\n"
        "being stopped, and FI_SELVAGE_STAT=0 in their environment switches it off. For each endpoint, and each peer\n"
        "that anything happened with:\n"
        "  kept, bytes, at most   unexpected messages that wait here for a receive, now; most bytes at a time\n"
        "  announced              unexpected messages of which only the announcement is here\n"
        "  answers                bytes of answers that the peer has not taken yet\n"
        "  unexpected             messages so far that came before their receive\n"
        "  short                  short messages of this side that waited, as the peer's window was full\n"
        "  frames                 long transfers that came in frames, as memory could not be read directly\n"
        "  drops                  peers dropped: bad frames, over budget, no memory (--json tells them apart)\n"
        "  lost, again            times that peers went down, and came back\n"
        "  refused                connections refused or expired before they had a peer\n\n"
        "Example:  selvage stat 4711\n"
        "          selvage stat --json | jq '.processes[].endpoints[].counters.kept_bytes'\n\n"
        "Exit status: 0 printed, 2 nothing to print: one line on stderr says why.");
    command->callback([options, &run] { run = [options] { return stat(*options); }; });
}

}  // namespace selvage::conformance
