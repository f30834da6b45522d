// The first message to a peer over tcp, whose completion is there before a connection is: it arrives, whatever the two
// applications do after that.
//   impl_first
//
// Senders, a process each: one sleeps for longer than a listener waits for the next note of a handshake, one computes
// as long, and two close the endpoint at once and end, one of them without ever asking for a completion. They meet a
// receiver that makes progress, and one that makes none for still longer.
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "impl/test/crowd/process.h"

namespace selvage::impl::test {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kAway{6'500};
constexpr milliseconds kSoon{2'500};  // until a message is there, or an endpoint is closed, on a busy machine
constexpr const char* kManners[] = {"sleep", "compute", "close", "inject"};
constexpr size_t kSenders = std::size(kManners);

StationChoice choice() { return {.provider = "tcp", .caps = FI_MSG | FI_TAGGED, .service = {}}; }

void be_sender(const std::string& manner, const std::string& to, uint64_t id, int begun) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Station station(choice());
    const fi_addr_t peer = station.insert(from_hex(to));
    if (write(begun, "", 1) != 1) give_up("a sender", "cannot say that it has begun");
    if (manner == "inject") {
        SELVAGE_MUST(fi_inject(station.ep, &id, sizeof id, peer));
    } else {
        SELVAGE_MUST(fi_send(station.ep, &id, sizeof id, nullptr, peer, nullptr));
        fi_cq_tagged_entry entry;
        while (fi_cq_read(station.cq, &entry, 1) != 1) continue;
    }
    if (manner == "sleep") std::this_thread::sleep_for(kAway);
    if (manner == "compute") {
        const auto end = Clock::now() + kAway;
        while (Clock::now() < end) continue;
    }
    if (manner == "sleep" || manner == "compute") _exit(0);  // without closing: it was given time
    station.close_endpoint();
    _exit(0);
}

bool ended(pid_t process) {
    int status = 0;
    if (waitpid(process, &status, WNOHANG) == 0) return false;
    if (!WIFEXITED(status) || WEXITSTATUS(status)) give_up("a sender", "failed");
    return true;
}

class Receiver {
public:
    Receiver() {
        for (uint64_t& id : ids_) SELVAGE_MUST(fi_recv(station_.ep, &id, sizeof id, nullptr, FI_ADDR_UNSPEC, &id));
        const std::string name = station_.name();
        int begun[2];
        SELVAGE_MUST(pipe(begun));
        for (size_t i = 0; i < kSenders; ++i) {
            senders_[i] = start_again(
                {kManners[i], to_hex(name.data(), name.size()), std::to_string(i), std::to_string(begun[1])});
        }
        close(begun[1]);
        begun_ = begun[0];
    }

    // To start a process takes what it takes, with a sanitizer's run-time seconds: no limit here is for that.
    void await_senders() const {
        char byte;
        for (size_t i = 0; i < kSenders; ++i) {
            if (read(begun_, &byte, 1) != 1) give_up("a sender", "has not begun");
        }
        close(begun_);
    }

    // All messages, each once, in so much time.
    void expect_all(const char* who, milliseconds limit) {
        bool seen[kSenders] = {};
        const auto end = Clock::now() + limit;
        for (size_t count = 0; count < kSenders;) {
            fi_cq_tagged_entry entry;
            const ssize_t read = fi_cq_read(station_.cq, &entry, 1);
            if (read == 1) {
                const uint64_t id = *static_cast<uint64_t*>(entry.op_context);
                if (id >= kSenders || seen[id]) give_up(who, "a message that nobody sent");
                seen[id] = true;
                ++count;
            } else if (Clock::now() > end) {
                std::string missing;
                for (size_t i = 0; i < kSenders; ++i) missing += seen[i] ? "" : std::string(" ") + kManners[i];
                give_up(who, "no message from the sender that has manner:" + missing);
            }
        }
    }
    // Those that closed at once, though nothing was read here; the call is not made with the library.
    void expect_ended(milliseconds limit) {
        const auto end = Clock::now() + limit;
        for (const size_t i : {size_t{2}, size_t{3}}) {
            while (!ended(senders_[i])) {
                if (Clock::now() > end) give_up("a sender that closes at once", "is still there");
                std::this_thread::sleep_for(milliseconds(5));
            }
            senders_[i] = 0;
        }
    }
    void expect_all_ended() {
        const auto end = Clock::now() + kAway + kSoon;
        for (const pid_t sender : senders_) {
            while (sender && !ended(sender)) {
                if (Clock::now() > end) give_up("a sender", "is still there");
                std::this_thread::sleep_for(milliseconds(20));
            }
        }
    }

private:
    Station station_{choice()};
    uint64_t ids_[kSenders] = {};
    pid_t senders_[kSenders] = {};
    int begun_ = -1;  // of a pipe: a byte from each
};

}  // namespace
}  // namespace selvage::impl::test

int main(int count, char** arguments) {
    using namespace selvage::impl::test;
    if (count == 5) be_sender(arguments[1], arguments[2], std::stoull(arguments[3]), std::stoi(arguments[4]));
    alarm(60);
    // At the same time, as it is the senders that take theirs.
    Receiver absent;
    Receiver present;
    absent.await_senders();
    present.await_senders();
    present.expect_all("a receiver that makes progress", kSoon);
    absent.expect_ended(kSoon);
    std::this_thread::sleep_for(kAway);
    absent.expect_all("a receiver that makes none for long", milliseconds(1'000));
    present.expect_all_ended();
    absent.expect_all_ended();
    return 0;
}
