// A link that is silent: its packets vanish, and no error is reported, as behind a switch whose cable was pulled. The
// link is an address of this machine's own, and all sockets of this process have a filter that drops what goes there or
// comes from there. No privileges are needed.
#pragma once

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <iterator>

namespace selvage::impl::test {

class SilentLink {
public:
    // What goes to `address` and the server's `port`, or comes from there, both in the host's order.
    SilentLink(uint32_t address, uint16_t port) : address_(address), port_(port) { silence(); }
    ~SilentLink() { speak(); }
    SilentLink(const SilentLink&) = delete;
    SilentLink& operator=(const SilentLink&) = delete;

    // A socket of its own that listens passes its filter on to those that it accepts.
    void silence() {
        constexpr uint32_t kNetwork = static_cast<uint32_t>(SKF_NET_OFF);  // of the header of IP; that of TCP is at 0
        sock_filter program[] = {
            {BPF_LD | BPF_W | BPF_ABS, 0, 0, kNetwork + 12},     // from
            {BPF_JMP | BPF_JEQ | BPF_K, 0, 2, address_},         //
            {BPF_LD | BPF_H | BPF_ABS, 0, 0, 0},                 //
            {BPF_JMP | BPF_JEQ | BPF_K, 4, 0, uint32_t{port_}},  //
            {BPF_LD | BPF_W | BPF_ABS, 0, 0, kNetwork + 16},     // to
            {BPF_JMP | BPF_JEQ | BPF_K, 0, 3, address_},         //
            {BPF_LD | BPF_H | BPF_ABS, 0, 0, 2},                 //
            {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, uint32_t{port_}},  //
            {BPF_RET | BPF_K, 0, 0, 0},                          // dropped
            {BPF_RET | BPF_K, 0, 0, UINT32_MAX},                 // taken
        };
        const sock_fprog filter{.len = static_cast<unsigned short>(std::size(program)), .filter = program};
        size_t changed = 0;
        for (int fd = 3; fd < kDescriptors; ++fd) {
            if (is_stream(fd)) changed += !setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
        }
        EXPECT_GT(changed, 0u);
    }
    void speak() {
        const int none = 0;
        for (int fd = 3; fd < kDescriptors; ++fd) {
            if (is_stream(fd)) (void)setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &none, sizeof none);
        }
    }

private:
    static constexpr int kDescriptors = 1024;
    static bool is_stream(int fd) {
        int domain = 0, type = 0;
        socklen_t size = sizeof domain;
        if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) || domain != AF_INET) return false;
        size = sizeof type;
        return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
    }

    uint32_t address_;
    uint16_t port_;
};

}  // namespace selvage::impl::test
