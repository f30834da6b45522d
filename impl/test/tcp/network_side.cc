// See network_side.h.
#include "impl/test/tcp/network_side.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <time.h>

#include <cstdio>
#include <cstring>

namespace selvage::impl::test {

Choice choice;
std::atomic<double> killed_at{0};

namespace {

constexpr uint16_t kPort = 7001;
constexpr double kFoundWithin = 2;  // seconds until the other host knows of a process that was killed

[[noreturn]] void end_after_kill(int error) {
    const double spent = now() - killed_at;
    printf("an operation failed %.2f s after the other process was killed: %s\n", spent, fi_strerror(error));
    fflush(stdout);
    _exit(spent <= kFoundWithin ? 0 : 1);
}

}  // namespace

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

PlainSocket::PlainSocket(int stream) : stream_(stream) {
    const int on = 1;
    setsockopt(stream_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

void PlainSocket::connect_to_second() const {
    const sockaddr_in address = second_host();
    SELVAGE_MUST(connect(stream_, reinterpret_cast<const sockaddr*>(&address), sizeof address) ? -errno : 0);
}

void PlainSocket::send_all(const Job& job, std::byte* memory) {
    char byte;
    for (unsigned i = 0; i < job.count; ++i) {
        put(stream_, memory, job.size);
        if (job.window == 1) get(stream_, &byte, 1);
    }
    if (job.window != 1) get(stream_, &byte, 1);
}

void PlainSocket::receive_all(const Job& job, std::byte* memory) {
    char byte = 0;
    for (unsigned i = 0; i < job.count; ++i) {
        get(stream_, memory, job.size);
        if (job.window == 1) put(stream_, &byte, 1);
    }
    if (job.window != 1) put(stream_, &byte, 1);
}

Side::Side(int control, unsigned host)
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

void Side::fill(unsigned host) {
    for (size_t i = 0; i + sizeof(uint64_t) <= kMemory; i += sizeof(uint64_t)) {
        const uint64_t word = mark(i, host);
        memcpy(&station.memory[i], &word, sizeof word);
    }
}

bool Side::is_filled(size_t size, unsigned host) const {
    for (size_t i = 0; i + sizeof(uint64_t) <= size; i += sizeof(uint64_t)) {
        const uint64_t word = mark(i, host);
        if (memcmp(&station.memory[i], &word, sizeof word) != 0) return false;
    }
    return true;
}

unsigned Side::look() {
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

std::byte* Side::place(const Job& job, unsigned i) { return &station.memory[i % job.window * job.size]; }

void Side::send(const Job& job) {
    windows(job, [&](unsigned i) { return fi_tsend(station.ep, place(job, i), job.size, nullptr, to, i, nullptr); });
}

void Side::receive(const Job& job) {
    windows(job, [&](unsigned i) { return fi_trecv(station.ep, place(job, i), job.size, nullptr, to, i, 0, nullptr); });
}

void Side::access(const Job& job) {
    windows(job, [&](unsigned i) {
        std::byte* const here = place(job, i);
        const uint64_t there = other.base + static_cast<uint64_t>(here - station.memory.data());
        return job.kind == Kind::Write ? fi_write(station.ep, here, job.size, nullptr, to, there, other.key, nullptr)
                                       : fi_read(station.ep, here, job.size, nullptr, to, there, other.key, nullptr);
    });
}

void Side::serve() {
    char byte;
    ssize_t got;
    while ((got = recv(control_, &byte, 1, MSG_DONTWAIT)) < 0) look();
    if (got == 0) give_up("recv", "the other is gone");
}

}  // namespace selvage::impl::test
