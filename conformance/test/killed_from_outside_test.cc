// What is killed from outside, as the kernel does where memory is short, is run again: it shows nothing of a library.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <csignal>
#include <new>
#include <string>
#include <vector>

#include "conformance/base/library.h"
#include "conformance/case/case_text.h"
#include "conformance/drive/transfer/worker.h"
#include "conformance/properties/property.h"
#include "conformance/report/finding.h"
#include "conformance/run/runner.h"
#include "conformance/test/subject_util.h"

namespace selvage::conformance {
namespace {

constexpr char kLibrary[] = SELVAGE_OWN_LIBRARY;
constexpr unsigned kAlways = 1000;

// How often this was run, counted by all processes that are started from here on.
class Runs {
public:
    Runs()
        : count_(static_cast<std::atomic<unsigned>*>(
              mmap(nullptr, sizeof *count_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
        new (count_) std::atomic<unsigned>(0);
    }
    ~Runs() { munmap(count_, sizeof *count_); }
    Runs(const Runs&) = delete;
    Runs& operator=(const Runs&) = delete;
    /// Kills the process that runs it, the first `killed` times.
    void run(unsigned killed) const {
        if (count_->fetch_add(1) < killed) std::raise(SIGKILL);
    }
    [[nodiscard]] unsigned count() const { return count_->load(); }

private:
    std::atomic<unsigned>* count_;  // partner: itself, in the other processes
};

Seen child_that_is_killed(const Runs& runs, unsigned times, bool after_a_record = false) {
    return in_child([&](Channel& channel) {
        if (after_a_record) channel.send("begun");
        runs.run(times);
        channel.send("done");
    });
}

TEST(KilledFromOutside, AChildIsStartedAgain) {
    const Runs runs;
    const Seen seen = child_that_is_killed(runs, kMostKilled);
    EXPECT_EQ(seen.ending.kind, Ending::Kind::Done);
    EXPECT_EQ(seen.records, std::vector<std::string>{"done"});
    EXPECT_EQ(runs.count(), kMostKilled + 1);
}

TEST(KilledFromOutside, AChildThatAlwaysIsHasDiedOfIt) {
    const Runs runs;
    EXPECT_TRUE(was_killed_from_outside(child_that_is_killed(runs, kAlways).ending));
    EXPECT_EQ(runs.count(), kMostKilled + 1);
}

TEST(KilledFromOutside, AChildThatHasSentARecordIsNotStartedAgain) {
    const Runs runs;
    const Seen seen = child_that_is_killed(runs, 1, true);
    EXPECT_TRUE(was_killed_from_outside(seen.ending));
    EXPECT_EQ(seen.records, std::vector<std::string>{"begun"}) << "what it sent would come twice";
}

// Two cases that ask nothing; the second kills the process that makes it, so many times.
class Killed : public Property {
public:
    Killed(const Runs& runs, unsigned times) : runs_(runs), times_(times) {}
    [[nodiscard]] std::string_view name() const override { return "killed"; }
    [[nodiscard]] std::string_view about() const override { return "is killed"; }
    [[nodiscard]] std::uint64_t count(const Plan&) const override { return 2; }
    void prepare(TestContext&) override {}
    bool make(TestContext& context, std::uint64_t index, Case& out) override {
        if (index == 1) runs_.run(times_);
        out.provider = context.provider();
        return index == 1;
    }

private:
    const Runs& runs_;
    unsigned times_;
};

struct Verdict {
    ProviderResult result;
    Report report;
};

Verdict verdict_on_killed(unsigned times) {
    const Runs runs;
    Killed property(runs, times);
    Plan plan;
    plan.library = kLibrary;
    Verdict out;
    out.result.provider = "shm";
    run_property(plan, property, out.result, out.report, [](std::uint64_t, std::uint64_t) {});
    return out;
}

TEST(KilledFromOutside, ACaseIsRunAgainAndHasItsVerdict) {
    const Verdict v = verdict_on_killed(kMostKilled);
    EXPECT_TRUE(v.report.deviations.empty());
    EXPECT_EQ(v.result.unjudged, "");
    EXPECT_EQ(v.result.finished.size(), 1U);
    EXPECT_EQ(v.result.judged, 1U);
    EXPECT_EQ(v.result.notes.size(), 1U) << "it is said";
}

TEST(KilledFromOutside, ACaseThatIsKilledOftenAndLivesAloneChargesNobodyAndIsNotCalledKept) {
    const Verdict v = verdict_on_killed(kMostKilled + 1);
    EXPECT_TRUE(v.report.deviations.empty());
    EXPECT_NE(v.result.unjudged, "");
}

const Runs* runs_of_children = nullptr;
void kill_child() { runs_of_children->run(kMostKilled); }

TEST(KilledFromOutside, AWorkerRunsItsExchangeAgain) {
    const Seen seen = in_child([](Channel& channel) {
        CaseFile file;
        CaseError error;
        std::string trouble;
        const auto library = Library::open(kLibrary, trouble);
        if (!library || !parse_case("selvage-case 1\nkind = traffic\nprovider = \"shm\"\ncall = version=1.17 "
                                    "hints={caps=FI_MSG, fabric_attr.prov_name=\"shm\"}\n"
                                    "B recv length=64\nA send length=64\n",
                                    file, error))
            return channel.send("no case");
        Worker worker(*library);
        model::Traffic out;
        const Runs runs;
        runs_of_children = &runs;
        pthread_atfork(nullptr, nullptr, kill_child);
        const Ending ending = worker.run(file.shown, out);
        channel.send(std::to_string(static_cast<int>(ending.kind)) + " " + std::to_string(worker.troubles().size()) +
                     " " + std::to_string(out.entries.size()));
    });
    EXPECT_EQ(seen.records, std::vector<std::string>{"0 1 2"}) << "done, said, both completions";
}

}  // namespace
}  // namespace selvage::conformance
