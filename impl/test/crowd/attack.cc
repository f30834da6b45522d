// What peers can make an endpoint keep: each does what costs the endpoint most, for some seconds, and the endpoint
// makes progress and reads nothing. Its resident memory may grow by what SECURITY.md says, and no more.
//   impl_attack PROVIDER [--seconds N]
//
//   data        writes with remote CQ data and a key that is none
//   answers     reads whose answers are not taken
//   unexpected  messages without end
//   trusted     the same, once the endpoint has received so many that its windows for all of them have grown
//   leavers     peers that send what they may, go, and come again under another address
#include <sys/prctl.h>
#include <time.h>

#include <cstdio>
#include <memory>

#include "impl/engine/window.h"
#include "impl/test/crowd/process.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kMemory = size_t{1} << 20;
// SECURITY.md: the window with its records; answers; and what the allocator and the transport keep beside them.
constexpr uint64_t kUnitBytesKept = 1024;
constexpr uint64_t kFirstBytes = (kWindowFirst + kAnnouncementsFirst) * kUnitBytesKept;
constexpr uint64_t kSharedBytes = kSharedUnits * kUnitBytesKept;
constexpr uint64_t kOrphanBytes = kOrphanUnits * kUnitBytesKept;
constexpr uint64_t kAnswerBytes = uint64_t{8} << 20;
constexpr uint64_t kBeside = uint64_t{4} << 20;

double now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

uint64_t resident_bytes() {
    FILE* file = fopen("/proc/self/statm", "r");
    unsigned long all = 0, resident = 0;
    if (!file || fscanf(file, "%lu %lu", &all, &resident) != 2) give_up("statm", "cannot be read");
    fclose(file);
    return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// The attacker's side. Words: provider, kind, address, key, base.
class Attacker {
public:
    Attacker(const std::string& provider, const std::string& target, uint64_t key, uint64_t base)
        : provider_(provider), target_(target), key_(key), base_(base) {
        arrive();
    }

    [[noreturn]] void run(const std::string& kind) {
        for (;;) {
            const ssize_t result = post(kind);
            if (result && result != -FI_EAGAIN) give_up(kind.c_str(), fi_strerror(static_cast<int>(-result)));
            if (result && kind == "answers" && posted_) pause();  // what it has asked for it never takes
            if (result) take();
            posted_ += !result;
            if (kind != "leavers" || !posted_ || result != -FI_EAGAIN) continue;
            arrive();
            posted_ = 0;
        }
    }

private:
    void arrive() {
        station_.reset();
        station_ = std::make_unique<Station>(StationChoice{provider_, FI_THREAD_DOMAIN, FI_PROGRESS_MANUAL,
                                                           FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC, "", 0, 0});
        to_ = station_->insert(target_);
    }
    ssize_t post(const std::string& kind) {
        if (kind == "data") return fi_writedata(station_->ep, bytes_, 0, nullptr, 1, to_, base_, key_ + 1, this);
        if (kind == "answers") return fi_read(station_->ep, bytes_, sizeof bytes_, nullptr, to_, base_, key_, this);
        return fi_send(station_->ep, bytes_, 4096, nullptr, to_, this);
    }
    void take() {
        fi_cq_tagged_entry entry;
        fi_cq_err_entry error{};
        if (fi_cq_read(station_->cq, &entry, 1) == -FI_EAVAIL) (void)fi_cq_readerr(station_->cq, &error, 0);
    }

    std::string provider_, target_;
    std::unique_ptr<Station> station_;
    fi_addr_t to_ = FI_ADDR_UNSPEC;
    uint64_t key_, base_, posted_ = 0;
    char bytes_[65536] = {};
};

class Target {
public:
    Target(std::string provider, double seconds) : provider_(std::move(provider)), seconds_(seconds) {}

    // In a process of its own, so that memory which one attack has touched does not hide the next.
    void run(const std::string& kind, size_t attackers, uint64_t budget) const {
        const pid_t child = fork();
        if (child == 0) {
            be_attacked(kind, attackers, budget);
            exit(0);
        }
        int status = 0;
        if (waitpid(child, &status, 0) != child || status) give_up("an attack", kind);
    }

private:
    void be_attacked(const std::string& kind, size_t attackers, uint64_t budget) const {
        Station station(
            {provider_, FI_THREAD_DOMAIN, FI_PROGRESS_MANUAL, FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC, "", kMemory, 0});
        const std::string name = station.name();
        const uint64_t before = resident_bytes();
        std::vector<char> placement(4096);
        std::vector<pid_t> processes;
        for (size_t i = 0; i < attackers; ++i) {
            processes.push_back(start_again({"--attack", provider_, kind, to_hex(name.data(), name.size()),
                                             std::to_string(station.key), std::to_string(station.base)}));
        }
        if (kind == "trusted") receive_for_a_while(station, placement);
        uint64_t most = before;
        for (const double end = now() + seconds_; now() < end;) {
            for (int i = 0; i < 1000; ++i) fi_cq_read(station.cq, nullptr, 0);
            most = std::max(most, resident_bytes());
        }
        for (const pid_t process : processes) kill_process(process);
        const uint64_t grown = most - before;
        printf("%s, %s by %zu: %.1f MiB more resident, %.1f are allowed\n", provider_.c_str(), kind.c_str(), attackers,
               static_cast<double>(grown) / (1 << 20), static_cast<double>(budget) / (1 << 20));
        fflush(stdout);
        if (grown > budget) give_up("a peer", "makes the endpoint keep more than it may");
    }

    void receive_for_a_while(Station& station, std::vector<char>& bytes) const {
        constexpr size_t kReceives = 64;
        fi_cq_tagged_entry entry;
        const auto post = [&] {
            if (fi_recv(station.ep, bytes.data(), bytes.size(), nullptr, FI_ADDR_UNSPEC, nullptr))
                give_up("a receive", "cannot be posted");
        };
        for (size_t i = 0; i < kReceives; ++i) post();
        for (const double end = now() + seconds_; now() < end;) {
            if (fi_cq_read(station.cq, &entry, 1) == 1) post();
        }
    }

    std::string provider_;
    double seconds_;
};

int be_attacker(char** words) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Attacker(words[0], from_hex(words[2]), std::stoull(words[3]), std::stoull(words[4])).run(words[1]);
}

int be_parent(int count, char** arguments) {
    if (count < 2) give_up("usage", "impl_attack PROVIDER [--seconds N]");
    double seconds = 3;
    if (count == 4 && std::string(arguments[2]) == "--seconds") seconds = std::stod(arguments[3]);
    const Target target(arguments[1], seconds);
    target.run("data", 1, kFirstBytes + kBeside);
    target.run("answers", 1, kAnswerBytes + kBeside);
    target.run("unexpected", 1, kFirstBytes + kAnnouncementsMost * kUnitBytesKept + kBeside);
    target.run("unexpected", 40, kSharedBytes + 40 * kFirstBytes + kBeside);
    target.run("trusted", 40, kSharedBytes + 40 * kFirstBytes + kBeside);
    target.run("leavers", 4, kOrphanBytes + 4 * kFirstBytes + kBeside);
    return 0;
}

}  // namespace
}  // namespace selvage::impl::test

int main(int count, char** arguments) {
    using namespace selvage::impl::test;
    const bool attacks = count > 6 && std::string(arguments[1]) == "--attack";
    return attacks ? be_attacker(arguments + 2) : be_parent(count, arguments);
}
