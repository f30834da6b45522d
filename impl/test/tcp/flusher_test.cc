// How often the flusher's thread wakes: not for what the application sees to itself.
#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "impl/test/tcp/fake_sink.h"

namespace selvage::impl::test {
namespace {

// The status of the thread of that name, or nothing.
std::string status_of_flusher() {
    std::string found;
    DIR* tasks = opendir("/proc/self/task");
    while (const dirent* entry = tasks ? readdir(tasks) : nullptr) {
        std::ifstream file(std::string("/proc/self/task/") + entry->d_name + "/status");
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        if (text.find("selvage-flush") != std::string::npos) found = text;
    }
    if (tasks) closedir(tasks);
    return found;
}

// How often it has gone to sleep; -1: there is none.
long sleeps_of_flusher() {
    const std::string text = status_of_flusher(), name = "\nvoluntary_ctxt_switches:";
    const size_t at = text.find(name);
    return at == std::string::npos ? -1 : std::strtol(text.c_str() + at + name.size(), nullptr, 10);
}

// It names itself.
bool flusher_is_there() {
    return run({}, [] { return sleeps_of_flusher() >= 0; });
}

// Calls a side, and counts how often it did not for as long as the flusher needs to see that.
class Calling {
public:
    explicit Calling(Side& side) : side_(side) {}
    void call_for(int64_t milliseconds) {
        const int64_t end = net::now_milliseconds() + milliseconds;
        while (net::now_milliseconds() < end) {
            const int64_t now = net::now_nanoseconds();
            if (now - last_ > tcp::kFlushTick * 900'000) ++pauses_;
            last_ = now;
            side_.progress();
        }
    }
    long pauses() const { return pauses_; }

private:
    Side& side_;
    int64_t last_ = net::now_nanoseconds();
    long pauses_ = 0;
};

TEST(TcpFlusher, CallersDoNotWakeItWhileTheApplicationCalls) {
    Side b;
    Calling calling(b);
    ASSERT_TRUE(flusher_is_there());
    calling.call_for(100);
    const long pauses = calling.pauses();
    const long before = sleeps_of_flusher();
    constexpr int kCallers = 150;
    net::Note hello;
    std::vector<int> callers;
    for (int i = 0; i < kCallers; ++i) {
        hello.port = static_cast<uint16_t>(1 + i);
        hello.instance = static_cast<uint64_t>(1 + i);
        net::mark_keyless(&hello);
        uint8_t bytes[net::kNoteMax];
        const size_t size = net::write_note(hello, bytes);
        callers.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const SocketAddress at = b.transport.address();
        ASSERT_EQ(connect(callers.back(), &at.any, static_cast<socklen_t>(at.length())), 0);
        ASSERT_EQ(::send(callers.back(), bytes, size, MSG_NOSIGNAL), static_cast<ssize_t>(size));
        calling.call_for(2);
    }
    EXPECT_EQ(b.transport.peers_up(), static_cast<size_t>(kCallers));
    // Once every kSetupTick, to see whether it still calls, and not once a caller. Where this thread had no processor,
    // for kFlushIdle ticks.
    EXPECT_LT(sleeps_of_flusher() - before, kCallers / 2 + (calling.pauses() - pauses) * 2 * tcp::kFlushIdle);
    for (const int caller : callers) close(caller);
}

TEST(TcpFlusher, ItSleepsWhenNobodyCalls) {
    Side b;
    b.progress();
    ASSERT_TRUE(flusher_is_there());
    const int64_t end = net::now_milliseconds() + 5000;
    long before = 0, after = -1;
    while (before != after && net::now_milliseconds() < end) {
        before = sleeps_of_flusher();
        usleep(5000 * tcp::kSetupTick);
        after = sleeps_of_flusher();
    }
    EXPECT_EQ(before, after) << "it still looks every now and then";
}

}  // namespace
}  // namespace selvage::impl::test
