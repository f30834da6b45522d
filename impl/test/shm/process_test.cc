// shm transports in several processes: floods, kills, forks, and peers that write garbage.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "impl/test/own_shm.h"
#include "impl/test/shm/fake_sink.h"

namespace selvage::impl::test {
namespace {

// A child that runs a function and exits with its result. It does not outlive a test that fails before it has waited:
// who runs the test waits for all that have its output.
struct Child {
    pid_t id;
    explicit Child(const std::function<int()>& body) : id(fork()) {
        if (id == 0) _exit(body());
    }
    Child(Child&& other) noexcept : id(std::exchange(other.id, -1)) {}
    Child& operator=(Child&&) = delete;
    ~Child() {
        if (id < 0) return;
        kill();
        wait();
    }
    int wait() {
        int status = 0;
        waitpid(std::exchange(id, -1), &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    void kill() const { ::kill(id, SIGKILL); }
};

Header tagged(uint64_t tag, size_t size) {
    Header header{};
    header.size = static_cast<uint32_t>(size);
    header.word[0] = tag;
    return header;
}

// The library gives up after a second; a test on a busy machine starts dozens of processes, and waits for the last.
int find_patiently(ShmTransport& from, const Name& to, ShmPeer** peer) {
    const auto start = std::chrono::steady_clock::now();
    for (;;) {
        const int error = from.find_peer_at(to.text, peer);
        if (error != -FI_EAGAIN && error != -FI_EHOSTUNREACH) return error;
        if (std::chrono::steady_clock::now() - start > std::chrono::seconds(60)) return error;
        usleep(100);
    }
}

// Sends frames for ever, whatever happens.
[[noreturn]] void flood(const Name& own, const Name& to) {
    ShmTransport transport;
    FakeSink sink;
    ShmPeer* peer = nullptr;
    if (transport.open_at(own.text, {}) || find_patiently(transport, to, &peer)) _exit(1);
    const std::string payload = pattern(ShmTransport::kFrameMax, 1);
    for (uint64_t tag = 0;; ++tag) {
        const Header header = tagged(tag, tag % 5 ? tag % 100 : tag % ShmTransport::kFrameMax);
        const iovec part = {const_cast<char*>(payload.data()), header.size};
        while (transport.send(*peer, {header, &part, 1, nullptr, false}) == SendResult::Again) {
            if (transport.progress(sink) == 0) sched_yield();
        }
    }
}

TEST(ShmProcesses, ASenderKilledAtAnyMomentLeavesAnIntactStream) {
    Name own("survivor");
    ShmTransport transport;
    ASSERT_EQ(transport.open_at(own.text, {}), 0);
    for (int round = 0; round < 100; ++round) {
        Name other("victim");
        Child child([&] {
            flood(other, own);
            return 1;
        });
        FakeSink sink;
        uint64_t next = 0;
        const std::string expected = pattern(ShmTransport::kFrameMax, 1);
        bool intact = true;
        sink.on_deliver = [&](ShmPeer&, const Header& header, const std::byte* payload) {
            intact = intact && header.word[0] == next++ && memcmp(payload, expected.data(), header.size) == 0;
        };
        ASSERT_TRUE(progress_until(transport, sink, [&] { return next > static_cast<uint64_t>(round * 97); }));
        child.kill();
        ASSERT_TRUE(progress_until(transport, sink, [&] { return !sink.downs.empty(); })) << round;
        child.wait();
        EXPECT_TRUE(intact);
        EXPECT_EQ(sink.downs.size(), 1u);
        // At once, unless somebody else looks whether its owner is dead at this very moment.
        EXPECT_TRUE(progress_until(transport, sink, [&] { return !file_exists(other); }))
            << "the region of a dead process stays behind";
    }
    FakeSink sink;
    EXPECT_TRUE(progress_until(transport, sink, [&] {
        struct stat status {};
        return stat(file_of(own).c_str(), &status) == 0 && status.st_blocks * 512 <= 8192 + 4096;
    })) << "slots of dead peers are given back";
}

// A process that starts looks for regions of dead owners. While it holds one to look at, nobody else removes it, and
// what it has seen may be older than the owner's death.
TEST(ShmProcesses, ARegionThatSomebodyElseLooksAtIsRemovedAfterwards) {
    Name own("survivor"), other("victim");
    ShmTransport transport;
    ASSERT_EQ(transport.open_at(own.text, {}), 0);
    Child child([&] {
        flood(other, own);
        return 1;
    });
    FakeSink sink;
    sink.on_deliver = [](ShmPeer&, const Header&, const std::byte*) {};
    ASSERT_TRUE(progress_until(transport, sink, [&] { return file_exists(other); }));
    const int file = open(file_of(other).c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(file, 0);
    struct flock range {};
    range.l_type = F_WRLCK;
    range.l_whence = SEEK_SET;
    range.l_start = shm::kSweepLock;
    range.l_len = 1;
    ASSERT_EQ(fcntl(file, F_OFD_SETLK, &range), 0);
    usleep(100'000);
    FakeSink second;
    second.on_deliver = sink.on_deliver;
    child.kill();
    ASSERT_TRUE(progress_until(transport, second, [&] { return !second.downs.empty(); }));
    child.wait();
    EXPECT_TRUE(file_exists(other));
    close(file);
    EXPECT_TRUE(progress_until(transport, second, [&] { return !file_exists(other); }));
}

TEST(ShmProcesses, ASenderSeesThatTheReceiverWasKilled) {
    for (int round = 0; round < 30; ++round) {
        Name own("survivor"), other("victim");
        Child child([&] {
            ShmTransport transport;
            FakeSink sink;
            sink.on_deliver = [](ShmPeer&, const Header&, const std::byte*) {};
            if (transport.open_at(other.text, {})) return 1;
            for (;;) transport.progress(sink);
        });
        ShmTransport transport;
        FakeSink sink;
        ASSERT_EQ(transport.open_at(own.text, {}), 0);
        ShmPeer* peer = nullptr;
        ASSERT_EQ(find_patiently(transport, other, &peer), 0);
        uint64_t sent = 0;
        SendResult result = SendResult::Done;
        while (result != SendResult::Down) {
            if (sent == static_cast<uint64_t>(round) * 500) child.kill();
            result = send_text(transport, *peer, "some text that nobody will read");
            sent += result == SendResult::Done;
            if (result == SendResult::Again || sent % 16 == 0) transport.progress(sink);
        }
        ASSERT_TRUE(progress_until(transport, sink, [&] { return !sink.downs.empty(); }));
        EXPECT_EQ(sink.downs[0].second, FI_ECONNRESET);
        child.wait();
        EXPECT_TRUE(progress_until(transport, sink, [&] { return !file_exists(other); }))
            << "later, where a sweeper was looking";
    }
}

// The number of the first failed step, or 0.
int exchange_with_all(const std::vector<Name>& names, size_t self, uint64_t rounds, std::atomic<uint32_t>* finished) {
    ShmTransport transport;
    FakeSink sink;
    if (transport.open_at(names[self].text, {})) return 1;
    std::vector<ShmPeer*> peers(names.size());
    for (size_t i = 0; i < names.size(); ++i) {
        if (find_patiently(transport, names[i], &peers[i])) return 2;
    }
    uint64_t received = 0, wrong = 0;
    std::vector<uint64_t> next(names.size());
    sink.on_deliver = [&](ShmPeer&, const Header& header, const std::byte*) {
        ++received;
        if (header.word[1] >= next.size() || next[header.word[1]]++ != header.word[0]) ++wrong;
    };
    for (uint64_t round = 0; round < rounds; ++round) {
        for (ShmPeer* peer : peers) {
            Header header = tagged(round, 100);
            header.word[1] = self;
            char payload[100] = {};
            const iovec part = {payload, sizeof payload};
            while (transport.send(*peer, {header, &part, 1, nullptr, false}) == SendResult::Again) {
                if (transport.progress(sink) == 0) sched_yield();
            }
        }
    }
    while (received < rounds * names.size()) {
        if (transport.progress(sink) == 0) sched_yield();
    }
    // Nobody leaves before all have what they were sent.
    finished->fetch_add(1);
    while (finished->load() < names.size()) {
        if (transport.progress(sink) == 0) sched_yield();
    }
    return wrong ? 3 : 0;
}

TEST(ShmProcesses, SixtyFourProcessesAllToAllFinishAndCleanUp) {
    constexpr size_t kProcesses = 64;
    void* shared = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    auto* finished = static_cast<std::atomic<uint32_t>*>(shared);
    std::vector<Name> names;
    for (size_t i = 0; i < kProcesses; ++i) names.emplace_back("all");
    std::vector<Child> children;
    for (size_t i = 0; i < kProcesses; ++i) {
        children.emplace_back(std::function<int()>([&, i] { return exchange_with_all(names, i, 20, finished); }));
    }
    for (Child& child : children) EXPECT_EQ(child.wait(), 0);
    for (const Name& name : names) EXPECT_FALSE(file_exists(name));
    munmap(shared, 4096);
}

// A sweeper holds for a moment what only a living owner holds else.
TEST(ShmProcesses, WhoLooksForWhatTheDeadHaveLeftIsNotTakenForAnOwner) {
    std::atomic<bool> done{false};
    std::vector<std::thread> sweepers;
    for (int i = 0; i < 3; ++i) {
        sweepers.emplace_back([&] {
            while (!done) shm::sweep_stale_regions();
        });
    }
    const Name name("swept");
    int wrong = 0;
    for (int i = 0; i < 3000; ++i) {
        ShmTransport transport;
        wrong += transport.open_at(name.text, {}) != 0;
    }
    done = true;
    for (std::thread& sweeper : sweepers) sweeper.join();
    EXPECT_EQ(wrong, 0);
}

TEST(ShmProcesses, AChildOfForkDoesNotKeepADeadParentAlive) {
    Name own("survivor"), other("parent");
    int done[2];
    ASSERT_EQ(pipe(done), 0);
    ShmTransport transport;
    FakeSink sink;
    ASSERT_EQ(transport.open_at(own.text, {}), 0);
    Child parent([&] {
        ShmTransport mine;
        FakeSink none;
        ShmPeer* peer = nullptr;
        if (mine.open_at(other.text, {}) || find_patiently(mine, own, &peer)) return 1;
        if (fork() == 0) {
            mine.close();  // must not take the parent's region away
            close(done[1]);
            char byte;
            _exit(static_cast<int>(read(done[0], &byte, 1)));
        }
        close(done[1]);
        usleep(100 * 1000);
        send_text(mine, *peer, access(file_of(other).c_str(), F_OK) == 0 ? "here" : "gone");
        for (;;) mine.progress(none);
    });
    ASSERT_TRUE(progress_until(transport, sink, [&] { return !sink.arrivals.empty(); }));
    EXPECT_EQ(sink.arrivals[0].payload, "here");
    EXPECT_TRUE(sink.downs.empty());
    parent.kill();
    parent.wait();
    EXPECT_TRUE(progress_until(transport, sink, [&] { return !sink.downs.empty(); }));
    close(done[1]);  // the child lives till now
    close(done[0]);
}

// What the dead leave may be removed by any process that opens an endpoint: here by none of another test, where that
// can be had.
TEST(ShmProcesses, ARegionOfADeadProcessIsTakenOver) {
    use_own_shm(nullptr);
    Name name("reused");
    Child child([&] {
        ShmTransport transport;
        if (transport.open_at(name.text, {})) return 1;
        raise(SIGKILL);
        return 0;
    });
    child.wait();
    EXPECT_TRUE(file_exists(name));
    ShmTransport transport;
    EXPECT_EQ(transport.open_at(name.text, {}), 0);
}

TEST(ShmProcesses, RegionsOfDeadProcessesAreSweptAway) {
    use_own_shm(nullptr);
    Name dead("dead"), alive("alive");
    ShmTransport living;
    ASSERT_EQ(living.open_at(alive.text, {}), 0);
    Child child([&] {
        ShmTransport transport;
        if (transport.open_at(dead.text, {})) return 1;
        raise(SIGKILL);
        return 0;
    });
    child.wait();
    shm::sweep_stale_regions();
    EXPECT_FALSE(file_exists(dead));
    EXPECT_TRUE(file_exists(alive));
}

// A sender that scribbles over everything it can reach in the receiver's region.
void scribble(const Name& own, const Name& to, unsigned seed) {
    ShmTransport transport;
    ShmPeer* peer = nullptr;
    if (transport.open_at(own.text, {}) || find_patiently(transport, to, &peer)) _exit(1);
    uint64_t random = seed * 0x9e3779b97f4a7c15ULL + 1;
    for (int i = 0; i < 20000; ++i) {
        random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        const size_t line = (random >> 20) % shm::kRingLines;
        auto* words = reinterpret_cast<uint64_t*>(peer->out.lines + line * shm::kLine);
        words[(random >> 40) % 8] = random;
        if (i % 64 == 0) peer->out.slot().consumed.store(random);
        if (i % 256 == 0)
            peer->out.region->state[(random >> 50) % shm::kSlots].store(static_cast<uint32_t>(random >> 60));
        if (i % 128 == 0) peer->out.region->attention.fetch_or(random);
        if (i % 512 == 0) peer->out.region->slots_used.store(static_cast<uint32_t>(random));
    }
}

TEST(ShmProcesses, GarbageInTheRegionHarmsNoOther) {
    Name own("target"), good_name("good");
    ShmTransport transport;
    FakeSink sink;
    ASSERT_EQ(transport.open_at(own.text, {}), 0);
    uint64_t good_frames = 0, sum = 0;
    sink.on_deliver = [&](ShmPeer& peer, const Header& header, const std::byte* payload) {
        ASSERT_LE(header.size, ShmTransport::kFrameMax);
        for (size_t i = 0; i < header.size; ++i) sum += std::to_integer<uint64_t>(payload[i]);
        if (strcmp(peer.text, good_name.text) == 0) ++good_frames;
    };
    ShmTransport good;
    FakeSink at_good;
    ShmPeer* to_target = nullptr;
    ASSERT_EQ(good.open_at(good_name.text, {}), 0);
    ASSERT_EQ(good.find_peer_at(own.text, &to_target), 0);
    uint64_t sent = 0;
    for (unsigned round = 0; round < 20; ++round) {
        Name bad("bad");
        Child child([&] {
            scribble(bad, own, round);
            return 0;
        });
        for (int i = 0; i < 300; ++i) {
            sent += send_text(good, *to_target, "good") == SendResult::Done;
            transport.progress(sink);
        }
        EXPECT_EQ(child.wait(), 0);
        ASSERT_TRUE(progress_until(transport, sink, [&] { return good_frames == sent; }));
    }
}

}  // namespace
}  // namespace selvage::impl::test
