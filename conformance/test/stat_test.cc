// `selvage stat`: what a live process counts, and files that are none or were made to harm.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "conformance/stat/stat_file.h"
#include "conformance/test/schema_util.h"
#include "conformance/test/tool_util.h"

namespace selvage::conformance {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

// A file of counters, byte by byte as docs/formats.md has it.
class Image {
public:
    explicit Image(std::uint32_t records = 4) : bytes_(64 + std::size_t{records} * 288) {
        std::memcpy(bytes_.data(), "selvstat", 8);
        put32(8, 1);
        put32(12, 64);
        put32(16, 288);
        put32(20, records);
        put32(24, 4711);
    }
    // A record behind the others; its offset.
    std::size_t add(std::uint8_t type, std::uint64_t endpoint, const std::string& name) {
        const std::size_t at = 64 + 288 * std::size_t{used_};
        put32(28, ++used_);
        put32(at, 2);
        put8(at + 4, type);
        put8(at + 5, type == 2 ? 1 : 0);
        put64(at + 8, endpoint);
        put(at + 16, "fake", 5);
        put(at + 32, name.c_str(), name.size() + 1);
        return at;
    }
    void put(std::size_t at, const void* from, std::size_t size) { std::memcpy(bytes_.data() + at, from, size); }
    void put8(std::size_t at, std::uint8_t value) { put(at, &value, sizeof value); }
    void put16(std::size_t at, std::uint16_t value) { put(at, &value, sizeof value); }
    void put32(std::size_t at, std::uint32_t value) { put(at, &value, sizeof value); }
    void put64(std::size_t at, std::uint64_t value) { put(at, &value, sizeof value); }
    void counter(std::size_t record, Counter c, std::uint64_t value) {
        put64(record + 160 + 8 * static_cast<std::size_t>(c), value);
    }
    [[nodiscard]] std::string str() const { return {bytes_.begin(), bytes_.end()}; }
    std::vector<char>& bytes() { return bytes_; }

private:
    std::vector<char> bytes_;
    std::uint32_t used_ = 0;
};

Ran stat_of(const std::string& content, bool as_json = false) {
    const Folder folder;
    std::vector<std::string> arguments = {"stat", "--file", folder.write("copy", content)};
    if (as_json) arguments.emplace_back("--json");
    return run_tool(arguments);
}

void expect_refused(const std::string& content, const std::string& says) {
    const Ran ran = stat_of(content);
    EXPECT_EQ(ran.status, 2) << says;
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(lines_of(ran.err), 1U) << ran.err;
    EXPECT_TRUE(contains(ran.err, says)) << ran.err;
    EXPECT_FALSE(has_escapes(ran.err)) << ran.err;
}

TEST(StatFile, IsPrintedAsTheFormatSays) {
    Image image;
    const auto endpoint = image.add(1, 3, "fi_shm://here");
    const auto peer = image.add(2, 3, "fi_shm://there");
    image.counter(endpoint, Counter::KeptBytesMost, 3 << 20);
    image.counter(endpoint, Counter::Refused, 2);
    image.counter(endpoint, Counter::Expired, 5);
    image.counter(peer, Counter::OverBudget, 1);
    image.put8(peer + 5, 2);
    image.put16(peer + 6, ECONNRESET);
    const Ran ran = stat_of(image.str());
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_TRUE(contains(ran.out, "process 4711")) << ran.out;
    EXPECT_TRUE(contains(ran.out, "endpoint 3  fake  fi_shm://here\n")) << ran.out;
    EXPECT_TRUE(contains(ran.out, " 3.0 MiB ")) << ran.out;
    EXPECT_TRUE(contains(ran.out, " 7  all\n")) << ran.out;
    EXPECT_TRUE(contains(ran.out, "fi_shm://there  down: Connection reset by peer\n")) << ran.out;
    const auto told = json::parse(stat_of(image.str(), true).out);
    validate(json::parse(slurp(SELVAGE_DOCS_DIR "/stat.schema.json")), told, "stat");
    const auto& e = told["processes"][0]["endpoints"][0];
    EXPECT_EQ(e["counters"]["refused"], 2);
    EXPECT_EQ(e["counters"]["expired"], 5);
    EXPECT_EQ(e["peers"][0]["counters"]["over_budget"], 1);
    EXPECT_EQ(e["peers"][0]["state"], "down");
    EXPECT_EQ(e["peers"][0]["last_error"], ECONNRESET);
}

TEST(StatFile, OneThatIsCutShortIsRefused) {
    Image image;
    image.add(1, 1, "fi_shm://here");
    const std::string whole = image.str();
    expect_refused("", "cut short");
    expect_refused(whole.substr(0, 63), "cut short");
    expect_refused(whole.substr(0, 64), "cut short: it has 64 bytes, and 1 records take 352");
    expect_refused(whole.substr(0, 351), "cut short");
    EXPECT_EQ(stat_of(whole.substr(0, 352)).status, 0);
}

TEST(StatFile, OneThatIsNoneOrHasAnotherLayoutIsRefused) {
    expect_refused(std::string(1000, 'x'), "does not begin with");
    Image version;
    version.put32(8, 2);
    expect_refused(version.str(), "has version 2; this tool reads version 1");
    for (const std::size_t field : {std::size_t{12}, std::size_t{16}}) {
        for (const std::uint32_t value : {0U, 1U, 287U, 289U, 0xffffffffU}) {
            Image size;
            size.put32(field, value);
            expect_refused(size.str(), "is damaged");
        }
    }
    const Folder folder;
    EXPECT_TRUE(contains(run_tool({"stat", "--file", folder.path("none")}).err, "none: can't be read"));
    EXPECT_TRUE(contains(run_tool({"stat", "--file", folder.path(".")}).err, "is no file"));
    EXPECT_TRUE(contains(run_tool({"stat", "--file", "/dev/zero"}).err, "is no file"));
}

TEST(StatFile, OneWithMoreRecordsThanThereCanBeIsRefused) {
    for (const auto& [records, used] : {std::pair{4U, 5U}, {0xffffffffU, 0xffffffffU}, {1U << 17U, 1U}}) {
        Image image;
        image.put32(20, records);
        image.put32(28, used);
        expect_refused(image.str(), "is damaged");
    }
}

TEST(StatFile, ARecordThatCannotBeIsRefused) {
    Image type;
    type.put8(type.add(1, 1, "x") + 4, 3);
    expect_refused(type.str(), "record 0 is of type 3");
    Image life;
    life.put8(life.add(2, 1, "x") + 5, 9);
    expect_refused(life.str(), "record 0 is in state 9");
    Image name;
    name.put(name.add(1, 1, "") + 32, std::string(128, 'n').data(), 128);
    expect_refused(name.str(), "an address without an end");
    Image provider;
    provider.put(provider.add(1, 1, "") + 16, std::string(16, 'p').data(), 16);
    expect_refused(provider.str(), "a provider name without an end");
}

TEST(StatFile, TextThatATerminalWouldObeyIsPrintedHarmlessly) {
    Image image;
    image.add(1, 1, "\x1b[31mred\n\r\x07");
    image.add(2, 1, "\x1b]0;title\x07");
    for (const bool as_json : {false, true}) {
        const Ran ran = stat_of(image.str(), as_json);
        EXPECT_EQ(ran.status, 0) << ran.err;
        EXPECT_FALSE(has_escapes(ran.out)) << ran.out;
    }
}

TEST(StatFile, ARecordThatIsNeverAtRestIsLeftOutAndTold) {
    Image image;
    image.put32(image.add(1, 1, "changing"), 3);
    image.add(1, 2, "at rest");
    const Ran ran = stat_of(image.str());
    EXPECT_EQ(ran.status, 0);
    EXPECT_FALSE(contains(ran.out, "changing")) << ran.out;
    EXPECT_TRUE(contains(ran.out, "at rest")) << ran.out;
    EXPECT_TRUE(contains(ran.err, "1 records were being changed")) << ran.err;
}

TEST(StatFile, APeerWithoutAnEndpointIsLeftOut) {
    Image image;
    image.add(2, 9, "orphan");
    image.add(1, 1, "endpoint");
    const Ran ran = stat_of(image.str());
    EXPECT_EQ(ran.status, 0);
    EXPECT_FALSE(contains(ran.out, "orphan")) << ran.out;
}

// Damaged at random: read or refused, never more.
TEST(StatFile, AnyBytesAreReadOrRefused) {
    std::mt19937_64 random(4711);
    int refused = 0;
    for (int round = 0; round < 20'000; ++round) {
        Image image;
        image.add(1, 1, "endpoint");
        image.add(2, 1, "peer");
        auto& bytes = image.bytes();
        for (std::uint64_t n = random() % 4 + 1; n > 0; --n) {
            const std::size_t most = random() % 2 != 0 ? 64 : bytes.size();
            bytes[random() % most] = static_cast<char>(random());
        }
        if (random() % 4 == 0) bytes.resize(random() % bytes.size());
        const int file = memfd_create("damaged", MFD_CLOEXEC);
        ASSERT_EQ(write(file, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
        StatSnapshot snapshot;
        std::string error;
        if (!read_stat_file(file, snapshot, error)) {
            ++refused;
            EXPECT_FALSE(error.empty());
        }
        close(file);
    }
    EXPECT_GT(refused, 2'000);
    EXPECT_LT(refused, 18'000);
}

#ifdef SELVAGE_STAT_STATION

// A process with two endpoints (stat_station.c).
class Station {
public:
    explicit Station(const char* provider, const std::vector<std::string>& environment = {}) {
        int in[2];
        int out[2];
        EXPECT_EQ(pipe2(in, O_CLOEXEC), 0);
        EXPECT_EQ(pipe2(out, O_CLOEXEC), 0);
        pid_ = fork();
        if (pid_ == 0) {
            dup2(in[0], STDIN_FILENO);
            dup2(out[1], STDOUT_FILENO);
            for (const auto& variable : environment) putenv(const_cast<char*>(variable.c_str()));
            execl(SELVAGE_STAT_STATION, "stat_station", provider, nullptr);
            _exit(127);
        }
        close(in[0]);
        close(out[1]);
        end_ = in[1];
        char line[64] = {};
        EXPECT_GT(read(out[0], line, sizeof line - 1), 0);
        close(out[0]);
        EXPECT_EQ(std::sscanf(line, "ready %hu", &port_), 1) << line;
    }
    ~Station() { stop(SIGKILL); }
    Station(const Station&) = delete;
    Station& operator=(const Station&) = delete;

    void stop(int signal) {
        if (pid_ <= 0) return;
        if (signal != 0) kill(pid_, signal);
        close(end_);
        waitpid(pid_, nullptr, 0);
        pid_ = 0;
    }
    [[nodiscard]] std::string pid() const { return std::to_string(pid_); }
    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] json told() const { return json::parse(run_tool({"stat", "--json", pid()}).out)["processes"][0]; }

private:
    pid_t pid_ = 0;
    int end_ = -1;
    std::uint16_t port_ = 0;
};

TEST(StatProcess, ALiveProcessIsReadWhileItRuns) {
    for (const char* provider : {"shm", "tcp"}) {
        const Station station(provider);
        const Ran ran = run_tool({"stat", station.pid()});
        EXPECT_EQ(ran.status, 0) << ran.err;
        EXPECT_TRUE(contains(ran.out, "process " + station.pid() + "  stat_station")) << ran.out;
        EXPECT_TRUE(contains(ran.out, std::string("endpoint 2  ") + provider + "  fi_")) << ran.out;
        EXPECT_TRUE(contains(ran.out, " 2.9 KiB ")) << ran.out;
        const auto told = station.told();
        ASSERT_EQ(told["endpoints"].size(), 2U) << told;
        const auto& receiver = told["endpoints"][1];
        EXPECT_EQ(receiver["counters"]["kept_bytes"], 3000);
        EXPECT_EQ(receiver["counters"]["unexpected"], 3);
        ASSERT_EQ(receiver["peers"].size(), 1U) << receiver;
        EXPECT_EQ(receiver["peers"][0]["address"], told["endpoints"][0]["address"]);
        EXPECT_EQ(receiver["peers"][0]["counters"]["kept_messages"], 3);
        EXPECT_EQ(told["endpoints"][0]["counters"]["kept_bytes"], 0);
    }
}

TEST(StatProcess, TheFiguresOfAllProcessesFollowTheSchema) {
    const Station station("shm");
    const auto told = json::parse(run_tool({"stat", "--json"}).out);
    validate(json::parse(slurp(SELVAGE_DOCS_DIR "/stat.schema.json")), told, "stat");
    bool listed = false;
    for (const auto& process : told["processes"]) listed |= std::to_string(process["pid"].get<int>()) == station.pid();
    EXPECT_TRUE(listed) << told;
}

TEST(StatProcess, ARefusedConnectionIsCounted) {
    const Station station("tcp");
    EXPECT_EQ(station.told()["endpoints"][1]["counters"]["refused"], 0);
    const int caller = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(station.port());
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(connect(caller, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
    const std::string garbage(2000, 'G');
    ASSERT_EQ(send(caller, garbage.data(), garbage.size(), MSG_NOSIGNAL), static_cast<ssize_t>(garbage.size()));
    json refused = 0;
    for (int i = 0; i < 100 && refused == 0; ++i) {
        std::this_thread::sleep_for(20ms);
        refused = station.told()["endpoints"][1]["counters"]["refused"];
    }
    EXPECT_EQ(refused, 1);
    close(caller);
}

TEST(StatProcess, NothingIsLeftOfAProcessThatWasKilled) {
    Station station("shm");
    const std::string pid = station.pid();
    EXPECT_EQ(run_tool({"stat", pid}).status, 0);
    station.stop(SIGKILL);
    const Ran ran = run_tool({"stat", pid});
    EXPECT_EQ(ran.status, 2);
    EXPECT_TRUE(contains(ran.err, "process " + pid + " does not exist")) << ran.err;
    EXPECT_FALSE(contains(run_tool({"stat", "--json"}).out, "\"pid\": " + pid));
    const Station next("shm");
    EXPECT_EQ(next.told()["endpoints"].size(), 2U);
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
        EXPECT_FALSE(contains(entry.path().native(), "stat")) << entry.path();
    }
}

TEST(StatProcess, OneThatWasSwitchedOffOrHasNoEndpointIsNamed) {
    const Station station("shm", {"FI_SELVAGE_STAT=0"});
    const Ran off = run_tool({"stat", station.pid()});
    EXPECT_EQ(off.status, 2);
    EXPECT_TRUE(contains(off.err, "FI_SELVAGE_STAT=0")) << off.err;
    EXPECT_TRUE(contains(off.err, "it has loaded /")) << off.err;
    const Ran other = run_tool({"stat", std::to_string(getpid())});
    EXPECT_EQ(other.status, 2);
    EXPECT_TRUE(contains(other.err, "has no open endpoint")) << other.err;
    EXPECT_EQ(lines_of(other.err), 1U) << other.err;
}

#endif

// A process can call any memory of its own so.
TEST(StatProcess, ADamagedFileOfALiveProcessIsNamed) {
    const int file = memfd_create("selvage-stat", MFD_CLOEXEC);
    ASSERT_EQ(write(file, "garbage", 7), 7);
    const std::string pid = std::to_string(getpid());
    const std::string says = "selvage: process " + pid + " keeps a file of counters that is cut short";
    const Ran ran = run_tool({"stat", pid});
    EXPECT_EQ(ran.status, 2);
    EXPECT_TRUE(contains(ran.err, says)) << ran.err;
    EXPECT_EQ(lines_of(ran.err), 1U) << ran.err;
    EXPECT_TRUE(contains(run_tool({"stat"}).err, says)) << "among all";
    close(file);
}

// As a child has its parent's that was made without the C library's fork().
TEST(StatProcess, AFileThatAnotherProcessMadeIsPassedOver) {
    Image image;
    image.add(1, 1, "inherited");
    for (const bool inherited : {true, false}) {
        image.put32(24, static_cast<std::uint32_t>(getpid()) + (inherited ? 1 : 0));
        const int file = memfd_create("selvage-stat", MFD_CLOEXEC);
        const std::string bytes = image.str();
        ASSERT_EQ(write(file, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
        const Ran ran = run_tool({"stat", std::to_string(getpid())});
        EXPECT_EQ(ran.status, inherited ? 2 : 0) << ran.err;
        EXPECT_EQ(contains(ran.out, "inherited"), !inherited) << ran.out;
        close(file);
    }
}

TEST(StatProcess, OneThatDoesNotExistOrIsNoneIsNamed) {
    EXPECT_TRUE(contains(run_tool({"stat", "1073741823"}).err, "process 1073741823 does not exist"));
    for (const char* bad : {"0", "-4", "many", "99999999999"}) {
        const Ran ran = run_tool({"stat", bad});
        EXPECT_EQ(ran.status, 2) << bad;
        EXPECT_EQ(lines_of(ran.err), 1U) << ran.err;
    }
}

TEST(StatProcess, OneOfAnotherUserIsNamed) {
    const bool root = geteuid() == 0;
    const std::string pid = root ? std::to_string(getpid()) : "1";
    std::vector<std::string> command = {SELVAGE_TOOL, "stat", pid};
    if (root) {  // as nobody
        const std::vector<std::string> other = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
        command.insert(command.begin(), other.begin(), other.end());
    }
    const Ran ran = run_program(command);
    if (root && ran.status == 127) GTEST_SKIP() << "setpriv(1) is not installed, or the tool is out of reach";
    EXPECT_EQ(ran.status, 2);
    EXPECT_TRUE(contains(ran.err, "process " + pid + " belongs to another user (0)")) << ran.err;
}

}  // namespace
}  // namespace selvage::conformance
