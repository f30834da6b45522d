// Garbage on the port of an endpoint: noise, broken handshakes, connections that are opened and left, and real traffic
// that is damaged on its way, while the traffic with a friend goes on.
//   impl_garbage [--seconds N] [--seed N]
//
// Three processes: the target; the friend, whose operations are all verified; and the attacker. What reaches the target
// by way of the attacker may say anything, so the target does not judge the contents that it receives.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "impl/test/crowd/leftovers.h"
#include "impl/test/crowd/process.h"
#include "impl/test/crowd/proxy.h"
#include "impl/test/crowd/traffic.h"

namespace selvage::impl::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr uint32_t kFriend = 1;
constexpr milliseconds kPatience{30'000};
constexpr size_t kHeapPerSession = 4096;  // a record of each address that was called from stays

struct Options {
    int seconds = 4;
    uint64_t seed = 1;
    std::string role = "target";
    Greeting target{};
    int tally = -1;  // the attacker writes a byte there for each attack
};

Options parse(int count, char** arguments) {
    Options options;
    for (int i = 1; i + 1 < count; i += 2) {
        const std::string name = arguments[i];
        const std::string value = arguments[i + 1];
        if (name == "--seconds") options.seconds = std::stoi(value);
        if (name == "--seed") options.seed = std::stoull(value);
        if (name == "--role") options.role = value;
        if (name == "--tally") options.tally = std::stoi(value);
        if (name == "--target") memcpy(&options.target, from_hex(value).data(), sizeof options.target);
    }
    return options;
}

StationChoice choice() { return {.provider = "tcp", .service = {}, .memory = kTrafficMemory}; }

void be_friend(const Options& options) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Station station(choice());
    Traffic traffic(station);
    Load load(traffic, options.target, options.seed);
    while (load.greet(kFriend) == -FI_EAGAIN) traffic.poll();
    for (;;) {
        load.step();
        traffic.poll();
        if (load.errors || load.refused) give_up("the friend's traffic", fi_strerror(load.last_error));
    }
}

class Attacker {
public:
    explicit Attacker(const Options& options) : random_(options.seed), target_(options.target), tally_(options.tally) {
        memcpy(&address_, target_.name, sizeof address_);
    }
    void run() {
        for (;;) {
            switch (random_.below(4)) {
                case 0:
                    shout();
                    break;
                case 1:
                    idle();
                    break;
                default:
                    converse();
            }
            if (write(tally_, "", 1) < 0 && errno != EAGAIN) give_up("the tally", strerror(errno));
        }
    }

private:
    // Noise, which may begin like the real thing; sometimes ended by a reset.
    void shout() {
        const int socket = call(address_);
        if (socket < 0) return;
        std::byte bytes[4096];
        const size_t size = random_.below(sizeof bytes) + 1;
        for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(random_.next());
        if (random_.below(2)) memcpy(bytes, start_.data(), std::min(size, start_.size()));
        send(socket, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (random_.below(2)) usleep(500);
        if (random_.below(2)) {
            const linger abrupt{.l_onoff = 1, .l_linger = 0};
            setsockopt(socket, SOL_SOCKET, SO_LINGER, &abrupt, sizeof abrupt);
        }
        close(socket);
    }
    // Many connections that say nothing, held for a moment.
    void idle() {
        std::vector<int> sockets;
        for (uint64_t i = random_.below(60); i; --i) sockets.push_back(call(address_));
        usleep(static_cast<useconds_t>(random_.below(20'000)));
        for (const int socket : sockets) {
            if (socket >= 0) close(socket);
        }
    }
    // An endpoint of the library, which knows no key of the target's, through a proxy that damages the stream.
    void converse() {
        Proxy proxy(address_, random_);
        Station station(choice());
        Traffic traffic(station);
        traffic.lenient = true;
        Greeting detour = target_;
        memcpy(detour.name, &proxy.address(), sizeof proxy.address());
        detour.key ^= random_.next() | 1;
        Load load(traffic, detour, random_.next());
        const auto start = Clock::now();
        while (proxy.pump() && Clock::now() - start < milliseconds(60)) {
            load.step();
            traffic.poll();
        }
    }

    Random random_;
    Greeting target_;
    sockaddr_in address_{};
    int tally_;
    std::string start_ = "\xc5Selvage";  // how a handshake begins
};

class Target {
public:
    explicit Target(const Options& options)
        : options_(options), station_(choice()), traffic_(station_, [this](const Greeting& who) { greeted(who); }) {
        traffic_.lenient = true;
    }

    void run() {
        const Greeting self = traffic_.greeting(0);
        const std::string name = to_hex(&self, sizeof self);
        alarm(static_cast<unsigned>(options_.seconds) + 120);
        const pid_t companion =
            start_again({"--role", "friend", "--target", name, "--seed", std::to_string(options_.seed)});
        await([&] { return load_ && load_->done > 100; });
        if (pipe2(tally_, O_NONBLOCK)) give_up("pipe2", strerror(errno));
        const pid_t attacker = start_again({"--role", "attacker", "--target", name, "--seed",
                                            std::to_string(options_.seed), "--tally", std::to_string(tally_[1])});
        watch(milliseconds(options_.seconds * 250));
        const Holdings before = holdings();
        watch(milliseconds(options_.seconds * 750));
        // A busy machine may hardly have let the attacker run.
        for (int more = 0; more < 10 && attacks() < options_.seconds; ++more) watch(milliseconds(4'000));
        kill_process(attacker);
        watch(milliseconds(6'000 * (options_.seconds > 10)));  // those who said nothing are shown the door
        compare(before, holdings());
        kill_process(companion);
    }

private:
    void greeted(const Greeting& who) {
        if (who.id == kFriend && !load_) load_.emplace(traffic_, who, options_.seed);
    }
    void turn() {
        if (load_) load_->step();
        traffic_.poll();
        if (load_ && (load_->errors || load_->refused)) give_up("the friend's traffic", fi_strerror(load_->last_error));
    }
    template <typename Done>
    void await(Done done) {
        for (const auto start = Clock::now(); !done();) {
            turn();
            if (Clock::now() - start > kPatience) give_up("the friend's traffic", "has come to a halt");
        }
    }
    // The friend's traffic goes on, without a long pause.
    void watch(milliseconds time) {
        const auto start = Clock::now();
        while (Clock::now() - start < time) {
            const uint64_t done = load_->done;
            const auto last = Clock::now();
            await([&] { return load_->done > done; });
            longest_ = std::max(longest_, Clock::now() - last);
        }
    }
    int attacks() const {
        int count = 0;
        ioctl(tally_[0], FIONREAD, &count);
        return count;
    }
    void compare(const Holdings& before, const Holdings& after) const {
        printf(
            "%d s, %d attacks: %llu operations with the friend, the longest pause %.0f ms; %llu messages received, "
            "%llu of them "
            "damaged; descriptors %zu, then %zu; mappings %zu, then %zu; heap %zu KiB, then %zu KiB\n",
            options_.seconds, attacks(), static_cast<unsigned long long>(load_->done),
            std::chrono::duration<double, std::milli>(longest_).count(),
            static_cast<unsigned long long>(traffic_.received), static_cast<unsigned long long>(traffic_.damaged),
            before.descriptors, after.descriptors, before.mappings, after.mappings, before.heap / 1024,
            after.heap / 1024);
        const size_t grown = after.heap > before.heap ? after.heap - before.heap : 0;
        const auto sessions = static_cast<size_t>(options_.seconds) * 200;
        if (attacks() < options_.seconds) give_up("the attacker", "did hardly anything");
        if (after.descriptors > before.descriptors + 256) give_up("descriptors", "are lost");
        if (grown > (size_t{1} << 20) + sessions * kHeapPerSession) give_up("heap", "is lost");
    }

    Options options_;
    Station station_;
    Traffic traffic_;
    std::optional<Load> load_;
    Clock::duration longest_{};
    int tally_[2] = {-1, -1};
};

}  // namespace
}  // namespace selvage::impl::test

int main(int count, char** arguments) {
    using namespace selvage::impl::test;
    const Options options = parse(count, arguments);
    if (options.role == "friend") be_friend(options);
    if (options.role == "attacker") {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        Attacker(options).run();
    }
    Target(options).run();
    return 0;
}
