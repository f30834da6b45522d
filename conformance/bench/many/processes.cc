// See processes.h.
#include "conformance/bench/many/processes.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <fstream>
#include <limits>
#include <new>
#include <set>
#include <utility>

#include "conformance/base/child.h"
#include "conformance/base/leftovers.h"
#include "conformance/base/patience.h"
#include "conformance/bench/subject.h"
#include "conformance/bench/transfer/link.h"

namespace selvage::conformance::bench::many {
namespace {

using Clock = std::chrono::steady_clock;

/// How long workers may take to end.
constexpr std::chrono::seconds kEndLimit{10};

void sleep_for(std::chrono::nanoseconds time) {
    const timespec moment = {0, static_cast<long>(time.count())};
    nanosleep(&moment, nullptr);
}

std::size_t workers_of(const Scenario& scenario) {
    switch (scenario.kind) {
        case Kind::AllToAll:
            return scenario.count;
        case Kind::ToOne:
            return kSenders + 1;
        case Kind::First:
            return 2;
        case Kind::Addresses:
            break;
    }
    return 1;
}

/// The receiver of Kind::ToOne has a core of its own; others share both.
std::size_t core_of(const Scenario& scenario, std::size_t number) {
    return scenario.kind == Kind::ToOne ? std::min<std::size_t>(number, 1) : number % 2;
}

/// A thousand endpoints take some descriptors each.
void allow_descriptors() {
    rlimit limit = {};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/// As the page tables have it: the counters of /proc/self/status are some hundred KiB off on many processors.
double anonymous_memory() {
    std::ifstream rollup("/proc/self/smaps_rollup");
    for (std::string word; rollup >> word;) {
        double kib = 0;
        if (word == "Anonymous:" && rollup >> kib) return kib * 1024;
    }
    throw CannotMeasure("/proc/self/smaps_rollup does not tell the memory of a process");
}

void fail(Board& board, const char* why) {
    if (board.failing.exchange(true)) return;
    std::strncpy(board.why, why, sizeof board.why - 1);
    board.failed.store(true, std::memory_order_release);
}

/// A worker, from its first order to its last.
void serve(Board& board, Worker& worker, std::size_t number, const Setting& setting) {
    for (std::uint64_t next = 1;; ++next) {
        while (board.order.load(std::memory_order_acquire) < next) {
            worker.progress();
            sleep_for(std::chrono::microseconds(100));
        }
        const Order& order = board.what;
        if (order.step == Step::End) return;
        if (order.step == Step::Weigh) {
            board.reports[number].memory = anonymous_memory();
        } else {
            transfer::hurry(setting, order.step == Step::Talk);
            worker.perform(order);
            transfer::hurry(setting, false);
        }
        board.finished.fetch_add(1, std::memory_order_release);
    }
}

/// Where more processes talk than there are cores, none may run before all others: they wait for one another.
Setting without_hurry(const Setting& setting) {
    Setting out = setting;
    out.realtime = false;
    return out;
}

std::string how(int status) {
    if (WIFSIGNALED(status)) return fmt::format("a process died of signal {}", WTERMSIG(status));
    return fmt::format("a process ended with status {}", WEXITSTATUS(status));
}

}  // namespace

Processes::Processes(const std::string& library, const Scenario& scenario, const Setting& setting, MakeWorker make,
                     std::chrono::milliseconds limit)
    : scenario_(scenario), limit_(limit * patience_factor()) {
    void* at = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw CannotMeasure("no memory to share");
    board_ = new (at) Board{};
    try {
        for (std::size_t i = 0; i < workers_of(scenario); ++i) start(i, library, setting, make);
    } catch (...) {
        failed_ = true;
        end_all();
        throw;
    }
}

Processes::~Processes() { end_all(); }

void Processes::start(std::size_t number, const std::string& library, const Setting& setting, MakeWorker make) {
    const pid_t self = getpid();
    const pid_t made = fork();
    if (made < 0) throw CannotMeasure("no process can be made");
    if (made > 0) return workers_.push_back(made);
    begin_child(self);
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);  // a library may read its peer's memory
    try {
        transfer::stand(setting, setting.cores[core_of(scenario_, number)]);
        allow_descriptors();
        const auto opened = open_for_measuring(library);
        const auto worker = make(opened->entries(), scenario_, *board_, number);
        serve(*board_, *worker, number, scenario_.kind == Kind::First ? setting : without_hurry(setting));
    } catch (const CannotMeasure& e) {
        fail(*board_, e.what());
    }
    _exit(0);
}

void Processes::publish(const Order& what) {
    board_->what = what;
    board_->order.store(++orders_, std::memory_order_release);
}

void Processes::look_for_failure() {
    if (board_->failed.load(std::memory_order_acquire)) throw CannotMeasure(board_->why);
    for (pid_t& worker : workers_) {
        int status = 0;
        if (worker == 0 || waitpid(worker, &status, WNOHANG) != worker) continue;
        remove_leftovers_of(std::exchange(worker, 0));
        // One that gives up says why before it ends.
        throw CannotMeasure(board_->failed.load(std::memory_order_acquire) ? board_->why : how(status));
    }
}

void Processes::order(const Order& what) {
    failed_ = true;  // unless all finish it
    publish(what);
    const std::uint64_t expected = orders_ * workers_.size();
    const auto since = Clock::now();
    while (board_->finished.load(std::memory_order_acquire) < expected) {
        look_for_failure();
        sign_of_life();
        if (Clock::now() - since > limit_)
            throw CannotMeasure(fmt::format("not done after {} s", std::chrono::duration<double>(limit_).count()));
        sleep_for(std::chrono::milliseconds(1));
    }
    failed_ = false;
}

double Processes::talk(std::uint64_t turns, std::uint64_t window) {
    order({Step::Talk, turns, window});
    auto began = std::numeric_limits<std::int64_t>::max();
    std::int64_t ended = 0;
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        began = std::min(began, report(i).began);
        ended = std::max(ended, report(i).ended);
    }
    return static_cast<double>(ended - began);
}

double Processes::shared_memory() const {
    std::set<std::string> files;
    for (const pid_t worker : workers_) {
        std::ifstream maps(fmt::format("/proc/{}/maps", worker));
        for (std::string line; std::getline(maps, line);) {
            if (const auto at = line.find("/dev/shm/"); at != std::string::npos) files.insert(line.substr(at));
        }
    }
    double bytes = 0;
    for (const auto& file : files) {
        struct stat status = {};
        if (stat(file.c_str(), &status) == 0) bytes += static_cast<double>(status.st_blocks) * 512;
    }
    return bytes;
}

void Processes::end_all() {
    if (!failed_) publish({Step::End, 0, 0});
    const auto since = Clock::now();
    for (const pid_t worker : workers_) {
        if (worker == 0) continue;
        while (!failed_ && waitpid(worker, nullptr, WNOHANG) == 0) {
            sign_of_life();
            sleep_for(std::chrono::milliseconds(1));
            failed_ = Clock::now() - since > kEndLimit;
        }
        if (failed_ && kill(worker, SIGKILL) == 0) {
            while (waitpid(worker, nullptr, 0) < 0 && errno == EINTR) continue;
        }
        remove_leftovers_of(worker);
    }
    workers_.clear();
    munmap(board_, sizeof(Board));
}

}  // namespace selvage::conformance::bench::many
