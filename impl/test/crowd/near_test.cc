// Endpoints of tcp that have their neighbours in memory (transport/near): on the library as programs see it. Which way
// messages went is what the kernel says: there is a connection at the receiver's port, or there is none.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>

#include "impl/test/crowd/station.h"
#include "impl/test/own_shm.h"
#include "impl/transport/near/near_name.h"
#include "impl/transport/shm/region.h"

namespace selvage::impl::test {
namespace {

constexpr int kNotPermitted = 77;
constexpr int kRounds = 20;
constexpr size_t kLongest = size_t{1} << 20;
constexpr size_t kLengths[] = {0, 8, 5000, 20'000, kLongest};

void switch_local(bool on) { setenv("FI_SELVAGE_LOCAL", on ? "1" : "0", 1); }

StationChoice choice() {
    return {.provider = "tcp", .caps = FI_TAGGED | FI_SOURCE | FI_DIRECTED_RECV, .service = {}, .memory = 0};
}

uint16_t port_of(const std::string& name) {
    sockaddr_in address;
    memcpy(&address, name.data(), sizeof address);
    return ntohs(address.sin_port);
}

// Established connections of this network namespace with one end at the port.
int connections_at(uint16_t port) {
    constexpr int kEstablished = 1;
    std::ifstream table("/proc/self/net/tcp");
    std::string line;
    std::getline(table, line);
    int count = 0;
    while (std::getline(table, line)) {
        unsigned index, local, local_port, remote, remote_port, state;
        if (sscanf(line.c_str(), "%u: %x:%x %x:%x %x", &index, &local, &local_port, &remote, &remote_port, &state) != 6)
            continue;
        count += state == kEstablished && (local_port == port || remote_port == port);
    }
    return count;
}

// One message of these bytes, whoever the sender is; returns who.
fi_addr_t receive(
    Station& station, std::string* into, fi_addr_t from, const std::function<void()>& meanwhile = [] {}) {
    into->resize(kLongest);
    SELVAGE_MUST(fi_trecv(station.ep, into->data(), into->size(), nullptr, from, 1, 0, into));
    for (;;) {
        fi_cq_tagged_entry entry;
        fi_addr_t source = FI_ADDR_NOTAVAIL;
        const ssize_t count = fi_cq_readfrom(station.cq, &entry, 1, &source);
        meanwhile();
        if (count == -FI_EAGAIN) continue;
        SELVAGE_MUST(count);
        if (!(entry.flags & FI_RECV)) continue;
        into->resize(entry.len);
        return source;
    }
}

void send(
    Station& station, const std::string& text, fi_addr_t to, const std::function<void()>& meanwhile = [] {}) {
    const auto make_progress = [&] {
        fi_cq_tagged_entry entry;
        meanwhile();
        return fi_cq_read(station.cq, &entry, 1);
    };
    ssize_t result;
    while ((result = fi_tsend(station.ep, text.data(), text.size(), nullptr, to, 1, nullptr)) == -FI_EAGAIN) {
        (void)make_progress();
    }
    SELVAGE_MUST(result);
    while ((result = make_progress()) == -FI_EAGAIN) continue;
    SELVAGE_MUST(result);
}

// A message of that peer waits for a receive.
bool has_come(Station& station, fi_addr_t from) {
    fi_msg_tagged message{};
    message.addr = from;
    message.tag = 1;
    SELVAGE_MUST(fi_trecvmsg(station.ep, &message, FI_PEEK | FI_COMPLETION));
    for (;;) {
        fi_cq_tagged_entry entry;
        const ssize_t count = fi_cq_read(station.cq, &entry, 1);
        if (count == 1) return true;
        if (count != -FI_EAVAIL) continue;
        fi_cq_err_entry error{};
        if (fi_cq_readerr(station.cq, &error, 0) == 1) return false;
    }
}

std::string bytes_of(size_t length, int round) {
    std::string text(length, '\0');
    for (size_t i = 0; i < length; ++i) text[i] = static_cast<char>('a' + (i * 7 + static_cast<size_t>(round)) % 26);
    return text;
}

// A process with an endpoint that sends back what it gets, until its input ends.
class Echo {
public:
    // `prepare` runs in the child; it gives up unless that returns true.
    explicit Echo(
        const Station& peer, const std::function<bool()>& prepare = [] { return true; }) {
        int there[2], back[2];
        if (pipe(there) || pipe(back)) give_up("pipe", "no descriptors");
        const std::string to = peer.name();
        child_ = fork();
        if (child_ == 0) {
            close(there[1]);
            close(back[0]);
            if (!prepare()) _exit(kNotPermitted);
            _exit(serve(there[0], back[1], to));
        }
        close(there[0]);
        close(back[1]);
        in_ = there[1];
        char bytes[sizeof(sockaddr_in)];
        if (read(back[0], bytes, sizeof bytes) == static_cast<ssize_t>(sizeof bytes)) name.assign(bytes, sizeof bytes);
        close(back[0]);
    }
    ~Echo() {
        if (child_ >= 0) end();
    }
    int end() {
        close(in_);
        int status = 0;
        waitpid(child_, &status, 0);
        child_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    void kill_it() const { kill(child_, SIGKILL); }
    // The child sends one message of its own accord.
    void poke() const { EXPECT_EQ(write(in_, "p", 1), 1); }

    std::string name;  // empty: not permitted

private:
    struct Ended {};

    static int serve(int in, int out, const std::string& to) {
        Station station(choice());
        const std::string own = station.name();
        const fi_addr_t peer = station.insert(to);
        if (write(out, own.data(), own.size()) != static_cast<ssize_t>(own.size())) return 1;
        std::string text;
        const int flags = fcntl(in, F_GETFL);
        fcntl(in, F_SETFL, flags | O_NONBLOCK);
        char byte;
        const auto look = [&] {
            const ssize_t got = read(in, &byte, 1);
            if (got == 0) throw Ended{};
            if (got == 1) send(station, "poked", peer);
        };
        try {
            for (;;) {
                receive(station, &text, FI_ADDR_UNSPEC, look);
                send(station, text, peer, look);
            }
        } catch (const Ended&) {
            return 0;  // and the endpoint is closed
        }
    }

    pid_t child_ = -1;
    int in_ = -1;
};

void talk(Station& station, fi_addr_t to) {
    for (int round = 0; round < kRounds; ++round) {
        for (const size_t length : kLengths) {
            const std::string sent = bytes_of(length, round);
            std::string got;
            send(station, sent, to);
            EXPECT_EQ(receive(station, &got, FI_ADDR_UNSPEC), to);
            ASSERT_EQ(got, sent);
        }
    }
}

class Near : public testing::Test {
protected:
    void SetUp() override { switch_local(true); }
    void TearDown() override { switch_local(true); }
};

TEST_F(Near, ANeighbourIsReachedWithoutAConnection) {
    Station station(choice());
    const Echo echo(station);
    talk(station, station.insert(echo.name));
    EXPECT_EQ(connections_at(port_of(station.name())), 0);
    EXPECT_EQ(connections_at(port_of(echo.name)), 0);
}

TEST_F(Near, AnEndpointReachesItselfWithoutAConnection) {
    Station station(choice());
    const fi_addr_t self = station.insert(station.name());
    const std::string sent = bytes_of(100, 1);
    std::string got(sent.size(), '\0');
    SELVAGE_MUST(fi_trecv(station.ep, got.data(), got.size(), nullptr, self, 1, 0, nullptr));
    send(station, sent, self);
    fi_cq_tagged_entry entry;
    while (got != sent) (void)fi_cq_read(station.cq, &entry, 1);
    EXPECT_EQ(connections_at(port_of(station.name())), 0);
}

TEST_F(Near, WithoutMemoryInCommonThereIsAConnection) {
    Station station(choice());
    const Echo echo(station, [] { return use_own_shm(nullptr); });
    if (echo.name.empty()) GTEST_SKIP() << "no new namespaces here";
    talk(station, station.insert(echo.name));
    EXPECT_GT(connections_at(port_of(station.name())) + connections_at(port_of(echo.name)), 0);
}

TEST_F(Near, WhereItIsSwitchedOffAtOneEndThereIsAConnection) {
    for (const bool here : {true, false}) {
        switch_local(here);
        Station station(choice());
        const Echo echo(station, [&] {
            switch_local(!here);
            return true;
        });
        talk(station, station.insert(echo.name));
        EXPECT_GT(connections_at(port_of(station.name())) + connections_at(port_of(echo.name)), 0);
    }
}

// By an option of this endpoint alone (fi_endpoint(3) of 2.x).
TEST_F(Near, WhereAnEndpointMayNotShareMemoryThereIsAConnection) {
    StationChoice apart = choice();
    apart.shares_memory = false;
    Station station(apart);
    const Echo echo(station);
    talk(station, station.insert(echo.name));
    EXPECT_GT(connections_at(port_of(station.name())) + connections_at(port_of(echo.name)), 0);
}

TEST_F(Near, ARegionWithoutTheKeyIsNotTakenForThePeer) {
    Station station(choice());
    switch_local(false);
    const Echo echo(station);  // has no region
    switch_local(true);
    near::Namespace space;
    ASSERT_TRUE(near::Namespace::current(&space));
    SocketAddress address = SocketAddress::wildcard(AddressKind::Inet, port_of(echo.name));
    address.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    shm::Identity identity;
    ASSERT_TRUE(near::write_name(space, address, identity.text));
    const uint8_t wrong[] = {1, 2, 3};
    identity.key = wrong;
    shm::OwnRegion region;
    ASSERT_EQ(region.create(&identity, false), 0);
    talk(station, station.insert(echo.name));
    region.remove();
    EXPECT_GT(connections_at(port_of(station.name())) + connections_at(port_of(echo.name)), 0);
}

// Room for one ring, where the two of a pair are needed.
TEST_F(Near, WithoutRoomForTheAnswersThereIsAConnection) {
    const pid_t child = fork();
    if (child == 0) {
        if (!use_own_shm("size=100k")) _exit(kNotPermitted);
        Station station(choice());
        const Echo echo(station);
        talk(station, station.insert(echo.name));
        EXPECT_GT(connections_at(port_of(station.name())) + connections_at(port_of(echo.name)), 0);
        _exit(HasFailure());
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == kNotPermitted) GTEST_SKIP() << "no new namespaces here";
    EXPECT_EQ(status, 0);
}

// As programs do that were written over sockets, which take what nobody has received. Through the rings, read by the
// kernel, and in both orders of these two.
TEST_F(Near, BothEndsMaySendLongMessagesBeforeTheyReceive) {
    constexpr std::chrono::seconds kLimit{10};
    constexpr size_t kSizes[] = {40'000, 100'000, 40'000, 200'000};
    Station a(choice()), b(choice());
    const fi_addr_t to_b = a.insert(b.name()), to_a = b.insert(a.name());
    for (int round = 0; round < 3 * kRounds; ++round) {
        const std::string sent = bytes_of(kSizes[round % 4], round), back = bytes_of(kSizes[(round + 1) % 4], round);
        SELVAGE_MUST(fi_tsend(a.ep, sent.data(), sent.size(), nullptr, to_b, 1, nullptr));
        SELVAGE_MUST(fi_tsend(b.ep, back.data(), back.size(), nullptr, to_a, 1, nullptr));
        int left = 2;
        for (const auto start = std::chrono::steady_clock::now(); left;) {
            fi_cq_tagged_entry entry;
            left -= fi_cq_read(a.cq, &entry, 1) == 1;
            left -= fi_cq_read(b.cq, &entry, 1) == 1;
            ASSERT_LT(std::chrono::steady_clock::now() - start, kLimit) << "round " << round;
        }
        std::string at_a, at_b;
        receive(a, &at_a, to_b);
        receive(b, &at_b, to_a);
        ASSERT_EQ(at_a, back);
        ASSERT_EQ(at_b, sent);
    }
    EXPECT_EQ(connections_at(port_of(a.name())), 0);
}

TEST_F(Near, AWildcardTakesNearAndFarInTheOrderOfArrival) {
    Station station(choice());
    const Echo close_by(station);
    const Echo far_away(station, [] { return use_own_shm(nullptr); });
    if (far_away.name.empty()) GTEST_SKIP() << "no new namespaces here";
    const fi_addr_t near_peer = station.insert(close_by.name);
    const fi_addr_t far_peer = station.insert(far_away.name);
    std::string text;
    for (int round = 0; round < kRounds; ++round) {
        const bool near_first = round % 3 != 0;
        for (const bool is_near : {near_first, !near_first}) {
            (is_near ? close_by : far_away).poke();
            EXPECT_EQ(receive(station, &text, FI_ADDR_UNSPEC), is_near ? near_peer : far_peer);
            EXPECT_EQ(text, "poked");
        }
        // And when both have come before the receives.
        for (const bool is_near : {near_first, !near_first}) {
            (is_near ? close_by : far_away).poke();
            while (!has_come(station, is_near ? near_peer : far_peer)) continue;
        }
        for (const bool is_near : {near_first, !near_first}) {
            EXPECT_EQ(receive(station, &text, FI_ADDR_UNSPEC), is_near ? near_peer : far_peer);
        }
    }
    // Directed receives tell them apart, also where the other one was first.
    close_by.poke();
    far_away.poke();
    EXPECT_EQ(receive(station, &text, far_peer), far_peer);
    EXPECT_EQ(receive(station, &text, near_peer), near_peer);
}

TEST_F(Near, ASleeperIsWokenByNearAndFar) {
    constexpr int kForever = 20'000;  // milliseconds
    // A sleeper looks every 100 ms whether its neighbours live: that must not be what it sees the message by.
    constexpr std::chrono::milliseconds kSoon{50};
    auto quickest = std::chrono::steady_clock::duration::max();  // from a far one
    Station station(choice());
    const Echo close_by(station);
    const Echo far_away(station, [] { return use_own_shm(nullptr); });
    if (far_away.name.empty()) GTEST_SKIP() << "no new namespaces here";
    for (int round = 0; round < kRounds; ++round) {
        const bool is_near = round % 3 != 0;
        char text[8];
        SELVAGE_MUST(fi_trecv(station.ep, text, sizeof text, nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr));
        fi_cq_tagged_entry entry;
        EXPECT_EQ(fi_cq_sread(station.cq, &entry, 1, nullptr, 1), -FI_EAGAIN);  // it has slept
        const auto start = std::chrono::steady_clock::now();
        (is_near ? close_by : far_away).poke();
        EXPECT_EQ(fi_cq_sread(station.cq, &entry, 1, nullptr, kForever), 1);
        if (!is_near) quickest = std::min(quickest, std::chrono::steady_clock::now() - start);
    }
    EXPECT_LT(quickest, kSoon);
}

TEST_F(Near, ANeighbourThatIsKilledIsReportedAndAnotherTakesItsPlace) {
    Station station(choice());
    fi_addr_t to;
    uint16_t port;
    {
        const Echo echo(station);
        port = port_of(echo.name);
        to = station.insert(echo.name);
        talk(station, to);
        echo.kill_it();
    }
    std::string text(kLongest, 'x');
    ssize_t result = 0;
    fi_cq_tagged_entry entry;
    int errors = 0;
    for (const auto end = time(nullptr) + 10; time(nullptr) < end && !errors;) {
        result = fi_tsend(station.ep, text.data(), text.size(), nullptr, to, 1, nullptr);
        while (fi_cq_read(station.cq, &entry, 1) == -FI_EAVAIL) {
            fi_cq_err_entry error{};
            errors += fi_cq_readerr(station.cq, &error, 0) == 1;
        }
        if (result && result != -FI_EAGAIN) ++errors;
    }
    EXPECT_GT(errors, 0);
    EXPECT_EQ(connections_at(port), 0);
    const Echo echo(station);
    talk(station, station.insert(echo.name));
    EXPECT_EQ(connections_at(port_of(echo.name)), 0);
}

}  // namespace
}  // namespace selvage::impl::test
