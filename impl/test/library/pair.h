// Two connectionless endpoints of one domain that know each other, for tests of calls that move data.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>

#include "impl/test/library/objects.h"

namespace selvage::test {

// Closed in the reverse order, the endpoint first.
struct Side {
    Opened<fid_cq> cq;
    Opened<fid_av> av;
    Opened<fid_ep> ep;
    fi_addr_t peer = FI_ADDR_NOTAVAIL;

    int open(Network& network, fi_wait_obj wait = FI_WAIT_UNSPEC) {
        fi_cq_attr cq_attr{};
        cq_attr.wait_obj = wait;
        fi_av_attr av_attr{};
        int error = fi_cq_open(network.domain.get(), &cq_attr, cq.out(), nullptr);
        if (!error) error = fi_av_open(network.domain.get(), &av_attr, av.out(), nullptr);
        if (!error) error = fi_endpoint(network.domain.get(), network.info.get(), ep.out(), nullptr);
        if (!error) error = fi_ep_bind(ep.get(), cq.base(), FI_TRANSMIT | FI_RECV);
        return error ? error : fi_ep_bind(ep.get(), av.base(), 0);
    }
    int meet(const Side& other) {
        char name[256];
        size_t length = sizeof name;
        const int error = fi_getname(other.ep.base(), name, &length);
        if (error) return error;
        return fi_av_insert(av.get(), name, 1, &peer, 0, nullptr) == 1 ? 0 : -FI_EOTHER;
    }
};

struct Pair {
    Side a, b;

    explicit Pair(Network& network, fi_wait_obj wait = FI_WAIT_UNSPEC) {
        EXPECT_EQ(a.open(network, wait), 0);
        EXPECT_EQ(b.open(network, wait), 0);
    }
    void enable() {
        EXPECT_EQ(fi_enable(a.ep.get()), 0);
        EXPECT_EQ(fi_enable(b.ep.get()), 0);
        EXPECT_EQ(a.meet(b), 0);
        EXPECT_EQ(b.meet(a), 0);
    }
    // Both ways one byte, so that what connects them is there, and nothing is left in the queues.
    void greet() {
        for (const Side* from : {&a, &b}) {
            const Side& to = from == &a ? b : a;
            char byte = 0;
            EXPECT_EQ(fi_recv(to.ep.get(), &byte, 1, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
            EXPECT_EQ(until_taken([&] { return fi_inject(from->ep.get(), "x", 1, from->peer); }), 0);
            EXPECT_EQ(wait_for_entry(to), 1);
            EXPECT_EQ(byte, 'x');
        }
    }
    // The next entry of one side, while both make progress; for ten seconds at most.
    ssize_t wait_for_entry(const Side& side) {
        fi_cq_entry entry;
        ssize_t result = -FI_EAGAIN;
        for (int i = 0; i < 10000 && result == -FI_EAGAIN; ++i) {
            progress();
            result = fi_cq_sread(side.cq.get(), &entry, 1, nullptr, 1);
        }
        return result;
    }
    // Posts again while the answer is -FI_EAGAIN.
    template <typename Post>
    ssize_t until_taken(Post post) {
        ssize_t result = -FI_EAGAIN;
        for (int i = 0; i < 10000 && result == -FI_EAGAIN; ++i) {
            result = post();
            if (result == -FI_EAGAIN) progress();
        }
        return result;
    }
    void progress() {
        fi_cq_read(a.cq.get(), nullptr, 0);
        fi_cq_read(b.cq.get(), nullptr, 0);
        sched_yield();
    }
};

}  // namespace selvage::test
