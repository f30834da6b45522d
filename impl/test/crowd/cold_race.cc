// A ring that goes cold at the very moment at which its sender publishes: no frame may be lost.
//   impl_cold_race [--seconds N] [--senders N]
//
// One owner, and senders in processes of their own. In each round the owner makes the ring of one sender due to go cold
// in its next progress, and that sender publishes one frame at the same time; the others sleep. The sender has stores
// that wait for memory in front of those of the frame, so that a processor that reorders at all lets its look at `cold`
// overtake them. Random delays on both sides move the two against each other.
//
// The sender says when its send() has returned. What it raised for the owner was raised by then, so an owner that does
// not find the frame in the progress calls that follow will not by itself: that is a loss. (The owner looks into all
// rings from time to time, in case somebody has overwritten the words that raise it. That is seldom enough, every 40
// ms, not to hide a loss here.) The sender then sends once more, and both frames have to come. Exits with 1 if anything
// was lost; with 77 on one processor, where nothing happens at once.
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "impl/test/crowd/random.h"
#include "impl/transport/shm/shm_transport.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kSendersMost = 256;
constexpr size_t kKeptHot = 10;      // more than are never cold
constexpr uint32_t kDue = 1u << 30;  // idle polls: more than any ring is given
constexpr unsigned kRoundsPerTurn = 500;
constexpr size_t kSlowBytes = size_t{32} << 20;  // more than the caches hold
constexpr uint64_t kSlowStoresMost = 48;         // about what a store buffer has room for
constexpr uint64_t kPauseMost = 400;
constexpr unsigned kCalls = 10'000;  // of progress, a millisecond: what is not found by then is lost

// What owner and senders share. Each word is written by one side alone.
struct Shared {
    alignas(128) std::atomic<uint32_t> turn[kSendersMost];  // futex: it is this sender's turn
    alignas(128) std::atomic<bool> open;                    // the owner's endpoint is
    alignas(128) std::atomic<uint64_t> round;               // the sender whose turn it is publishes now
    alignas(128) std::atomic<uint64_t> ready;               // it waits for this round
    alignas(128) std::atomic<uint64_t> published;           // it has
    alignas(128) std::atomic<uint64_t> verdict;             // twice the round; + 1: its frame was lost
};

[[noreturn]] void give_up(const char* what, int error) {
    fprintf(stderr, "process %d: %s: %d\n", getpid(), what, error);
    exit(1);
}

double now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void pause_for(uint64_t loops) {
    for (uint64_t i = 0; i < loops; ++i) asm volatile("" : : : "memory");
}

// One of two processors, if there are two: what is to happen at the same time must not wait for the same one.
void run_on(bool first) {
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed)) return;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &allowed)) continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        if (first) break;
    }
    sched_setaffinity(0, sizeof one, &one);
}

struct CountingSink {
    uint64_t frames = 0;
    ShmPeer* of[kSendersMost] = {};  // who has sent, by what the frame says
    void deliver(ShmPeer& peer, const Header& header, const std::byte*) {
        ++frames;
        of[header.word[0] % kSendersMost] = &peer;
    }
    bool begin(ShmPeer&, const Header&, Placement*) { return false; }
    void end(ShmPeer&, const Header&, Placement*, int) {}
    void sent(ShmPeer&, void*, int) {}
    void room(ShmPeer&) {}
    void down(ShmPeer&, int) {}
};

void address(char (&text)[kShmTextMax], pid_t owner, size_t index) {
    snprintf(text, sizeof text, "fi_shm://cold-race.%d.%zu", owner, index);
}

class Sender {
public:
    Sender(Shared& shared, size_t index, pid_t owner) : shared_(shared), index_(index), random_(index + 1) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        run_on(false);
        char own[kShmTextMax] = {}, to[kShmTextMax] = {};
        address(own, owner, index + 1);
        address(to, owner, 0);
        int error = transport_.open_at(own, {});
        if (error) give_up("open", error);
        while (!shared.open.load(std::memory_order_acquire)) usleep(1000);
        while ((error = transport_.find_peer_at(to, &peer_)) == -FI_EAGAIN) usleep(1000);
        if (error) give_up("find_peer", error);
        slow_.resize(kSlowBytes);
        send();
    }
    [[noreturn]] void run() {
        for (uint32_t turn = 1;; ++turn) {
            while (shared_.turn[index_].load(std::memory_order_acquire) < turn) {
                syscall(SYS_futex, &shared_.turn[index_], FUTEX_WAIT, turn - 1, nullptr, nullptr, 0);
            }
            uint64_t round = shared_.round.load(std::memory_order_acquire);
            for (unsigned i = 0; i < kRoundsPerTurn; ++i) send_at(++round);
        }
    }

private:
    void send_at(uint64_t round) {
        // Sometimes much later, as the owner's fence takes its time.
        const uint64_t stores = random_.below(kSlowStoresMost), pause = random_.below(kPauseMost << round % 5);
        size_t slow[kSlowStoresMost];
        for (uint64_t i = 0; i < stores; ++i) slow[i] = random_.below(kSlowBytes);
        shared_.ready.store(round, std::memory_order_release);
        while (shared_.round.load(std::memory_order_acquire) < round) {
        }
        pause_for(pause);
        for (uint64_t i = 0; i < stores; ++i) slow_[slow[i]] = 1;
        send();
        shared_.published.store(round, std::memory_order_release);
        uint64_t verdict;
        while ((verdict = shared_.verdict.load(std::memory_order_acquire)) >> 1 < round) {
        }
        if (verdict & 1) send();
    }
    void send() {
        Header header{};
        header.word[0] = index_;
        const SendResult result = transport_.send(
            *peer_, {.header = header, .payload = nullptr, .count = 0, .token = nullptr, .more = false});
        if (result != SendResult::Done) give_up("send", static_cast<int>(result));
    }

    Shared& shared_;
    size_t index_;
    Random random_;
    ShmTransport transport_;
    ShmPeer* peer_ = nullptr;
    std::vector<char> slow_;
};

class Owner {
public:
    Owner(Shared& shared, size_t senders) : shared_(shared), senders_(senders), random_(getpid()) {
        run_on(true);
        char own[kShmTextMax] = {};
        address(own, getpid(), 0);
        const int error = transport_.open_at(own, {});
        if (error) give_up("open", error);
        shared.open.store(true, std::memory_order_release);
    }
    // Until time is up, and every sender's ring was hot once: those that the owner polls anyway never go cold.
    void take_turns(double seconds) {
        await_frames(senders_);
        const double end = now() + seconds;
        for (uint64_t turn = 0; turn < senders_ || now() < end; ++turn) take_turn(turn % senders_);
    }
    int report() const {
        printf("%zu senders: %lu frames lost in %lu rounds; the ring went cold in %lu\n", senders_, lost_, round_,
               went_cold_);
        return lost_ ? 1 : 0;
    }

private:
    void await_frames(uint64_t count) {
        while (sink_.frames < count) progress();
    }
    // Some of the others stay hot, so that the ring in question is one too many.
    void progress() {
        for (size_t i = 0; i < std::min(senders_, kKeptHot); ++i) {
            if (ShmPeer* peer = sink_.of[i]) peer->in.idle = 0;
        }
        transport_.progress(sink_);
    }
    void take_turn(size_t sender) {
        shared_.turn[sender].fetch_add(1, std::memory_order_release);
        syscall(SYS_futex, &shared_.turn[sender], FUTEX_WAKE, 1, nullptr, nullptr, 0);
        for (unsigned i = 0; i < kRoundsPerTurn; ++i) play(*sink_.of[sender]);
    }
    void play(ShmPeer& peer) {
        const uint64_t round = ++round_, before = sink_.frames, pause = random_.below(kPauseMost);
        while (shared_.ready.load(std::memory_order_acquire) < round) {
        }
        peer.in.idle = kDue;
        shared_.round.store(round, std::memory_order_release);
        pause_for(pause);
        transport_.progress(sink_);
        went_cold_ += !peer.in.hot;
        while (shared_.published.load(std::memory_order_acquire) < round) {
        }
        // Calls are counted, not time: the owner may be without a processor for as long as it likes.
        for (unsigned calls = 0; sink_.frames == before && calls < kCalls; ++calls) progress();
        const bool lost = sink_.frames == before;
        lost_ += lost;
        shared_.verdict.store(round << 1 | (lost ? 1 : 0), std::memory_order_release);
        await_frames(before + (lost ? 2 : 1));
    }

    Shared& shared_;
    size_t senders_;
    Random random_;
    ShmTransport transport_;
    CountingSink sink_;
    uint64_t round_ = 0;
    uint64_t went_cold_ = 0;
    uint64_t lost_ = 0;
};

int run(double seconds, size_t senders) {
    void* space = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (space == MAP_FAILED) give_up("mmap", errno);
    auto& shared = *new (space) Shared();
    const pid_t owner = getpid();
    for (size_t i = 0; i < senders; ++i) {
        const pid_t child = fork();
        if (child < 0) give_up("fork", errno);
        if (child == 0) Sender(shared, i, owner).run();
    }
    Owner self(shared, senders);
    self.take_turns(seconds);
    return self.report();
}

}  // namespace
}  // namespace selvage::impl::test

int main(int count, char** arguments) {
    double seconds = 10;
    size_t senders = 40;
    for (int i = 1; i + 1 < count; i += 2) {
        if (strcmp(arguments[i], "--seconds") == 0) seconds = atof(arguments[i + 1]);
        if (strcmp(arguments[i], "--senders") == 0) senders = strtoul(arguments[i + 1], nullptr, 10);
    }
    if (sysconf(_SC_NPROCESSORS_ONLN) < 2) return 77;
    if (senders < 11 || senders > selvage::impl::test::kSendersMost) return 2;
    return selvage::impl::test::run(seconds, senders);
}
