// The caller with the library that the system's loader finds: what it says is read whole, and nothing here judges it.
#include <gtest/gtest.h>

#include "conformance/test/subject_util.h"

namespace selvage::conformance {
namespace {

using model::Part;

/// Asks the system's library in a child; records are what `look` says.
Seen with_system(const std::function<std::string(Caller&)>& look) {
    return in_child([&](Channel& c) {
        std::string error;
        const auto library = Library::open("", error);
        if (!library) return c.send(error);
        Caller caller(*library);
        c.send(look(caller));
    });
}

model::Query all_of(const std::string& provider) {
    model::Query q;
    q.version = model::Version(1, 17);
    q.hints.emplace();
    q.hints->present = model::kAllParts;
    q.hints->mode = ~0ULL;
    q.hints->domain.mr_mode = 0x7fc;
    q.hints->fabric.prov_name = provider;
    return q;
}

TEST(System, AnswersAreWhole) {
    const Seen seen = with_system([](Caller& caller) -> std::string {
        model::Query plain;
        plain.version = model::Version(1, 17);
        const Issued issued = caller.issue(plain);
        if (issued.answer.ret != 0 || issued.answer.offers.empty()) return "no offers";
        if (issued.broken != nullptr) return issued.broken;
        for (const auto& offer : issued.answer.offers)
            if ((offer.present & model::kAllParts) != model::kAllParts || !offer.fabric.prov_name)
                return "a part lacks";
        return "whole";
    });
    EXPECT_EQ(seen.ending.kind, Ending::Kind::Done);
    EXPECT_EQ(seen.records, std::vector<std::string>{"whole"});
}

TEST(System, AskedInBatchesAsOneByOne) {
    const Seen seen = with_system([](Caller& caller) -> std::string {
        std::vector<model::Query> queries;
        for (const char* provider : {"shm", "tcp", "udp", "no such provider"}) queries.push_back(all_of(provider));
        std::vector<model::Answer> single;
        for (const auto& q : queries) single.push_back(caller.issue(q).answer);
        Issued issued;
        for (const bool tight : {false, true}) {
            caller.set_tight(tight);
            caller.prepare(queries);
            for (std::size_t i = 0; i < queries.size(); ++i) {
                caller.issue(i, issued);
                if (issued.answer != single[i]) return "different";
            }
        }
        return single[0].offers.empty() || !single[3].offers.empty() ? "unexpected" : "same";
    });
    EXPECT_EQ(seen.records, std::vector<std::string>{"same"});
}

TEST(System, TimeInsideIsMostOfTheTime) {
    const Seen seen = with_system([](Caller& caller) -> std::string {
        const std::vector<model::Query> queries(Caller::capacity(), all_of("shm"));
        Issued issued;
        caller.prepare(queries);
        caller.issue(0, issued);
        const auto inside_before = caller.time_inside();
        const auto begin = std::chrono::steady_clock::now();
        for (int batch = 0; batch < 4; ++batch) {
            caller.prepare(queries);
            for (std::size_t i = 0; i < queries.size(); ++i) caller.issue(i, issued);
        }
        const auto all = std::chrono::steady_clock::now() - begin;
        const auto inside = caller.time_inside() - inside_before;
        // Generous: the stopwatch is calibrated by a clock, and sanitizers slow us and not the library.
        return inside > std::chrono::nanoseconds(0) && inside < all * 1.05 ? "sane" : "insane";
    });
    EXPECT_EQ(seen.records, std::vector<std::string>{"sane"});
}

TEST(System, AllocationsAreBalanced) {
    if (!allocations_available()) GTEST_SKIP() << "the sanitizer has its own allocator";
    const Seen seen = with_system([](Caller& caller) -> std::string {
        const model::Query q = all_of("shm");
        caller.prepare({&q, 1});
        caller.issue_raw(0);
        Allocations once;
        caller.watch(&once);
        caller.issue_raw(0);
        return once.allocated > 10 ? "counted" : "not counted";
    });
    EXPECT_EQ(seen.records, std::vector<std::string>{"counted"});
}

}  // namespace
}  // namespace selvage::conformance
