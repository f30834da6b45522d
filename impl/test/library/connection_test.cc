// Connections of FI_EP_MSG endpoints over tcp, as fi_cm(3) tells them.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#include "impl/test/library/objects.h"

namespace selvage::test {
namespace {

// One side of a connection in this process: its own domain and queues.
struct End {
    explicit End(fid_fabric* fabric, fi_info* info, fi_wait_obj wait = FI_WAIT_UNSPEC) : fabric_(fabric) {
        fi_eq_attr eq_attr{};
        eq_attr.wait_obj = wait;
        EXPECT_EQ(fi_eq_open(fabric, &eq_attr, eq.out(), nullptr), 0);
        if (info) open(info);
    }
    int open(fi_info* info) {
        if (!domain.get()) {
            EXPECT_EQ(fi_domain(fabric_, info, domain.out(), nullptr), 0);
            fi_cq_attr cq_attr{};
            cq_attr.format = FI_CQ_FORMAT_MSG;
            EXPECT_EQ(fi_cq_open(domain.get(), &cq_attr, cq.out(), nullptr), 0);
        }
        const int result = fi_endpoint(domain.get(), info, ep.out(), this);
        if (result) return result;
        EXPECT_EQ(fi_ep_bind(ep.get(), eq.base(), 0), 0);
        EXPECT_EQ(fi_ep_bind(ep.get(), cq.base(), FI_TRANSMIT | FI_RECV), 0);
        return 0;
    }

    fid_fabric* fabric_;
    Opened<fid_eq> eq;
    Opened<fid_domain> domain;
    Opened<fid_cq> cq;
    Opened<fid_ep> ep;
};

struct Seen {
    ssize_t result = 0;
    uint32_t type = 0;
    fid* object = nullptr;
    InfoPtr info;
    std::string data;
};

Seen next_event(fid_eq* eq, int milliseconds = 5000) {
    alignas(fi_eq_cm_entry) char bytes[sizeof(fi_eq_cm_entry) + 512];
    Seen seen;
    seen.result = fi_eq_sread(eq, &seen.type, bytes, sizeof bytes, milliseconds, 0);
    if (seen.result < static_cast<ssize_t>(sizeof(fi_eq_cm_entry))) return seen;
    fi_eq_cm_entry entry;
    memcpy(static_cast<void*>(&entry), bytes, sizeof entry);
    seen.object = entry.fid;
    if (seen.type == FI_CONNREQ) seen.info.reset(entry.info);
    seen.data.assign(bytes + sizeof entry, static_cast<size_t>(seen.result) - sizeof entry);
    return seen;
}

struct Failure {
    int error = 0;
    fid* object = nullptr;
    std::string data;
};

Failure next_failure(fid_eq* eq, int milliseconds = 5000) {
    const Seen seen = next_event(eq, milliseconds);
    Failure failure;
    EXPECT_EQ(seen.result, -FI_EAVAIL);
    if (seen.result != -FI_EAVAIL) return failure;
    char data[512];
    fi_eq_err_entry entry{};
    entry.err_data = data;
    entry.err_data_size = sizeof data;
    EXPECT_GT(fi_eq_readerr(eq, &entry, 0), 0);
    failure.error = entry.err;
    failure.object = entry.fid;
    failure.data.assign(static_cast<char*>(entry.err_data), entry.err_data_size);
    return failure;
}

class Connections : public ::testing::Test {
protected:
    void SetUp() override {
        InfoPtr hints = make_hints("tcp", FI_EP_MSG);
        Answer answer = getinfo(hints, "127.0.0.1", "0", FI_SOURCE);
        ASSERT_EQ(answer.result, 0);
        info = std::move(answer.list);
        ASSERT_EQ(fi_fabric(info->fabric_attr, fabric.out(), nullptr), 0);
        listening = std::make_unique<End>(fabric.get(), nullptr);
        listen();
    }
    void listen(int backlog = 0) {
        ASSERT_EQ(fi_passive_ep(fabric.get(), info.get(), pep.out(), this), 0);
        ASSERT_EQ(fi_pep_bind(pep.get(), listening->eq.base(), 0), 0);
        if (backlog) {
            ASSERT_EQ(fi_control(pep.base(), FI_BACKLOG, &backlog), 0);
        }
        ASSERT_EQ(fi_listen(pep.get()), 0);
        size_t length = sizeof address;
        ASSERT_EQ(fi_getname(pep.base(), &address, &length), 0);
        ASSERT_NE(address.sin_port, 0);
    }
    std::unique_ptr<End> caller() { return std::make_unique<End>(fabric.get(), info.get()); }
    // Lets both event queues move until there is something in the first.
    static Seen wait_both(fid_eq* eq, fid_eq* other) {
        for (int i = 0; i < 2000; ++i) {
            Seen seen = next_event(eq, 1);
            if (seen.result != -FI_EAGAIN) return seen;
            uint32_t type;
            char nothing[1];
            (void)fi_eq_read(other, &type, nothing, 0, FI_PEEK);
        }
        return {};
    }
    // `active` is connected to an endpoint of `listening`.
    void join(End& active) {
        ASSERT_EQ(fi_connect(active.ep.get(), &address, nullptr, 0), 0);
        Seen request = wait_both(listening->eq.get(), active.eq.get());
        ASSERT_EQ(request.type, FI_CONNREQ);
        ASSERT_EQ(listening->open(request.info.get()), 0);
        ASSERT_EQ(fi_accept(listening->ep.get(), nullptr, 0), 0);
        ASSERT_EQ(next_event(listening->eq.get()).type, FI_CONNECTED);
        ASSERT_EQ(next_event(active.eq.get()).type, FI_CONNECTED);
    }

    InfoPtr info;
    Opened<fid_fabric> fabric;
    std::unique_ptr<End> listening;
    Opened<fid_pep> pep;
    sockaddr_in address{};
};

TEST_F(Connections, AnAcceptedRequestConnectsBothEndsAndCarriesDataBothWays) {
    auto active = caller();
    const std::string question(256, 'q'), answer = "welcome";
    ASSERT_EQ(fi_connect(active->ep.get(), &address, question.data(), question.size()), 0);
    Seen request = wait_both(listening->eq.get(), active->eq.get());
    ASSERT_EQ(request.type, FI_CONNREQ);
    EXPECT_EQ(request.object, pep.base());
    EXPECT_EQ(request.data, question);
    ASSERT_TRUE(request.info);
    ASSERT_TRUE(request.info->handle);
    EXPECT_EQ(request.info->handle->fclass, static_cast<size_t>(FI_CLASS_CONNREQ));
    EXPECT_EQ(request.info->ep_attr->type, FI_EP_MSG);
    ASSERT_EQ(listening->open(request.info.get()), 0);
    ASSERT_EQ(fi_accept(listening->ep.get(), answer.data(), answer.size()), 0);
    const Seen there = next_event(listening->eq.get());
    EXPECT_EQ(there.type, FI_CONNECTED);
    EXPECT_EQ(there.object, listening->ep.base());
    EXPECT_EQ(there.data, "");
    const Seen here = next_event(active->eq.get());
    EXPECT_EQ(here.type, FI_CONNECTED);
    EXPECT_EQ(here.object, active->ep.base());
    EXPECT_EQ(here.data, answer);

    sockaddr_in name{}, peer{};
    size_t length = sizeof name;
    EXPECT_EQ(fi_getname(active->ep.base(), &name, &length), 0);
    length = sizeof peer;
    EXPECT_EQ(fi_getpeer(listening->ep.get(), &peer, &length), 0);
    EXPECT_EQ(memcmp(&name, &peer, sizeof name), 0);
    length = sizeof peer;
    EXPECT_EQ(fi_getpeer(active->ep.get(), &peer, &length), 0);
    EXPECT_EQ(peer.sin_port, address.sin_port);

    char out[] = "over the wire", in[32] = {};
    ASSERT_EQ(fi_recv(listening->ep.get(), in, sizeof in, nullptr, 0, in), 0);
    ASSERT_EQ(fi_send(active->ep.get(), out, sizeof out, nullptr, 0, out), 0);
    fi_cq_msg_entry entry{};
    ssize_t count = 0;
    for (int i = 0; i < 10000000 && count != 1; ++i) {
        count = fi_cq_read(listening->cq.get(), &entry, 1);
        (void)fi_cq_read(active->cq.get(), nullptr, 0);
    }
    ASSERT_EQ(count, 1);
    EXPECT_EQ(entry.len, sizeof out);
    EXPECT_STREQ(in, out);
}

TEST_F(Connections, ARejectedRequestIsAnErrorWithTheDataOfTheOtherSide) {
    auto active = caller();
    ASSERT_EQ(fi_connect(active->ep.get(), &address, "please", 6), 0);
    Seen request = wait_both(listening->eq.get(), active->eq.get());
    ASSERT_EQ(request.type, FI_CONNREQ);
    fid handle_that_is_none{};
    EXPECT_EQ(fi_reject(pep.get(), &handle_that_is_none, nullptr, 0), -FI_EINVAL);
    ASSERT_EQ(fi_reject(pep.get(), request.info->handle, "never", 5), 0);
    EXPECT_EQ(fi_reject(pep.get(), request.info->handle, "never", 5), -FI_EINVAL) << "it was answered";
    const Failure failure = next_failure(active->eq.get());
    EXPECT_EQ(failure.error, FI_ECONNREFUSED);
    EXPECT_EQ(failure.object, active->ep.base());
    EXPECT_EQ(failure.data, "never");
    EXPECT_EQ(listening->open(request.info.get()), -FI_EINVAL) << "the request is gone";
}

TEST_F(Connections, NobodyListeningIsAnErrorEvent) {
    auto active = caller();
    ASSERT_EQ(pep.close(), 0);
    ASSERT_EQ(fi_connect(active->ep.get(), &address, nullptr, 0), 0);
    const Failure failure = next_failure(active->eq.get());
    EXPECT_EQ(failure.error, FI_ECONNREFUSED);
    EXPECT_EQ(failure.object, active->ep.base());
    EXPECT_EQ(fi_connect(active->ep.get(), &address, nullptr, 0), -FI_EISCONN) << "once in its lifetime";
}

// A socket that is listened at, but by nobody who knows the handshake.
TEST_F(Connections, SilenceEndsWithATimeout) {
    const int silent = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_EQ(bind(silent, reinterpret_cast<sockaddr*>(&at), sizeof at), 0);
    ASSERT_EQ(::listen(silent, 1), 0);
    socklen_t length = sizeof at;
    getsockname(silent, reinterpret_cast<sockaddr*>(&at), &length);
    setenv("FI_TCP_CONNECT_TIMEOUT", "200", 1);
    auto active = caller();
    ASSERT_EQ(fi_connect(active->ep.get(), &at, nullptr, 0), 0);
    EXPECT_EQ(next_failure(active->eq.get()).error, FI_ETIMEDOUT) << "found while it sleeps";
    unsetenv("FI_TCP_CONNECT_TIMEOUT");
    close(silent);
}

TEST_F(Connections, ShutdownIsSeenAtBothEnds) {
    auto active = caller();
    EXPECT_EQ(fi_shutdown(active->ep.get(), 0), -FI_ENOTCONN);
    join(*active);
    EXPECT_EQ(fi_shutdown(active->ep.get(), FI_SEND), -FI_EBADFLAGS);
    char buffer[8];
    ASSERT_EQ(fi_recv(active->ep.get(), buffer, sizeof buffer, nullptr, 0, buffer), 0);
    ASSERT_EQ(fi_shutdown(active->ep.get(), 0), 0);
    const Seen here = next_event(active->eq.get());
    EXPECT_EQ(here.type, FI_SHUTDOWN);
    EXPECT_EQ(here.object, active->ep.base());
    const Seen there = next_event(listening->eq.get());
    EXPECT_EQ(there.type, FI_SHUTDOWN);
    EXPECT_EQ(there.object, listening->ep.base());
    EXPECT_EQ(fi_shutdown(active->ep.get(), 0), -FI_ENOTCONN);
    EXPECT_EQ(next_event(active->eq.get(), 0).result, -FI_EAGAIN) << "told once";
}

TEST_F(Connections, AClosedEndpointIsAShutdownAtTheOtherEnd) {
    auto active = caller();
    join(*active);
    ASSERT_EQ(active->ep.close(), 0);
    EXPECT_EQ(next_event(listening->eq.get()).type, FI_SHUTDOWN);
    sockaddr_in peer{};
    size_t length = sizeof peer;
    EXPECT_EQ(fi_getpeer(listening->ep.get(), &peer, &length), -FI_ENOTCONN);
}

TEST_F(Connections, AnEndpointClosedWhileItConnectsLeavesNothing) {
    auto active = caller();
    ASSERT_EQ(fi_connect(active->ep.get(), &address, nullptr, 0), 0);
    ASSERT_EQ(active->ep.close(), 0);
    EXPECT_EQ(next_event(listening->eq.get(), 50).result, -FI_EAGAIN);
    // Likewise when its request was already told: accepting it fails, or the end follows.
    active = caller();
    ASSERT_EQ(fi_connect(active->ep.get(), &address, nullptr, 0), 0);
    Seen request = wait_both(listening->eq.get(), active->eq.get());
    ASSERT_EQ(request.type, FI_CONNREQ);
    ASSERT_EQ(active->ep.close(), 0);
    ASSERT_EQ(listening->open(request.info.get()), 0);
    if (fi_accept(listening->ep.get(), nullptr, 0) == 0) {
        EXPECT_EQ(next_event(listening->eq.get()).type, FI_CONNECTED);
        EXPECT_EQ(next_event(listening->eq.get()).type, FI_SHUTDOWN);
    }
}

TEST_F(Connections, APassiveEndpointClosedWithRequestsRefusesThem) {
    auto one = caller(), two = caller();
    ASSERT_EQ(fi_connect(one->ep.get(), &address, nullptr, 0), 0);
    Seen request = wait_both(listening->eq.get(), one->eq.get());
    ASSERT_EQ(request.type, FI_CONNREQ);
    ASSERT_EQ(fi_connect(two->ep.get(), &address, nullptr, 0), 0);
    for (int i = 0; i < 100; ++i) {  // told, not read
        uint32_t type;
        char nothing[1];
        (void)fi_eq_read(two->eq.get(), &type, nothing, 0, FI_PEEK);
        (void)fi_eq_read(listening->eq.get(), &type, nothing, 0, FI_PEEK);
    }
    ASSERT_EQ(pep.close(), 0);
    EXPECT_EQ(next_failure(one->eq.get()).error, FI_ECONNREFUSED);
    EXPECT_EQ(next_failure(two->eq.get()).error, FI_ECONNREFUSED);
    EXPECT_EQ(listening->open(request.info.get()), -FI_EINVAL);
}

TEST_F(Connections, AnEndpointOpenedOnARequestAndClosedRefusesIt) {
    auto active = caller();
    ASSERT_EQ(fi_connect(active->ep.get(), &address, nullptr, 0), 0);
    Seen request = wait_both(listening->eq.get(), active->eq.get());
    ASSERT_EQ(request.type, FI_CONNREQ);
    ASSERT_EQ(listening->open(request.info.get()), 0);
    EXPECT_EQ(fi_connect(listening->ep.get(), &address, nullptr, 0), -FI_EOPBADSTATE);
    ASSERT_EQ(listening->ep.close(), 0);
    EXPECT_EQ(next_failure(active->eq.get()).error, FI_ECONNREFUSED);
}

TEST_F(Connections, CallsOutOfPlaceAreErrors) {
    auto active = caller();
    EXPECT_EQ(fi_connect(active->ep.get(), nullptr, nullptr, 0), -FI_EINVAL);
    EXPECT_EQ(fi_accept(active->ep.get(), nullptr, 0), -FI_EOPBADSTATE) << "there was no request";
    sockaddr_in peer{};
    size_t length = sizeof peer;
    EXPECT_EQ(fi_getpeer(active->ep.get(), &peer, &length), -FI_ENOTCONN);
    EXPECT_EQ(fi_listen(pep.get()), -FI_EALREADY);
    EXPECT_EQ(fi_setname(pep.base(), &address, sizeof address), -FI_EOPBADSTATE);
    Opened<fid_pep> no_queue;
    ASSERT_EQ(fi_passive_ep(fabric.get(), info.get(), no_queue.out(), nullptr), 0);
    EXPECT_EQ(fi_listen(no_queue.get()), -FI_ENOEQ);
    ASSERT_EQ(fi_pep_bind(no_queue.get(), listening->eq.base(), 0), 0);
    ASSERT_EQ(fi_setname(no_queue.base(), &address, sizeof address), 0);
    EXPECT_EQ(fi_listen(no_queue.get()), -FI_EADDRINUSE);
}

TEST_F(Connections, MoreDataThanFitsIsCutAndTheLimitCanBeAsked) {
    auto active = caller();
    size_t most = 0, length = sizeof most;
    ASSERT_EQ(fi_getopt(active->ep.base(), FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &most, &length), 0);
    const std::string data(most + 100, 'd');
    ASSERT_EQ(fi_connect(active->ep.get(), &address, data.data(), data.size()), 0);
    EXPECT_EQ(wait_both(listening->eq.get(), active->eq.get()).data, data.substr(0, most));
}

TEST_F(Connections, NoMoreRequestsThanTheBacklogAreKept) {
    ASSERT_EQ(pep.close(), 0);
    listen(1);
    auto one = caller(), two = caller();
    ASSERT_EQ(fi_connect(one->ep.get(), &address, nullptr, 0), 0);
    Seen request = wait_both(listening->eq.get(), one->eq.get());
    ASSERT_EQ(request.type, FI_CONNREQ);
    ASSERT_EQ(fi_connect(two->ep.get(), &address, nullptr, 0), 0);
    const Seen refused = wait_both(two->eq.get(), listening->eq.get());
    EXPECT_EQ(refused.result, -FI_EAVAIL);
}

TEST_F(Connections, AKeyOfTheDomainHasToBeHeldByTheCaller) {
    uint8_t key[] = {9, 8, 7};
    InfoPtr keyed(fi_dupinfo(info.get()));
    keyed->domain_attr->auth_key = static_cast<uint8_t*>(malloc(sizeof key));
    memcpy(keyed->domain_attr->auth_key, key, sizeof key);
    keyed->domain_attr->auth_key_size = sizeof key;
    auto stranger = caller();
    // The passive endpoint has no domain: the proof is looked at when its request is accepted on one that has a key.
    ASSERT_EQ(fi_connect(stranger->ep.get(), &address, nullptr, 0), 0);
    Seen request = wait_both(listening->eq.get(), stranger->eq.get());
    ASSERT_EQ(request.type, FI_CONNREQ);
    ASSERT_EQ(fi_domain(fabric.get(), keyed.get(), listening->domain.out(), nullptr), 0);
    fi_cq_attr cq_attr{};
    ASSERT_EQ(fi_cq_open(listening->domain.get(), &cq_attr, listening->cq.out(), nullptr), 0);
    ASSERT_EQ(listening->open(request.info.get()), 0);
    EXPECT_EQ(fi_accept(listening->ep.get(), nullptr, 0), -FI_EKEYREJECTED);
    EXPECT_EQ(next_failure(stranger->eq.get()).error, FI_EKEYREJECTED);
    ASSERT_EQ(listening->ep.close(), 0);
    End friendly(fabric.get(), keyed.get());
    join(friendly);
}

TEST_F(Connections, TheDescriptorOfAnEventQueueWakesForARequest) {
    ASSERT_EQ(pep.close(), 0);
    listening = std::make_unique<End>(fabric.get(), nullptr, FI_WAIT_FD);
    listen();
    int descriptor = -1;
    ASSERT_EQ(fi_control(listening->eq.base(), FI_GETWAIT, &descriptor), 0);
    auto active = caller();
    ASSERT_EQ(fi_connect(active->ep.get(), &address, nullptr, 0), 0);
    Seen seen;
    for (int i = 0; i < 100 && seen.type != FI_CONNREQ; ++i) {
        uint32_t type;
        char nothing[1];
        (void)fi_eq_read(active->eq.get(), &type, nothing, 0, FI_PEEK);
        fid* object = listening->eq.base();
        if (fi_trywait(fabric.get(), &object, 1) == 0) {
            pollfd wait{.fd = descriptor, .events = POLLIN, .revents = 0};
            poll(&wait, 1, 20);
        }
        seen = next_event(listening->eq.get(), 0);
    }
    EXPECT_EQ(seen.type, FI_CONNREQ);
}

}  // namespace
}  // namespace selvage::test
