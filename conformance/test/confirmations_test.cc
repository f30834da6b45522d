// Findings of transfers that are confirmed beside the run: what becomes of them when the run ends, or nothing shows.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "conformance/case/case_text.h"
#include "conformance/properties/property.h"
#include "conformance/run/jobs.h"
#include "conformance/run/runner.h"
#include "conformance/test/tool_util.h"
#include "model/spec/clause.h"

namespace selvage::conformance {
namespace {

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

TEST(Confirmations, AFindingIsPassedOnWhileItsPropertyGoesOn) {
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

TEST(Confirmations, AFindingIsToldOnceItIsConfirmed) { EXPECT_EQ(refusals(false), 1U); }

TEST(Confirmations, WhatWasBeingConfirmedIsToldThoughTheProcessThatFoundItEnds) { EXPECT_EQ(refusals(true), 1U); }
#endif

}  // namespace
}  // namespace selvage::conformance
