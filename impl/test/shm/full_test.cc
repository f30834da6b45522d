// A /dev/shm without room for another ring.
#include <fcntl.h>
#include <sys/wait.h>

#include "impl/test/own_shm.h"
#include "impl/test/shm/fake_sink.h"

namespace selvage::impl::test {
namespace {

constexpr int kNotPermitted = 77;
constexpr const char* kFiller = "/dev/shm/filler";

void fill() {
    const int file = open(kFiller, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    const std::string page(4096, 'x');
    while (write(file, page.data(), page.size()) > 0) {
    }
    close(file);
}

// `a` has sent to `b`, which has no ring to `a` yet, and cannot get one: `c` has the one that had memory from the
// start. `b` has answered as much as the slot of the question holds.
struct Full {
    Name a_name{"a"}, b_name{"b"}, c_name{"c"};
    ShmTransport a, b, c;
    FakeSink at_a, at_b;
    ShmPeer* to_b = nullptr;
    ShmPeer* to_a = nullptr;
    size_t answers = 0;

    bool set_up() {
        if (a.open_at(a_name.text, {}) || b.open_at(b_name.text, {}) || a.find_peer_at(b_name.text, &to_b))
            return false;
        ShmPeer* from_c = nullptr;
        if (c.open_at(c_name.text, {}) || c.find_peer_at(a_name.text, &from_c)) return false;
        send_text(a, *to_b, "question");
        if (!progress_until(b, at_b, [this] { return !at_b.arrivals.empty(); })) return false;
        to_a = at_b.arrivals[0].peer;
        for (; answers + 1 < shm::kAnswerLines; ++answers) {
            if (send_text(b, *to_a, "answer") != SendResult::Done) return false;
        }
        fill();
        return true;
    }
    int answer_when_there_is_room() {
        if (send_text(b, *to_a, "answer") != SendResult::Again) return 2;
        if (progress_until(
                b, at_b, [this] { return !at_b.downs.empty() || !at_b.rooms.empty(); }, 20))
            return 3;
        unlink(kFiller);
        if (!progress_until(b, at_b, [this] { return !at_b.rooms.empty(); })) return 4;
        if (send_text(b, *to_a, "answer") != SendResult::Done) return 5;
        return progress_until(a, at_a, [this] { return at_a.arrivals.size() > answers; }) ? 0 : 6;
    }
    int tell_both_of_no_space() {
        if (send_text(b, *to_a, "answer") != SendResult::Again) return 2;
        if (!progress_until(b, at_b, [this] { return !at_b.downs.empty(); })) return 3;
        if (at_b.downs[0].second != FI_ENOSPC) return 4;
        if (!progress_until(a, at_a, [this] { return !at_a.downs.empty(); })) return 5;
        return at_a.downs[0].second == FI_ENOSPC ? 0 : 6;
    }
    int send_more_when_there_is_room() {
        size_t sent = 1;
        while (send_text(a, *to_b, "more") == SendResult::Done) ++sent;
        if (sent >= shm::kFirstLines) return 2;
        if (progress_until(
                a, at_a, [this] { return !at_a.downs.empty() || !at_a.rooms.empty(); }, 20))
            return 3;
        unlink(kFiller);
        if (!progress_until(a, at_a, [this] { return !at_a.rooms.empty(); })) return 4;
        if (send_text(a, *to_b, "more") != SendResult::Done) return 5;
        return progress_until(b, at_b, [&] { return at_b.arrivals.size() == sent + 1; }) ? 0 : 6;
    }
    int lose_a_peer_without_room() {
        while (send_text(a, *to_b, "more") == SendResult::Done) continue;
        if (!progress_until(a, at_a, [this] { return !at_a.downs.empty(); })) return 2;
        return at_a.downs[0].second == FI_ENOSPC ? 0 : 3;
    }
    int find_nobody_for_a_while() {
        ShmPeer* peer = nullptr;
        if (b.find_peer_at(b_name.text, &peer) != -FI_EAGAIN) return 2;
        usleep(1100 * 1000);
        if (b.find_peer_at(b_name.text, &peer) != -FI_ENOSPC) return 3;
        unlink(kFiller);
        return b.find_peer_at(b_name.text, &peer) == 0 ? 0 : 4;
    }
};

void run(int (Full::*body)()) {
    const pid_t child = fork();
    if (child == 0) {
        if (!use_own_shm("size=512k")) _exit(kNotPermitted);
        Full full;
        _exit(full.set_up() ? (full.*body)() : 1);  // its files go with the folder
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << status;
    if (WEXITSTATUS(status) == kNotPermitted) GTEST_SKIP() << "nothing may be mounted here";
    EXPECT_EQ(WEXITSTATUS(status), 0) << "the step that failed";
}

TEST(ShmFull, AnAnswerWaitsForRoom) { run(&Full::answer_when_there_is_room); }
TEST(ShmFull, APeerThatCannotBeAnsweredIsToldWhy) { run(&Full::tell_both_of_no_space); }
TEST(ShmFull, TheRestOfARingWaitsForRoom) { run(&Full::send_more_when_there_is_room); }
TEST(ShmFull, APeerWhoseRingGetsNoMemoryIsLostAfterAWhile) { run(&Full::lose_a_peer_without_room); }
TEST(ShmFull, ASenderIsToldWhyAfterAWhile) { run(&Full::find_nobody_for_a_while); }

}  // namespace
}  // namespace selvage::impl::test
