// What selvage check prints at its end fits on a screen, whatever was found.
#include "conformance/report/closing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "conformance/test/tool_util.h"
#include "model/spec/clause.h"

namespace selvage::conformance {
namespace {

constexpr std::size_t kScreenLines = 40;
constexpr std::size_t kScreenColumns = 100;  // where no terminal tells otherwise

Deviation deviation(const model::ClauseText& clause, const std::string& provider, Grade grade) {
    Deviation d;
    d.clause = clause.clause;
    d.provider = provider;
    d.grade = grade;
    d.summary = "summary of " + std::string(clause.id);
    d.shown_by.provider = provider;
    d.shown_by.first.version = model::Version(1, 17);
    return d;
}

// Every provider breaks every clause, and has more to say than anybody reads.
Report worst_report() {
    Report r;
    for (const char* provider : {"shm", "tcp", "udp", "sockets", "net", "tcp;ofi_rxm", "net;ofi_rxm", "udp;ofi_rxd"}) {
        auto& p = r.providers.emplace_back();
        p.provider = provider;
        p.notes = {std::string(500, 'n'), "another"};
        for (const auto& c : model::clauses()) {
            p.tally.broken[static_cast<std::size_t>(c.clause)] = 12345;
            r.deviations.push_back(deviation(c, provider, Grade::Violation));
        }
    }
    r.deviations[7].grade = Grade::Fatal;
    return r;
}

std::size_t lines_of(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

TEST(Closing, FitsOnAScreenHoweverMuchIsBroken) {
    const std::string text = closing_text(worst_report(), {"report.html", "report.json"});
    EXPECT_LE(lines_of(text), kScreenLines) << text;
    std::size_t begin = 0;
    while (begin < text.size()) {
        const auto end = text.find('\n', begin);
        EXPECT_LE(end - begin, kScreenColumns + std::string_view("…").size()) << text.substr(begin, end - begin);
        begin = end + 1;
    }
}

// Ids and commands are there to be copied, so they are not cut.
TEST(Closing, HasNoLongerLinesThanANarrowTerminalButForIdsAndCommands) {
    setenv("COLUMNS", "60", 1);
    const std::string text = closing_text(worst_report(), {"report.html", "report.json"});
    unsetenv("COLUMNS");
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const bool copied =
            contains(line, "selvage ") || line.starts_with("fatal  ") || line.starts_with("violation  ");
        EXPECT_LE(line.size(), copied ? kScreenColumns : 60 + std::string_view("…").size()) << line;
    }
    EXPECT_TRUE(contains(text, "\nnet;ofi_rxm    ")) << text;
}

TEST(Closing, HasTheGravestPromiseFirstAndThenWhatMostProvidersBreak) {
    const auto all = model::clauses();
    Report r;
    for (const char* provider : {"shm", "tcp"}) r.providers.emplace_back().provider = provider;
    r.deviations = {deviation(all[1], "tcp", Grade::Violation), deviation(all[2], "shm", Grade::Violation),
                    deviation(all[2], "tcp", Grade::Violation), deviation(all[3], "shm", Grade::Disputed),
                    deviation(all[4], "shm", Grade::Fatal)};
    const std::string text = closing_text(r, {});
    std::vector<std::size_t> at;
    for (const int i : {4, 2, 1, 3}) at.push_back(text.find(all[static_cast<std::size_t>(i)].id));
    EXPECT_TRUE(std::is_sorted(at.begin(), at.end())) << text;
    EXPECT_NE(at.back(), std::string::npos) << text;
    EXPECT_TRUE(contains(text, "4 broken promises;")) << text;
    EXPECT_TRUE(contains(text, "--provider 'shm' --clause " + std::string(all[4].id))) << text;
    EXPECT_TRUE(contains(text, "--report report.html")) << text;
}

TEST(Closing, DoesNotCountWhatIsWaivedAsBroken) {
    Report r;
    r.providers.emplace_back().provider = "shm";
    r.deviations = {deviation(model::clauses()[1], "shm", Grade::Fatal)};
    r.deviations[0].waived = "known";
    const std::string text = closing_text(r, {"report.json"});
    EXPECT_TRUE(contains(text, "no broken promise was found")) << text;
    EXPECT_FALSE(contains(text, "next")) << text;
    EXPECT_TRUE(contains(text, "reports   report.json\n")) << text;
    EXPECT_TRUE(contains(deviations_text(r), "waived")) << "told where each is";
}

}  // namespace
}  // namespace selvage::conformance
