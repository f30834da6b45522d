// Blocking calls as programs make them: they end in time whatever else goes on, also where there is nothing to sleep
// on.
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "impl/test/library/pair.h"

namespace selvage::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

int64_t since(steady_clock::time_point start) {
    return std::chrono::duration_cast<milliseconds>(steady_clock::now() - start).count();
}

int64_t thread_milliseconds() {
    timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return used.tv_sec * 1000 + used.tv_nsec / 1'000'000;
}

// In a child, whose limits stay its own: the number of the first step that went wrong.
int wait_without_descriptors() {
    Network network("shm", FI_EP_RDM, kVersion, FI_MSG);
    if (network.result) return 1;
    Pair pair(network);
    const int lowest = dup(0);
    close(lowest);
    rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    const rlimit before = limit;
    // As many as an endpoint takes for its memory, so that it can be enabled, but none to sleep on.
    int enabled = -1;
    for (rlim_t spare = 0; spare < 16 && enabled; ++spare) {
        limit.rlim_cur = static_cast<rlim_t>(lowest) + spare;
        setrlimit(RLIMIT_NOFILE, &limit);
        enabled = fi_enable(pair.a.ep.get());
    }
    if (enabled) return 2;
    alarm(20);  // a reader that never returns
    const auto start = steady_clock::now();
    const int64_t used = thread_milliseconds();
    fi_cq_entry entry;
    if (fi_cq_sread(pair.a.cq.get(), &entry, 1, nullptr, 200) != -FI_EAGAIN) return 3;
    if (since(start) < 200 || since(start) > 2000) return 4;
    if (thread_milliseconds() - used > 100) return 5;
    setrlimit(RLIMIT_NOFILE, &before);
    return 0;
}

TEST(Waiting, AReaderWithoutDescriptorsSleepsAndReturnsInTime) {
#ifdef SELVAGE_SANITIZED
    GTEST_SKIP() << "the sanitizer asks through a pipe whether memory can be read";
#endif
    const pid_t child = fork();
    if (child == 0) _exit(wait_without_descriptors());
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : 0, 0);
}

// A peer writes into this side's memory all the time: progress has something to do at every call, and nothing of it is
// what the reader waits for.
TEST(Waiting, AReaderReturnsInTimeWhileItsPeerWritesMemory) {
    Network network("shm", FI_EP_RDM, kVersion, FI_MSG | FI_RMA);
    ASSERT_EQ(network.result, 0);
    Pair pair(network);
    pair.enable();
    pair.greet();
    char memory[4096];
    Opened<fid_mr> mr;
    ASSERT_EQ(fi_mr_reg(network.domain.get(), memory, sizeof memory, FI_REMOTE_WRITE, 0, 77, 0, mr.out(), nullptr), 0);
    std::atomic<bool> stop{false};
    std::atomic<uint64_t> written{0};
    std::thread writer([&] {
        const char bytes[4096] = {};
        fi_cq_entry entries[64];
        while (!stop) {
            if (!fi_write(pair.b.ep.get(), bytes, sizeof bytes, nullptr, pair.b.peer, 0, fi_mr_key(mr.get()),
                          nullptr)) {
                ++written;
            }
            fi_cq_read(pair.b.cq.get(), entries, 64);
        }
    });
    for (int i = 0; i < 5; ++i) {
        const auto start = steady_clock::now();
        fi_cq_entry entry;
        EXPECT_EQ(fi_cq_sread(pair.a.cq.get(), &entry, 1, nullptr, 50), -FI_EAGAIN);
        EXPECT_GE(since(start), 50);
        EXPECT_LT(since(start), 500);
    }
    stop = true;
    writer.join();
    EXPECT_GT(written, 0u);
}

TEST(Waiting, ASignalBeforeTheReaderWaitsEndsItsWait) {
    Network network("shm");
    Opened<fid_cq> cq;
    fi_cq_attr attr{};
    attr.wait_obj = FI_WAIT_UNSPEC;
    ASSERT_EQ(fi_cq_open(network.domain.get(), &attr, cq.out(), nullptr), 0);
    fi_cq_entry entry;
    ASSERT_EQ(fi_cq_signal(cq.get()), 0);
    auto start = steady_clock::now();
    EXPECT_EQ(fi_cq_sread(cq.get(), &entry, 1, nullptr, 10000), -FI_EAGAIN);
    EXPECT_LT(since(start), 5000);
    start = steady_clock::now();
    EXPECT_EQ(fi_cq_sread(cq.get(), &entry, 1, nullptr, 50), -FI_EAGAIN) << "one wait for one signal";
    EXPECT_GE(since(start), 50);
    // Two threads: one call ends both waits.
    std::atomic<int> out{0};
    std::thread readers[2];
    for (std::thread& reader : readers) {
        reader = std::thread([&] {
            fi_cq_entry mine;
            EXPECT_EQ(fi_cq_sread(cq.get(), &mine, 1, nullptr, -1), -FI_EAGAIN);
            ++out;
        });
    }
    std::this_thread::sleep_for(milliseconds(100));
    EXPECT_EQ(out, 0);
    ASSERT_EQ(fi_cq_signal(cq.get()), 0);
    for (std::thread& reader : readers) reader.join();
}

TEST(Waiting, AQueueWithoutAWaitObjectIsPolledUntilTheTimeIsOver) {
    Network network("shm", FI_EP_RDM, kVersion, FI_MSG);
    Opened<fid_cntr> counter;  // closed after the endpoint that it is bound to
    Pair pair(network, FI_WAIT_NONE);
    fi_cntr_attr counter_attr{};
    counter_attr.wait_obj = FI_WAIT_NONE;
    ASSERT_EQ(fi_cntr_open(network.domain.get(), &counter_attr, counter.out(), nullptr), 0);
    ASSERT_EQ(fi_ep_bind(pair.a.ep.get(), counter.base(), FI_RECV), 0);
    pair.enable();
    fi_cq_entry entry;
    const auto start = steady_clock::now();
    EXPECT_EQ(fi_cq_sread(pair.a.cq.get(), &entry, 1, nullptr, 50), -FI_EAGAIN);
    EXPECT_EQ(fi_cntr_wait(counter.get(), 1, 50), -FI_ETIMEDOUT);
    EXPECT_GE(since(start), 100);
    char byte = 0;
    ASSERT_EQ(fi_recv(pair.a.ep.get(), &byte, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(pair.until_taken([&] { return fi_inject(pair.b.ep.get(), "x", 1, pair.b.peer); }), 0);
    EXPECT_EQ(fi_cntr_wait(counter.get(), 1, 10000), 0);
    EXPECT_EQ(fi_cq_sread(pair.a.cq.get(), &entry, 1, nullptr, 10000), 1);
    EXPECT_EQ(byte, 'x');
}

}  // namespace
}  // namespace selvage::test
