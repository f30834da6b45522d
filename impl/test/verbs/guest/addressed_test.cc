// FI_EP_RDM over a device.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "impl/test/verbs/guest/ends.h"

namespace selvage::test {
namespace {

TEST(VerbsRdm, MessagesOfEveryLengthArriveAsTheyWereSentBothWays) {
    End a, b;
    const fi_addr_t to_b = a.address_of(b), to_a = b.address_of(a);
    for (const size_t size : {0u, 1u, 64u, 224u, 225u, 4096u, 8192u, 8193u, 70'000u, 1'000'000u}) {
        for (const bool back : {false, true}) {
            End& from = back ? b : a;
            End& to = back ? a : b;
            const std::string sent = pattern(size, static_cast<unsigned>(size) + back);
            std::string got(size, '?');
            a.done.clear(), b.done.clear();
            ASSERT_EQ(fi_trecv(to.ep.get(), got.data(), size, nullptr, FI_ADDR_UNSPEC, size, 0, &got), 0);
            ASSERT_EQ(again({&a, &b},
                            [&] {
                                return fi_tsend(from.ep.get(), sent.data(), size, nullptr, back ? to_a : to_b, size,
                                                nullptr);
                            }),
                      0);
            ASSERT_TRUE(until({&a, &b}, [&] { return !a.done.empty() && !b.done.empty(); })) << size;
            EXPECT_EQ(to.done[0].op_context, &got);
            EXPECT_EQ(to.done[0].len, size);
            EXPECT_EQ(got, sent) << size;
        }
    }
}

TEST(VerbsRdm, ASenderFarAheadOfItsReceiverWaitsAndLosesNothing) {
    End a, b;
    const fi_addr_t to_b = a.address_of(b);
    constexpr uint64_t kCount = 3000;
    uint64_t sent = 0, got = 0, next = 0;
    std::string place(64, '\0');
    // The receiver looks only when the sender cannot go on.
    ASSERT_TRUE(until(
        {&a},
        [&] {
            while (sent < kCount && !fi_tinject(a.ep.get(), &sent, sizeof sent, to_b, sent)) ++sent;
            if (got == kCount) return true;
            if (got == next && next < kCount &&
                !fi_trecv(b.ep.get(), place.data(), 8, nullptr, FI_ADDR_UNSPEC, next, 0, nullptr)) {
                ++next;
            }
            b.poll();
            for (; !b.done.empty(); b.done.pop_back()) {
                uint64_t value;
                memcpy(&value, place.data(), sizeof value);
                EXPECT_EQ(value, got);
                ++got;
            }
            return false;
        },
        60))
        << sent << " sent, " << got << " received";
    EXPECT_TRUE(a.failures.empty());
}

TEST(VerbsRdm, AnEndpointReachesItself) {
    End a;
    const fi_addr_t self = a.address_of(a);
    uint64_t in = 0, out = 42;
    ASSERT_EQ(fi_recv(a.ep.get(), &in, sizeof in, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_send(a.ep.get(), &out, sizeof out, nullptr, self, nullptr), 0);
    ASSERT_TRUE(until({&a}, [&] { return a.done.size() == 2; }));
    EXPECT_EQ(in, 42u);
}

TEST(VerbsRdm, TwoThatCallEachOtherAtOnceFindOneConnection) {
    End a, b;
    const fi_addr_t to_b = a.address_of(b), to_a = b.address_of(a);
    uint64_t in[2] = {}, out[2] = {1, 2};
    ASSERT_EQ(fi_recv(a.ep.get(), &in[0], 8, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_recv(b.ep.get(), &in[1], 8, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_send(a.ep.get(), &out[0], 8, nullptr, to_b, nullptr), 0);
    ASSERT_EQ(fi_send(b.ep.get(), &out[1], 8, nullptr, to_a, nullptr), 0);
    ASSERT_TRUE(until({&a, &b}, [&] { return a.done.size() == 2 && b.done.size() == 2; }));
    EXPECT_EQ(in[0], 2u);
    EXPECT_EQ(in[1], 1u);
}

TEST(VerbsRdm, NobodyListeningIsAnErrorCompletion) {
    End a;
    fi_addr_t nobody;
    {
        End b;
        nobody = a.address_of(b);
    }
    uint64_t out = 1;
    ASSERT_EQ(fi_send(a.ep.get(), &out, 8, nullptr, nobody, &out), 0);
    ASSERT_TRUE(until({&a}, [&] { return !a.failures.empty(); }));
    EXPECT_EQ(a.failures[0].err, FI_ECONNREFUSED);
    EXPECT_EQ(a.failures[0].op_context, &out);
}

TEST(VerbsRdm, APeerThatClosesFailsWhatIsPendingAndNothingElse) {
    End a, c;
    const fi_addr_t to_c = a.address_of(c);
    std::string large(1'000'000, 'x');
    uint64_t in = 0, out = 7;
    {
        End b;
        const fi_addr_t to_b = a.address_of(b);
        ASSERT_EQ(fi_send(a.ep.get(), large.data(), large.size(), nullptr, to_b, &large), 0);
        const auto start = std::chrono::steady_clock::now();
        until({&a, &b}, [&] { return std::chrono::steady_clock::now() - start > std::chrono::seconds(1); });
    }
    ASSERT_TRUE(until({&a}, [&] { return !a.failures.empty(); }));
    EXPECT_EQ(a.failures[0].op_context, &large);
    EXPECT_EQ(a.failures[0].err, FI_ECONNRESET);
    ASSERT_EQ(fi_recv(c.ep.get(), &in, 8, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_send(a.ep.get(), &out, 8, nullptr, to_c, nullptr), 0);
    ASSERT_TRUE(until({&a, &c}, [&] { return in == 7; }));
}

TEST(VerbsRdm, ADomainWithAnotherKeyIsNotTalkedTo) {
    End a({.key = "one key"}), b({.key = "another"}), c({.key = "one key"});
    uint64_t in = 0, out = 7;
    const fi_addr_t to_b = a.address_of(b), to_c = a.address_of(c);
    ASSERT_EQ(fi_send(a.ep.get(), &out, 8, nullptr, to_b, nullptr), 0);
    ASSERT_TRUE(until({&a, &b}, [&] { return !a.failures.empty(); }));
    EXPECT_EQ(a.failures[0].err, FI_EKEYREJECTED);
    ASSERT_EQ(fi_recv(c.ep.get(), &in, 8, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_send(a.ep.get(), &out, 8, nullptr, to_c, nullptr), 0);
    ASSERT_TRUE(until({&a, &c}, [&] { return in == 7; }));
}

TEST(VerbsRdm, ASleeperIsWokenByWhatArrives) {
    End a, b({.wait = FI_WAIT_FD});
    const fi_addr_t to_b = a.address_of(b);
    uint64_t in = 0, out = 7;
    ASSERT_EQ(fi_recv(b.ep.get(), &in, 8, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    for (int round = 0; round < 3; ++round) {
        std::thread sender([&] {
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
            ASSERT_EQ(fi_send(a.ep.get(), &out, 8, nullptr, to_b, nullptr), 0);
            until({&a}, [&] { return !a.done.empty(); });
            a.done.clear();
        });
        fi_cq_tagged_entry entry;
        EXPECT_EQ(fi_cq_sread(b.cq.get(), &entry, 1, nullptr, 20'000), 1);
        sender.join();
        ASSERT_EQ(fi_recv(b.ep.get(), &in, 8, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    }
}

// One message between two new endpoints.
bool talks() {
    End a, b;
    uint64_t in = 0, out = 7;
    const fi_addr_t to_b = a.address_of(b);
    return fi_recv(b.ep.get(), &in, 8, nullptr, FI_ADDR_UNSPEC, nullptr) == 0 &&
           fi_send(a.ep.get(), &out, 8, nullptr, to_b, nullptr) == 0 &&
           until({&a, &b}, [&] { return in == 7 || !a.failures.empty(); }) && in == 7;
}

// The kernel takes requests from the process alone that opened the device.
TEST(VerbsRdm, AChildOfAProcessThatHasLookedAtDevicesCanUseThem) {
    ASSERT_EQ(find({}).result, 0);
    const pid_t child = fork();
    if (child == 0) _exit(talks() ? 0 : 1);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(talks()) << "the parent";
}

TEST(VerbsRdm, AChildOfAProcessThatHasADeviceOpenIsRefusedADomain) {
    End a;
    const pid_t child = fork();
    if (child == 0) {
        fid_domain* domain = nullptr;
        const int result = fi_domain(a.fabric.get(), a.info.get(), &domain, nullptr);
        _exit(result == -FI_ENODEV ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

// What was sent last is on its way when an end closes, but not to an end that has left.
TEST(VerbsRdm, TheLaterOfTwoThatCloseDoesNotWaitForTheOther) {
    End a, b;
    const fi_addr_t to_b = a.address_of(b), to_a = b.address_of(a);
    uint64_t in = 0, out = 7;
    ASSERT_EQ(fi_recv(a.ep.get(), &in, 8, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_send(a.ep.get(), &out, 8, nullptr, to_b, nullptr), 0);
    ASSERT_EQ(fi_send(b.ep.get(), &out, 8, nullptr, to_a, nullptr), 0);
    ASSERT_TRUE(until({&a, &b}, [&] { return in == 7; }));
    EXPECT_EQ(a.ep.close(), 0);
    const auto began = std::chrono::steady_clock::now();
    EXPECT_EQ(b.ep.close(), 0);
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(700));
}

TEST(VerbsRdm, ADeviceThatIsRemovedEndsWhatIsPending) {
    if (!getenv("SELVAGE_REMOVE_DEVICE")) GTEST_SKIP() << "takes the machine's device away";
    End a, b;
    const fi_addr_t to_b = a.address_of(b);
    uint64_t in = 0, out = 7;
    ASSERT_EQ(fi_recv(b.ep.get(), &in, 8, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_send(a.ep.get(), &out, 8, nullptr, to_b, nullptr), 0);
    ASSERT_TRUE(until({&a, &b}, [&] { return in == 7; }));
    std::string large(1'000'000, 'x');
    ASSERT_EQ(fi_send(a.ep.get(), large.data(), large.size(), nullptr, to_b, &large), 0);
    // The system ends the removal when no process has the device open, and rdma_cm keeps it open in this one.
    ASSERT_EQ(system("rdma link del rxe0 &"), 0);
    EXPECT_TRUE(until({&a, &b}, [&] { return !a.failures.empty(); }));
    EXPECT_NE(fi_send(a.ep.get(), &out, 8, nullptr, to_b, nullptr), 0);
    EXPECT_EQ(a.ep.close(), 0);
    EXPECT_EQ(b.ep.close(), 0);
}

}  // namespace
}  // namespace selvage::test
