// Any thread may ask, copy, open and close at any time; interfaces may change meanwhile. Any thread may read an event
// queue at any time, whatever is promised of the calls on a domain.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "impl/test/library/objects.h"

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

// An event queue that a thread of its own reads until the end of the scope.
class EventReader {
public:
    explicit EventReader(fid_eq* eq)
        : thread_([this, eq] {
              while (!stopped_) {
                  fi_eq_entry entry;
                  uint32_t type;
                  (void)fi_eq_read(eq, &type, &entry, sizeof entry, 0);
              }
          }) {}
    ~EventReader() {
        stopped_ = true;
        thread_.join();
    }
    EventReader(const EventReader&) = delete;
    EventReader& operator=(const EventReader&) = delete;

private:
    std::atomic<bool> stopped_{false};
    std::thread thread_;
};

// One of two endpoints of a domain that a single thread uses; its calls are made by that thread.
struct SerialSide {
    Opened<fid_eq> eq;
    Opened<fid_cq> cq;
    Opened<fid_cntr> received;
    Opened<fid_ep> ep;
    uint64_t value = 0;

    void open(fid_fabric* fabric, fid_domain* domain, fi_info* info) {
        fi_eq_attr eq_attr{};
        fi_cq_attr cq_attr{};
        ASSERT_EQ(fi_eq_open(fabric, &eq_attr, eq.out(), nullptr), 0);
        ASSERT_EQ(fi_cq_open(domain, &cq_attr, cq.out(), nullptr), 0);
        ASSERT_EQ(fi_cntr_open(domain, nullptr, received.out(), nullptr), 0);
        ASSERT_EQ(fi_endpoint(domain, info, ep.out(), nullptr), 0);
        ASSERT_EQ(fi_ep_bind(ep.get(), eq.base(), 0), 0);
        ASSERT_EQ(fi_ep_bind(ep.get(), cq.base(), FI_TRANSMIT | FI_RECV), 0);
        ASSERT_EQ(fi_ep_bind(ep.get(), received.base(), FI_RECV), 0);
    }
    uint32_t next_event() {
        alignas(fi_eq_entry) char bytes[sizeof(fi_eq_entry)];
        uint32_t type = 0;
        const ssize_t read = fi_eq_read(eq.get(), &type, bytes, sizeof bytes, 0);
        fi_eq_err_entry error{};
        if (read == -FI_EAVAIL && fi_eq_readerr(eq.get(), &error, 0) > 0) ADD_FAILURE() << fi_strerror(error.err);
        return read > 0 ? type : 0;
    }
};

// Sends kValues values from the first to the second, with the event queue of both read by others. All calls but those
// are made by this thread.
void exchange(SerialSide& from, SerialSide& to, fi_addr_t address) {
    EventReader here(from.eq.get()), there(to.eq.get());
    std::array<fi_cq_entry, 8> entries;
    uint64_t sent = 0, received = 0, posted = 0;
    for (int idle = 0; received < kValues && idle < 20'000'000; ++idle) {
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
    EXPECT_EQ(received, kValues);
    EXPECT_EQ(fi_cntr_read(to.received.get()), kValues);
}

class EventQueueThreads : public testing::TestWithParam<fi_threading> {
protected:
    void open(const char* provider, fi_ep_type type, uint64_t caps, const char* node) {
        InfoPtr hints = make_hints(provider, type);
        hints->caps = caps;
        hints->domain_attr->threading = GetParam();
        hints->domain_attr->control_progress = hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
        Answer answer = getinfo(hints, node, node ? "0" : nullptr, node ? FI_SOURCE : 0);
        ASSERT_EQ(answer.result, 0);
        info = std::move(answer.list);
        ASSERT_EQ(info->domain_attr->threading, GetParam());
        ASSERT_EQ(fi_fabric(info->fabric_attr, fabric.out(), nullptr), 0);
        ASSERT_EQ(fi_domain(fabric.get(), info.get(), domain.out(), nullptr), 0);
    }

    InfoPtr info;
    Opened<fid_fabric> fabric;
    Opened<fid_domain> domain;
};

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

INSTANTIATE_TEST_SUITE_P(Levels, EventQueueThreads, testing::Values(FI_THREAD_DOMAIN, FI_THREAD_COMPLETION));

}  // namespace
}  // namespace selvage::test
