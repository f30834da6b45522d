// Work that waits for a counter (fi_trigger(3)) is started by no thread that its endpoint has no locks against: not by
// who reads an event queue, which any thread may at any time, nor by who uses other queues, with FI_THREAD_COMPLETION.
#include <vector>

#include "impl/test/library/serial_domain.h"

namespace selvage::test {
namespace {

constexpr uint64_t kCaps = FI_MSG | FI_TRIGGER | FI_COLLECTIVE;

class WorkThreads : public SerialDomain {
protected:
    void open_sides(std::initializer_list<SerialSide*> sides, size_t entries = 0) {
        for (SerialSide* side : sides) {
            side->open(fabric.get(), domain.get(), info.get(), entries);
            side->enable(domain.get());
        }
    }
    // From now on reading the event queue makes progress: the other member never joins.
    static void join_in_vain(SerialSide& side, const SerialSide& other) {
        const fi_addr_t own = side.insert(side);
        side.join({own, side.insert(other)});
    }
};

// A message that is sent when the counter has got there.
struct LaterMessage {
    fi_triggered_context context{};
    uint64_t value = 0;

    int post(const SerialSide& from, fi_addr_t to, fid_cntr* counter, uint64_t threshold) {
        context.event_type = FI_TRIGGER_THRESHOLD;
        context.trigger.threshold = {counter, threshold};
        const iovec range{&value, sizeof value};
        const fi_msg message{
            .msg_iov = &range, .desc = nullptr, .iov_count = 1, .addr = to, .context = &context, .data = 0};
        return static_cast<int>(fi_sendmsg(from.ep.get(), &message, FI_TRIGGER | FI_COMPLETION));
    }
};

int entries_of(const SerialSide& side) {
    fi_cq_entry entry;
    const ssize_t read = fi_cq_read(side.cq.get(), &entry, 1);
    EXPECT_TRUE(read == 1 || read == -FI_EAGAIN) << read;
    return read == 1;
}

TEST_P(WorkThreads, IsNotStartedByWhoReadsEvents) {
    open("shm", FI_EP_RDM, kCaps, nullptr);
    SerialSide member, from, to;
    open_sides({&member});
    open_sides({&from}, 1);
    // Whose progress starts nothing of the domain of the other two.
    Opened<fid_domain> apart;
    ASSERT_EQ(fi_domain(fabric.get(), info.get(), apart.out(), nullptr), 0);
    to.open(fabric.get(), apart.get(), info.get());
    to.enable(apart.get());
    join_in_vain(member, to);
    const fi_addr_t address = from.insert(to);
    uint64_t value = 0, received[2] = {};
    for (uint64_t& each : received) {
        ASSERT_EQ(fi_recv(to.ep.get(), &each, sizeof each, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    }
    ssize_t sent;
    while ((sent = fi_send(from.ep.get(), &value, sizeof value, nullptr, address, nullptr)) == -FI_EAGAIN) {
        ASSERT_EQ(entries_of(to), 0);
    }
    ASSERT_EQ(sent, 0);
    while (!entries_of(to)) {
    }
    // The queue has no room for its completion, so that it is due and cannot start.
    Opened<fid_cntr> counter;
    ASSERT_EQ(fi_cntr_open(domain.get(), nullptr, counter.out(), nullptr), 0);
    LaterMessage later;
    ASSERT_EQ(later.post(from, address, counter.get(), 1), 0);
    ASSERT_EQ(fi_cntr_add(counter.get(), 1), 0);
    ASSERT_EQ(entries_of(from), 1);  // there is room; what is read was there, so that no progress is made
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(member.next_event(), 0U);
        ASSERT_EQ(entries_of(to), 0) << "it was started";
    }
    for (int i = 0; i < 1'000'000 && !entries_of(to); ++i) (void)entries_of(from);
    EXPECT_EQ(fi_cntr_read(to.received.get()), 2U);
}

// Messages wait for the counter of what the other side has received, so that each arrival makes the next one due.
TEST_P(WorkThreads, BecomesDueWhileEventsAreRead) {
    open("shm", FI_EP_RDM, kCaps, nullptr);
    SerialSide member, from, to;
    open_sides({&member, &from, &to});
    join_in_vain(member, to);
    EventReader reader(member.eq.get());
    const fi_addr_t address = from.insert(to);
    constexpr uint64_t kMessages = 2000;
    std::vector<LaterMessage> later(kMessages);
    uint64_t received = 0, posted = 0, sent = 0, queued = 0, value = 0;
    for (int idle = 0; received < kMessages && idle < 20'000'000; ++idle) {
        if (posted == received && !fi_recv(to.ep.get(), &value, sizeof value, nullptr, FI_ADDR_UNSPEC, nullptr))
            ++posted;
        if (queued < kMessages && queued < received + 10) {
            later[queued].value = queued;
            if (!later[queued].post(from, address, to.received.get(), queued)) ++queued;
        }
        sent += static_cast<uint64_t>(entries_of(from));
        if (!entries_of(to)) continue;
        ASSERT_EQ(value, received);
        ++received;
        idle = 0;
    }
    EXPECT_EQ(received, kMessages);
    for (int i = 0; i < 1'000'000 && sent < kMessages; ++i) sent += static_cast<uint64_t>(entries_of(from));
    EXPECT_EQ(sent, kMessages);
}

INSTANTIATE_TEST_SUITE_P(Levels, WorkThreads, testing::Values(FI_THREAD_DOMAIN, FI_THREAD_COMPLETION));

// Two threads with queues of their own: what one receives makes work of the other's endpoint due.
class WorkOfTwoThreads : public WorkThreads {};

TEST_P(WorkOfTwoThreads, IsStartedByEither) {
    open("shm", FI_EP_RDM, kCaps, nullptr);
    constexpr uint64_t kMessages = 2000;
    SerialSide first_from, first_to, from, to;
    open_sides({&first_from, &first_to, &from, &to});
    const fi_addr_t first_address = first_from.insert(first_to), address = from.insert(to);
    std::vector<LaterMessage> later(kMessages);
    for (uint64_t i = 0; i < kMessages; ++i) {
        ASSERT_EQ(later[i].post(from, address, first_to.received.get(), i + 1), 0);
    }
    const auto pass = [](SerialSide& sender, SerialSide& receiver, fi_addr_t receives_at, uint64_t sends,
                         uint64_t expected) {
        uint64_t received = 0, posted = 0, sent = 0;
        for (int idle = 0; received < expected && idle < 20'000'000; ++idle) {
            if (posted == received &&
                !fi_recv(receiver.ep.get(), &receiver.value, sizeof receiver.value, nullptr, FI_ADDR_UNSPEC, nullptr)) {
                ++posted;
            }
            if (sent < sends && !fi_inject(sender.ep.get(), &sent, sizeof sent, receives_at)) ++sent;
            (void)entries_of(sender);
            if (!entries_of(receiver)) continue;
            ++received;
            idle = 0;
        }
        EXPECT_EQ(received, expected);
    };
    std::thread first([&] { pass(first_from, first_to, first_address, kMessages, kMessages); });
    pass(from, to, address, kMessages, 2 * kMessages);
    first.join();
}

INSTANTIATE_TEST_SUITE_P(Level, WorkOfTwoThreads, testing::Values(FI_THREAD_COMPLETION));

}  // namespace
}  // namespace selvage::test
