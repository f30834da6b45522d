// A million judged queries take ten seconds on a good machine, and minutes at most on a slow one that is busy.
//
// Processor time is compared, which a busy machine changes little. What judging costs is counted in instructions by
// judging_test.sh, which runs this program: the share of the time that the library has says nothing about the kit,
// since the library spends its time in system calls, and these cost three times as much on one machine as on another
// (the library had 63 % on one and 44 % on the other, with the same programs).
#include <gtest/gtest.h>
#include <time.h>

#include <cstring>

#include "conformance/drive/probe.h"
#include "conformance/drive/test_context.h"
#include "conformance/properties/queries.h"
#include "conformance/test/subject_util.h"

namespace selvage::conformance {
namespace {

double seconds(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// What asking and judging random queries of shm took.  Being put aside for other processes lengthens `inside` and
// `all` alike, and leaves `cpu` alone.
struct Spent {
    double making = 0;  // by the clock: making the queries
    double inside = 0;  // by the clock: in the library
    double all = 0;     // by the clock: everything
    double cpu = 0;     // processor time: everything
};

Spent measure(TestContext& context, std::size_t count, Channel& channel) {
    const auto random = make_random();
    random->prepare(context);
    model::Tally tally;
    std::vector<model::Because> broken;
    std::vector<model::Query> queries;
    Issued issued;
    Spent s;
    const auto inside = context.bulk().time_inside();
    const double began = seconds(CLOCK_MONOTONIC);
    const double cpu_began = seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (std::size_t i = 0; i < count;) {
        const double making = seconds(CLOCK_MONOTONIC);
        queries.clear();
        for (; i < count && queries.size() < Caller::capacity(); ++i) {
            Case c;
            if (random->make(context, i, c)) queries.push_back(std::move(c.first));
        }
        s.making += seconds(CLOCK_MONOTONIC) - making;
        context.bulk().prepare(queries);
        for (std::size_t k = 0; k < queries.size(); ++k) {
            context.bulk().issue(k, issued);
            broken.clear();
            judge_issued(context, queries[k], issued, tally, broken);
        }
        channel.doing(i);
    }
    s.cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu_began;
    s.all = seconds(CLOCK_MONOTONIC) - began;
    s.inside = std::chrono::duration<double>(context.bulk().time_inside() - inside).count();
    return s;
}

Spent issue_and_judge(std::size_t count) {
    const Seen seen = in_child([&](Channel& channel) {
        std::string error;
        Plan plan;
        plan.cases = count;
        auto context = TestContext::open(plan, "shm", error);
        if (!context) return channel.send(error);
        const Spent s = measure(*context, count, channel);
        channel.send({reinterpret_cast<const char*>(&s), sizeof s});
    });
    Spent spent;
    EXPECT_EQ(seen.records.size(), 1U);
    if (seen.records.size() == 1 && seen.records[0].size() == sizeof spent)
        std::memcpy(&spent, seen.records[0].data(), sizeof spent);
    return spent;
}

#ifdef SELVAGE_SANITIZED
constexpr bool kMeasures = false;
#else
constexpr bool kMeasures = true;
#endif

TEST(Speed, AMillionJudgedQueriesTakeMinutesAtMost) {
    if (!kMeasures) GTEST_SKIP() << "sanitizers slow us down, not the library";
    constexpr std::size_t kCases = 60'000;
    const Spent s = issue_and_judge(kCases);
    ASSERT_GT(s.all, 0);
    const double each = 1e6 / static_cast<double>(kCases);
    std::printf(
        "shm: a query takes %.2f us to make, %.2f in the library, %.2f to put and judge; the library has %.0f %%; "
        "a million take %.0f s of processor time\n",
        s.making * each, s.inside * each, (s.all - s.inside - s.making) * each, s.inside / s.all * 100, s.cpu * each);
    EXPECT_LT(s.cpu * each, 4 * 60);
}

}  // namespace
}  // namespace selvage::conformance
