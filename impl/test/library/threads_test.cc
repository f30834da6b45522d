// Any thread may ask, copy, open and close at any time; interfaces may change meanwhile. Any thread may read an event
// queue at any time, whatever is promised of the calls on a domain.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "impl/test/library/pair.h"
#include "impl/test/library/serial_domain.h"

namespace selvage::test {
namespace {

TEST(Threads, AskOpenAndCloseAtOnce) {
    std::atomic<int> failures{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 300; ++i) {
                const char* provider = (t + i) % 2 ? "shm" : "tcp";
                const Answer answer = getinfo(make_hints(provider, FI_EP_RDM));
                failures += answer.result != 0;
                const InfoPtr copy(fi_dupinfo(answer.get()));
                failures += !copy;
                Network setup(provider);
                failures += setup.result != 0;
                Opened<fid_mr> region;
                failures += fi_mr_reg(setup.domain.get(), &failures, sizeof failures, FI_REMOTE_READ, 0, 1, 0,
                                      region.out(), nullptr) != 0;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(failures, 0);
}

constexpr uint64_t kValues = 1000;

// Sends so many values from the first to the second. All calls are made by this thread.
void exchange_values(SerialSide& from, SerialSide& to, fi_addr_t address, uint64_t values) {
    const uint64_t before = fi_cntr_read(to.received.get());
    std::array<fi_cq_entry, 8> entries;
    uint64_t sent = 0, received = 0, posted = 0;
    for (int idle = 0; received < values && idle < 20'000'000; ++idle) {
        if (posted == received && !fi_recv(to.ep.get(), &to.value, sizeof to.value, nullptr, FI_ADDR_UNSPEC, nullptr))
            ++posted;
        if (sent < posted && !fi_inject(from.ep.get(), &sent, sizeof sent, address)) ++sent;
        ASSERT_TRUE(fi_cq_read(from.cq.get(), entries.data(), entries.size()) <= 0) << "an entry of nothing";
        const ssize_t read = fi_cq_read(to.cq.get(), entries.data(), entries.size());
        ASSERT_TRUE(read == -FI_EAGAIN || read == 1) << read;
        if (read != 1) continue;
        ASSERT_EQ(to.value, received);
        ++received;
        idle = 0;
    }
    EXPECT_EQ(received, values);
    EXPECT_EQ(fi_cntr_read(to.received.get()), before + values);
}

// The same with the event queues of both read by others.
void exchange(SerialSide& from, SerialSide& to, fi_addr_t address) {
    EventReader here(from.eq.get()), there(to.eq.get());
    exchange_values(from, to, address, kValues);
}

using EventQueueThreads = SerialDomain;

TEST_P(EventQueueThreads, MayReadWhileConnectionsAreUsed) {
    open("tcp", FI_EP_MSG, FI_MSG, "127.0.0.1");
    Opened<fid_eq> listens;
    Opened<fid_pep> passive;
    fi_eq_attr attr{};
    ASSERT_EQ(fi_eq_open(fabric.get(), &attr, listens.out(), nullptr), 0);
    ASSERT_EQ(fi_passive_ep(fabric.get(), info.get(), passive.out(), nullptr), 0);
    ASSERT_EQ(fi_pep_bind(passive.get(), listens.base(), 0), 0);
    ASSERT_EQ(fi_listen(passive.get()), 0);
    sockaddr_storage address;
    size_t length = sizeof address;
    ASSERT_EQ(fi_getname(passive.base(), &address, &length), 0);
    SerialSide caller, called;
    caller.open(fabric.get(), domain.get(), info.get());
    ASSERT_EQ(fi_connect(caller.ep.get(), &address, nullptr, 0), 0);
    fi_eq_cm_entry request{};
    uint32_t type = 0;
    for (int i = 0; i < 100'000 && type != FI_CONNREQ; ++i) {
        caller.next_event();
        (void)fi_eq_sread(listens.get(), &type, &request, sizeof request, 1, 0);
    }
    ASSERT_EQ(type, uint32_t{FI_CONNREQ});
    const InfoPtr requested(request.info);
    called.open(fabric.get(), domain.get(), requested.get());
    ASSERT_EQ(fi_accept(called.ep.get(), nullptr, 0), 0);
    bool connected[2] = {};
    for (int i = 0; i < 1'000'000 && !(connected[0] && connected[1]); ++i) {
        connected[0] |= caller.next_event() == FI_CONNECTED;
        connected[1] |= called.next_event() == FI_CONNECTED;
    }
    ASSERT_TRUE(connected[0] && connected[1]);
    exchange(caller, called, FI_ADDR_UNSPEC);
}

class TwoMembers : public EventQueueThreads {
protected:
    void open_members() {
        open("shm", FI_EP_RDM, FI_MSG | FI_COLLECTIVE, nullptr);
        for (SerialSide& side : sides) {
            side.open(fabric.get(), domain.get(), info.get());
            side.enable(domain.get());
        }
        for (SerialSide& side : sides) {
            for (int i = 0; i < 2; ++i) addresses[i] = side.insert(sides[i]);
        }
    }
    void join() {
        for (SerialSide& side : sides) side.join({addresses[0], addresses[1]});
    }

    SerialSide sides[2];
    fi_addr_t addresses[2];
};

TEST_P(TwoMembers, MayReadWhileTheirGroupIsOpen) {
    open_members();
    join();
    bool joined[2] = {};
    for (int i = 0; i < 1'000'000 && !(joined[0] && joined[1]); ++i) {
        for (int n = 0; n < 2; ++n) joined[n] |= sides[n].next_event() == FI_JOIN_COMPLETE;
    }
    ASSERT_TRUE(joined[0] && joined[1]);
    exchange(sides[0], sides[1], addresses[1]);
}

// Who reads the event queues moves the joins, and messages with them, beside the thread that sends and receives.
TEST_P(TwoMembers, MayReadWhileTheyJoin) {
    open_members();
    EventReader here(sides[0].eq.get()), there(sides[1].eq.get());
    for (int round = 1; round <= 50; ++round) {
        join();
        exchange_values(sides[0], sides[1], addresses[1], 20);
        while (!HasFailure() && !(here.joined() == round && there.joined() == round)) {
            ASSERT_EQ(here.errors() + there.errors(), 0);
            std::this_thread::yield();
        }
        exchange_values(sides[0], sides[1], addresses[1], 20);
        for (SerialSide& side : sides) ASSERT_EQ(side.group.close(), 0);
    }
}

// A join that waits is given up while its event queue is read.
TEST_P(TwoMembers, MayReadWhileAJoinIsGivenUp) {
    open_members();
    EventReader here(sides[0].eq.get());
    for (int round = 0; round < 50; ++round) {
        sides[0].join({addresses[0], addresses[1]});
        exchange_values(sides[0], sides[1], addresses[1], 5);
        ASSERT_EQ(sides[0].group.close(), 0);
    }
    EXPECT_EQ(here.joined(), 0);
}

// One queue of two endpoints: a join of one begins while who reads events moves the other, and writes there.
TEST_P(TwoMembers, MayReadWhileAnotherEndpointOfTheQueueJoins) {
    open_members();
    SerialSide third;
    third.open(fabric.get(), domain.get(), info.get(), 0, &sides[0]);
    third.enable(domain.get());
    const fi_addr_t own = third.insert(third), never = third.insert(sides[1]);
    sides[0].join({addresses[0], addresses[1]});
    EventReader here(sides[0].eq.get());
    fi_cq_entry entry;
    for (int round = 0; round < 200; ++round) {
        ASSERT_EQ(fi_recv(sides[0].ep.get(), &sides[0].value, sizeof sides[0].value, nullptr, FI_ADDR_UNSPEC, nullptr),
                  0);
        ASSERT_EQ(fi_inject(sides[1].ep.get(), &round, sizeof round, addresses[0]), 0);
        third.join({own, never});
        ssize_t read = -FI_EAGAIN;
        for (int i = 0; i < 1'000'000 && read == -FI_EAGAIN; ++i) read = fi_cq_read(sides[0].cq.get(), &entry, 1);
        ASSERT_EQ(read, 1);
        ASSERT_EQ(third.group.close(), 0);
        (void)fi_cq_read(sides[0].cq.get(), &entry, 1);
    }
    EXPECT_EQ(here.joined(), 0);
}

// Control calls are safe in several threads: flags of an alias, and what enabling the base does with them.
TEST(Threads, SetFlagsOfAnAliasWhileItsBaseIsEnabled) {
    for (int round = 0; round < 20; ++round) {
        Network network("shm");
        Pair pair(network);
        Opened<fid_ep> alias;
        ASSERT_EQ(fi_ep_alias(pair.a.ep.get(), alias.out(), FI_TRANSMIT), 0);
        std::thread other([&] {
            for (int i = 0; i < 200; ++i) {
                uint64_t flags = FI_TRANSMIT | (i % 2 ? FI_COMPLETION : FI_INJECT_COMPLETE);
                EXPECT_EQ(fi_control(alias.base(), FI_SETOPSFLAG, &flags), 0);
            }
        });
        EXPECT_EQ(fi_enable(pair.a.ep.get()), 0);
        other.join();
    }
}

INSTANTIATE_TEST_SUITE_P(Levels, EventQueueThreads, testing::Values(FI_THREAD_DOMAIN, FI_THREAD_COMPLETION));
INSTANTIATE_TEST_SUITE_P(Levels, TwoMembers, testing::Values(FI_THREAD_DOMAIN, FI_THREAD_COMPLETION));

}  // namespace
}  // namespace selvage::test
