// Peers that are killed: one process survives and watches others die at random moments under load, while a bystander's
// traffic goes on.
//   impl_kill PROVIDER [--kills N] [--automatic] [--seed N]
//
// For each victim: what was pending with it ends with an error completion within kLimit, each operation completes once,
// and what completed without an error has the right contents. At the end the survivor holds no more descriptors,
// mappings, heap and shared memory than before.
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>

#include "impl/test/crowd/leftovers.h"
#include "impl/test/crowd/process.h"
#include "impl/test/crowd/traffic.h"

namespace selvage::impl::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kLimit{10'000};
constexpr uint32_t kNobody = UINT32_MAX;           // no process has that number
constexpr int kWarmUp = 5;                         // victims before the survivor's belongings are counted
constexpr size_t kHeapUnderWay = size_t{4} << 20;  // messages of the bystander, of up to 512 KiB, that are on their way
constexpr size_t kOwnTimers = 2;         // an endpoint's and its listener's, each made when it is needed first
constexpr size_t kHeapPerVictim = 2048;  // a record of the peer may stay until the endpoint is closed

struct Options {
    StationChoice station;
    int kills = 20;
    uint64_t seed = 1;
    std::string role = "survivor";
    std::string peer;  // for victims: the survivor's greeting, in hex
    uint32_t id = 0;
};

Options parse(int count, char** arguments) {
    Options options;
    if (count < 2) give_up("usage", "impl_kill PROVIDER [--kills N] [--automatic] [--seed N]");
    options.station.provider = arguments[1];
    options.station.memory = kTrafficMemory;
    for (int i = 2; i < count; ++i) {
        const std::string name = arguments[i];
        if (name == "--automatic") {
            options.station.progress = FI_PROGRESS_AUTO;
            options.station.threading = FI_THREAD_SAFE;
            continue;
        }
        if (i + 1 == count) give_up("usage", name + " needs a value");
        const std::string value = arguments[++i];
        if (name == "--kills") options.kills = std::stoi(value);
        if (name == "--seed") options.seed = std::stoull(value);
        if (name == "--role") options.role = value;
        if (name == "--peer") options.peer = from_hex(value);
        if (name == "--id") options.id = static_cast<uint32_t>(std::stoul(value));
        if (name == "--service") options.station.service = value;
    }
    return options;
}

// Greets the survivor and keeps it busy until it is killed.
void be_victim(const Options& options) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Station station(options.station);
    Traffic traffic(station);
    Greeting survivor;
    if (options.peer.size() != sizeof survivor) give_up("usage", "--peer");
    memcpy(&survivor, options.peer.data(), sizeof survivor);
    Load load(traffic, survivor, options.seed);
    while (load.greet(options.id) == -FI_EAGAIN) traffic.poll();
    for (;;) {
        load.step();
        traffic.poll();
        if (load.errors || load.refused) give_up("the survivor", fi_strerror(load.last_error));
    }
}

void print_descriptors(const std::vector<std::string>& before) {
    for (const std::string& descriptor : before) printf("open before: %s\n", descriptor.c_str());
    for (const std::string& descriptor : open_descriptors()) printf("open now: %s\n", descriptor.c_str());
    fflush(stdout);
}

class Survivor {
public:
    explicit Survivor(const Options& options);
    void run();

private:
    pid_t start(uint32_t id);
    void kill_one(uint32_t id);
    void turn();
    static void nothing_to_tell() {}
    template <typename Done, typename Tell = void (*)()>
    void until(const char* what, Clock::duration limit, Done done, Tell tell = nothing_to_tell);
    void greeted(const Greeting& greeting);
    void await_errors(Clock::time_point killed);
    size_t heap_allowed() const;
    Holdings after_drain(const Holdings& before);
    void compare(const Holdings& before, const Holdings& after) const;
    std::string left_behind() const;
    void sweep() const;

    Options options_;
    Random random_;
    std::string prefix_;
    Station station_;
    Traffic traffic_;
    std::string self_;
    std::optional<Load> bystander_;
    std::optional<Load> victim_;
    uint32_t victim_id_ = kNobody;
    std::set<uint32_t> unheard_;  // victims whose greeting had not come when they were given up
    // What there is to tell.
    int seen_ = 0;
    int unposted_ = 0;
    uint64_t done_ = 0;
    uint64_t errors_ = 0;
    Clock::duration longest_{};
};

StationChoice survivor_choice(const Options& options, const std::string& prefix) {
    StationChoice choice = options.station;
    if (choice.provider == "shm") choice.service = prefix + "survivor";
    return choice;
}

Survivor::Survivor(const Options& options)
    : options_(options),
      random_(options.seed),
      prefix_("kill-" + std::to_string(getpid()) + "-"),
      station_(survivor_choice(options, prefix_)),
      traffic_(station_, [this](const Greeting& greeting) { greeted(greeting); }) {
    const Greeting self = traffic_.greeting(0);
    self_ = to_hex(&self, sizeof self);
}

pid_t Survivor::start(uint32_t id) {
    std::vector<std::string> words = {
        options_.station.provider,     "--role", "victim", "--peer", self_, "--id", std::to_string(id), "--seed",
        std::to_string(random_.next())};
    if (options_.station.provider == "shm") {
        words.push_back("--service");
        words.push_back(prefix_ + std::to_string(id));
    }
    if (options_.station.progress == FI_PROGRESS_AUTO) words.push_back("--automatic");
    return start_again(words);
}

void Survivor::greeted(const Greeting& greeting) {
    if (greeting.id == 0) {
        bystander_.emplace(traffic_, greeting, random_.next());
    } else if (greeting.id == victim_id_) {
        victim_.emplace(traffic_, greeting, random_.next());
    } else if (unheard_.erase(greeting.id) == 0) {
        give_up("a greeting", "from a victim that greeted before");
    }
}

void Survivor::turn() {
    if (bystander_) bystander_->step();
    if (victim_) victim_->step();
    traffic_.poll();
    if (bystander_ && (bystander_->errors || bystander_->refused)) {
        give_up("the bystander's traffic failed", fi_strerror(bystander_->last_error));
    }
}

template <typename Done, typename Tell>
void Survivor::until(const char* what, Clock::duration limit, Done done, Tell tell) {
    const auto start = Clock::now();
    while (!done()) {
        turn();
        if (Clock::now() - start <= limit) continue;
        tell();
        give_up(what, "takes too long");
    }
}

// With the victim dead: what is posted now fails, and what was posted ends.
void Survivor::await_errors(Clock::time_point killed) {
    until("the first error after a death", kLimit, [&] { return victim_->errors || victim_->refused; });
    const uint64_t before = bystander_->done;
    until("the bystander's traffic after a death", kLimit, [&] { return bystander_->done > before; });
    while (victim_->pending()) {
        bystander_->step();
        traffic_.poll();
        if (Clock::now() - killed > kLimit) give_up("what was pending with the dead", "does not end");
    }
    longest_ = std::max(longest_, Clock::now() - killed);
    // With nothing pending at that moment, the next call is told.
    unposted_ += victim_->errors == 0;
    ++seen_;
    done_ += victim_->done;
    errors_ += victim_->errors;
    station_.remove(victim_->address());
    victim_.reset();
}

void Survivor::kill_one(uint32_t id) {
    alarm(60);
    victim_id_ = id;
    const pid_t process = start(id);
    // Most die in the middle of things, some while they are starting.
    const bool early = random_.below(5) == 0;
    const auto moment = std::chrono::microseconds(random_.below(60'000));
    if (!early) until("the greeting of a victim", milliseconds(30'000), [&] { return victim_.has_value(); });
    const auto start = Clock::now();
    while (Clock::now() - start < moment) turn();
    kill_process(process);
    const auto killed = Clock::now();
    // A greeting may have been under way, and may be later than that: then nobody has anything pending with it.
    while (!victim_ && Clock::now() - killed < milliseconds(50)) turn();
    if (victim_) {
        await_errors(killed);
    } else {
        unheard_.insert(id);
        victim_id_ = kNobody;
    }
}

size_t Survivor::heap_allowed() const { return kHeapPerVictim * static_cast<size_t>(options_.kills) + kHeapUnderWay; }

// The bystander may have sixteen messages of 512 KiB under way, which come and go; what is lost stays.
Holdings Survivor::after_drain(const Holdings& before) {
    const auto start = Clock::now();
    Holdings after = holdings();
    while (after.heap > before.heap + heap_allowed() && Clock::now() - start < milliseconds(5'000)) {
        turn();
        after = holdings();
    }
    return after;
}

void Survivor::compare(const Holdings& before, const Holdings& after) const {
    const size_t grown = after.heap > before.heap ? after.heap - before.heap : 0;
    printf("descriptors %zu, then %zu; mappings %zu, then %zu; heap %zu KiB, then %zu KiB\n", before.descriptors,
           after.descriptors, before.mappings, after.mappings, before.heap / 1024, after.heap / 1024);
    if (after.descriptors > before.descriptors) give_up("descriptors", "are lost");
    if (after.timers > before.timers + kOwnTimers) give_up("timers", "are lost");
#ifndef SELVAGE_SANITIZED  // whose run-time maps and allocates for itself
    if (after.mappings > before.mappings + 4) give_up("mappings", "are lost");
    if (grown > heap_allowed()) give_up("heap", "is lost");
#else
    static_cast<void>(grown);
#endif
}

std::string Survivor::left_behind() const {
    for (const std::string& file : shm_files()) {
        const bool ours = file.find(prefix_) != file.npos;
        const bool alive = file.ends_with("survivor") || file.ends_with(prefix_ + "0");
        if (ours && !alive) return file;
    }
    return {};
}

// Whoever opens an endpoint clears away what was left by those who died unheard of. It passes over a file that another
// process is just looking at, so it is tried again.
void Survivor::sweep() const {
    for (int tries = 0; tries < 100; ++tries) {
        { const Station sweeper(options_.station); }
        if (left_behind().empty()) return;
        usleep(20'000);
    }
    give_up("left in /dev/shm", left_behind());
}

void Survivor::run() {
    alarm(60);
    const pid_t bystander = start(0);
    until("the greeting of the bystander", milliseconds(30'000), [&] { return bystander_.has_value(); });
    Holdings before;
    std::vector<std::string> open_before;
    const int kills = options_.kills + kWarmUp;
    for (int i = 1; i <= kills; ++i) {
        kill_one(static_cast<uint32_t>(i));
        if (i != kWarmUp) continue;
        before = holdings();
        open_before = open_descriptors();
    }
    alarm(60);
    sweep();
    // The connection of who died last may be about to be closed by another thread.
    until(
        "closing the connections of the dead", milliseconds(5'000),
        [&] { return holdings().descriptors <= before.descriptors; }, [&] { print_descriptors(open_before); });
    compare(before, after_drain(before));
    printf(
        "%s, %s progress: %d killed, %d of them under load (%d with nothing pending, told by the next call); %llu "
        "operations with them completed, %llu failed; the last error came %.1f ms after a death at most; %llu "
        "operations with the bystander completed\n",
        options_.station.provider.c_str(), options_.station.progress == FI_PROGRESS_AUTO ? "automatic" : "manual",
        kills, seen_, unposted_, static_cast<unsigned long long>(done_), static_cast<unsigned long long>(errors_),
        std::chrono::duration<double, std::milli>(longest_).count(), static_cast<unsigned long long>(bystander_->done));
    kill_process(bystander);
    while (bystander_->pending()) traffic_.poll();
}

}  // namespace
}  // namespace selvage::impl::test

int main(int count, char** arguments) {
    using namespace selvage::impl::test;
    const Options options = parse(count, arguments);
    if (options.role == "victim") {
        be_victim(options);
    } else {
        Survivor(options).run();
    }
    return 0;
}
