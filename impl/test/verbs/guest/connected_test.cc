// FI_EP_MSG over a device.
#include "impl/test/verbs/guest/ends.h"

namespace selvage::test {
namespace {

const Request kMsg{.provider = "verbs", .type = FI_EP_MSG};

struct Seen {
    ssize_t result = -FI_EAGAIN;
    uint32_t type = 0;
    InfoPtr info;
    std::string data;
    int error = 0;
};

class VerbsMsg : public ::testing::Test {
protected:
    struct Side : End {
        explicit Side(const Request& request = kMsg) : End(request) {
            fi_eq_attr attr{};
            EXPECT_EQ(fi_eq_open(fabric.get(), &attr, eq.out(), nullptr), 0);
        }
        void open(fi_info* from) {
            ASSERT_EQ(fi_endpoint(domain.get(), from, ep.out(), nullptr), 0);
            ASSERT_EQ(fi_ep_bind(ep.get(), eq.base(), 0), 0);
            ASSERT_EQ(fi_ep_bind(ep.get(), cq.base(), FI_TRANSMIT | FI_RECV), 0);
            ASSERT_EQ(fi_enable(ep.get()), 0);
        }
        void look() {
            alignas(fi_eq_cm_entry) char bytes[sizeof(fi_eq_cm_entry) + 512];
            Seen seen;
            seen.result = fi_eq_read(eq.get(), &seen.type, bytes, sizeof bytes, 0);
            if (seen.result == -FI_EAVAIL) {
                fi_eq_err_entry entry{};
                char data[256];
                entry.err_data = data;
                entry.err_data_size = sizeof data;
                fi_eq_readerr(eq.get(), &entry, 0);
                seen.error = entry.err;
                seen.data.assign(static_cast<char*>(entry.err_data), entry.err_data_size);
                events.push_back(std::move(seen));
            } else if (seen.result > 0) {
                fi_eq_cm_entry entry;
                memcpy(static_cast<void*>(&entry), bytes, sizeof entry);
                if (seen.type == FI_CONNREQ) seen.info.reset(entry.info);
                seen.data.assign(bytes + sizeof entry, static_cast<size_t>(seen.result) - sizeof entry);
                events.push_back(std::move(seen));
            }
        }
        Opened<fid_eq> eq;  // closed after the endpoint, which is reset in the test's end
        std::vector<Seen> events;
    };

    explicit VerbsMsg(const std::string& key = "") : request_(with_key(key)), listening(request_), active(request_) {}
    static Request with_key(const std::string& key) {
        Request request = kMsg;
        request.key = key;
        return request;
    }
    void SetUp() override {
        ASSERT_EQ(fi_passive_ep(listening.fabric.get(), listening.info.get(), pep.out(), nullptr), 0);
        ASSERT_EQ(fi_pep_bind(pep.get(), listening.eq.base(), 0), 0);
        ASSERT_EQ(fi_listen(pep.get()), 0);
        size_t length = sizeof address;
        ASSERT_EQ(fi_getname(pep.base(), &address, &length), 0);
        active.open(active.info.get());
    }
    void TearDown() override {
        for (Side* side : {&active, &listening}) {
            if (side->ep.get()) {
                EXPECT_EQ(side->ep.close(), 0);
            }
        }
    }
    bool event_of(Side& side, size_t count = 1) {
        return until({&active, &listening}, [&] {
            active.look(), listening.look();
            return side.events.size() >= count;
        });
    }
    void request(const std::string& data) {
        ASSERT_EQ(fi_connect(active.ep.get(), &address, data.data(), data.size()), 0);
        ASSERT_TRUE(event_of(listening));
        ASSERT_EQ(listening.events[0].type, FI_CONNREQ);
        EXPECT_EQ(listening.events[0].data.substr(0, data.size()), data);
    }
    void join() {
        request("question");
        listening.open(listening.events[0].info.get());
        ASSERT_EQ(fi_accept(listening.ep.get(), "welcome", 7), 0);
        // The listening side does nothing until the caller is connected.
        ASSERT_TRUE(until({&active}, [&] { return active.look(), !active.events.empty(); }));
        ASSERT_EQ(active.events[0].type, FI_CONNECTED);
        EXPECT_EQ(active.events[0].data.substr(0, 7), "welcome");
        listening.look();
        ASSERT_EQ(listening.events.back().type, FI_CONNECTED);
    }

    Request request_;
    Side listening, active;
    Opened<fid_pep> pep;
    sockaddr_storage address{};
};

TEST_F(VerbsMsg, AnAcceptedRequestCarriesDataBothWaysAndThenMessages) {
    size_t room = 0, length = sizeof room;
    EXPECT_EQ(fi_getopt(active.ep.base(), FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &room, &length), 0);
    EXPECT_EQ(room, 32u);
    join();
    for (const size_t size : {8u, 5000u, 300'000u}) {
        for (const bool back : {false, true}) {
            Side& from = back ? listening : active;
            Side& to = back ? active : listening;
            const std::string sent = pattern(size, back);
            std::string got(size, '?');
            from.done.clear(), to.done.clear();
            ASSERT_EQ(fi_recv(to.ep.get(), got.data(), size, nullptr, 0, nullptr), 0);
            ASSERT_EQ(fi_send(from.ep.get(), sent.data(), size, nullptr, 0, nullptr), 0);
            ASSERT_TRUE(until({&active, &listening}, [&] { return !from.done.empty() && !to.done.empty(); }));
            EXPECT_EQ(got, sent);
        }
    }
}

TEST_F(VerbsMsg, ARefusalBringsItsWords) {
    request("please");
    ASSERT_EQ(fi_reject(pep.get(), listening.events[0].info->handle, "no, not today", 13), 0);
    ASSERT_TRUE(event_of(active));
    EXPECT_EQ(active.events[0].error, FI_ECONNREFUSED);
    EXPECT_EQ(active.events[0].data.substr(0, 13), "no, not today");
}

TEST_F(VerbsMsg, NobodyListeningIsARefusal) {
    ASSERT_EQ(pep.close(), 0);
    ASSERT_EQ(fi_connect(active.ep.get(), &address, nullptr, 0), 0);
    ASSERT_TRUE(event_of(active));
    EXPECT_EQ(active.events[0].error, FI_ECONNREFUSED);
}

TEST_F(VerbsMsg, ShutdownDeliversWhatWasSentAndIsToldAtBothEnds) {
    join();
    uint64_t in = 0, out = 7;
    ASSERT_EQ(fi_recv(listening.ep.get(), &in, 8, nullptr, 0, nullptr), 0);
    ASSERT_EQ(fi_send(active.ep.get(), &out, 8, nullptr, 0, nullptr), 0);
    ASSERT_EQ(fi_shutdown(active.ep.get(), 0), 0);
    ASSERT_TRUE(event_of(active, 2));
    EXPECT_EQ(active.events[1].type, FI_SHUTDOWN);
    ASSERT_TRUE(event_of(listening, 3));
    EXPECT_EQ(listening.events[2].type, FI_SHUTDOWN);
    EXPECT_EQ(in, 7u);
}

TEST_F(VerbsMsg, AReceiveIsCancelledWhenThePeerGoes) {
    join();
    uint64_t in = 0;
    ASSERT_EQ(fi_recv(listening.ep.get(), &in, 8, nullptr, 0, &in), 0);
    ASSERT_EQ(active.ep.close(), 0);
    ASSERT_TRUE(event_of(listening, 3));
    EXPECT_EQ(listening.events[2].type, FI_SHUTDOWN);
    EXPECT_NE(fi_send(listening.ep.get(), &in, 8, nullptr, 0, nullptr), 0);
}

TEST_F(VerbsMsg, WritesReachMemoryOfTheOtherEnd) {
    join();
    Registered remote(listening, 4096);
    const std::string out = pattern(4096, 3);
    ASSERT_EQ(fi_write(active.ep.get(), out.data(), out.size(), nullptr, 0, remote.address, remote.key, nullptr), 0);
    ASSERT_TRUE(until({&active, &listening}, [&] { return !active.done.empty(); }));
    EXPECT_EQ(remote.bytes, out);
}

// A wrong key at the device ends the connection, and both applications are told.
TEST_F(VerbsMsg, AKeyOfNobodyIsAnErrorAndTheConnectionEnds) {
    join();
    Registered remote(listening, 4096);
    uint64_t out = 1;
    uint64_t unanswered = 2;
    ASSERT_TRUE(until({&active, &listening}, [&] { return true; }));
    listening.poll();
    ASSERT_EQ(fi_write(active.ep.get(), &out, 8, nullptr, 0, remote.address, remote.key ^ 0x5500, &out), 0);
    (void)fi_write(active.ep.get(), &out, 8, nullptr, 0, remote.address, remote.key, &unanswered);
    ASSERT_TRUE(until({&active, &listening}, [&] { return active.failures.size() == 2; }));
    EXPECT_EQ(active.failures[0].err, FI_EACCES);
    EXPECT_EQ(active.failures[1].op_context, &unanswered);
    ASSERT_TRUE(event_of(active, 2));
    EXPECT_EQ(active.events[1].type, FI_SHUTDOWN);
    ASSERT_TRUE(event_of(listening, 3));
    EXPECT_EQ(listening.events[2].type, FI_SHUTDOWN);
}

}  // namespace
}  // namespace selvage::test
