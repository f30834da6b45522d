// Judging costs less than calling, and a million judged questions take under a minute.
//
// The bounds are generous: machines that run tests are busy with other things.  Only shares and CPU time are compared,
// which a busy machine changes little.
#include <gtest/gtest.h>
#include <time.h>

#include <cstring>

#include "conformance/suite/lab.h"
#include "conformance/suite/probe.h"
#include "conformance/suite/questions.h"
#include "conformance/test/subject_util.h"

namespace selvage::conformance {
namespace {

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// CPU time of each step of asking and judging `count` random questions of shm.
struct Spent {
    double making = 0, calling = 0, judging = 0;
};

Spent ask_and_judge(std::size_t count) {
    Spent spent;
    const Seen seen = in_child([&](Channel& channel) {
        std::string error;
        Plan plan;
        plan.cases = count;
        auto lab = Lab::open(plan, "shm", error);
        if (!lab) return channel.send(error);
        const auto random = make_random();
        random->prepare(*lab);
        model::Tally tally;
        std::vector<model::Because> broken;
        std::vector<model::Query> queries;
        Asked asked;
        Spent s;
        for (std::size_t i = 0; i < count;) {
            double began = cpu_seconds();
            queries.clear();
            for (; i < count && queries.size() < Caller::capacity(); ++i) {
                Case c;
                if (random->make(*lab, i, c)) queries.push_back(std::move(c.first));
            }
            s.making += cpu_seconds() - began;
            began = cpu_seconds();
            const auto inside = lab->bulk().time_inside();
            lab->bulk().prepare(queries);
            for (std::size_t k = 0; k < queries.size(); ++k) {
                lab->bulk().ask(k, asked);
                broken.clear();
                judge_asked(*lab, queries[k], asked, tally, broken);
            }
            const double all = cpu_seconds() - began;
            const double calls = std::chrono::duration<double>(lab->bulk().time_inside() - inside).count();
            s.calling += std::min(calls, all);
            s.judging += std::max(0.0, all - calls);
            channel.doing(i);
        }
        channel.send({reinterpret_cast<const char*>(&s), sizeof s});
    });
    EXPECT_EQ(seen.records.size(), 1U);
    if (seen.records.size() == 1 && seen.records[0].size() == sizeof spent) std::memcpy(&spent, seen.records[0].data(), sizeof spent);
    return spent;
}

#ifdef SELVAGE_SANITIZED
constexpr bool kMeasures = false;
#else
constexpr bool kMeasures = true;
#endif

TEST(Speed, JudgingCostsLessThanCalling) {
    if (!kMeasures) GTEST_SKIP() << "sanitizers slow us down, not the library";
    constexpr std::size_t kCases = 60'000;
    const Spent s = ask_and_judge(kCases);
    const double total = s.making + s.calling + s.judging;
    ASSERT_GT(total, 0);
    const double per_million = total / static_cast<double>(kCases) * 1e6;
    std::printf("shm: making %.2f, calling %.2f, asking around and judging %.2f us a question; the library has %.0f %% of it; "
                "a million take %.0f s\n",
                s.making / kCases * 1e6, s.calling / kCases * 1e6, s.judging / kCases * 1e6, s.calling / total * 100, per_million);
    EXPECT_GE(s.calling / total, 0.5);
    EXPECT_LT(per_million, 4 * 60);
}

}  // namespace
}  // namespace selvage::conformance
