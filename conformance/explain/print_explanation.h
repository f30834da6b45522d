// The report of `selvage explain`: providers in a line each and the smallest change, or entry by entry.
//
// REQUIRES of what takes a TestContext: it runs in the child that opened it.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/base/child.h"
#include "conformance/explain/answered.h"

namespace selvage::conformance {

/// A report, line by line; a child's is printed by its parent.
class LineWriter {
public:
    explicit LineWriter(std::function<void(const std::string&)> print) : print_(std::move(print)) {}
    explicit LineWriter(Channel& channel) : print_([&channel](const std::string& line) { channel.send(line); }) {}
    template <typename... Args>
    void line(fmt::format_string<Args...> format, Args&&... args) {
        print_(fmt::format(format, std::forward<Args>(args)...));
    }

private:
    std::function<void(const std::string&)> print_;
};

/// An entry with the clauses that refuse it or leave it open.
void print_entry(LineWriter& out, const model::Query& query, const model::Explained& explained);
/// The smallest changes that a provider grants.
void print_proposals(LineWriter& out, const std::string& provider, const std::vector<model::Proposal>& proposals);
/// Entry by entry, then what it answers.  @return its entries, if it refuses.
std::vector<model::Explained> print_provider(LineWriter& out, TestContext& context, const model::Query& query);
/// The verdict, a line for each provider, and, where all refuse, the smallest change of all: as a table, as the C lines
/// to change and as hints.
void print_answers(LineWriter& out, const model::Query& query, const std::vector<Answered>& answers);

}  // namespace selvage::conformance
