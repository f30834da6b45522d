// Findings of transfers that are made smaller and confirmed beside the run: which are, in which order they come, and
// what becomes of them when the run ends, or nothing shows.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>

#include "conformance/case/case_text.h"
#include "conformance/drive/probe.h"
#include "conformance/properties/property.h"
#include "conformance/run/jobs.h"
#include "conformance/run/novelty.h"
#include "conformance/run/repeat.h"
#include "conformance/run/runner.h"
#include "conformance/run/trial_memory.h"
#include "conformance/run/trial_queue.h"
#include "conformance/test/tool_util.h"
#include "model/spec/clause.h"

namespace selvage::conformance {
namespace {

using model::Clause;

// ---- which ---------------------------------------------------------------------------------------------------------

struct Shrunk {
    Clause clause;
    std::string signature;  // of what it is made smaller to; empty: it does not show again
};

void conclude(Novelty& novelty, const Shrunk& shrunk) {
    if (shrunk.signature.empty())
        novelty.came_to_nothing(shrunk.clause);
    else
        novelty.is_new(shrunk.clause, shrunk.signature);
}

using Stream = std::vector<Shrunk>;

// Which of a stream of sightings are made smaller, each before the next one is looked at.
std::vector<std::size_t> one_by_one(const Stream& stream) {
    Novelty novelty;
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < stream.size(); ++i) {
        if (!novelty.worth_shrinking(stream[i].clause)) continue;
        out.push_back(i);
        conclude(novelty, stream[i]);
    }
    return out;
}

// The same, where results come so many sightings later.
std::vector<std::size_t> beside_the_run(const Stream& stream, std::size_t later) {
    Novelty novelty;
    std::vector<std::size_t> out;
    std::deque<Shrunk> under_way;
    const auto conclude_oldest = [&] {
        novelty.end(under_way.front().clause);
        conclude(novelty, under_way.front());
        under_way.pop_front();
    };
    for (std::size_t i = 0; i < stream.size(); ++i) {
        while (novelty.is_open(stream[i].clause)) conclude_oldest();
        if (!novelty.worth_shrinking(stream[i].clause)) continue;
        out.push_back(i);
        novelty.begin(stream[i].clause);
        under_way.push_back(stream[i]);
        if (under_way.size() > later) conclude_oldest();
    }
    return out;
}

RC_GTEST_PROP(Novelty, DecidesBesideTheRunAsItDoesOneByOne, ()) {
    Stream stream;
    for (int n = *rc::gen::inRange(0, 120); n > 0; --n) {
        const int signature = *rc::gen::inRange(-3, 9);
        stream.push_back(
            {static_cast<Clause>(*rc::gen::inRange(0, 3)), signature < 0 ? "" : std::to_string(signature)});
    }
    RC_ASSERT(beside_the_run(stream, *rc::gen::inRange<std::size_t>(0, 40)) == one_by_one(stream));
}

TEST(Novelty, KnowsWhatWasNotedAndNothingElse) {
    Novelty novelty;
    EXPECT_FALSE(novelty.is_known(Clause{}, "a"));
    ASSERT_TRUE(novelty.is_new(Clause{}, "a"));
    EXPECT_TRUE(novelty.is_known(Clause{}, "a"));
    EXPECT_FALSE(novelty.is_known(Clause{}, "b"));
    novelty.forget(Clause{}, "a");
    EXPECT_FALSE(novelty.is_known(Clause{}, "a"));
}

TEST(Novelty, KnowsEverythingOfAClauseWithAsManyFindingsAsAreTold) {
    Novelty novelty;
    for (int i = 0; novelty.is_new(Clause{}, std::to_string(i)); ++i) {
    }
    EXPECT_TRUE(novelty.is_known(Clause{}, "another"));
}

TEST(TrialMemory, TriesACaseOnceAndAnotherOneToo) {
    TrialMemory trials;
    int tried = 0;
    const auto run = [&tried] {
        ++tried;
        return std::vector<model::Because>{{.clause = Clause{}, .evidence = {}}};
    };
    Case script;
    script.kind = Case::Kind::Group;
    script.group.members = 2;
    EXPECT_EQ(trials.shown_by(script, run).size(), 1U);
    EXPECT_EQ(trials.shown_by(script, run).size(), 1U);
    EXPECT_EQ(tried, 1);
    script.group.members = 3;
    trials.shown_by(script, run);
    EXPECT_EQ(tried, 2);
}

TEST(Novelty, GoesOnWhereOnlyWhatDidNotShowAgainWasSeen) {
    const Stream vain(20, {Clause{}, ""});
    EXPECT_EQ(one_by_one(vain).size(), vain.size()) << "none of them is a finding, and the next one may be";
    const Stream known(20, {Clause{}, "the same"});
    EXPECT_LT(one_by_one(known).size(), 10U);
}

TEST(Novelty, WaitsForNothingThatDecidesNothing) {
    Novelty novelty;
    for (int i = 0; i < 5; ++i) {
        EXPECT_FALSE(novelty.is_open(Clause{})) << i;
        EXPECT_TRUE(novelty.worth_shrinking(Clause{})) << i;
        novelty.begin(Clause{});
    }
    EXPECT_FALSE(novelty.is_open(static_cast<Clause>(1))) << "another clause";
}

// ---- in which order ------------------------------------------------------------------------------------------------

TEST(TrialQueue, GivesResultsInTheOrderInWhichTheirTrialsBegan) {
    TrialQueue queue(2, [](const TrialQueue::Group& group, Channel& channel) {
        if (group.front().id == 1) usleep(200'000);
        channel.send(std::to_string(group.front().id));
        end_result(channel);
    });
    for (const std::uint64_t id : {1, 2}) queue.begin({{.sighting = {}, .reduced = {}, .id = id}}, 7 + id);
    EXPECT_FALSE(queue.has_room());
    EXPECT_EQ(queue.oldest(), 8U);
    EXPECT_EQ(queue.take().records, std::vector<std::string>{"1"});
    EXPECT_EQ(queue.take().records, std::vector<std::string>{"2"});
    EXPECT_TRUE(queue.empty());
}

TEST(TrialQueue, GivesNoRecordsOfATrialWhoseProcessEnds) {
    TrialQueue queue(1, [](const TrialQueue::Group&, Channel& channel) {
        channel.send("half of it");
        _exit(3);
    });
    queue.begin({{}}, 0);
    const TrialQueue::Result result = queue.take();
    EXPECT_TRUE(result.records.empty());
    Experience none;
    Repeater::Memory known;
    EXPECT_TRUE(read_reduced(result, none, known).because.empty());
    EXPECT_TRUE(known.empty());
    EXPECT_TRUE(read_confirmed(result).because.empty());
}

TEST(TrialQueue, GivesTheWholeResultsOfAGroupWhoseProcessEndsInTheMiddle) {
    TrialQueue queue(1, [](const TrialQueue::Group& group, Channel& channel) {
        for (const Candidate& c : group) {
            if (c.id == 3) _exit(3);
            channel.send(std::to_string(c.id));
            end_result(channel);
        }
    });
    TrialQueue::Group group(4);
    for (std::uint64_t id = 1; id <= group.size(); ++id) group[id - 1].id = id;
    queue.begin(std::move(group), 9);
    EXPECT_NE(queue.find([](const Candidate& c) { return c.id == 4; }), nullptr);
    for (const char* const expected : {"1", "2"}) EXPECT_EQ(queue.take().records, std::vector<std::string>{expected});
    for (const std::uint64_t id : {3, 4}) {
        EXPECT_EQ(queue.oldest(), 9U);
        const TrialQueue::Result result = queue.take();
        EXPECT_EQ(result.candidate.id, id);
        EXPECT_TRUE(result.records.empty());
    }
    EXPECT_TRUE(queue.empty());
}

// ---- what becomes of them ------------------------------------------------------------------------------------------

#ifdef SELVAGE_MUTANT_FOLDER
constexpr const char* kLibrary = SELVAGE_MUTANT_FOLDER "/libmutant-send-refused.so";
constexpr const char* kRefused =
    "selvage-case 1\nkind = traffic\nprovider = \"shm\"\n"
    "call = version=1.17 hints={ep_attr.type=FI_EP_RDM, fabric_attr.prov_name=\"shm\"}\n"
    "B recv length=4096\nA send length=4096\n";

// A transfer that the library refuses, then one that ends the process that runs the cases, or none.
class OneFinding : public Property {
public:
    explicit OneFinding(bool dies) : dies_(dies) {}
    [[nodiscard]] std::string_view name() const override { return "traffic"; }
    [[nodiscard]] std::string_view about() const override { return "a finding"; }
    [[nodiscard]] std::uint64_t count(const Plan&) const override { return 2; }
    void prepare(TestContext&) override {}
    bool make(TestContext&, std::uint64_t index, Case& out) override {
        if (index == 1 && dies_) _exit(3);
        CaseFile file;
        CaseError error;
        if (index == 1 || !parse_case(kRefused, file, error)) return false;
        out = file.shown;
        return true;
    }

private:
    bool dies_;
};

std::size_t refusals(bool dies) {
    Plan plan;
    plan.library = kLibrary;
    OneFinding property(dies);
    ProviderResult result;
    result.provider = "shm";
    Report report;
    run_property(plan, property, result, report, [](std::uint64_t, std::uint64_t) {});
    return static_cast<std::size_t>(std::count_if(
        report.deviations.begin(), report.deviations.end(),
        [](const Deviation& d) { return d.clause == model::Clause::msg_call_accepted && !d.intermittent; }));
}

// A finding, then cases that keep all promises, until a file says that it came.
class WaitsForItsFinding : public Property {
public:
    explicit WaitsForItsFinding(std::string file) : file_(std::move(file)) {}
    [[nodiscard]] std::string_view name() const override { return "traffic"; }
    [[nodiscard]] std::string_view about() const override { return "a finding, and others"; }
    [[nodiscard]] std::uint64_t count(const Plan&) const override { return 1000; }
    void prepare(TestContext&) override {}
    bool make(TestContext&, std::uint64_t index, Case& out) override {
        came_ = came_ || std::filesystem::exists(file_);
        CaseFile file;
        CaseError error;
        if (came_ || !parse_case(kRefused, file, error)) return false;
        out = file.shown;
        if (index == 0) return true;
        for (model::Operation& o : out.sequence.operations) o.length = 8;
        usleep(10'000);
        return true;
    }
    [[nodiscard]] std::string note() const override { return came_ ? "it came" : "it did not come"; }

private:
    std::string file_;
    bool came_ = false;
};

TEST(Sightings, AFindingIsPassedOnWhileItsPropertyGoesOn) {
    const Folder folder;
    WaitsForItsFinding property(folder.path("found"));
    Plan plan;
    plan.library = kLibrary;
    const JobEvents events{.began = [](std::size_t) {},
                           .at = [](std::size_t, std::uint64_t) {},
                           .found = [&](std::size_t, const Deviation&) { std::ofstream(folder.path("found")) << 1; },
                           .ended = [](std::size_t, const JobResult&) {}};
    const auto results = run_jobs(plan, {{&property, "shm"}}, 1, events);
    ASSERT_EQ(results.size(), 1U);
    EXPECT_EQ(results[0].counts.notes, std::vector<std::string>{"traffic: it came"});
    EXPECT_EQ(results[0].deviations.size(), 1U) << "once";
}

// Makes one sighting smaller, and then the same again.
class ReducesTwice : public Property {
public:
    [[nodiscard]] std::string_view name() const override { return "traffic"; }
    [[nodiscard]] std::string_view about() const override { return "two promises that one case breaks"; }
    [[nodiscard]] std::uint64_t count(const Plan&) const override { return 1; }
    void prepare(TestContext&) override {}
    bool make(TestContext& context, std::uint64_t, Case&) override {
        Sighting seen;
        if (!see(context, seen)) return false;
        int runs = 0;
        Repeater repeater(context, [&runs] { ++runs; });
        const Reduced first = repeater.reduce(seen);
        const int once = runs;
        const Reduced second = repeater.reduce(seen);
        note_ = std::to_string(runs - once) + " more" + (once > 2 ? "" : ", few at first") +
                (first.minimal == second.minimal ? "" : ", another case");
        repeater.each_time(seen, second);
        note_ += ", " + std::to_string(runs - once) + " to confirm";
        return false;
    }
    [[nodiscard]] std::string note() const override { return note_; }

protected:
    static bool see(TestContext& context, Sighting& seen) {
        CaseFile file;
        CaseError error;
        if (!parse_case(kRefused, file, error)) return false;
        seen.shown = file.shown;
        model::Tally tally;
        probe(context, file.shown, tally, seen.because);
        seen.because = pick(seen.because, {.clause = Clause::msg_call_accepted, .evidence = {}});
        return true;
    }

    std::string note_ = "did not begin";
};

// Makes a sighting smaller that is like a known finding, and then as if it were none.
class ReducesWhatIsKnown : public ReducesTwice {
public:
    bool make(TestContext& context, std::uint64_t, Case&) override {
        Sighting seen;
        if (!see(context, seen)) return false;
        const auto runs_of = [&](bool known) {
            int runs = 0;
            Repeater repeater(context, [&runs] { ++runs; });
            repeater.set_known([known](const model::Because&, const Case&) { return known; });
            const Reduced r = repeater.reduce(seen);
            outline_ = outline_.empty() || outline_ == signature(r.because.front(), r.minimal)
                           ? signature(r.because.front(), r.minimal)
                           : "another finding";
            return runs;
        };
        note_ = runs_of(true) < runs_of(false) ? "fewer trials" : "as many trials";
        if (outline_ == "another finding") note_ += ", " + outline_;
        return false;
    }

private:
    std::string outline_;
};

std::vector<std::string> notes_of(Property& property) {
    Plan plan;
    plan.library = kLibrary;
    ProviderResult result;
    result.provider = "shm";
    Report report;
    run_property(plan, property, result, report, [](std::uint64_t, std::uint64_t) {});
    return result.notes;
}

// Makes one sighting smaller in a process, and then the same in another one, which knows of the first what was sent.
class ReducesInTwoProcesses : public ReducesTwice {
public:
    bool make(TestContext& context, std::uint64_t, Case&) override {
        TrialQueue::Group group(1);
        if (!see(context, group.front().sighting)) return false;
        Repeater::Memory known;
        TrialQueue queue(1, [&](const TrialQueue::Group& g, Channel& channel) {
            send_reduced(
                context, g, kShrinkTime, known, [](const model::Because&, const Case&) { return false; }, channel);
        });
        std::size_t tried[2];
        Reduced made[2];
        for (int i = 0; i < 2; ++i) {
            const std::size_t before = known.size();
            queue.begin(group, 0);
            Experience none;
            made[i] = read_reduced(queue.take(), none, known);
            tried[i] = known.size() - before;
        }
        note_ = std::to_string(tried[1]) + " more" + (tried[0] > 2 ? "" : ", few at first") +
                (made[0].minimal == made[1].minimal && !made[1].because.empty() ? "" : ", another case");
        note_ += holds_what_is_seen(context, known) ? "" : ", something else";
        return false;
    }

private:
    // What is known of each case is what it shows.
    static bool holds_what_is_seen(TestContext& context, const Repeater::Memory& known) {
        return std::all_of(known.begin(), known.end(), [&](const auto& one) {
            CaseFile file;
            CaseError error;
            model::Tally tally;
            std::vector<model::Because> broken;
            if (!parse_case(one.first, file, error)) return false;
            worker_of(context.library()).renew();
            probe(context, file.shown, tally, broken);
            const auto same = [](const model::Because& a, const model::Because& b) { return a.clause == b.clause; };
            return std::equal(broken.begin(), broken.end(), one.second.broken.begin(), one.second.broken.end(), same);
        });
    }
};

TEST(Sightings, WhatWasTriedInOneProcessIsNotTriedInTheNext) {
    ReducesInTwoProcesses property;
    EXPECT_EQ(notes_of(property), std::vector<std::string>{"traffic: 0 more"});
}

TEST(Sightings, WhatIsKnownIsMadeSmallerOnlyUntilItCanBeTold) {
    ReducesWhatIsKnown property;
    EXPECT_EQ(notes_of(property), std::vector<std::string>{"traffic: fewer trials"});
}

TEST(Sightings, WhatWasRunForOnePromiseIsKnownForAnotherButNotWhenItIsConfirmed) {
    ReducesTwice property;
    EXPECT_EQ(notes_of(property), std::vector<std::string>{"traffic: 0 more, 2 to confirm"});
}

TEST(Sightings, AFindingIsToldOnceItIsConfirmed) { EXPECT_EQ(refusals(false), 1U); }

TEST(Sightings, WhatWasBeingConfirmedIsToldThoughTheProcessThatFoundItEnds) { EXPECT_EQ(refusals(true), 1U); }
#endif

}  // namespace
}  // namespace selvage::conformance
