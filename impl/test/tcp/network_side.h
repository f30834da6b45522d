// What both hosts of impl_network (network.cc) have: an endpoint, a plain socket beside it, and the jobs that one asks
// the other to take part in, by a socket of their own (TwoHosts::control). One thread each.
#pragma once

#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "impl/test/crowd/station.h"
#include "impl/test/tcp/two_hosts.h"

namespace selvage::impl::test {

enum class Kind : int { Message, Write, Read, Socket, SocketBack, End };

// What the first host asks the second to take part in.
struct Job {
    Kind kind = Kind::End;
    unsigned window = 0;  // operations under way at a time; of a socket with 1, each is answered
    unsigned count = 0;
    size_t size = 0;
};

// Bytes of the memory that its operations lie in.
inline size_t bytes_of(const Job& job) { return job.size * std::min(job.window, job.count); }

inline constexpr size_t kMebi = size_t{1} << 20;
inline constexpr size_t kMemory = 64 * kMebi;

// The words of the command.
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
extern Choice choice;

// Seconds.
double now();
// All bytes, or the program ends.
void put(int to, const void* bytes, size_t size);
void get(int from, void* bytes, size_t size);
// Where it listens with its plain socket.
sockaddr_in second_host();

// The plain socket: nothing is set but what everybody sets.
class PlainSocket {
public:
    explicit PlainSocket(int stream);
    ~PlainSocket() { close(stream_); }
    PlainSocket(const PlainSocket&) = delete;
    PlainSocket& operator=(const PlainSocket&) = delete;

    void connect_to_second() const;
    void send_all(const Job& job, std::byte* memory);
    void receive_all(const Job& job, std::byte* memory);

private:
    int stream_;
};

// When the second host was killed, or 0: an operation that fails then ends this one, with how long that took.
extern std::atomic<double> killed_at;

// Either host: its endpoint, and the address of the other.
class Side {
public:
    Side(int control, unsigned host);

    // Bytes that differ by whose they are, and where they lie.
    void fill(unsigned host);
    bool is_filled(size_t size, unsigned host) const;
    static uint64_t mark(size_t at, unsigned host) { return (at + 1) * 0x9e3779b97f4a7c15u + host; }
    // Waits for at most a tenth of a second. How many completed.
    unsigned look();
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
    // What operation i reads or writes here.
    std::byte* place(const Job& job, unsigned i);
    void send(const Job& job);
    void receive(const Job& job);
    void access(const Job& job);
    // The other accesses this one's memory until it says that it is done, or is gone.
    void serve();

    Station station;
    StationInfo other{};
    fi_addr_t to = FI_ADDR_UNSPEC;

private:
    int control_;
};

}  // namespace selvage::impl::test
