// Sends with FI_TRIGGER, on an endpoint whose data path is the test's: which are started together, which have no
// record, in what order, and what becomes of those that cannot be started.
#include <map>
#include <thread>
#include <vector>

#include "impl/endpoint/ep.h"
#include "impl/endpoint/triggered.h"
#include "impl/test/queue/place.h"

namespace selvage::impl::test {
namespace {

// Starts sends, and answers as the test says.
class SendingPath final : public IdlePath {
public:
    size_t start_sends(const Work& first, size_t count, ssize_t* error) override {
        batches.push_back(0);
        for (const Work* work = &first; count > 0; --count, work = work->next) {
            for (const ShortSend* send = &work->send; send; send = send->next) {
                if (answers.contains(number_of(send->context))) {
                    *error = answers.at(number_of(send->context));
                    return batches.back();
                }
                started.push_back(number_of(send->context));
                flags.push_back(work->flags);
                ++batches.back();
            }
        }
        return batches.back();
    }

    // By the address of their contexts.
    uint64_t number_of(const void* context) const {
        return static_cast<uint64_t>(static_cast<const fi_triggered_context*>(context) - contexts);
    }

    const fi_triggered_context* contexts = nullptr;
    std::map<uint64_t, ssize_t> answers;
    std::vector<uint64_t> started;
    std::vector<uint64_t> flags;  // of those
    std::vector<size_t> batches;
};

// What the plain call of the endpoint was given last.
struct PlainCall {
    int calls = 0;
    const void* context = nullptr;
    uint64_t flags = 0;
    ssize_t answer = 0;
} plain_call;

ssize_t send_plainly(fid_ep*, const fi_msg* message, uint64_t flags) {
    plain_call = {plain_call.calls + 1, message->context, flags, plain_call.answer};
    return plain_call.answer;
}

struct Sender {
    static constexpr size_t kContexts = WorkQueue::kMost + 1;

    Place& place;
    SendingPath path;
    Endpoint endpoint;
    fi_ops_msg calls{};
    std::vector<fi_triggered_context> contexts{kContexts};
    uint64_t posted = 0;

    explicit Sender(Place& where) : place(where) {
        path.contexts = contexts.data();
        endpoint.domain = &place.domain;
        endpoint.tx.caps = FI_TRIGGER | FI_SEND | FI_MSG;
        init_endpoint_descriptor(&endpoint, nullptr);
        calls.sendmsg = send_plainly;
        endpoint.descriptor.msg = &calls;
        endpoint.path = &path;
        place.domain.work.add_path(path);
        plain_call = {};
    }
    ~Sender() {
        place.domain.work.stop(endpoint);
        place.domain.work.forget(endpoint);
    }
    Sender(const Sender&) = delete;
    Sender& operator=(const Sender&) = delete;

    // Its number is the count of those before.
    ssize_t post(fid_cntr* trigger, uint64_t threshold, uint64_t flags = 0) {
        fi_triggered_context& context = contexts[posted++];
        context.event_type = FI_TRIGGER_THRESHOLD;
        context.trigger.threshold = {trigger, threshold};
        const iovec range{&posted, sizeof posted};
        const fi_msg message{&range, nullptr, 1, 0, &context, 0};
        return post_triggered_send(&endpoint.descriptor, message, flags | FI_TRIGGER);
    }
};

struct OpenedCounter {
    fid_cntr* fid = nullptr;

    explicit OpenedCounter(Place& place) {
        fi_cntr_attr attr{};
        EXPECT_EQ(domain_open_counter(&place.domain.descriptor, &attr, &fid, nullptr), 0);
    }
    ~OpenedCounter() {
        if (!fid) return;
        EXPECT_EQ(fi_close(&fid->fid), 0);
    }
    OpenedCounter(const OpenedCounter&) = delete;
    OpenedCounter& operator=(const OpenedCounter&) = delete;
    Counter& get() const { return *Counter::of(fid); }
};

struct Scene {
    Place place;
    OpenedCounter trigger{place};
    Sender sender{place};

    void post(std::initializer_list<uint64_t> thresholds) {
        for (const uint64_t threshold : thresholds) ASSERT_EQ(sender.post(trigger.fid, threshold), 0);
    }
    void add(uint64_t amount) { ASSERT_EQ(fi_cntr_add(trigger.fid, amount), 0); }
    std::vector<uint64_t>& started() { return sender.path.started; }
    std::vector<size_t>& batches() { return sender.path.batches; }
    size_t pool_size() { return place.domain.work.pool_size(); }
};

void expect_failed(const Queue& queue, const fi_triggered_context& context, int why) {
    fi_cq_err_entry error{};
    ASSERT_EQ(fi_cq_readerr(queue.fid, &error, 0), 1);
    EXPECT_EQ(error.op_context, &context);
    EXPECT_EQ(error.err, why);
}

using Numbers = std::vector<uint64_t>;
using Sizes = std::vector<size_t>;

TEST(TriggeredSends, ThatAreDueTogetherAreStartedBySixtyFour) {
    Scene s;
    for (uint64_t i = 0; i < 150; ++i) s.post({1});
    EXPECT_EQ(s.started(), Numbers{});
    s.add(1);
    EXPECT_EQ(s.batches(), (Sizes{64, 64, 22}));
    Numbers expected(150);
    for (uint64_t i = 0; i < expected.size(); ++i) expected[i] = i;
    EXPECT_EQ(s.started(), expected);
}

TEST(TriggeredSends, OfOneStartKeepTheOrderOfThresholdsAndThenOfPosting) {
    Scene s;
    s.post({3, 1, 2, 1, 3, 9});
    s.add(3);
    EXPECT_EQ(s.started(), (Numbers{1, 3, 2, 0, 4}));
    EXPECT_EQ(s.batches(), Sizes{5});
    s.add(6);
    EXPECT_EQ(s.started().back(), 5U);
}

TEST(TriggeredSends, OfOneThresholdKeepTheirOwnFlagsAndTheirOrder) {
    Scene s;
    const std::vector<uint64_t> flags = {0, 0, FI_COMPLETION, FI_COMPLETION, 0};
    for (const uint64_t each : flags) ASSERT_EQ(s.sender.post(s.trigger.fid, 1, each), 0);
    s.add(1);
    EXPECT_EQ(s.started(), (Numbers{0, 1, 2, 3, 4}));
    EXPECT_EQ(s.sender.path.flags, flags);
}

TEST(TriggeredSends, OfTwoCountersOrEndpointsAreStartedApart) {
    Scene s;
    OpenedCounter other(s.place);
    Sender second(s.place);
    s.post({1, 2});
    ASSERT_EQ(second.post(s.trigger.fid, 2), 0);
    s.post({2});
    ASSERT_EQ(s.sender.post(other.fid, 1), 0);
    s.add(2);
    EXPECT_EQ(s.batches(), (Sizes{2, 1}));
    EXPECT_EQ(second.path.batches, Sizes{1});
    EXPECT_EQ(s.started(), (Numbers{0, 1, 2}));
    fi_cntr_add(other.fid, 1);
    EXPECT_EQ(s.batches(), (Sizes{2, 1, 1}));
}

TEST(TriggeredSends, WhoseThresholdIsReachedAreThePlainCallAndHaveNoRecord) {
    Scene s;
    s.add(5);
    plain_call.answer = -FI_EAGAIN;
    EXPECT_EQ(s.sender.post(s.trigger.fid, 5, FI_COMPLETION | FI_MORE), -FI_EAGAIN);
    EXPECT_EQ(plain_call.calls, 1);
    EXPECT_EQ(plain_call.context, &s.sender.contexts[0]);
    EXPECT_EQ(plain_call.flags, FI_COMPLETION);
    plain_call.answer = 0;
    EXPECT_EQ(s.sender.post(s.trigger.fid, 0), 0);
    EXPECT_EQ(plain_call.calls, 2);
    EXPECT_EQ(s.batches(), Sizes{});
    EXPECT_EQ(s.pool_size(), 0U);
}

TEST(TriggeredSends, WhoseThresholdIsReachedDoNotPassThoseThatAreDue) {
    Scene s;
    s.sender.path.answers[0] = -FI_EAGAIN;
    s.post({1, 2});
    s.add(1);
    s.post({1});
    EXPECT_EQ(plain_call.calls, 0);
    EXPECT_EQ(s.started(), Numbers{});
    s.sender.path.answers.clear();
    s.place.domain.work.run();
    EXPECT_EQ(s.started(), (Numbers{0, 2}));
    s.post({1});
    EXPECT_EQ(plain_call.calls, 1);
    s.add(1);
    EXPECT_EQ(s.started(), (Numbers{0, 2, 1}));
}

TEST(TriggeredSends, ThatTheEndpointCannotTakeAreTriedAgainInTheirOrder) {
    Scene s;
    s.sender.path.answers[2] = -FI_EAGAIN;
    s.post({1, 1, 1, 1});
    s.add(1);
    EXPECT_EQ(s.started(), (Numbers{0, 1}));
    EXPECT_TRUE(s.sender.path.has_due_work());
    s.place.domain.work.run();
    EXPECT_EQ(s.started(), (Numbers{0, 1}));
    s.sender.path.answers.clear();
    s.place.domain.work.run();
    EXPECT_EQ(s.started(), (Numbers{0, 1, 2, 3}));
    EXPECT_FALSE(s.sender.path.has_due_work());
}

TEST(TriggeredSends, BehindThoseOfAnEndpointThatCannotTakeThemAreStarted) {
    Scene s;
    Sender second(s.place);
    s.sender.path.answers[0] = -FI_EAGAIN;
    s.post({1, 1});
    for (int i = 0; i < 3; ++i) ASSERT_EQ(second.post(s.trigger.fid, 1), 0);
    s.add(1);
    EXPECT_EQ(s.started(), Numbers{});
    EXPECT_EQ(second.path.started, (Numbers{0, 1, 2}));
    s.sender.path.answers.clear();
    s.place.domain.work.run();
    EXPECT_EQ(s.started(), (Numbers{0, 1}));
}

TEST(TriggeredSends, ThatFailAreReportedAndThoseBehindThemAreStarted) {
    Scene s;
    Queue queue(s.place, FI_WAIT_NONE);
    s.sender.endpoint.tx_cq = &queue.get();
    s.sender.path.answers[1] = -FI_ENOTCONN;
    s.post({1, 1, 1});
    s.add(1);
    EXPECT_EQ(s.started(), (Numbers{0, 2}));
    expect_failed(queue, s.sender.contexts[1], FI_ENOTCONN);
    fi_cq_err_entry error{};
    EXPECT_EQ(fi_cq_readerr(queue.fid, &error, 0), -FI_EAGAIN);
}

TEST(TriggeredSends, ByThemselvesAreTriedAgainWhereTheEndpointCannotTakeThem) {
    Scene s;
    s.sender.path.answers[0] = -FI_EAGAIN;
    s.post({1});
    s.add(1);
    EXPECT_EQ(s.started(), Numbers{});
    EXPECT_TRUE(s.sender.path.has_due_work());
    EXPECT_EQ(fi_close(&s.trigger.fid->fid), -FI_EBUSY);
    s.sender.path.answers.clear();
    s.place.domain.work.run();
    EXPECT_EQ(s.started(), Numbers{0});
    EXPECT_FALSE(s.sender.path.has_due_work());
    s.post({2});
    s.add(1);
    EXPECT_EQ(s.started(), (Numbers{0, 1}));
}

TEST(TriggeredSends, ByThemselvesAreReportedWhereTheyFail) {
    Scene s;
    Queue queue(s.place, FI_WAIT_NONE);
    s.sender.endpoint.tx_cq = &queue.get();
    s.sender.path.answers[0] = -FI_ENOTCONN;
    s.post({1});
    s.add(1);
    expect_failed(queue, s.sender.contexts[0], FI_ENOTCONN);
    EXPECT_FALSE(s.sender.path.has_due_work());
    s.post({2});
    s.add(1);
    EXPECT_EQ(s.started(), Numbers{1});
}

TEST(TriggeredSends, AreCancelledWhileTheyWaitAndOnlyThen) {
    Scene s;
    Queue queue(s.place, FI_WAIT_NONE);
    s.sender.endpoint.tx_cq = &queue.get();
    s.post({1, 1, 1});
    WorkQueue& work = s.place.domain.work;
    EXPECT_TRUE(work.cancel_triggered(s.sender.endpoint, &s.sender.contexts[1]));
    EXPECT_FALSE(work.cancel_triggered(s.sender.endpoint, &s.sender.contexts[1]));
    s.add(1);
    EXPECT_EQ(s.started(), (Numbers{0, 2}));
    EXPECT_FALSE(work.cancel_triggered(s.sender.endpoint, &s.sender.contexts[0]));
    expect_failed(queue, s.sender.contexts[1], FI_ECANCELED);
}

TEST(TriggeredSends, TheFirstAndTheLastOfSeveralCanBeCancelledAndMoreCanBePosted) {
    Scene s;
    s.post({1, 1, 1, 1});
    WorkQueue& work = s.place.domain.work;
    EXPECT_TRUE(work.cancel_triggered(s.sender.endpoint, &s.sender.contexts[3]));
    EXPECT_TRUE(work.cancel_triggered(s.sender.endpoint, &s.sender.contexts[0]));
    s.post({1, 1});
    s.add(1);
    EXPECT_EQ(s.started(), (Numbers{1, 2, 4, 5}));
    s.post({2});
    EXPECT_EQ(fi_close(&s.trigger.fid->fid), -FI_EBUSY);
    s.add(1);
    EXPECT_EQ(s.started().back(), 6U);
    const size_t records = s.pool_size();
    for (uint64_t turn = 3; turn < 5; ++turn) {
        for (int i = 0; i < 64; ++i) s.post({turn});
        s.add(1);
    }
    EXPECT_EQ(s.started().size(), 5U + 128U);
    EXPECT_EQ(s.pool_size(), records);
}

TEST(TriggeredSends, KeepTheirCounterOpenUntilTheyAreStartedOrTheEndpointIsClosed) {
    Place place;
    OpenedCounter trigger(place);
    {
        Sender sender(place);
        ASSERT_EQ(sender.post(trigger.fid, 1), 0);
        EXPECT_EQ(fi_close(&trigger.fid->fid), -FI_EBUSY);
        fi_cntr_add(trigger.fid, 1);
        ASSERT_EQ(sender.post(trigger.fid, 2), 0);
    }
    ASSERT_EQ(fi_close(&trigger.fid->fid), 0);
    trigger.fid = nullptr;
}

TEST(TriggeredSends, HaveALimitAndTheirRecordsAreUsedAgain) {
    Scene s;
    for (int turn = 0; turn < 2; ++turn) {
        s.sender.posted = 0;
        for (size_t i = 0; i < WorkQueue::kMost; ++i) ASSERT_EQ(s.sender.post(s.trigger.fid, 1), 0);
        EXPECT_EQ(s.sender.post(s.trigger.fid, 1), -FI_EAGAIN);
        s.add(1);
        EXPECT_EQ(s.started().size(), WorkQueue::kMost);
        EXPECT_EQ(s.pool_size(), WorkQueue::kMost);
        s.started().clear();
        fi_cntr_set(s.trigger.fid, 0);
    }
}

TEST(TriggeredSends, OfAnInvalidCallAreRefusedAndLeaveNothing) {
    Scene s;
    EXPECT_EQ(s.sender.post(s.trigger.fid, 1, FI_INJECT), -FI_EBADFLAGS);
    EXPECT_EQ(s.sender.post(nullptr, 1), -FI_EINVAL);
    Place elsewhere;
    OpenedCounter foreign(elsewhere);
    EXPECT_EQ(s.sender.post(foreign.fid, 1), -FI_EDOMAIN);
    s.sender.endpoint.tx.caps = FI_SEND | FI_MSG;
    EXPECT_EQ(s.sender.post(s.trigger.fid, 1), -FI_EBADFLAGS);
    EXPECT_EQ(s.pool_size(), 0U);
}

// An engine pays for signals while something waits, and once more.
TEST(TriggeredSends, WantSignalsOfTheirCounterUntilItIsCountedAndNothingWaits) {
    Scene s;
    EXPECT_FALSE(s.trigger.get().wait.wanted());
    s.post({1, 2});
    EXPECT_TRUE(s.trigger.get().wait.wanted());
    s.trigger.get().count(1);
    EXPECT_TRUE(s.sender.path.has_due_work());
    s.place.domain.work.run();
    EXPECT_TRUE(s.trigger.get().wait.wanted());
    s.add(1);
    EXPECT_EQ(s.started(), (Numbers{0, 1}));
    s.trigger.get().count(1);
    EXPECT_FALSE(s.trigger.get().wait.wanted());
    s.post({9});
    EXPECT_TRUE(s.trigger.get().wait.wanted());
    s.add(6);
    EXPECT_EQ(s.started(), (Numbers{0, 1, 2}));
}

TEST(TriggeredSends, OfAThreadAreAllStartedWhileOthersMoveTheCounter) {
    Scene s;
    constexpr uint64_t kSends = 8000;
    constexpr uint64_t kThreads = 3;
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (uint64_t t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            for (uint64_t i = 0; i < kSends; ++i) t % 2 ? s.trigger.get().count(1) : s.add(1);
        });
    }
    for (uint64_t i = 0; i < kSends; ++i) ASSERT_EQ(s.sender.post(s.trigger.fid, i * kThreads), 0);
    for (std::thread& thread : threads) thread.join();
    s.place.domain.work.run();
    EXPECT_EQ(s.started().size() + static_cast<size_t>(plain_call.calls), kSends);
}

}  // namespace
}  // namespace selvage::impl::test
