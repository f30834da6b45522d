// See session.h.
#include "conformance/cli/session.h"
#include "conformance/base/markup.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "conformance/coverage/unreached.h"
#include "conformance/run/merge.h"
#include "model/spec/clause.h"

namespace selvage::conformance {
namespace {

// Stands for a property on a provider, which has been run when its body is.
class PropertyTest : public testing::Test {
public:
    PropertyTest(const Session& session, std::size_t job) : session_(session), job_(job) {}

    void TestBody() override {
        const JobResult& result = session_.by.at(job_);
        EXPECT_EQ(result.deviations.size(), 0U);
        EXPECT_EQ(result.trouble, "");
    }

private:
    const Session& session_;
    std::size_t job_;
};

void run_chosen(Session& session) {
    std::vector<Job> jobs;
    jobs.reserve(session.chosen.size());
    for (const std::size_t i : session.chosen) jobs.push_back(session.jobs[i]);
    std::vector<std::size_t> steps(jobs.size());
    Progress& progress = *session.progress;
    const JobEvents events{
        .began =
            [&](std::size_t i) {
                steps[i] = progress.begin(fmt::format("{}/{}", jobs[i].property->name(), printable(jobs[i].provider)),
                                          jobs[i].property->count(*session.plan));
            },
        .at = [&](std::size_t i, std::uint64_t done) { progress.at(steps[i], done); },
        .found = [&](std::size_t, const Deviation& d) { session.programs->begin(d); },
        .ended =
            [&](std::size_t i, const JobResult& r) {
                const auto found = r.deviations.size();
                const auto verdict = found == 0 ? std::string("kept") : counted(found, "deviation");
                progress.end(steps[i], r.trouble.empty() ? verdict : "no verdict", r.counts.judged, r.counts.seconds);
            }};
    auto results = run_jobs(*session.plan, jobs, session.at_once, events);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        add_result(results[i], session.report);
        session.by.emplace(session.chosen[i], std::move(results[i]));
    }
}

// Runs what GoogleTest has chosen, by filter and shard, before the first test.
class Chosen : public testing::EmptyTestEventListener {
public:
    explicit Chosen(Session& session) : session_(session) {}

    void OnTestIterationStart(const testing::UnitTest& all, int iteration) override {
        if (iteration > 0) return;
        for (int s = 0; s < all.total_test_suite_count(); ++s) {
            const testing::TestSuite& suite = *all.GetTestSuite(s);
            for (int t = 0; t < suite.total_test_count(); ++t) choose(*suite.GetTestInfo(t));
        }
        std::sort(session_.chosen.begin(), session_.chosen.end());
        run_chosen(session_);
    }

private:
    void choose(const testing::TestInfo& test) {
        if (!test.should_run()) return;
        for (std::size_t i = 0; i < session_.jobs.size(); ++i) {
            const Job& job = session_.jobs[i];
            if (job.property->name() == test.test_suite_name() && job.provider == test.name())
                session_.chosen.push_back(i);
        }
    }
    Session& session_;
};

// What a part of a run did not reach and cannot explain may be reached by another.
void explain_parts(const Shard& shard, Report& report) {
    if (shard.alone()) return;
    for (auto& p : report.providers) {
        for (const auto& c : model::clauses()) {
            if (result_of(report, p, c.clause) == ClauseResult::Unreached) p.reasons.emplace(c.clause, kOtherPart);
        }
    }
}

// Properties that other parts run are theirs to explain.
void leave_to_others(const Shard& shard, const Properties& properties, const Session& session, ProviderResult& result) {
    if (shard.alone()) return;
    std::set<std::string> ours;
    for (const std::size_t i : session.chosen)
        if (session.jobs[i].provider == result.provider) ours.emplace(session.jobs[i].property->name());
    for (const auto& p : properties) {
        const std::string name(p->name());
        if (!ours.contains(name)) result.finished.insert(name);
    }
}

// @return how many cases there are in all.
std::uint64_t register_tests(Session& session, const Properties& properties) {
    std::uint64_t total = 0;
    for (const auto& p : session.report.providers) {
        for (const auto& property : properties) {
            total += property->count(*session.plan);
            const std::size_t job = session.jobs.size();
            session.jobs.push_back({property.get(), p.provider});
            testing::RegisterTest(std::string(property->name()).c_str(), p.provider.c_str(), nullptr, nullptr, __FILE__,
                                  __LINE__,
                                  [&session, job]() -> PropertyTest* { return new PropertyTest(session, job); });
        }
    }
    return total;
}

}  // namespace

void run_session(Session& session, const Properties& properties, const Shard& shard) {
    session.progress->expect(register_tests(session, properties));
    int argc = 1;
    char name[] = "selvage";
    char* argv[] = {name, nullptr};
    if (!shard.alone()) take_shard(shard);
    testing::InitGoogleTest(&argc, argv);
    auto& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new Chosen(session));
    const int ignored = RUN_ALL_TESTS();
    static_cast<void>(ignored);  // what counts is decided later, by grade and waiver
}

void explain_session(Session& session, const Properties& properties, const Shard& shard) {
    for (auto& p : session.report.providers) {
        leave_to_others(shard, properties, session, p);
        explain_unreached(*session.plan, session.report, p);
    }
    explain_parts(shard, session.report);
}

void run_programs(const Court& court, Session& session) {
    const auto began = std::chrono::steady_clock::now();
    const auto count = court.compiler ? count_programs(session.report) : 0;
    const std::size_t step = count != 0 ? session.progress->begin("programs", count) : 0;
    session.programs->finish(session.report, [&](std::size_t done) { session.progress->at(step, done); });
    if (count == 0) return;
    const auto shown = program_counts(session.report)[static_cast<std::size_t>(ProgramRun::Result::Shown)];
    session.progress->end(step, fmt::format("{} of {} findings shown", shown, session.report.deviations.size()), count,
                          std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
}

std::string troubles_of(const Session& session) {
    std::string out;
    for (const auto& [job, result] : session.by) {
        if (result.trouble.empty()) continue;
        out += (out.empty() ? "" : "; ") + printable(session.jobs[job].provider) + ": " + result.trouble;
    }
    return out;
}

}  // namespace selvage::conformance
