// An endpoint over UDP at the loopback interface, with all that it is bound to, and sockets of nobody's library.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>

#include "impl/av/av.h"
#include "impl/base/create.h"
#include "impl/endpoint/ep.h"
#include "impl/test/queue/place.h"
#include "impl/transport/udp/udp.h"
#include "impl/transport/udp/udp_path.h"

namespace selvage::impl::test {

inline SocketAddress loopback(AddressKind kind, uint16_t port = 0) {
    SocketAddress address = SocketAddress::wildcard(kind, port);
    if (kind == AddressKind::Inet) {
        address.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    } else {
        address.v6.sin6_addr = in6addr_loopback;
    }
    return address;
}

struct Interface {
    SocketAddress source;
    unsigned index;
};

struct SideChoice {
    uint64_t caps = FI_MSG | FI_MULTICAST | FI_SEND | FI_RECV;
    AddressKind kind = AddressKind::Inet;
    size_t size = 64;
    bool with_events = true;  // an event queue is bound
    bool wildcard = false;    // at every address of the machine
    uint64_t queue_flags = FI_TRANSMIT | FI_RECV;
    fi_threading threading = FI_THREAD_SAFE;
    fi_progress progress = FI_PROGRESS_MANUAL;
    const Interface* interface = nullptr;  // loopback
};

struct UdpSide {
    static constexpr size_t kMessageMax = 65507;

    explicit UdpSide(const SideChoice& choice = {})
        : place({.threading = choice.threading, .data = choice.progress, .kind = choice.kind}) {
        place.fabric.provider = &kUdpProvider;
        place.domain.source = choice.interface ? choice.interface->source : loopback(choice.kind);
        place.domain.interface = choice.interface ? choice.interface->index : if_nametoindex("lo");
        place.domain.addr_format = choice.kind == AddressKind::Inet ? FI_SOCKADDR_IN : FI_SOCKADDR_IN6;
        fi_av_attr attr{};
        EXPECT_EQ(domain_open_av(&place.domain.descriptor, &attr, &av, nullptr), 0);
        queue.emplace(place, FI_WAIT_FD, FI_CQ_FORMAT_DATA);
        fi_eq_attr events_attr{};
        EXPECT_EQ(fabric_open_eq(&place.fabric.descriptor, &events_attr, &events, nullptr), 0);
        make_endpoint(choice);
        EXPECT_EQ(fi_ep_bind(ep(), &queue->fid->fid, choice.queue_flags), 0);
        EXPECT_EQ(fi_ep_bind(ep(), &av->fid, 0), 0);
        if (!choice.with_events) return;
        EXPECT_EQ(fi_ep_bind(ep(), &events->fid, 0), 0);
    }
    ~UdpSide() {
        close_endpoint();
        queue.reset();
        EXPECT_EQ(fi_close(&av->fid), 0);
        EXPECT_EQ(fi_close(&events->fid), 0);
        place.domain.automatic.stop();
    }
    UdpSide(const UdpSide&) = delete;
    UdpSide& operator=(const UdpSide&) = delete;

    UdpSide& enable() {
        EXPECT_EQ(fi_enable(ep()), 0);
        return *this;
    }
    void close_endpoint() {
        if (!endpoint) return;
        EXPECT_EQ(fi_close(&ep()->fid), 0);
        endpoint = nullptr;
    }
    fid_ep* ep() { return &endpoint->descriptor; }
    SocketAddress address() {
        SocketAddress own = place.domain.source;
        size_t length = own.length();
        EXPECT_EQ(fi_getname(&ep()->fid, &own.any, &length), 0);
        return own;
    }
    fi_addr_t insert(const SocketAddress& address) {
        fi_addr_t given;
        EXPECT_EQ(fi_av_insert(av, address.bytes(), 1, &given, 0, nullptr), 1);
        return given;
    }
    ssize_t receive(void* to, size_t size, void* context = nullptr) {
        return fi_recv(ep(), to, size, nullptr, FI_ADDR_UNSPEC, context);
    }
    ssize_t send(const void* bytes, size_t size, fi_addr_t to, void* context = nullptr) {
        return fi_send(ep(), bytes, size, nullptr, to, context);
    }
    // The text stays where it is until it has left.
    ssize_t send_text(const char* text, fi_addr_t to, uint64_t flags, void* context = nullptr) {
        const iovec range{const_cast<char*>(text), strlen(text)};
        const fi_msg message{
            .msg_iov = &range, .desc = nullptr, .iov_count = 1, .addr = to, .context = context, .data = 0};
        return fi_sendmsg(ep(), &message, flags);
    }
    // One completion, or nothing within two seconds; an error is kept in `error`.
    ssize_t next() {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
        ssize_t read;
        do {
            read = fi_cq_readfrom(queue->fid, &entry, 1, &source);
        } while (read == -FI_EAGAIN && std::chrono::steady_clock::now() < end);
        if (read == -FI_EAVAIL) {
            error = {};
            EXPECT_EQ(fi_cq_readerr(queue->fid, &error, 0), 1);
        }
        return read;
    }
    // Nothing comes, though it is looked for.
    bool is_quiet() {
        for (int i = 0; i < 20; ++i) {
            if (fi_cq_readfrom(queue->fid, &entry, 1, &source) != -FI_EAGAIN) return false;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        return true;
    }

    Place place;
    fid_av* av = nullptr;
    fid_eq* events = nullptr;
    std::optional<Queue> queue;
    Endpoint* endpoint = nullptr;
    fi_cq_data_entry entry{};
    fi_cq_err_entry error{};
    fi_addr_t source = 0;

private:
    void make_endpoint(const SideChoice& choice) {
        endpoint = create<Endpoint>();
        ASSERT_TRUE(place.domain.uses.acquire());
        endpoint->domain = &place.domain;
        endpoint->type = FI_EP_DGRAM;
        endpoint->caps = choice.caps;
        endpoint->tx.caps = choice.caps & (FI_MSG | FI_MULTICAST | FI_SEND);
        endpoint->rx.caps = choice.caps & FI_RECV ? FI_MSG | FI_RECV : 0;
        if (!(choice.caps & FI_SEND)) endpoint->tx.caps = 0;
        endpoint->tx.size = endpoint->rx.size = choice.size;
        endpoint->tx.iov_limit = endpoint->rx.iov_limit = 8;
        endpoint->tx.inject_size = kMessageMax;
        endpoint->max_msg_size = kMessageMax;
        endpoint->addr_format = place.domain.addr_format;
        endpoint->address = choice.wildcard ? SocketAddress::wildcard(choice.kind, 0) : place.domain.source;
        init_endpoint_descriptor(endpoint, nullptr);
    }
};

// A socket of a program that has no fabric.
class PlainSocket {
public:
    explicit PlainSocket(AddressKind kind = AddressKind::Inet)
        : socket_(::socket(kind == AddressKind::Inet ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        SocketAddress own = loopback(kind);
        EXPECT_EQ(bind(socket_, &own.any, static_cast<socklen_t>(own.length())), 0);
        socklen_t length = sizeof own.v6;
        EXPECT_EQ(getsockname(socket_, &own.any, &length), 0);
        address = own;
    }
    ~PlainSocket() { close(socket_); }
    PlainSocket(const PlainSocket&) = delete;
    PlainSocket& operator=(const PlainSocket&) = delete;

    void send(const SocketAddress& to, const std::string& bytes) {
        const ssize_t sent =
            sendto(socket_, bytes.data(), bytes.size(), 0, &to.any, static_cast<socklen_t>(to.length()));
        EXPECT_EQ(sent, static_cast<ssize_t>(bytes.size()));
    }
    int descriptor() const { return socket_; }
    // What came first, or "nothing".
    std::string next() {
        std::string bytes(65536, '\0');
        const ssize_t size = recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT);
        if (size < 0) return "nothing";
        bytes.resize(static_cast<size_t>(size));
        return bytes;
    }

    SocketAddress address;

private:
    int socket_;
};

inline std::string pattern(size_t size) {
    std::string result(size, '\0');
    for (size_t i = 0; i < size; ++i) result[i] = static_cast<char>(i * 7 + (i >> 8));
    return result;
}

}  // namespace selvage::impl::test
