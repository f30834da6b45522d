// See worker.h.
#include "conformance/traffic/worker.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <new>

#include "conformance/case/case_text.h"
#include "conformance/subject/signals.h"
#include "conformance/traffic/pair.h"
#include "conformance/traffic/run.h"
#include "conformance/traffic/told.h"

namespace selvage::conformance {
namespace {

using model::Traffic;

// After this many waits for what never came, the library is known to lose things: waits are shorter from then on.
constexpr unsigned kLongWaits = 6;
constexpr unsigned kShortMissingMillis = 40;
constexpr unsigned kMostOpeningDeaths = 3;  // of one set-up, before its death is told from memory
constexpr int kLimitMillis = 10000;         // of one exchange, with the opening of its pair
constexpr std::size_t kLossByHanging = 8;
constexpr int kLimitMillisAgain = 2500;  // once the library is known to hang
// A request: a letter, then a case as text (its pair is to be opened as it says) or operations as bytes.
constexpr char kWhole = 'w';
constexpr char kSame = 's';

// The case without its operations: what a pair is opened with.
std::string setup_of(const Case& c) {
    Case bare;
    bare.kind = Case::Kind::Traffic;
    bare.first = c.first;
    bare.exchange = c.exchange;
    bare.exchange.operations.clear();
    return print_case(bare);
}

const char* name(Phase phase) {
    switch (phase) {
        case Phase::Opening:
            return "while the endpoints were opened";
        case Phase::Closing:
            return "while the endpoints were closed";
        case Phase::Running:
            break;
    }
    return "";
}

// What goes on in the worker: one request after the other.
class Bench {
public:
    Bench(const Library& library, Stand& stand) : library_(library), stand_(stand) {}

    std::string answer(std::string_view request) {
        Traffic out;
        stand_.phase = Phase::Closing;
        if (!request.empty() && request.front() == kWhole) {
            pair_.reset();
            CaseFile file;
            CaseError error;
            if (!parse_case(request.substr(1), file, error)) return {};
            case_ = file.shown;
        } else if (request.empty() || !unpack_operations(request.substr(1), case_.exchange.operations)) {
            return {};
        }
        stand_.phase = Phase::Opening;
        if (!pair_) pair_ = Pair::open(library_.entries(), case_, out.open_ret, out.detail);
        if (!pair_) {
            out.operations = case_.exchange.operations;
            return pack_traffic(out);
        }
        stand_.phase = Phase::Running;
        Patience patience;
        stand_.operation = -1;
        patience.step = &stand_.operation;
        if (stand_.waits >= kLongWaits) patience.missing_millis = kShortMissingMillis;
        Exchange exchange = case_.exchange;
        exchange.transmit_flags |= pair_->info().tx_attr->op_flags;
        exchange.receive_flags |= pair_->info().rx_attr->op_flags;
        const bool clean = run_exchange(*pair_, exchange, patience, out);
        stand_.waits += patience.spent ? 1 : 0;
        stand_.phase = Phase::Closing;
        if (!clean) pair_.reset();
        return pack_traffic(out);
    }

private:
    const Library& library_;
    Stand& stand_;
    Case case_;
    std::unique_ptr<Pair> pair_;
};

}  // namespace

Worker& worker_of(const Library& library) {
    static const Library* served = nullptr;
    static std::unique_ptr<Worker> worker;
    if (served != &library) {
        served = &library;
        worker = std::make_unique<Worker>(library);
    }
    return *worker;
}

Worker::Worker(const Library& library) : library_(library) {
    void* p = mmap(nullptr, sizeof(Stand), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    stand_ = new (p) Stand{};
}

Worker::~Worker() {
    stop();
    munmap(stand_, sizeof(Stand));
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
}

void Worker::start() {
    if (pid_ > 0 && owner_ == getpid()) return;
    stop();
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
        work(ends[1], owner_);
    }
    close(ends[1]);
    fd_ = ends[0];
}

void Worker::work(int fd, pid_t parent) noexcept {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(126);
    restore_default_signals();
    Bench bench(library_, *stand_);
    std::string request;
    while (receive_record(fd, request, -1))
        if (!send_record(fd, bench.answer(request))) break;
    _exit(0);
}

Ending Worker::bury(bool hung) {
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

void Worker::note_death(const Ending& e, Phase phase, const Case& c, Traffic& out) {
    out.operations = c.exchange.operations;
    out.crashed_signal = e.signal;
    out.hung = e.kind == Ending::Kind::Hung;
    out.exited = e.kind == Ending::Kind::Exited;
    out.detail = name(phase);
}

Ending Worker::run(const Case& c, Traffic& out) {
    const std::string setup = setup_of(c);
    if (const auto known = deaths_.find(setup); known != deaths_.end() && known->second.count >= kMostOpeningDeaths) {
        note_death(known->second.ending, Phase::Opening, c, out);
        return known->second.ending;
    }
    std::string record;
    if (const auto known = shut_.find(setup); known != shut_.end()) {
        unpack_traffic(known->second, out);
        out.operations = c.exchange.operations;
        return {};
    }
    start();
    if (setup == setup_) {
        record = kSame + pack_operations(c.exchange.operations);
    } else {
        Case whole;
        whole.kind = Case::Kind::Traffic;
        whole.first = c.first;
        whole.exchange = c.exchange;
        record = kWhole + print_case(whole);
        setup_ = setup;
    }
    const bool asked = send_record(fd_, record);
    if (asked && receive_record(fd_, record, hung_ ? kLimitMillisAgain : kLimitMillis)) {
        unpack_traffic(record, out);
        if (out.open_ret != 0) {
            shut_[setup] = record;
            troubles_.insert(out.detail + " returned " + std::to_string(out.open_ret));
        }
        return {};
    }
    const Ending e = bury(asked && errno == ETIMEDOUT);
    losses_ += e.kind == Ending::Kind::Hung ? kLossByHanging : 1;
    hung_ = hung_ || e.kind == Ending::Kind::Hung;
    const Phase phase = stand_->phase;
    if (phase == Phase::Opening) deaths_[setup] = {deaths_[setup].count + 1, e};
    note_death(e, phase, c, out);
    if (phase == Phase::Running) out.died_at = stand_->operation;
    return e;
}

}  // namespace selvage::conformance
