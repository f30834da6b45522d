// First connections that go on elsewhere (take_over.h) while something is missing or goes wrong at this end: memory, a
// thread, an endpoint that closes, a peer that does not stop.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>

#include "impl/test/shm/deny_call.h"
#include "impl/test/tcp/liar.h"

namespace selvage::impl::test {
namespace {

#ifndef SELVAGE_SANITIZED  // whose run-times map memory for themselves
// No more memory than the process has, and less than a peer's copies take.
class NoMemory {
public:
    NoMemory() {
        size_t pages = 0;
        FILE* file = fopen("/proc/self/statm", "r");
        EXPECT_EQ(fscanf(file, "%zu", &pages), 1);
        fclose(file);
        EXPECT_EQ(getrlimit(RLIMIT_AS, &before_), 0);
        rlimit now = before_;
        now.rlim_cur = pages * static_cast<size_t>(getpagesize()) + tcp::KeptBytes::kRoom / 4;
        EXPECT_EQ(setrlimit(RLIMIT_AS, &now), 0);
        while (void* block = malloc(tcp::KeptBytes::kRoom)) taken_ = new (block) Block{taken_};
    }
    ~NoMemory() {
        while (Block* block = taken_) {
            taken_ = block->next;
            free(block);
        }
        (void)setrlimit(RLIMIT_AS, &before_);
    }
    NoMemory(const NoMemory&) = delete;
    NoMemory& operator=(const NoMemory&) = delete;

private:
    struct Block {
        Block* next;
    };
    rlimit before_{};
    Block* taken_ = nullptr;  // what was free: of a process that has run many tests, hundreds of megabytes
};

void progress_for(Victim& victim, int milliseconds) {
    (void)run(
        {&victim}, [] { return false; }, milliseconds);
}

TEST(TcpTakeOver, WithoutMemoryForCopiesNothingIsCounted) {
    Liar liar;
    Raw rail(liar.victim);
    {
        const NoMemory none;
        ASSERT_EQ(rail.call(liar.rail_hello({.rail = 0}), liar.key->key()).type, net::NoteType::Welcome);
        progress_for(liar.victim, 20);
    }
    EXPECT_EQ(liar.first.take_all().size(), 0u);
    progress_for(liar.victim, 20);  // there is some again
    EXPECT_EQ(liar.first.take_all().size(), sizeof(Header));
}
#endif

// Sends of a peer whose stream is kept go by its buffer, which nobody but the application sees to then.
void send_without_a_thread() {
    ASSERT_TRUE(deny_call(SYS_clone3, EAGAIN) && deny_call(SYS_clone, EAGAIN));
    Mover mover;
    mover.first.write(Mover::frame(4), "abcd", 4);
    ASSERT_TRUE(mover.has_frames(1));
    Peer* const peer = mover.victim.sink.frames[0].from;
    for (int i = 0; i < 10; ++i) {
        ASSERT_EQ(send_text(mover.victim.transport, *peer, "efgh"), SendResult::Done) << i;
        ASSERT_EQ(mover.first.take(sizeof(Header) + 4).size(), sizeof(Header) + 4) << i;
    }
}

TEST(TcpTakeOver, WithoutAThreadFramesAreSent) {
    const pid_t child = fork();
    if (!child) {
        send_without_a_thread();
        _exit(testing::Test::HasFailure());
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

// The kernel has all of it by the old connection, and takes less at once by the new one.
TEST(TcpTakeOver, AnEndpointThatClosesSendsAgainWhatIsMissing) {
    Mover mover;
    mover.first.write(Mover::frame(4), "abcd", 4);
    ASSERT_TRUE(mover.has_frames(1));
    Peer* const peer = mover.victim.sink.frames[0].from;
    mover.first.take_little_ahead();
    size_t sent = 0;
    const std::string text(4000, 'x');
    while (sent < (1u << 20)) {
        ASSERT_EQ(send_text(mover.victim.transport, *peer, text), SendResult::Done);
        sent += sizeof(Header) + text.size();
        mover.victim.progress();
    }
    Raw next(mover.victim, 536);
    ASSERT_EQ(mover.call(next).type, net::NoteType::Welcome);
    size_t taken = mover.first.take_all().size();
    next.write(tcp::control_header(tcp::kResumeOp, taken), nullptr, 0);
    taken += next.take(1).size();
    std::thread reader([&] { taken += next.take_to_end().size(); });
    mover.victim.transport.close();
    reader.join();
    EXPECT_EQ(taken, sent);
}

// What comes after the call is not of the connection that is left.
TEST(TcpTakeOver, WhoGoesOnSendingByTheOldConnectionIsNotReadForEver) {
    Mover mover;
    std::string frames;
    for (int i = 0; i < 256; ++i) {
        const Header header = Mover::frame(4000);
        frames.append(reinterpret_cast<const char*>(&header), sizeof header).append(4000, 'x');
    }
    constexpr size_t kFlood = 128u << 20;
    std::thread sender;
    Raw next(mover.victim);
    next.after_proof = [&] {
        mover.first.write(frames.data(), frames.size());
        sender = std::thread([&] {
            for (size_t sent = 0; sent < kFlood && mover.first.try_write(frames); sent += frames.size()) continue;
        });
    };
    EXPECT_EQ(mover.call(next).type, net::NoteType::Welcome);
    EXPECT_LT(mover.said.taken, kFlood / 2);
    while (mover.victim.transport.peers_up() && !mover.victim.sink.frames.empty()) {
        mover.victim.sink.frames.clear();
        mover.victim.progress();
    }
    mover.first.end();
    sender.join();
}

}  // namespace
}  // namespace selvage::impl::test
