// See worker.h.
#include "conformance/drive/transfer/worker.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <new>
#include <utility>

#include "conformance/base/child.h"
#include "conformance/base/patience.h"
#include "conformance/base/starved.h"
#include "conformance/case/case_text.h"
#include "conformance/drive/endpoint/record.h"
#include "conformance/drive/transfer/pair.h"
#include "conformance/drive/transfer/run.h"
#include "conformance/drive/transfer/serialize.h"

namespace selvage::conformance {
namespace {

using model::Traffic;

// After this many waits for what never came, the library is known to lose things: waits are shorter from then on.
constexpr unsigned kLongWaits = 6;
constexpr unsigned kShortMissingMillis = 15;
constexpr unsigned kMostOpeningCrashes = 3;  // of one set-up, before its crash is reported from memory
// Exchanges that a pair of a set-up carries: the first pair, and the others by turns.  What goes wrong when a pair is
// closed is seen of short ones, what goes wrong behind many exchanges of long ones.
constexpr unsigned kFirstLifetime = 1;
constexpr std::array<unsigned, 2> kLifetimes = {8, 32};
constexpr std::size_t kLossByHanging = 32;
constexpr std::size_t kMostLosses = 6000;  // before only what is known is reported
// A call does not come back: it works for kLongestWork (others may take most of the machine), or sleeps for so long.
constexpr std::chrono::milliseconds kLongSleep{6000};
// The same where one is known not to, or where the library is known to hang: then it is looked at again with patience.
constexpr std::chrono::milliseconds kKnownWork{150};
constexpr std::chrono::milliseconds kKnownWorkRunning{70};  // of a transfer's call; opening a pair takes longer
constexpr std::chrono::milliseconds kKnownSleep{1500};
constexpr int kLookMillis = 10;      // how often the worker is looked at meanwhile
constexpr int kRecordMillis = 6000;  // for the rest of an answer that has begun
// A request: a letter, then a case as text (its pair is to be opened as it says), operations as bytes, or nothing (the
// pair is to be closed).
constexpr char kWhole = 'w';
constexpr char kSame = 's';
constexpr char kClose = 'c';
constexpr std::string_view kNotRun = "not run, as what the pair carries first did not end as it should";

const char* name(Phase phase) {
    switch (phase) {
        case Phase::Opening:
            return "while the endpoints were opened";
        case Phase::Closing:
            return "while the endpoints were closed";
        case Phase::Before:
            return "in an exchange before";
        case Phase::Leaving:
        case Phase::Running:
            break;
    }
    return "";
}

void note_crash(const Ending& e, Phase phase, const Case& c, Traffic& out) {
    out.operations = c.sequence.operations;
    out.crashed_signal = e.signal;
    out.hung = e.kind == Ending::Kind::Hung;
    out.exited = e.kind == Ending::Kind::Exited;
    out.crashed_opening = phase == Phase::Opening;
    out.crashed_closing = phase == Phase::Closing;
    out.detail = name(phase);
}

// What goes on in the worker: one request after the other.
class Bench {
public:
    Bench(const Library& library, WorkerState& state, std::unique_ptr<AgentLink> agent)
        : library_(library), state_(state), agent_(std::move(agent)) {
        state_.agent = agent_ ? agent_->process() : -1;
    }

    std::string answer(std::string_view request) {
        Traffic out;
        state_.phase = Phase::Leaving;
        if (!request.empty() && request.front() == kClose) {
            close();
            return {};
        }
        if (!request.empty() && request.front() == kWhole) {
            close();
            pairs_ = 0;
            CaseFile file;
            CaseError error;
            if (!parse_case(request.substr(1), file, error)) return {};
            case_ = file.shown;
        } else if (request.empty() || !unpack_operations(request.substr(1), case_.sequence.operations)) {
            return {};
        }
        state_.phase = Phase::Opening;
        state_.carried = on_pair_;
        if (!pair_) pair_ = Pair::open(library_.entries(), case_, out.open_ret, out.detail, agent_.get());
        if (!pair_) {
            out.operations = case_.sequence.operations;
            out.counters = case_.sequence.counters;  // which the entry may not offer
            return pack_traffic(out);
        }
        state_.open = true;
        for (const auto& operations : std::exchange(case_.before, {}))
            if (!carry_before(operations)) {
                close();
                out.operations = case_.sequence.operations;
                out.detail = kNotRun;
                return pack_traffic(out);
            }
        state_.phase = Phase::Running;
        state_.carried = on_pair_;
        const bool clean = carry(case_.sequence.operations, out);
        state_.phase = Phase::Closing;
        if (!clean || on_pair_ >= (pairs_ == 0 ? kFirstLifetime : kLifetimes[pairs_ % kLifetimes.size()])) close();
        return pack_traffic(out);
    }

private:
    bool carry_before(const std::vector<model::Operation>& operations) {
        Traffic ignored;
        state_.phase = Phase::Before;
        return carry(operations, ignored);
    }

    // @return true if the pair is as it was.
    bool carry(const std::vector<model::Operation>& operations, Traffic& out) {
        Patience patience;
        state_.charge = {};
        patience.charge = &state_.charge;
        patience.beat = &state_.beat;
        const bool hurries = !state_.patient && state_.waits >= kLongWaits;
        if (hurries) patience.missing_millis = kShortMissingMillis;
        patience.missing_millis *= patience_factor();
        patience.total_millis *= patience_factor();
        patience.lost = state_.lost;
        patience.vain_rests = state_.vain_rests;
        patience.hurries = !state_.patient;
        // Of what goes before nothing is judged.
        if (state_.phase == Phase::Running) patience.known = &state_.known;
        TransferSequence sequence = case_.sequence;
        sequence.operations = operations;
        sequence.transmit_flags |= pair_->info().tx_attr->op_flags;
        sequence.receive_flags |= pair_->info().rx_attr->op_flags;
        const bool clean = run_sequence(*pair_, sequence, patience, out);
        state_.waits += patience.spent ? 1 : 0;
        state_.timed += patience.timed ? 1 : 0;
        state_.lost = patience.lost;
        state_.vain_rests = patience.vain_rests;
        state_.hasty = patience.hasty || (patience.spent && hurries && !patience.at_length);
        state_.starved = patience.starved;
        ++on_pair_;
        return clean;
    }

    void close() {
        pair_.reset();
        on_pair_ = 0;
        ++pairs_;
        state_.open = false;
    }

    const Library& library_;
    WorkerState& state_;
    std::unique_ptr<AgentLink> agent_;
    Case case_;
    std::unique_ptr<Pair> pair_;
    unsigned pairs_ = 0;    // of this set-up, that were closed
    unsigned on_pair_ = 0;  // exchanges that the one at hand has carried
};

WorkerState* shared_state() {
    void* p = mmap(nullptr, sizeof(WorkerState), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    return new (p) WorkerState{};
}

}  // namespace

void note_closing_crash(const LeftPair& left, Traffic& out) {
    note_crash(left.ending, Phase::Closing, left.shown, out);
}

Worker& worker_of(const Library& library) {
    static const Library* served = nullptr;
    static std::unique_ptr<Worker> worker;
    if (served != &library) {
        served = &library;
        worker = std::make_unique<Worker>(library);
    }
    return *worker;
}

Worker::Worker(const Library& library) : library_(library), state_(shared_state()) {}

Worker::~Worker() {
    stop();
    munmap(state_, sizeof(WorkerState));
}

void Worker::renew() {
    if (pid_ > 0 && owner_ == getpid() && state_->open) {
        std::string answer;
        const Ending e = issue(std::string(1, kClose), answer);
        if (e.kind != Ending::Kind::Done) note_left(e);
    }
    stop();
}

void Worker::detach() {
    WorkerState* const own = shared_state();
    own->waits = state_->waits;
    own->lost = state_->lost;
    own->vain_rests = state_->vain_rests;
    own->known = state_->known;
    munmap(state_, sizeof(WorkerState));
    state_ = own;
    stop();  // no process that is this one's
}

Experience Worker::experience() const {
    return {.waits = state_->waits, .lost = state_->lost, .vain_rests = state_->vain_rests, .losses = losses_};
}

void Worker::gain(const Experience& more) {
    state_->waits += more.waits;
    state_->lost += more.lost;
    state_->vain_rests += more.vain_rests;
    losses_ += more.losses;
}

std::optional<LeftPair> Worker::take_left() { return std::exchange(left_, std::nullopt); }

// The pair that was open had carried the last of past_, and stand_->carried exchanges before it.
void Worker::note_left(const Ending& e) {
    if (past_.empty() || left_) return;
    LeftPair left{current_, e};
    left.shown.sequence.operations = past_.back();
    const std::size_t n = std::min<std::size_t>(state_->carried, past_.size() - 1);
    left.shown.before.assign(past_.end() - 1 - static_cast<std::ptrdiff_t>(n), past_.end() - 1);
    left_ = std::move(left);
}

// What the pair had carried when it was given the exchange of `c`, which is history from now on.
void Worker::note_history(const Case& c) {
    const std::size_t n = std::min<std::size_t>(state_->carried, past_.size());
    history_.assign(past_.end() - static_cast<std::ptrdiff_t>(n), past_.end());
    history_is_cut_ = n < state_->carried;
    past_.push_back(c.sequence.operations);
    if (past_.size() > kMostBefore) past_.erase(past_.begin());
}

// The name under which the crash of a case is kept: on another pair it may live.
std::string Worker::remembered_as(const Case& c) const {
    Case whole = c;
    whole.before = history_;
    return print_case(whole);
}

void Worker::stop() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
    if (pid_ > 0 && owner_ == getpid()) {
        kill(pid_, SIGKILL);
        while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
    }
    pid_ = -1;
    setup_.clear();
    state_->open = false;
}

void Worker::start(std::uint64_t processes) {
    if (pid_ > 0 && owner_ == getpid() && processes_ == processes) return;
    renew();
    processes_ = processes;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) throw std::bad_alloc();
    owner_ = getpid();
    pid_ = fork();
    if (pid_ < 0) {
        close(ends[0]);
        close(ends[1]);
        throw std::bad_alloc();
    }
    if (pid_ == 0) {
        close(ends[0]);
        work(ends[1], owner_, processes);
    }
    close(ends[1]);
    fd_ = ends[0];
}

void Worker::work(int fd, pid_t parent, std::uint64_t processes) noexcept {
    begin_child(parent);
    std::unique_ptr<AgentLink> agent;
    if (processes > 1) agent = peer_.empty() ? AgentLink::fork_agent(library_, fd) : AgentLink::connect_to(peer_);
    if (processes > 1 && agent == nullptr) _exit(kLostAgent);
    Bench bench(library_, *state_, std::move(agent));
    std::string request;
    while (receive_record(fd, request, -1))
        if (!send_record(fd, bench.answer(request))) break;
    _exit(0);
}

Ending Worker::reap(bool hung) {
    Ending e;
    if (hung) kill(pid_, SIGKILL);
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) continue;
    pid_ = -1;
    stop();
    if (hung) {
        e.kind = Ending::Kind::Hung;
    } else if (WIFSIGNALED(status)) {
        e.kind = Ending::Kind::Crashed;
        e.signal = WTERMSIG(status);
    } else {
        e.kind = Ending::Kind::Exited;
        e.status = WEXITSTATUS(status);
    }
    return e;
}

Ending Worker::remembered(const Case& c, Traffic& out) const {
    const auto known = fatal_.find(print_case(c));
    if (known == fatal_.end()) {
        out.detail = "not run, as the library died too often";
        return {};
    }
    const KnownCrash& d = known->second;
    note_crash(d.ending, d.phase, c, out);
    out.crashed_at = d.operation;
    return d.ending;
}

// What is left of another case is not looked at again.
bool Worker::is_quick() const {
    return quick_ || (known_to_hang_ && !state_->patient && state_->phase != Phase::Leaving);
}

bool Worker::awaited() const {
    const auto longest_work = [this] {
        const auto known = state_->phase == Phase::Running ? kKnownWorkRunning : kKnownWork;
        return (is_quick() ? known : kLongestWork) * patience_factor();
    };
    const auto longest_sleep = [this] { return (is_quick() ? kKnownSleep : kLongSleep) * patience_factor(); };
    pollfd waiting = {fd_, POLLIN, 0};
    unsigned beat = state_->beat.load(std::memory_order_relaxed);
    SpentBy silence(pid_, [this] { return work_of(pid_) + work_of(state_->agent); });
    while (poll(&waiting, 1, kLookMillis) <= 0) {
        // A beat or an answer that comes while these are looked at is seen first.
        const bool over = silence.time_is_over(longest_sleep()) || silence.work_is_over(longest_work());
        const unsigned now = state_->beat.load(std::memory_order_relaxed);
        if (now == beat) {
            if (over) return poll(&waiting, 1, 0) > 0;
            continue;
        }
        beat = now;
        sign_of_life();
        silence.restart_time();
        silence.restart_work();
    }
    return true;
}

Ending Worker::issue(const std::string& request, std::string& answer) {
    bool hangs = false;
    if (send_record(fd_, request)) {
        hangs = !awaited();
        if (!hangs && receive_record(fd_, answer, kRecordMillis)) {
            killed_ = 0;
            return {};
        }
    }
    const Ending e = reap(hangs);
    if (hangs && is_quick()) state_->hasty = true;
    if (hangs && state_->patient && !quick_) known_to_hang_ = true;
    if (was_killed_from_outside(e)) return e;
    killed_ = 0;
    losses_ += hangs ? kLossByHanging : 1;
    return e;
}

Ending Worker::run(const Case& c, Traffic& out) {
    const unsigned waits = state_->waits;
    const Ending e = run_or_recall(c, out);
    loss_ = e.kind != Ending::Kind::Done ? Loss::Ended : state_->waits != waits ? Loss::Missing : Loss::None;
    return e;
}

Ending Worker::run_or_recall(const Case& c, Traffic& out) {
    if (!c.before.empty()) renew();
    ran_ = true;
    state_->hasty = false;
    state_->starved = false;
    history_.clear();
    history_is_cut_ = false;
    const std::string setup = print_setup(c);
    if (const auto known = crashes_.find(setup);
        known != crashes_.end() && known->second.count >= kMostOpeningCrashes) {
        note_crash(known->second.ending, Phase::Opening, c, out);
        return known->second.ending;
    }
    if (losses_ >= kMostLosses) {
        const Ending known = remembered(c, out);
        ran_ = known.kind != Ending::Kind::Done;
        return known;
    }
    if (const auto known = shut_.find(setup); known != shut_.end()) {
        unpack_traffic(known->second, out);
        out.operations = c.sequence.operations;
        return {};
    }
    start(c.sequence.processes);
    const bool same = setup == setup_;
    std::string answer;
    Ending e = issue(request_for(c, same), answer);
    if (e.kind != Ending::Kind::Done && state_->phase == Phase::Leaving) {
        note_left(e);
        stop();
        return run_or_recall(c, out);  // by a process that has nothing to leave
    }
    if (was_killed_from_outside(e) && ++killed_ <= kMostKilled) {
        troubles_.insert(kRunAgain);
        return run_or_recall(c, out);
    }
    if (!same) {
        current_ = c;
        past_ = c.before;
    }
    setup_ = e.kind == Ending::Kind::Done ? setup : "";
    note_history(c);
    if (e.kind == Ending::Kind::Done) {
        unpack_traffic(answer, out);
        if (out.detail == kNotRun) ran_ = false;
        if (state_->starved)
            troubles_.insert(
                "the machine gave the library's threads too little time: what did not come was not judged");
        if (out.open_ret != 0) {
            shut_[setup] = answer;
            troubles_.insert("a pair did not open: " + out.detail + " returned " + std::to_string(out.open_ret));
        }
        if (state_->charge.let_through) stop();  // which finds nothing to close; the next pair has a new process
        return {};
    }
    return note_end(e, c, setup, out);
}

std::string Worker::request_for(const Case& c, bool same) {
    if (same) return kSame + pack_operations(c.sequence.operations);
    Case whole;
    whole.kind = Case::Kind::Traffic;
    whole.first = c.first;
    whole.sequence = c.sequence;
    whole.before = c.before;
    return kWhole + print_case(whole);
}

// The process ended of a case, or of what its pair carried first.
Ending Worker::note_end(const Ending& e, const Case& c, const std::string& setup, Traffic& out) {
    const Phase phase = state_->phase;
    if (!peer_.empty() && e.kind == Ending::Kind::Exited && e.status == kLostAgent) {
        troubles_.insert("the agent at " + peer_ + " was lost");
        ran_ = false;
        out.operations = c.sequence.operations;
        out.detail = kNotRun;
        return {};
    }
    if (phase == Phase::Before) {
        ran_ = false;
        out.operations = c.sequence.operations;
        out.detail = kNotRun;
        return {};
    }
    if (phase == Phase::Opening) crashes_[setup] = {crashes_[setup].count + 1, e};
    // What was let through may have damaged memory, of which the process ends as late as in a close.
    const bool closes = phase == Phase::Closing && state_->charge.let_through;
    const KnownCrash crash = {e, closes ? Phase::Running : phase,
                              closes || phase == Phase::Running ? state_->charge.operation : -1};
    fatal_[remembered_as(c)] = crash;
    note_crash(e, crash.phase, c, out);
    out.crashed_at = crash.operation;
    return e;
}

}  // namespace selvage::conformance
