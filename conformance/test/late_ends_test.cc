// Ends of transfers that come late, though what was posted behind them came through: they are waited for, and not
// called missing.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <vector>

#include "conformance/drive/transfer/never_came.h"
#include "conformance/test/pair_util.h"

namespace selvage::conformance {
namespace {

using model::Because;
using model::Observable;
using model::Relation;

Because verdict(Observable what, Relation relation, std::uint64_t expected, std::uint64_t actual) {
    Because out;
    out.evidence.observed.what = what;
    out.evidence.relation = relation;
    out.evidence.expected = expected;
    out.evidence.actual = actual;
    return out;
}

TEST(WhatNeverCame, IsAnEntryAnErrorACountOrBytesThatAreMissing) {
    EXPECT_TRUE(never_came(verdict(Observable::Refusal, Relation::Differs, 0, 0)));
    EXPECT_TRUE(never_came(verdict(Observable::Entries, Relation::AtLeast, 1, 0)));
    EXPECT_TRUE(never_came(verdict(Observable::Entries, Relation::Equals, 1, 0)));
    EXPECT_TRUE(never_came(verdict(Observable::TransmitErrors, Relation::AtLeast, 1, 0)));
    EXPECT_TRUE(never_came(verdict(Observable::Counter, Relation::Equals, 2, 1)));
    EXPECT_TRUE(never_came(verdict(Observable::Target, Relation::Equals, 0, 0)));
}

TEST(WhatNeverCame, IsNothingThatWasSeen) {
    EXPECT_FALSE(never_came(verdict(Observable::Entries, Relation::AtMost, 1, 2)));
    EXPECT_FALSE(never_came(verdict(Observable::Successes, Relation::Equals, 0, 1)));
    EXPECT_FALSE(never_came(verdict(Observable::Counter, Relation::Equals, 1, 2)));
    EXPECT_FALSE(never_came(verdict(Observable::Target, Relation::Differs, 0, 0)));
    EXPECT_FALSE(never_came(verdict(Observable::Data, Relation::Equals, 7, 9)));
}

TEST(WhatNeverCame, IsNothingThatOnlyExplainsAnotherVerdict) {
    Because because = verdict(Observable::Refusal, Relation::Differs, 0, 0);
    because.supporting = true;
    EXPECT_FALSE(never_came(because));
}

TEST(KnownAbsences, AreThoseOfAClauseAFieldAndATypeOfEndpoint) {
    const Because because = verdict(Observable::Refusal, Relation::Differs, 0, 0);
    Because other_clause = because, other_field = because;
    other_clause.clause = model::Clause::cq_entry_comes;
    other_field.evidence.field = model::Field::completion;
    KnownAbsences known;
    known.add(absence_of(because, FI_EP_RDM));
    EXPECT_TRUE(known.contains(absence_of(because, FI_EP_RDM)));
    EXPECT_FALSE(known.contains(absence_of(because, FI_EP_MSG)));
    EXPECT_FALSE(known.contains(absence_of(other_clause, FI_EP_RDM)));
    EXPECT_FALSE(known.contains(absence_of(other_field, FI_EP_RDM)));
}

TEST(KnownAbsences, AreWaitedForAgainOnceThereAreTooMany) {
    KnownAbsences known;
    for (std::uint64_t i = 0; i < 1000; ++i) known.add(i);
    EXPECT_TRUE(known.contains(0));
    EXPECT_FALSE(known.contains(999));
}

#ifdef SELVAGE_OWN_LIBRARY
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kNever = std::chrono::hours(1);
constexpr auto kBadWrite = "A write length=8 bad-key\n";
constexpr auto kSilentBadWrite = "selective = transmit\nA writemsg length=8 bad-key\n";

// Returns entries of error so much later than the endpoint within.
class LateErrors : public WrappedEndpoint {
public:
    LateErrors(std::unique_ptr<Endpoint> end, milliseconds late) : WrappedEndpoint(std::move(end)), late_(late) {}

    void read(unsigned looks, Arrivals& out) override {
        WrappedEndpoint::read(looks, out);
        const auto failed = std::stable_partition(out.transmitted.begin(), out.transmitted.end(),
                                                  [](const QueueEntry& e) { return e.failed == 0; });
        for (auto e = failed; e != out.transmitted.end(); ++e) held_.push_back({*e, Clock::now() + late_});
        out.transmitted.erase(failed, out.transmitted.end());
        while (!held_.empty() && Clock::now() >= held_.front().due) {
            out.transmitted.push_back(held_.front().entry);
            held_.erase(held_.begin());
        }
    }

private:
    struct Held {
        QueueEntry entry;
        Clock::time_point due;
    };
    milliseconds late_;
    std::vector<Held> held_;
};

// A process that this one has started, and that is stopped for so long: a thread of the provider's that gets no
// processor.
class StoppedFor {
public:
    explicit StoppedFor(milliseconds time) {
        stopped_ = fork();
        if (stopped_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;) pause();
        }
        kill(stopped_, SIGSTOP);
        waitpid(stopped_, nullptr, WUNTRACED);
        waker_ = fork();
        if (waker_ != 0) return;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        usleep(static_cast<useconds_t>(time.count()) * 1000);
        kill(stopped_, SIGCONT);
        for (;;) pause();
    }
    ~StoppedFor() {
        for (const pid_t p : {stopped_, waker_}) {
            kill(p, SIGKILL);
            waitpid(p, nullptr, 0);
        }
    }
    StoppedFor(const StoppedFor&) = delete;
    StoppedFor& operator=(const StoppedFor&) = delete;

private:
    pid_t stopped_ = -1, waker_ = -1;
};

std::string seen_of(const model::Traffic& out, const Patience& patience) {
    const bool failed = std::any_of(out.entries.begin(), out.entries.end(), [](const auto& e) { return e.error != 0; });
    return std::string(failed ? "failed" : "no error") + (patience.spent ? ", in vain" : "") +
           (patience.at_length ? ", at length" : "") + (patience.hasty ? ", in haste" : "") +
           (patience.starved ? ", starved" : "") + (out.drained ? "" : ", not drained");
}

// What is seen of an exchange on the reference library's shm whose error comes so late.
std::string seen_of(const std::string& operations, milliseconds late, Patience patience = {}) {
    return on_own_pair(operations, [&](Pair& pair, const TransferSequence& sequence) {
        pair.wrap(model::Side::A, [&](auto end) { return std::make_unique<LateErrors>(std::move(end), late); });
        model::Traffic out;
        run_sequence(pair, sequence, patience, out);
        return seen_of(out, patience);
    });
}

TEST(LateErrors, AreWaitedForThoughOtherTransfersCameThroughBehindThem) {
    EXPECT_EQ(seen_of(kBadWrite, milliseconds(450)), "failed, at length");
    EXPECT_EQ(seen_of("A read length=8 bad-key\n", milliseconds(450)), "failed, at length");
}

TEST(LateErrors, AreWaitedForWhereNoEntryOfSuccessWouldCome) {
    EXPECT_EQ(seen_of(kSilentBadWrite, milliseconds(300)), "failed, at length");
    EXPECT_EQ(seen_of("A inject_write length=8 bad-key\n", milliseconds(300)), "failed, at length");
}

TEST(LateErrors, AreWaitedForNoLongerThanTheyTake) { EXPECT_EQ(seen_of(kBadWrite, milliseconds(0)), "failed"); }

// As at first sight: what is known is given up, and comes to be looked at with patience.
TEST(LateErrors, AreWaitedForInHasteUntilOneStaysAway) {
    const std::string seen = on_own_pair(kSilentBadWrite, [&](Pair& pair, const TransferSequence& sequence) {
        KnownAbsences known;
        const auto run = [&](milliseconds late) {
            pair.wrap(model::Side::A, [&](auto end) { return std::make_unique<LateErrors>(std::move(end), late); });
            Patience patience;
            patience.hurries = true;
            patience.known = &known;
            model::Traffic out;
            run_sequence(pair, sequence, patience, out);
            return seen_of(out, patience) + "; ";
        };
        std::string all;
        for (const milliseconds late : {milliseconds(300), kNever, milliseconds(300)}) all += run(late);
        return all;
    });
    EXPECT_EQ(seen, "failed, at length; no error, at length; no error, in haste; ");
}

TEST(LateErrors, AreWaitedForAsLongAsTheProviderHasNoProcessor) {
    const std::string seen = on_own_pair(kBadWrite, [&](Pair& pair, const TransferSequence& sequence) {
        pair.wrap(model::Side::A,
                  [&](auto end) { return std::make_unique<LateErrors>(std::move(end), milliseconds(2200)); });
        const StoppedFor stopped(milliseconds(2000));
        Patience patience;
        model::Traffic out;
        run_sequence(pair, sequence, patience, out);
        return seen_of(out, patience);
    });
    EXPECT_EQ(seen, "failed, at length");
}

TEST(LateErrors, AreNotJudgedWhereTheProviderHadNoProcessorForTooLong) {
    const std::string seen = on_own_pair(kBadWrite, [&](Pair& pair, const TransferSequence& sequence) {
        pair.wrap(model::Side::A, [&](auto end) { return std::make_unique<LateErrors>(std::move(end), kNever); });
        const StoppedFor stopped(std::chrono::seconds(60));
        Patience patience;
        KnownAbsences known;
        patience.known = &known;
        model::Traffic out;
        run_sequence(pair, sequence, patience, out);
        return seen_of(out, patience);
    });
    EXPECT_EQ(seen, "no error, in vain, at length, starved, not drained");
}
#endif

}  // namespace
}  // namespace selvage::conformance
