// Many processes, each of which sends to all others over shared memory: all arrives, and nothing is left.
//   impl_all_to_all [--count N]
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <cstdio>
#include <map>
#include <memory>

#include "impl/test/crowd/leftovers.h"
#include "impl/test/crowd/process.h"
#include "impl/test/crowd/random.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kMemoryPerPeer = size_t{96} << 10;
constexpr size_t kSizes[] = {8, 100, 5000, 40'000};
constexpr size_t kRounds = sizeof kSizes / sizeof *kSizes;
constexpr size_t kMost = 40'000;

// Each end of a stage is told to the parent, which tells everybody when the next begins, each on a socket of its own.
void next_stage(int parent) {
    char byte = 0;
    if (write(parent, &byte, 1) != 1 || read(parent, &byte, 1) != 1) give_up("a stage", "has no parent");
}

std::string service(const std::string& prefix, size_t rank) { return prefix + std::to_string(rank); }

class Rank {
public:
    Rank(std::string prefix, size_t rank, size_t count)
        : rank_(rank),
          count_(count),
          station_({.caps = FI_MSG | FI_TAGGED, .service = service(prefix, rank)}),
          prefix_(std::move(prefix)) {}

    void run(int parent) {
        std::vector<fi_addr_t> peers;
        for (size_t i = 0; i < count_; ++i) peers.push_back(station_.insert("fi_shm://:" + service(prefix_, i)));
        for (size_t k = 0; k < kReceives; ++k) post(k);
        next_stage(parent);
        for (size_t round = 0; round < kRounds; ++round) {
            for (size_t step = 1; step < count_; ++step) send(peers[(rank_ + step) % count_], round);
        }
        while (received_ < kRounds * (count_ - 1) || sending_) poll();
        next_stage(parent);
        next_stage(parent);
    }

private:
    // From whom, and the how manieth, is in the tag.
    uint64_t tag(size_t round) const { return rank_ << 16 | round; }

    void post(size_t k) {
        SELVAGE_MUST(fi_trecv(station_.ep, buffers_[k], kMost, nullptr, FI_ADDR_UNSPEC, 0, ~uint64_t{0}, buffers_[k]));
    }
    void send(fi_addr_t to, size_t round) {
        while (sending_) poll();
        write_pattern(out_, kSizes[round], tag(round));
        ssize_t result;
        while ((result = fi_tsend(station_.ep, out_, kSizes[round], nullptr, to, tag(round), out_)) == -FI_EAGAIN) {
            poll();
        }
        SELVAGE_MUST(result);
        sending_ = true;
    }
    void poll() {
        fi_cq_tagged_entry entries[8];
        const ssize_t count = fi_cq_read(station_.cq, entries, 8);
        if (count == -FI_EAGAIN) return;
        SELVAGE_MUST(count);
        for (ssize_t i = 0; i < count; ++i) {
            if (entries[i].op_context == out_) {
                sending_ = false;
                continue;
            }
            take(entries[i]);
        }
    }
    void take(const fi_cq_tagged_entry& entry) {
        const auto* bytes = static_cast<std::byte(*)[kMost]>(entry.op_context);
        const size_t from = entry.tag >> 16;
        const size_t round = entry.tag & 0xffff;
        uint64_t first;
        memcpy(&first, *bytes, sizeof first);
        if (round != next_[from]++) give_up("a message", "was overtaken, lost or doubled");
        if (entry.len != kSizes[round] || first != entry.tag || !is_pattern(*bytes, entry.len)) {
            give_up("a message", "has other bytes than were sent");
        }
        ++received_;
        post(static_cast<size_t>(bytes - buffers_));
    }

    static constexpr size_t kReceives = 8;
    size_t rank_;
    size_t count_;
    Station station_;
    std::string prefix_;
    std::map<size_t, size_t> next_;
    size_t received_ = 0;
    bool sending_ = false;
    std::byte out_[kMost];
    std::byte buffers_[kReceives][kMost];
};

void be_rank(char** arguments) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::make_unique<Rank>(arguments[1], std::stoul(arguments[2]), std::stoul(arguments[3]))
        ->run(std::stoi(arguments[4]));
}

class Parent {
public:
    explicit Parent(size_t count) : count_(count), prefix_("all-" + std::to_string(getpid()) + "-") {}
    void run() {
        alarm(300);
        std::vector<pid_t> ranks;
        for (size_t i = 0; i < count_; ++i) {
            int pair[2];
            if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair)) give_up("socketpair", "fails");
            fcntl(pair[0], F_SETFD, FD_CLOEXEC);
            ranks.push_back(start_again({prefix_, std::to_string(i), std::to_string(count_), std::to_string(pair[1])}));
            close(pair[1]);
            stages_.push_back(pair[0]);
        }
        finish_stage();
        await_stage();
        size_t most = 0, all = 0;
        for (const std::string& file : ours()) {
            most = std::max(most, shm_bytes(file));
            all += shm_bytes(file);
        }
        begin_stage();
        finish_stage();
        for (const pid_t rank : ranks) {
            int status = 0;
            if (waitpid(rank, &status, 0) != rank || status) give_up("a process", "has failed");
        }
        const double each = static_cast<double>(most) / static_cast<double>(count_ - 1);
        printf("%zu processes, all to all: %.1f KiB of /dev/shm per peer at most, %zu MiB in all; %zu files left\n",
               count_, each / 1024, all >> 20, ours().size());
        if (each > kMemoryPerPeer) give_up("shared memory per peer", "is more than is promised");
        if (!ours().empty()) give_up("left in /dev/shm", ours().front());
    }

private:
    std::vector<std::string> ours() const {
        std::vector<std::string> files;
        for (const std::string& file : shm_files()) {
            if (file.find(prefix_) != file.npos) files.push_back(file);
        }
        return files;
    }
    void await_stage() {
        char byte;
        for (const int stage : stages_) {
            if (read(stage, &byte, 1) != 1) give_up("a process", "has failed");
        }
    }
    void begin_stage() {
        for (const int stage : stages_) {
            if (write(stage, "", 1) != 1) give_up("a process", "has failed");
        }
    }
    void finish_stage() {
        await_stage();
        begin_stage();
    }

    size_t count_;
    std::string prefix_;
    std::vector<int> stages_;
};

}  // namespace
}  // namespace selvage::impl::test

int main(int count, char** arguments) {
    using namespace selvage::impl::test;
    if (count == 5) {
        be_rank(arguments);
    } else {
        Parent(count == 3 ? std::stoul(arguments[2]) : 64).run();
    }
    return 0;
}
