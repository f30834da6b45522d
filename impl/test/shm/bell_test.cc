// Who can ring the bell of an endpoint, and what is left of it (impl/transport/shm/bell.h, socket_file.h).
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <fstream>

#include "impl/test/shm/fake_sink.h"

namespace selvage::impl::test {
namespace {

constexpr uid_t kNobody = 65534;

std::string hex_of(const uint8_t (&id)[shm::kIdBytes]) {
    std::string text;
    char digits[3];
    for (const uint8_t byte : id) {
        snprintf(digits, sizeof digits, "%02x", byte);
        text += digits;
    }
    return text;
}

// Every socket of the machine with that id in its name, as bind() takes it.
std::vector<std::string> sockets_of(const std::string& id) {
    std::vector<std::string> names;
    std::ifstream table("/proc/net/unix");
    for (std::string line; std::getline(table, line);) {
        const size_t at = line.find_first_of("@/");
        if (line.find(id) == std::string::npos || at == std::string::npos) continue;
        names.push_back(line.substr(at));
        if (names.back()[0] == '@') names.back()[0] = '\0';
    }
    return names;
}

// 0 or an errno.
int send_to(int socket, const std::string& name) {
    sockaddr_un to{};
    to.sun_family = AF_UNIX;
    memcpy(to.sun_path, name.data(), name.size());
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    return sendto(socket, "x", 1, MSG_DONTWAIT, reinterpret_cast<sockaddr*>(&to), length) < 0 ? errno : 0;
}

struct ShmBell : testing::Test {
    Name owner_name{"owner"}, sender_name{"sender"};
    ShmTransport owner, sender;
    FakeSink sink;
    ShmPeer* to_owner = nullptr;
    std::string id;

    void SetUp() override {
        ASSERT_EQ(owner.open_at(owner_name.text, {}), 0);
        ASSERT_EQ(sender.open_at(sender_name.text, {}), 0);
        ASSERT_EQ(sender.find_peer_at(owner_name.text, &to_owner), 0);
        id = hex_of(to_owner->instance);
        send_text(sender, *to_owner, "hello");
        ASSERT_TRUE(progress_until(owner, sink, [&] { return !sink.arrivals.empty(); }));
    }
    bool readable(int milliseconds) {
        pollfd entry = {owner.wait_descriptor(), POLLIN, 0};
        return poll(&entry, 1, milliseconds) == 1;
    }
    // Not 0 while nobody has rung: the processor may come back later than the owner's timer.
    uint32_t armed() const { return to_owner->out.region->armed.load(); }
    std::string file() const { return "/dev/shm/selvage-bell-" + std::to_string(geteuid()) + "-" + id; }
};

// The number of sockets that took something; -1: this process cannot be another user.
int ring_as_nobody(const std::string& id) {
    if (setresgid(kNobody, kNobody, kNobody) || setresuid(kNobody, kNobody, kNobody)) return -1;
    const int socket = ::socket(AF_UNIX, SOCK_DGRAM, 0);
    int taken = 0;
    for (const std::string& name : sockets_of(id)) {
        const int error = send_to(socket, name);
        taken += error != EACCES && error != ECONNREFUSED;
    }
    return taken;
}

TEST_F(ShmBell, AnotherUserCannotWakeASleeper) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    const mode_t before = umask(0);
    ASSERT_TRUE(owner.arm());
    umask(before);
    ASSERT_FALSE(sockets_of(id).empty());
    const pid_t child = fork();
    if (child == 0) _exit(ring_as_nobody(id) == 0 ? 0 : 1);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << "a socket of the endpoint took what another user sent";
    send_text(sender, *to_owner, "but a peer can");
    EXPECT_EQ(armed(), 0u);
    EXPECT_TRUE(readable(0));
}

// Containers that share /dev/shm have networks of their own.
TEST_F(ShmBell, ASleeperIsWokenFromAnotherNetwork) {
    Name far("far");
    ASSERT_TRUE(owner.arm());
    const pid_t child = fork();
    if (child == 0) {
        if (unshare(CLONE_NEWNET)) _exit(77);
        ShmTransport transport;
        ShmPeer* peer = nullptr;
        if (transport.open_at(far.text, {}) || transport.find_peer_at(owner_name.text, &peer)) _exit(1);
        send_text(transport, *peer, "wake up");
        const bool rung = peer->out.region->armed.load() == 0;
        transport.close();
        _exit(rung ? 0 : 2);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "no new namespaces here";
    EXPECT_EQ(status, 0);
}

constexpr int kRings = 100;

// The number of datagrams that one silence() leaves of kRings, or kNotPermitted.
constexpr int kNotPermitted = 255;
int left_by_silence() {
    // A network of its own, as the length of its queues can be set.
    std::ofstream queue;
    if (unshare(CLONE_NEWNET) == 0) queue.open("/proc/sys/net/unix/max_dgram_qlen");
    if (!(queue << kRings << std::flush)) return kNotPermitted;
    const uint8_t id[shm::kIdBytes] = {0xbe, 0x11, static_cast<uint8_t>(getpid())};
    shm::Bell bell;
    if (bell.open(id)) return kNotPermitted;
    const std::vector<std::string> names = sockets_of(hex_of(id));
    const int socket = ::socket(AF_UNIX, SOCK_DGRAM, 0);
    for (int i = 0; i < kRings; ++i) {
        if (names.size() != 1 || send_to(socket, names[0])) return kNotPermitted;
    }
    bell.silence();
    int left = 0;
    for (char byte; recv(bell.socket(), &byte, 1, MSG_DONTWAIT) >= 0;) ++left;
    bell.close();
    return left;
}

// Else whoever rings as fast as it is silenced keeps the owner in that one call.
TEST(ShmBellFlood, OneCallTakesABoundedNumberOfRings) {
    const pid_t child = fork();
    if (child == 0) _exit(left_by_silence());
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == kNotPermitted) GTEST_SKIP() << "no new namespaces here";
    EXPECT_GE(WEXITSTATUS(status), kRings / 2);
}

TEST_F(ShmBell, ItsFileIsOfItsUserAloneAndGoesWithTheEndpoint) {
    EXPECT_NE(access(file().c_str(), F_OK), 0) << "made when it is needed";
    ASSERT_TRUE(owner.arm());
    struct stat status {};
    ASSERT_EQ(stat(file().c_str(), &status), 0);
    EXPECT_TRUE(S_ISSOCK(status.st_mode));
    EXPECT_EQ(status.st_mode & 0777, 0600u);
    owner.close();
    EXPECT_NE(access(file().c_str(), F_OK), 0);
}

TEST_F(ShmBell, AChildOfForkLeavesTheFileWhereItIs) {
    ASSERT_TRUE(owner.arm());
    const pid_t child = fork();
    if (child == 0) {
        owner.close();
        _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(access(file().c_str(), F_OK), 0);
    send_text(sender, *to_owner, "wake up");
    EXPECT_EQ(armed(), 0u);
    EXPECT_TRUE(readable(0));
}

// The id that the region of a name holds.
std::string id_in(const Name& name) {
    uint8_t id[shm::kIdBytes] = {};
    std::ifstream region(file_of(name), std::ios::binary);
    region.seekg(offsetof(shm::RegionHeader, instance)).read(reinterpret_cast<char*>(id), sizeof id);
    return hex_of(id);
}

TEST_F(ShmBell, TheFilesOfAKilledEndpointAreRemovedWithItsRegion) {
    ASSERT_TRUE(owner.arm());
    Name dead("dead");
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        ShmTransport transport;
        if (transport.open_at(dead.text, {}) || !transport.arm() || write(ready[1], "", 1) != 1) _exit(1);
        pause();
    }
    char byte;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    std::vector<std::string> files;
    for (const char* kind : {"bell", "who"}) {
        files.push_back(std::string("/dev/shm/selvage-") + kind + "-" + std::to_string(geteuid()) + "-" + id_in(dead));
    }
    for (const std::string& name : files) EXPECT_EQ(access(name.c_str(), F_OK), 0) << name;
    kill(child, SIGKILL);
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    // Others may be looking at the region at this moment, and then it is passed over.
    for (int i = 0; i < 100 && file_exists(dead); ++i) {
        shm::sweep_stale_regions();
        usleep(1000);
    }
    EXPECT_FALSE(file_exists(dead));
    for (const std::string& name : files) EXPECT_NE(access(name.c_str(), F_OK), 0) << name;
    EXPECT_EQ(access(file().c_str(), F_OK), 0) << "that of the living";
    close(ready[0]);
    close(ready[1]);
}

}  // namespace
}  // namespace selvage::impl::test
