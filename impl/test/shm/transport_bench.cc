// What the shm transport costs, beside the floor of the machine, in one run.
//
//   shm_bench [rounds]        run as root it asks for SCHED_FIFO, so that other work on the machine disturbs less
//
// Two processes on processors 0 and 1 do the following in turn, `rounds` times; printed are medians and minima:
//   a raw ping-pong of two cache lines; a ping-pong of frames of several sizes; a stream of frames, acknowledged at its
//   end; copies by memcpy in one process; and copies from the other process by process_vm_readv.
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "impl/transport/shm/shm_transport.h"

namespace selvage::impl::test {
namespace {

constexpr int kPings = 10000;
constexpr size_t kPingSizes[] = {0, 8, 32, 33, 96, 128, 256, 512, 1024, 4096, 16384};
constexpr size_t kStreamSizes[] = {8, 256, 1024, 4096, 8192, 16384};
constexpr size_t kStreamBytes = size_t{48} << 20;
constexpr int kStreamSmall = 200000;
constexpr size_t kBuffer = size_t{1} << 20;

double now_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

void settle_on(int processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    sched_setaffinity(0, sizeof set, &set);
    sched_param parameters{};
    parameters.sched_priority = 1;
    sched_setscheduler(0, SCHED_FIFO, &parameters);
}

struct Shared {
    alignas(256) std::atomic<uint64_t> ping;
    alignas(256) std::atomic<uint64_t> pong;
    alignas(256) std::atomic<uint64_t> source;  // an address in the other process
};

struct Sample {
    const char* what;
    size_t size;
    std::vector<double> values;
};

// One side: a transport, its peer, and how much arrived.
struct Side {
    ShmTransport transport;
    ShmPeer* peer = nullptr;
    uint64_t arrived = 0;
    std::byte* buffer;
    size_t offset = 0;

    Side() : buffer(static_cast<std::byte*>(aligned_alloc(4096, kBuffer))) { memset(buffer, 1, kBuffer); }

    void deliver(ShmPeer&, const Header& header, const std::byte* payload) {
        ++arrived;
        if (header.size <= shm::kInlineMax) {
            shm::copy_small(buffer, payload, header.size);
            return;
        }
        if (offset + header.size > kBuffer) offset = 0;
        memcpy(buffer + offset, payload, header.size);
        offset += header.size;
    }
    bool begin(ShmPeer&, const Header&, Landing*) { return false; }
    void end(ShmPeer&, const Header&, Landing*, int) {}
    void sent(ShmPeer&, void*, int) {}
    void room(ShmPeer&) {}
    void down(ShmPeer&, int) { exit(1); }

    void send(size_t size, const std::byte* from) {
        Header header{};
        header.size = static_cast<uint32_t>(size);
        header.op = 1;
        header.word[0] = arrived;
        const iovec part = {const_cast<std::byte*>(from), size};
        while (transport.send(*peer, {header, &part, 1, nullptr, false}) != SendResult::kDone) {
            transport.progress(*this);
        }
    }
    void expect(uint64_t count) {
        while (arrived < count) transport.progress(*this);
    }
    void stream(size_t size) {
        const uint64_t count = stream_count(size);
        size_t from = 0;
        for (uint64_t i = 0; i < count; ++i) {
            if (from + size > kBuffer) from = 0;
            send(size, buffer + from);
            if (size > shm::kInlineMax) from += size;
        }
    }
    static uint64_t stream_count(size_t size) { return size <= shm::kInlineMax ? kStreamSmall : kStreamBytes / size; }
};

void open_side(Side& side, const char (&own)[kShmTextMax], const char (&other)[kShmTextMax]) {
    if (side.transport.open_at(own, {})) exit(1);
    while (side.transport.find_peer_at(other, &side.peer)) side.transport.progress(side);
}

void answer(Side& side, Shared& shared, int rounds) {
    shared.source = reinterpret_cast<uint64_t>(side.buffer);
    uint64_t turn = 0;
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < kPings; ++i) {
            ++turn;
            while (shared.ping.load(std::memory_order_acquire) != turn) {
            }
            shared.pong.store(turn, std::memory_order_release);
        }
        for (const size_t size : kPingSizes) {
            for (int i = 0; i < kPings; ++i) {
                side.expect(side.arrived + 1);
                side.send(size, side.buffer);
            }
        }
        for (const size_t size : kStreamSizes) {
            side.expect(side.arrived + Side::stream_count(size));
            side.send(8, side.buffer);
        }
        side.expect(side.arrived + 1);  // while the other measures alone
        side.send(8, side.buffer);
    }
}

void ask(Side& side, Shared& shared, int rounds, pid_t other, std::vector<Sample>& samples) {
    uint64_t turn = 0;
    size_t next = 0;
    const auto note = [&](const char* what, size_t size, double value) {
        if (next == samples.size()) samples.push_back({what, size, {}});
        samples[next++].values.push_back(value);
    };
    for (int round = 0; round < rounds; ++round) {
        next = 0;
        double start = now_ns();
        for (int i = 0; i < kPings; ++i) {
            shared.ping.store(++turn, std::memory_order_release);
            while (shared.pong.load(std::memory_order_acquire) != turn) {
            }
        }
        note("raw cache line, round trip", 8, (now_ns() - start) / kPings);
        for (const size_t size : kPingSizes) {
            start = now_ns();
            for (int i = 0; i < kPings; ++i) {
                side.send(size, side.buffer);
                side.expect(side.arrived + 1);
            }
            note("frame, round trip", size, (now_ns() - start) / kPings);
        }
        for (const size_t size : kStreamSizes) {
            start = now_ns();
            side.stream(size);
            side.expect(side.arrived + 1);
            note("stream, per frame", size, (now_ns() - start) / static_cast<double>(Side::stream_count(size)));
        }
        for (const size_t size : {size_t{4096}, size_t{65536}, kBuffer / 2}) {
            const int count = static_cast<int>(kStreamBytes / size / 4);
            start = now_ns();
            for (int i = 0; i < count; ++i) {
                memcpy(side.buffer + kBuffer / 2, side.buffer, size);
                asm volatile("" ::: "memory");
            }
            note("memcpy", size, (now_ns() - start) / count);
            start = now_ns();
            for (int i = 0; i < count; ++i) {
                const iovec here = {side.buffer, size};
                const iovec there = {reinterpret_cast<void*>(shared.source.load()), size};
                if (process_vm_readv(other, &here, 1, &there, 1, 0) < 0) break;
            }
            note("process_vm_readv", size, (now_ns() - start) / count);
        }
        side.send(8, side.buffer);
        side.expect(side.arrived + 1);
    }
}

void report(std::vector<Sample>& samples) {
    double floor = 0;
    for (Sample& sample : samples) {
        std::sort(sample.values.begin(), sample.values.end());
        const double median = sample.values[sample.values.size() / 2];
        if (floor == 0) floor = median;
        printf("%-28s %7zu B  %9.1f ns (min %9.1f)  %6.2f GB/s  %.2f of the floor\n", sample.what, sample.size, median,
               sample.values[0], static_cast<double>(sample.size) / median, median / floor);
    }
}

int run(int rounds) {
    void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto* shared = new (memory) Shared{};
    char first[kShmTextMax] = {}, second[kShmTextMax] = {};
    snprintf(first, sizeof first, "fi_shm://bench.%d.0", getpid());
    snprintf(second, sizeof second, "fi_shm://bench.%d.1", getpid());
    const pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
        settle_on(1);
        Side side;
        open_side(side, second, first);
        answer(side, *shared, rounds);
        _exit(0);
    }
    settle_on(0);
    std::vector<Sample> samples;
    {
        Side side;
        open_side(side, first, second);
        ask(side, *shared, rounds, child, samples);
    }
    waitpid(child, nullptr, 0);
    report(samples);
    return 0;
}

}  // namespace
}  // namespace selvage::impl::test

int main(int argc, char** argv) { return selvage::impl::test::run(argc > 1 ? atoi(argv[1]) : 11); }
