// Deviations that their case alone does not show: what the pair of endpoints had carried becomes part of the case, and
// what shows only at times is reported with how often it did.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "conformance/case/case_text.h"
#include "conformance/drive/transfer/worker.h"
#include "conformance/report/waiver.h"
#include "conformance/report/write.h"
#include "conformance/reproduce/reproduce.h"
#include "conformance/run/merge.h"
#include "conformance/run/novelty.h"
#include "conformance/run/repeat.h"
#include "conformance/shrink/shrink.h"
#include "conformance/test/schema_util.h"
#include "conformance/test/subject_util.h"
#include "conformance/test/tool_util.h"
#include "model/spec/clause.h"

namespace selvage::conformance {
namespace {

using model::Operation;
using model::Side;
using model::Transfer;
using Operations = std::vector<Operation>;

Operation operation(Transfer what, Side side, std::uint64_t length) {
    Operation o;
    o.what = what;
    o.side = side;
    o.length = length;
    return o;
}
Operations message(std::uint64_t length) {
    return {operation(Transfer::Recv, Side::B, length), operation(Transfer::Send, Side::A, length)};
}

Case with_history(std::vector<Operations> before) {
    Case c;
    c.kind = Case::Kind::Traffic;
    c.provider = "shm";
    c.first.hints.emplace().present = model::kAllParts;
    c.first.hints->ep.type = FI_EP_RDM;
    c.first.hints->fabric.prov_name = "shm";
    c.sequence.operations = message(8);
    c.before = std::move(before);
    return c;
}

std::string error_of(const std::string& lines) {
    CaseFile out;
    CaseError error;
    EXPECT_FALSE(parse_case("selvage-case 1\nkind = traffic\n" + lines, out, error)) << lines;
    return error.str();
}

// ---- the text ------------------------------------------------------------------------------------------------------

RC_GTEST_PROP(HistoryText, WhatIsPrintedIsReadBack, ()) {
    Case c = with_history({});
    if (*rc::gen::inRange(0, 4) == 0) c.sequence.operations.clear();
    const auto count = *rc::gen::inRange(0, 6);
    for (int i = 0; i < count; ++i) {
        Operations all;
        for (int n = *rc::gen::inRange(0, 4); n > 0; --n) {
            all.push_back(operation(static_cast<Transfer>(*rc::gen::inRange(0, 6)),
                                    *rc::gen::arbitrary<bool>() ? Side::A : Side::B,
                                    *rc::gen::inRange<std::uint64_t>(0, 100000)));
            all.back().tag = *rc::gen::arbitrary<std::uint64_t>();
        }
        c.before.push_back(std::move(all));
    }
    CaseFile out;
    CaseError error;
    if (!parse_case(print_case(c), out, error)) RC_FAIL(error.str() + "\n" + print_case(c));
    RC_ASSERT(out.shown == c);
}

TEST(HistoryText, LooksAsDocumented) {
    const std::string text = print_case(with_history({message(1), {}}));
    EXPECT_NE(text.find("before\nB recv length=1\nA send length=1\nbefore\nthen\nB recv length=8\nA send length=8\n"),
              std::string::npos)
        << text;
}

TEST(HistoryText, SaysWhatIsWrongWithIt) {
    EXPECT_EQ(error_of("then\n"), "line 3: 'then': nothing stands before: add a line \"before\" ahead of it");
    EXPECT_EQ(error_of("A send length=1\nbefore\n"),
              "line 4: 'before': what the pair carries first stands ahead of the operations that are judged");
    EXPECT_EQ(error_of("before\nthen\nbefore\n"),
              "line 5: 'before': what the pair carries first stands ahead of the operations that are judged");
    EXPECT_EQ(error_of("before\nthen\nthen\n"),
              "line 5: 'then': one exchange is judged; those ahead of it begin with \"before\"");
    EXPECT_NE(error_of("before\nA send length=1\n").find("the exchange that is judged is missing"), std::string::npos);
    std::string many;
    for (std::size_t i = 0; i <= kMostBefore; ++i) many += "before\n";
    EXPECT_NE(error_of(many + "then\n").find("at most 200 exchanges"), std::string::npos);
}

// ---- smaller -------------------------------------------------------------------------------------------------------

TEST(HistoryShrink, KeepsTheExchangesThatAreNeededAndNothingElseOfThem) {
    std::vector<Operations> before(40, message(100));
    before[7].push_back(operation(Transfer::Write, Side::B, 64));
    before[31] = {operation(Transfer::Read, Side::A, 9), operation(Transfer::Recv, Side::A, 9),
                  operation(Transfer::Send, Side::B, 9)};
    const auto has = [](const Operations& all, Transfer what) {
        return std::any_of(all.begin(), all.end(), [&](const Operation& o) { return o.what == what; });
    };
    // As a run takes it: an exchange that leaves a message behind is no history.
    const auto clean = [](const Operations& all) {
        const auto count = [&](Transfer t) {
            return std::count_if(all.begin(), all.end(), [&](const Operation& o) { return o.what == t; });
        };
        return count(Transfer::Send) == count(Transfer::Recv);
    };
    std::size_t trials = 0;
    const Case least = shrink(
        with_history(before),
        [&](const Case& c) {
            bool writes = false, reads_then = false;
            for (const auto& e : c.before) {
                if (!clean(e)) return false;
                reads_then = reads_then || (writes && has(e, Transfer::Read));
                writes = writes || has(e, Transfer::Write);
            }
            return reads_then && has(c.sequence.operations, Transfer::Send);
        },
        400, &trials);
    ASSERT_EQ(least.before.size(), 2U) << print_case(least);
    EXPECT_EQ(least.before[0], Operations{operation(Transfer::Write, Side::B, 0)});
    EXPECT_EQ(least.before[1], Operations{operation(Transfer::Read, Side::A, 0)});
    EXPECT_LT(trials, 300U);
}

TEST(HistoryShrink, DropsAHistoryThatIsNotNeeded) {
    const Case least = shrink(with_history(std::vector<Operations>(30, message(8))),
                              [](const Case& c) { return !c.sequence.operations.empty(); });
    EXPECT_TRUE(least.before.empty());
}

// ---- reports -------------------------------------------------------------------------------------------------------

Report report_with(std::optional<Tries> intermittent) {
    Report r;
    r.subject.path = "/lib/libfabric.so.1";
    r.subject.version = model::Version(1, 17);
    r.providers.emplace_back().provider = "shm";
    Deviation d;
    d.clause = model::Clause::cq_entry_comes;
    d.provider = "shm";
    d.grade = grade_of(model::clause_text(d.clause), false);
    d.summary = "an entry did not come";
    d.because.emplace_back().clause = d.clause;
    d.shown_by = with_history({message(1)});
    d.intermittent = intermittent;
    r.deviations.push_back(std::move(d));
    return r;
}

TEST(IntermittentReport, EveryFormSaysSoAndHowOften) {
    const Report r = report_with(Tries{.shown = 2, .of = 13});
    for (const std::string& form : {report_text(r), report_junit(r), report_html(r)}) {
        EXPECT_NE(form.find("intermittent"), std::string::npos) << form;
        EXPECT_NE(form.find("shown 2 of 13 tries"), std::string::npos) << form;
    }
    for (const std::string& form : {report_text(report_with({})), report_junit(report_with({}))})
        EXPECT_EQ(form.find("ntermittent"), std::string::npos) << form;
}

TEST(IntermittentReport, JsonFitsItsSchemaAndReadsBack) {
    const Report r = report_with(Tries{.shown = 2, .of = 13});
    const auto json = nlohmann::json::parse(report_json(r));
    validate(nlohmann::json::parse(slurp(SELVAGE_DOCS_DIR "/report.schema.json")), json, "report");
    EXPECT_EQ(json["counts"]["at_times"], 1);
    EXPECT_EQ(json["counts"]["violation"], 1);
    Report back;
    std::string error;
    ASSERT_TRUE(read_report_json(report_json(r), back, error)) << error;
    EXPECT_EQ(back.deviations.at(0).intermittent, r.deviations[0].intermittent);
    EXPECT_EQ(back.deviations.at(0).shown_by, r.deviations[0].shown_by);
}

TEST(IntermittentReport, TriesOfPartsAddUpAndTheRestStaysApart) {
    const std::vector<Report> parts = {report_with(Tries{.shown = 1, .of = 21}), report_with({}),
                                       report_with(Tries{.shown = 3, .of = 11})};
    Report whole;
    std::string error;
    ASSERT_TRUE(merge_reports(parts, whole, error)) << error;
    ASSERT_EQ(whole.deviations.size(), 2U);
    EXPECT_EQ(whole.deviations[0].intermittent, (Tries{.shown = 4, .of = 32}));
    EXPECT_EQ(whole.deviations[0].seen, 2U);
    EXPECT_FALSE(whole.deviations[1].intermittent);
}

TEST(IntermittentReport, IsWaivedAsAnyOther) {
    Report r = report_with(Tries{.shown = 1, .of = 21});
    std::vector<Waiver> waivers(1);
    waivers[0].clause = model::Clause::cq_entry_comes;
    waivers[0].provider = "*";
    waivers[0].reason = "known";
    apply_waivers(waivers, r);
    EXPECT_TRUE(r.deviations[0].waived.starts_with("known ("));
}

TEST(IntermittentReport, ThoseOfOneClauseAreOneFinding) {
    const Report r = report_with({});
    const auto& because = r.deviations[0].because.front();
    Case other = r.deviations[0].shown_by;
    other.sequence.operations = message(4096);
    other.sequence.operations.push_back(operation(Transfer::Write, Side::A, 1));
    EXPECT_EQ(signature(because, other, true), signature(because, r.deviations[0].shown_by, true));
    EXPECT_NE(signature(because, other), signature(because, r.deviations[0].shown_by));
}

// ---- programs ------------------------------------------------------------------------------------------------------

TEST(HistoryProgram, CarriesWhatWasCarriedFirst) {
    Case c = with_history({message(1), message(2)});
    c.sequence.counters = true;
    const std::string program = c_program(c, model::Clause::cq_entry_comes, {});
    const auto first = program.find("/* 3: B recv length=1 */");
    const auto second = program.find("/* 5: B recv length=2 */");
    const auto judged = program.find("/* 1: B recv length=8 */");
    ASSERT_NE(first, std::string::npos) << program;
    EXPECT_LT(first, second);
    EXPECT_LT(second, judged);
    EXPECT_NE(program.find("#define OPERATIONS 6"), std::string::npos);
    const auto notes = [&](std::size_t from, std::size_t to) { return program.find("note_counts();", from) < to; };
    EXPECT_TRUE(notes(0, first) && notes(first, second) && notes(second, judged)) << program;
    EXPECT_EQ(c_program(with_history({}), model::Clause::cq_entry_comes, {}).find("note_counts"), std::string::npos);
}

#ifdef SELVAGE_OWN_LIBRARY
// ---- the worker ----------------------------------------------------------------------------------------------------

// What a worker notes of the last of these, on the reference library's shm.
struct Noted {
    std::size_t history = 0;
    bool ran = false;
    bool drained = false;
};
Noted run_in_order(const std::vector<Case>& cases) {
    const Seen seen = in_child([&](Channel& channel) {
        std::string trouble;
        const auto library = Library::open(SELVAGE_OWN_LIBRARY, trouble);
        if (!library) return;
        Worker worker(*library);
        model::Traffic out;
        for (const Case& c : cases) {
            out = {};
            worker.run(c, out);
        }
        channel.send(std::to_string(worker.history().size()) + (worker.ran() ? "r" : "-") + (out.drained ? "s" : "-"));
    });
    if (seen.records.empty()) return {};
    const std::string& record = seen.records.front();
    return {std::stoul(record), record.find('r') != std::string::npos, record.find('s') != std::string::npos};
}

TEST(WorkerHistory, HoldsWhatThePairHadCarried) {
    const Case c = with_history({});
    EXPECT_EQ(run_in_order({c}).history, 0U);
    EXPECT_EQ(run_in_order({c, c}).history, 0U) << "the first pair of a set-up is closed again";
    EXPECT_EQ(run_in_order({c, c, c, c}).history, 2U);
    Case other = c;
    other.sequence.counters = true;
    EXPECT_EQ(run_in_order({c, c, c, c, other}).history, 0U) << "a pair of another set-up";
}

TEST(WorkerHistory, IsRunAheadOfTheCaseThatHasOne) {
    const Noted noted = run_in_order({with_history({message(1), message(100)})});
    EXPECT_EQ(noted.history, 2U);
    EXPECT_TRUE(noted.ran);
    EXPECT_TRUE(noted.drained);
}

TEST(WorkerHistory, ACaseIsNotRunBehindAnExchangeThatLeavesSomething) {
    const Noted noted = run_in_order({with_history({{operation(Transfer::Send, Side::A, 8)}})});
    EXPECT_FALSE(noted.ran);
    EXPECT_FALSE(noted.drained);
}

// Debian's shm hangs where a long message meets a shorter receive.
TEST(WorkerHang, OnceTheLibraryIsKnownToHangAHangIsHastyUntilItIsWaitedForWithPatience) {
    const Seen seen = in_child([](Channel& channel) {
        std::string trouble;
        const auto library = Library::open("libfabric.so.1", trouble);
        if (!library) return channel.send(trouble);
        Case c = with_history({});
        c.first.version = model::Version(1, 17);
        c.first.hints->mode = FI_CONTEXT | FI_CONTEXT2;
        c.first.hints->domain.mr_mode =
            FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
        c.sequence.operations = {operation(Transfer::Recv, Side::B, 0), operation(Transfer::Send, Side::A, 65536)};
        Worker worker(*library);
        std::string hangs;
        for (const bool patient : {false, true, false, true}) {
            model::Traffic out;
            worker.set_patient(patient);
            const Ending e = worker.run(c, out);
            hangs += e.kind != Ending::Kind::Hung ? "no " : worker.hasty() ? "hasty " : "sure ";
        }
        channel.send(hangs);
    });
    ASSERT_FALSE(seen.records.empty());
    EXPECT_EQ(seen.records.front(), "sure sure hasty sure ");
}

// ---- the whole way -------------------------------------------------------------------------------------------------

std::string mutant(const std::string& name) { return SELVAGE_MUTANT_FOLDER "/libmutant-" + name + ".so"; }

Ran check_mutant(const Folder& folder, const std::string& name, const std::string& clause, const std::string& cases) {
    return run_tool({"check", "--verbose", "--no-compiler", "--library", mutant(name), "--provider", "shm", "--clause",
                     clause, "--cases", cases, "--report", folder.path("r.json"), "--save", folder.path("saved")},
                    {"GTEST_FILTER=traffic.*"});
}

std::size_t operations_before(const Case& c) {
    std::size_t n = 0;
    for (const auto& e : c.before) n += e.size();
    return n;
}

// No exchange alone shows it, as it begins behind the one with the atomic.
TEST(History, IsPartOfACaseThatReplaysWhereTheExchangeAloneShowsNothing) {
    const Folder folder;
    const Ran ran = check_mutant(folder, "history-count-off", "cntr.count", "600");
    ASSERT_EQ(ran.status, 1) << ran.out << ran.err;
    const Report r = read_report(folder.path("r.json"));
    ASSERT_FALSE(r.deviations.empty());
    std::size_t fewest = ~std::size_t{0};
    for (const Deviation& d : r.deviations) {
        EXPECT_FALSE(d.intermittent) << print_case(d.shown_by);
        EXPECT_GE(d.shown_by.before.size(), 1U);
        fewest = std::min(fewest, operations_before(d.shown_by));
    }
    EXPECT_LE(fewest, 10U) << ran.out;
    std::string file;
    for (const auto& e : std::filesystem::directory_iterator(folder.path("saved")))
        if (e.path().extension() == ".case") file = e.path().string();
    EXPECT_EQ(run_tool({"replay", "--library", mutant("history-count-off"), file}).status, 1) << slurp(file);
    EXPECT_EQ(run_tool({"replay", "--library", mutant("clean"), file}).status, 0) << slurp(file);
}

// Of a property that ends at its first deviation nothing is said that it did not come to.
TEST(FirstDeviation, EndsItsPropertyAndIsNotMadeSmaller) {
    std::uint64_t judged[2] = {};
    for (const bool first : {false, true}) {
        const Folder folder;
        std::vector<std::string> arguments = {"check",      "--no-compiler", "--library", mutant("read-cut"),
                                              "--provider", "shm",           "--clause",  "rma",
                                              "--cases",    "800",           "--report",  folder.path("r.json")};
        if (first) arguments.emplace_back("--first");
        const Ran ran = run_tool(arguments, {"GTEST_FILTER=traffic.*"});
        ASSERT_EQ(ran.status, 1) << ran.out << ran.err;
        const Report r = read_report(folder.path("r.json"));
        judged[first ? 1 : 0] = r.providers.at(0).judged;
        if (!first) continue;
        EXPECT_EQ(r.deviations.size(), 1U) << ran.out;
        EXPECT_FALSE(r.deviations.at(0).intermittent) << ran.out;
        bool said = false;
        for (const auto& [clause, reason] : r.providers[0].reasons)
            said = said || reason == "not run to its end: the property traffic";
        EXPECT_TRUE(said);
    }
    EXPECT_LT(judged[1], judged[0]);
}

TEST(History, TheSameSeedGivesTheSameReport) {
    std::string deviations[2];
    for (std::string& d : deviations) {
        const Folder folder;
        check_mutant(folder, "history-read-spoils", "msg", "800");
        d = nlohmann::json::parse(slurp(folder.path("r.json"))).at("deviations").dump(1);
    }
    EXPECT_EQ(deviations[0], deviations[1]);
    EXPECT_TRUE(contains(deviations[0], "before")) << deviations[0];
}

TEST(History, ExplainsADeathOnAPairThatHasCarriedSomething) {
    const Folder folder;
    const Ran ran = check_mutant(folder, "history-close-crash", "domain.close.child", "300");
    ASSERT_EQ(ran.status, 1) << ran.out << ran.err;
    const Report r = read_report(folder.path("r.json"));
    EXPECT_TRUE(std::any_of(r.deviations.begin(), r.deviations.end(), [](const Deviation& d) {
        return d.grade == Grade::Fatal && !d.intermittent;
    })) << ran.out;
}

// One run can't show what damaged memory: where an atomic was accepted that its valid call denies, a close need not
// have.
TEST(History, TheCloseBehindAnAtomicThatIsDeniedIsNotWhatEndedTheProcess) {
    const Folder close, atomic;
    const Ran of_close = check_mutant(close, "history-denied-atomic", "domain.close.child", "600");
    EXPECT_EQ(of_close.status, 0) << of_close.out << of_close.err;
    const Ran of_atomic = check_mutant(atomic, "history-denied-atomic", "atomic.call", "600");
    EXPECT_EQ(of_atomic.status, 1) << of_atomic.out << of_atomic.err;
    EXPECT_TRUE(contains(of_atomic.out, "atomic.call.comes-back")) << of_atomic.out;
}

// Nor what is opened next, in the same process.
TEST(History, EndsWithTheProcessBehindAnAtomicThatIsDenied) {
    const Folder folder;
    const Ran ran =
        run_tool({"check", "--verbose", "--no-compiler", "--library", mutant("history-denied-late"), "--provider",
                  "shm", "--processes", "1", "--cases", "600", "--report", folder.path("r.json")},
                 {"GTEST_FILTER=traffic.*"});
    EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
    for (const Deviation& d : read_report(folder.path("r.json")).deviations)
        EXPECT_EQ(model::clause_text(d.clause).id, "atomic.valid.unsupported") << print_case(d.shown_by);
}

// What is missing without selective completion as well is not missing because of it.
TEST(SelectedCompletion, IsNotWhatIsMissingWhereAllAreReportedAndOneIsLost) {
    const auto clauses_of = [](const std::string& name) {
        const Folder folder;
        const Ran ran =
            run_tool({"check", "--no-compiler", "--library", mutant(name), "--provider", "shm", "--clause", "atomic",
                      "--clause", "cq.entry.comes", "--cases", "4000", "--report", folder.path("r.json")},
                     {"GTEST_FILTER=traffic.*"});
        EXPECT_EQ(ran.status, 1) << ran.out << ran.err;
        std::set<std::string> out;
        for (const Deviation& d : read_report(folder.path("r.json")).deviations)
            out.emplace(model::clause_text(d.clause).id);
        return out;
    };
    EXPECT_EQ(clauses_of("compare-mute"), std::set<std::string>{"cq.entry.comes"});
    EXPECT_EQ(clauses_of("atomic-mute").count("atomic.completion.selected"), 1U);
}

TEST(Intermittent, IsReportedWithItsCountsAndFailsTheRun) {
    const Folder folder;
    const Ran ran = check_mutant(folder, "at-times-lost", "cq.entry.comes", "600");
    ASSERT_EQ(ran.status, 1) << ran.out << ran.err;
    EXPECT_TRUE(contains(ran.out, "intermittent: shown ")) << ran.out;
    const Report r = read_report(folder.path("r.json"));
    const auto found = std::find_if(r.deviations.begin(), r.deviations.end(),
                                    [](const Deviation& d) { return d.intermittent.has_value(); });
    ASSERT_NE(found, r.deviations.end()) << ran.out;
    EXPECT_GE(found->intermittent->shown, 1U);
    EXPECT_GT(found->intermittent->of, found->intermittent->shown);
    bool saved = false;
    for (const auto& e : std::filesystem::directory_iterator(folder.path("saved")))
        saved = saved || contains(slurp(e.path().string()), "# intermittent: shown ");
    EXPECT_TRUE(saved);
}

// What is said of an entry that is seen missing once, and comes whenever it is looked for again.
std::string said_of_a_sighting(bool hasty) {
    const Seen seen = in_child([&](Channel& channel) {
        Plan plan;
        plan.library = SELVAGE_OWN_LIBRARY;
        std::string trouble;
        const auto context = TestContext::open(plan, "shm", trouble);
        if (!context) return channel.send(trouble);
        Repeater repeater(*context, [] {});
        const Repeated r = repeater.run({with_history({}), {}, {{model::Clause::cq_entry_comes, {}, false}}, hasty});
        if (r.because.empty()) return channel.send("nothing");
        if (!r.intermittent) return channel.send("each time");
        channel.send(std::to_string(r.intermittent->shown) + " of " + std::to_string(r.intermittent->of));
    });
    return seen.records.empty() ? "no answer" : seen.records.front();
}

TEST(Intermittent, IsNotWhatWasGivenUpAfterAShortWaitAndCameWhenItWasWaitedFor) {
    EXPECT_EQ(said_of_a_sighting(false), "1 of 12");
    EXPECT_EQ(said_of_a_sighting(true), "nothing");
}

TEST(Intermittent, TheReferenceLibraryShowsNothingOfIt) {
    for (const char* provider : {"shm", "tcp"}) {
        const Ran ran = run_tool({"check", "--strict", "--library", SELVAGE_OWN_LIBRARY, "--provider", provider,
                                  "--seed", "11", "--cases", "1500"},
                                 {"GTEST_FILTER=traffic.*"});
        EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
    }
}
#endif

}  // namespace
}  // namespace selvage::conformance
