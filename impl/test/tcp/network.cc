// Large transfers between two hosts (two_hosts.h), beside a plain socket that moves as many bytes over the same cable.
//
//   network [--cables N] [--last-mbit N] [--mbit N] [--rtt MILLISECONDS] [--drop-every N] [--cut MILLISECONDS]
//   [--cut-cable N] [--silent] [--kill MILLISECONDS] [--second-library DIRECTORY] [--mib N] [--rounds N] [--least
//   RATIO] [--spin]
//   [--netem] [ROW...]
//
// Each row is measured in turn with the socket, and prints both bandwidths and their ratio, of the medians. The socket
// has the first cable, the library may use all; --cut takes the last one down, or that of --cut-cable, so long after
// the first transfer of the library began, and it stays down. With the first cable (0) there are no sockets beside it.
// --silent: no interface goes down, but the packets vanish.
// --kill ends the second host's process in a transfer; how long it took until an operation failed is printed.
// --second-library: that host runs with the library there, of another release. Status 1:
// a ratio is below --least, or bytes are wrong; 77: there can be no such hosts here, and why is on standard error.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "impl/test/crowd/station.h"
#include "impl/test/tcp/two_hosts.h"

namespace selvage::impl::test {
namespace {

enum class Kind : int { Message, Write, Read, Socket, SocketBack, End };

// What the first host asks the second to take part in.
struct Job {
    Kind kind = Kind::End;
    unsigned window = 0;  // operations under way at a time; of a socket with 1, each is answered
    unsigned count = 0;
    size_t size = 0;
};

// Bytes of the memory that its operations lie in.
size_t bytes_of(const Job& job) { return job.size * std::min(job.window, job.count); }

struct Row {
    const char* name;
    Kind kind;
    size_t size;
    unsigned window;
};
constexpr size_t kMebi = size_t{1} << 20;
constexpr Row kRows[] = {
    {"message-1", Kind::Message, kMebi, 16},
    {"message-16", Kind::Message, 16 * kMebi, 4},
    {"write-1", Kind::Write, kMebi, 16},
    {"write-16", Kind::Write, 16 * kMebi, 4},
    {"read-1", Kind::Read, kMebi, 16},
    {"read-16", Kind::Read, 16 * kMebi, 4},
    {"message-16-alone", Kind::Message, 16 * kMebi, 1},
};
constexpr size_t kMemory = 64 * kMebi;
constexpr uint16_t kPort = 7001;
constexpr double kFoundWithin = 2;  // seconds until the other host knows of a process that was killed

struct Choice {
    Cable cable{.megabits = 1000};
    unsigned cables = 1;
    unsigned last_megabits = 0;  // of the last cable; 0: as the others
    unsigned cut = 0;
    unsigned cut_cable = UINT32_MAX;  // the last
    bool silent = false;
    unsigned kill = 0;
    int second_control = -1;  // this is the second host, started anew
    std::string second_library;
    std::vector<char*> words;
    size_t mebibytes = 64;
    unsigned rounds = 3;
    double least = 0;
    bool spin = false;
    bool netem = false;
    std::vector<std::string> rows;
};
Choice choice;

double now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

void put(int to, const void* bytes, size_t size) {
    const auto* at = static_cast<const char*>(bytes);
    while (size) {
        const ssize_t done = send(to, at, size, MSG_NOSIGNAL);
        if (done <= 0) give_up("send", strerror(errno));
        at += done;
        size -= static_cast<size_t>(done);
    }
}
void get(int from, void* bytes, size_t size) {
    auto* at = static_cast<char*>(bytes);
    while (size) {
        const ssize_t done = recv(from, at, size, 0);
        if (done <= 0) give_up("recv", done ? strerror(errno) : "the other is gone");
        at += done;
        size -= static_cast<size_t>(done);
    }
}

sockaddr_in second_host() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(kPort);
    inet_pton(AF_INET, TwoHosts::address(0, 1).c_str(), &address.sin_addr);
    return address;
}

// The plain socket: nothing is set but what everybody sets.
class PlainSocket {
public:
    explicit PlainSocket(int stream) : stream_(stream) {
        const int on = 1;
        setsockopt(stream_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    ~PlainSocket() { close(stream_); }
    PlainSocket(const PlainSocket&) = delete;
    PlainSocket& operator=(const PlainSocket&) = delete;

    void connect_to_second() const {
        const sockaddr_in address = second_host();
        SELVAGE_MUST(connect(stream_, reinterpret_cast<const sockaddr*>(&address), sizeof address) ? -errno : 0);
    }
    void send_all(const Job& job, std::byte* memory) {
        char byte;
        for (unsigned i = 0; i < job.count; ++i) {
            put(stream_, memory, job.size);
            if (job.window == 1) get(stream_, &byte, 1);
        }
        if (job.window != 1) get(stream_, &byte, 1);
    }
    void receive_all(const Job& job, std::byte* memory) {
        char byte = 0;
        for (unsigned i = 0; i < job.count; ++i) {
            get(stream_, memory, job.size);
            if (job.window == 1) put(stream_, &byte, 1);
        }
        if (job.window != 1) put(stream_, &byte, 1);
    }

private:
    int stream_;
};

std::atomic<double> killed_at{0};

pid_t second_process = 0;

[[noreturn]] void end_after_kill(int error) {
    const double spent = now() - killed_at;
    printf("an operation failed %.2f s after the other process was killed: %s\n", spent, fi_strerror(error));
    fflush(stdout);
    _exit(spent <= kFoundWithin ? 0 : 1);
}

// Either host: its endpoint, and the address of the other.
class Side {
public:
    Side(int control, unsigned host)
        : station({.provider = "tcp",
                   .caps = FI_TAGGED | FI_RMA,
                   .service = {},
                   .memory = kMemory,
                   .node = choice.cables > 1 ? "0.0.0.0" : TwoHosts::address(0, host)}),
          control_(control) {
        const StationInfo own = station.info();
        put(control, &own, sizeof own);
        get(control, &other, sizeof other);
        to = station.insert(other);
        fill(host);
    }
    // Bytes that differ by whose they are, and where they lie.
    void fill(unsigned host) {
        for (size_t i = 0; i + sizeof(uint64_t) <= kMemory; i += sizeof(uint64_t)) {
            const uint64_t word = mark(i, host);
            memcpy(&station.memory[i], &word, sizeof word);
        }
    }
    bool is_filled(size_t size, unsigned host) const {
        for (size_t i = 0; i + sizeof(uint64_t) <= size; i += sizeof(uint64_t)) {
            const uint64_t word = mark(i, host);
            if (memcmp(&station.memory[i], &word, sizeof word) != 0) return false;
        }
        return true;
    }
    static uint64_t mark(size_t at, unsigned host) { return (at + 1) * 0x9e3779b97f4a7c15u + host; }
    // Waits for at most a tenth of a second. How many completed.
    unsigned look() {
        fi_cq_tagged_entry entries[16];
        const ssize_t read =
            choice.spin ? fi_cq_read(station.cq, entries, 16) : fi_cq_sread(station.cq, entries, 16, nullptr, 100);
        if (read == -FI_EAGAIN) return 0;
        if (read == -FI_EAVAIL) {
            fi_cq_err_entry error{};
            fi_cq_readerr(station.cq, &error, 0);
            if (killed_at) end_after_kill(error.err);
            give_up("a transfer", fi_strerror(error.err));
        }
        SELVAGE_MUST(read);
        return static_cast<unsigned>(read);
    }
    // `job.window` at a time: post(i) begins operation i.
    template <typename Post>
    void windows(const Job& job, Post post) {
        unsigned begun = 0, ended = 0;
        while (ended < job.count) {
            for (; begun < job.count && begun - ended < job.window; ++begun) {
                const ssize_t result = post(begun);
                if (result == -FI_EAGAIN) break;
                SELVAGE_MUST(result);
            }
            ended += look();
        }
    }
    std::byte* place(const Job& job, unsigned i) { return &station.memory[i % job.window * job.size]; }
    void send(const Job& job) {
        windows(job,
                [&](unsigned i) { return fi_tsend(station.ep, place(job, i), job.size, nullptr, to, i, nullptr); });
    }
    void receive(const Job& job) {
        windows(job,
                [&](unsigned i) { return fi_trecv(station.ep, place(job, i), job.size, nullptr, to, i, 0, nullptr); });
    }
    void access(const Job& job) {
        windows(job, [&](unsigned i) {
            std::byte* const here = place(job, i);
            const uint64_t there = other.base + static_cast<uint64_t>(here - station.memory.data());
            return job.kind == Kind::Write
                       ? fi_write(station.ep, here, job.size, nullptr, to, there, other.key, nullptr)
                       : fi_read(station.ep, here, job.size, nullptr, to, there, other.key, nullptr);
        });
    }
    // The other accesses this one's memory until it says that it is done.
    void serve() {
        char byte;
        while (recv(control_, &byte, 1, MSG_DONTWAIT) != 1) look();
    }

    Station station;
    StationInfo other{};
    fi_addr_t to = FI_ADDR_UNSPEC;

private:
    int control_;
};

int run_second(int control) {
    Side side(control, 1);
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = second_host();
    const int on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    SELVAGE_MUST(bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) ? -errno : 0);
    SELVAGE_MUST(listen(listener, 1) ? -errno : 0);
    char byte = 0;
    put(control, &byte, 1);
    PlainSocket plain(accept(listener, nullptr, nullptr));
    for (;;) {
        Job job;
        get(control, &job, sizeof job);
        if (job.kind == Kind::End) return 0;
        if (job.kind == Kind::Message) {
            side.fill(1);
            put(control, &byte, 1);
            side.receive(job);
            byte = side.is_filled(bytes_of(job), 0);
            put(control, &byte, 1);
        } else if (job.kind == Kind::Write || job.kind == Kind::Read) {
            side.fill(1);
            put(control, &byte, 1);
            side.serve();
            byte = job.kind == Kind::Read || side.is_filled(bytes_of(job), 0);
            put(control, &byte, 1);
        } else {
            put(control, &byte, 1);
            if (job.kind == Kind::Socket)
                plain.receive_all(job, side.station.memory.data());
            else
                plain.send_all(job, side.station.memory.data());
        }
    }
}

// The second host starts this program again, with the other library.
int start_second(int control) {
    if (choice.second_library.empty()) return run_second(control);
    setenv("LD_LIBRARY_PATH", choice.second_library.c_str(), 1);
    std::string name = "--second", value = std::to_string(control);
    std::vector<char*> words = choice.words;
    words.insert(words.end(), {name.data(), value.data(), nullptr});
    execv("/proc/self/exe", words.data());
    give_up("exec", strerror(errno));
}

// Takes a cable down in the middle of a job, or the process of the second host.
class Cutter {
public:
    explicit Cutter(const Job& job) {
        if (job.size < kMebi || !(choice.cut || choice.kill)) return;
        thread_ = std::thread([] {
            if (choice.cut) {
                usleep(choice.cut * 1000);
                const unsigned cable = std::min(choice.cut_cable, choice.cables - 1);
                choice.silent ? TwoHosts::silence_cable(cable) : TwoHosts::set_cable_down(cable);
            }
            if (choice.kill) {
                usleep(choice.kill * 1000);
                kill(second_process, SIGKILL);
                killed_at = now();
            }
        });
    }
    ~Cutter() {
        if (thread_.joinable()) thread_.join();
    }
    Cutter(const Cutter&) = delete;
    Cutter& operator=(const Cutter&) = delete;

private:
    std::thread thread_;
};

// The first host. Seconds that the job took.
double run(Side& side, PlainSocket& plain, int control, const Job& job) {
    put(control, &job, sizeof job);
    if (job.kind == Kind::Socket || job.kind == Kind::SocketBack) {
        char ready;
        get(control, &ready, 1);
        const double start = now();
        if (job.kind == Kind::Socket)
            plain.send_all(job, side.station.memory.data());
        else
            plain.receive_all(job, side.station.memory.data());
        return now() - start;
    }
    char byte = 0;
    get(control, &byte, 1);
    if (job.kind != Kind::Read) side.fill(0);
    const Cutter cutter(job);
    const double start = now();
    job.kind == Kind::Message ? side.send(job) : side.access(job);
    const double spent = now() - start;
    if (job.kind != Kind::Message) put(control, &byte, 1);
    get(control, &byte, 1);
    if (job.kind == Kind::Read) byte = side.is_filled(bytes_of(job), 1);
    if (!byte) give_up("a transfer", "the bytes are wrong");
    return spent;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

bool measure(Side& side, PlainSocket& socket, int control, const Row& row) {
    Job job{.kind = row.kind, .window = row.window, .count = 0, .size = row.size};
    job.count = static_cast<unsigned>(std::max<size_t>(choice.mebibytes * kMebi / row.size, 1));
    Job plain = job;
    plain.kind = row.kind == Kind::Read ? Kind::SocketBack : Kind::Socket;
    std::vector<double> times, plain_times;
    for (unsigned round = 0; round < choice.rounds; ++round) {
        if (choice.cut_cable && !choice.kill) plain_times.push_back(run(side, socket, control, plain));
        times.push_back(run(side, socket, control, job));
    }
    const double megabits = static_cast<double>(job.count) * static_cast<double>(job.size) * 8e-6;
    if (plain_times.empty()) {
        printf("%-18s %8.1f Mb/s\n", row.name, megabits / median(times));
        fflush(stdout);
        return true;
    }
    const double ratio = median(plain_times) / median(times);
    printf("%-18s %8.1f Mb/s, socket %8.1f Mb/s, ratio %.3f\n", row.name, megabits / median(times),
           megabits / median(plain_times), ratio);
    fflush(stdout);
    return ratio >= choice.least;
}

bool is_chosen(const char* name) {
    return choice.rows.empty() || std::find(choice.rows.begin(), choice.rows.end(), name) != choice.rows.end();
}

int run_first(const TwoHosts& hosts) {
    bool met = true;
    second_process = hosts.second_process();
    Side side(hosts.control(), 0);
    char byte;
    get(hosts.control(), &byte, 1);
    // The connection, and what both ends learn of the cable.
    PlainSocket plain(socket(AF_INET, SOCK_STREAM, 0));
    plain.connect_to_second();
    run(side, plain, hosts.control(), {.kind = Kind::Message, .window = 1, .count = 1, .size = 8});
    for (const Row& row : kRows) {
        if (is_chosen(row.name)) met &= measure(side, plain, hosts.control(), row);
    }
    const Job end;
    put(hosts.control(), &end, sizeof end);
    return met ? 0 : 1;
}

void read_words(int count, char** words) {
    choice.words.assign(words, words + count);
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        const auto value = [&] { return i + 1 < count ? std::strtoul(words[++i], nullptr, 10) : 0; };
        if (word == "--cables")
            choice.cables = static_cast<unsigned>(std::max(value(), 1ul));
        else if (word == "--last-mbit")
            choice.last_megabits = static_cast<unsigned>(value());
        else if (word == "--cut")
            choice.cut = static_cast<unsigned>(value());
        else if (word == "--cut-cable")
            choice.cut_cable = static_cast<unsigned>(value());
        else if (word == "--second-library")
            choice.second_library = i + 1 < count ? words[++i] : "";
        else if (word == "--second")
            choice.second_control = static_cast<int>(value());
        else if (word == "--kill")
            choice.kill = static_cast<unsigned>(value());
        else if (word == "--mbit")
            choice.cable.megabits = static_cast<unsigned>(value());
        else if (word == "--rtt")
            choice.cable.round_trip = static_cast<unsigned>(value());
        else if (word == "--drop-every")
            choice.cable.drop_every = static_cast<unsigned>(value());
        else if (word == "--mib")
            choice.mebibytes = value();
        else if (word == "--rounds")
            choice.rounds = static_cast<unsigned>(value());
        else if (word == "--least")
            choice.least = i + 1 < count ? atof(words[++i]) : 0;
        else if (word == "--netem")
            choice.netem = true;
        else if (word == "--silent")
            choice.silent = true;
        else if (word == "--spin")
            choice.spin = true;
        else
            choice.rows.push_back(word);
    }
}

}  // namespace
}  // namespace selvage::impl::test

int main(int count, char** words) {
    using namespace selvage::impl::test;
    setenv("FI_SELVAGE_LOCAL", "0", 1);  // the hosts are one machine
    read_words(count, words);
    if (choice.cables > 1) setenv("FI_TCP_RAILS", "3", 1);
    try {
        if (choice.second_control >= 0) return run_second(choice.second_control);
        std::vector<Cable> cables(choice.cables, choice.cable);
        if (choice.last_megabits) cables.back().megabits = choice.last_megabits;
        TwoHosts hosts(cables, choice.netem, start_second);
        const int result = run_first(hosts);
        return hosts.join() ? 1 : result;
    } catch (const std::runtime_error& missing) {
        fprintf(stderr, "network: not here: %s\n", missing.what());
        return 77;
    }
}
