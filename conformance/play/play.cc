#include "conformance/play/play.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <new>
#include <thread>
#include <utility>

#include "conformance/base/child.h"
#include "conformance/base/leftovers.h"
#include "conformance/play/player.h"

namespace selvage::conformance {
namespace {

using Clock = std::chrono::steady_clock;

// Bytes of each name that the trace's endpoints have had, and of each address that they send or connect to.
void collect_names(PlaySet& set) {
    for (std::size_t i = 0; i < set.traces.size(); ++i)
        for (const auto& call : set.traces[i].calls)
            if (call.call == "fi_getname")
                if (const auto name = call.out.bytes("got")) set.names.emplace(*name, i);
}

std::string first_unknown_peer(const PlaySet& set) {
    for (const auto& trace : set.traces) {
        for (const auto& call : trace.calls) {
            if (call.call != "fi_av_insert" && call.call != "fi_connect") continue;
            for (const auto& text : call.in.list(call.call == "fi_connect" ? "peer" : "addresses")) {
                TraceArguments holder;
                holder.add("address", text);
                const auto name = holder.bytes("address");
                if (!name || set.names.count(*name) == 0) return text;
            }
        }
    }
    return {};
}

// A call whose effects replay does not have, so that waits for them would be in vain: collectives, deferred work, and
// operations that wait for a counter. Empty: there is none.
std::string first_not_played(const PlaySet& set) {
    static constexpr std::string_view kCollectives[] = {
        "fi_barrier",        "fi_barrier2", "fi_broadcast", "fi_alltoall", "fi_allreduce",      "fi_allgather",
        "fi_reduce_scatter", "fi_reduce",   "fi_scatter",   "fi_gather",   "fi_collective_msg", "fi_join"};
    for (const auto& trace : set.traces) {
        for (const auto& call : trace.calls) {
            if (call.result != 0) continue;
            if (std::find(std::begin(kCollectives), std::end(kCollectives), call.call) != std::end(kCollectives))
                return call.call;
            if (call.in.text("command") == "FI_QUEUE_WORK") return "fi_control FI_QUEUE_WORK";
            if (call.in.has("msg") && (call.in.number("flags") & FI_TRIGGER) != 0)
                return call.call + " with FI_TRIGGER";
        }
    }
    return {};
}

// A connection that somebody outside of the set asked for.
bool lacks_connections(const PlaySet& set) {
    std::size_t requested = 0;
    std::size_t seen = 0;
    for (const auto& trace : set.traces) {
        for (const auto& call : trace.calls) {
            requested += call.call == "fi_connect" ? 1U : 0U;
            seen += call.out.text("event") == "FI_CONNREQ" ? 1U : 0U;
        }
    }
    return seen > requested;
}

bool same_machine(const PlaySet& set) {
    for (const auto& trace : set.traces)
        if (trace.header.text("boot") != set.traces[0].header.text("boot")) return false;
    return true;
}

[[noreturn]] void be_player(const PlaySet& set, std::size_t number, pid_t parent) {
    begin_child(parent);
    // A recorder would record the replay; output of the library is not ours.
    unsetenv("LD_PRELOAD");
    auto& part = set.shared->parts[number];
    const auto say = [&](const char* what) {
        std::snprintf(part.message.data(), part.message.size(), "%s", what);
        part.ending.store(PlayState::Unreadable, std::memory_order_release);
    };
    try {
        Player(set, number).run();
    } catch (const std::exception& e) {
        say(e.what());
    }
    _exit(0);
}

std::string line_of(const Trace& trace, std::uint64_t sequence) {
    if (sequence == 0 || sequence > trace.calls.size()) return "the end";
    return fmt::format("call {}: {}", sequence, trace.calls[sequence - 1].shown);
}

// Waits for the players. One that hangs inside the library is ended.
void wait_for_players(const PlaySet& set, std::vector<pid_t>& players, std::vector<int>& statuses) {
    std::vector<std::uint64_t> at(players.size(), 0);
    std::vector<Clock::time_point> since(players.size(), Clock::now());
    for (bool alive = true; alive;) {
        alive = false;
        for (std::size_t i = 0; i < players.size(); ++i) {
            if (players[i] == 0) continue;
            if (waitpid(players[i], &statuses[i], WNOHANG) == players[i]) {
                remove_leftovers_of(std::exchange(players[i], 0));
                const auto ending = set.shared->parts[i].ending.load(std::memory_order_acquire);
                const bool fine = ending == PlayState::Same || (ending == PlayState::Differs && set.keep_going);
                if (!fine) set.shared->stop.store(true);
                continue;
            }
            alive = true;
            const auto& part = set.shared->parts[i];
            const auto now =
                part.under_way.load(std::memory_order_relaxed) + part.turns.load(std::memory_order_relaxed);
            if (now != at[i]) {
                at[i] = now;
                since[i] = Clock::now();
            } else if (Clock::now() - since[i] > set.limit) {
                kill(players[i], SIGKILL);
            }
        }
        if (alive) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

bool gather(const PlaySet& set, std::size_t i, int status, Played& out, std::string& error) {
    const auto& part = set.shared->parts[i];
    out.played = part.played;
    out.skipped = part.skipped;
    out.left_out = part.left_out.data();
    switch (part.ending.load(std::memory_order_acquire)) {
        case PlayState::Same:
            return true;
        case PlayState::Differs:
            out.difference = part.message.data();
            return true;
        case PlayState::Stopped:
            out.stopped = true;
            return true;
        case PlayState::Unreadable:
            error = fmt::format("{}: {}", set.traces[i].file, part.message.data());
            return false;
        case PlayState::Running:
            break;
    }
    const auto where = line_of(set.traces[i], part.under_way.load(std::memory_order_relaxed));
    const bool hangs = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    out.difference =
        fmt::format("{}\n    expected that it returns\n    got      {}\n", where,
                    hangs                 ? std::string("nothing: it does not return")
                    : WIFSIGNALED(status) ? fmt::format("a crash: {}", strsignal(WTERMSIG(status)))
                                          : fmt::format("the end of the process, with status {}", WEXITSTATUS(status)));
    return true;
}

}  // namespace

bool play_traces(std::vector<Trace> traces, const PlayOptions& options, PlayResult& result, std::string& error) {
    if (traces.size() > kMostPlayers) {
        error = fmt::format("more than {} traces", kMostPlayers);
        return false;
    }
    PlaySet set;
    set.traces = std::move(traces);
    set.memory.resize(set.traces.size());
    set.library = options.library;
    set.limit = options.limit;
    set.keep_going = options.keep_going;
    for (std::size_t i = 0; i < set.traces.size(); ++i)
        if (!set.memory[i].build(set.traces[i], error)) return false;
    collect_names(set);
    result.unknown_peer = first_unknown_peer(set);
    if (result.unknown_peer.empty() && lacks_connections(set)) result.unknown_peer = "the one that connects";
    result.not_played = first_not_played(set);
    set.transfers = result.unknown_peer.empty() && result.not_played.empty();
    set.one_machine = same_machine(set);
    result.transfers = set.transfers;
    void* mapped = mmap(nullptr, sizeof(PlayShared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) {
        error = "no memory";
        return false;
    }
    set.shared = new (mapped) PlayShared;
    std::vector<pid_t> players;
    const pid_t parent = getpid();
    for (std::size_t i = 0; i < set.traces.size(); ++i) {
        const pid_t player = fork();
        if (player == 0) be_player(set, i, parent);
        if (player < 0) {
            error = std::string("no process: ") + std::strerror(errno);
            for (const auto p : players) kill(p, SIGKILL);
            return false;
        }
        players.push_back(player);
    }
    std::vector<int> statuses(players.size(), 0);
    wait_for_players(set, players, statuses);
    bool good = true;
    for (std::size_t i = 0; i < set.traces.size() && good; ++i) {
        result.traces.emplace_back();
        good = gather(set, i, statuses[i], result.traces.back(), error);
    }
    munmap(mapped, sizeof(PlayShared));
    return good;
}

}  // namespace selvage::conformance
