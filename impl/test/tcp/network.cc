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
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "impl/test/tcp/network_side.h"

namespace selvage::impl::test {
namespace {

struct Row {
    const char* name;
    Kind kind;
    size_t size;
    unsigned window;
};
constexpr Row kRows[] = {
    {"message-1", Kind::Message, kMebi, 16},  {"message-16", Kind::Message, 16 * kMebi, 4},
    {"write-1", Kind::Write, kMebi, 16},      {"write-16", Kind::Write, 16 * kMebi, 4},
    {"read-64k", Kind::Read, kMebi / 16, 64}, {"read-1", Kind::Read, kMebi, 16},
    {"read-16", Kind::Read, 16 * kMebi, 4},   {"message-16-alone", Kind::Message, 16 * kMebi, 1},
};

pid_t second_process = 0;

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
