// See findings.h.
#include "fuzz/findings.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "conformance/case/case_text.h"
#include "conformance/reproduce/reproduce.h"
#include "conformance/run/novelty.h"
#include "conformance/shrink/shrink.h"
#include "model/spec/clause.h"
#include "model/text/call_text.h"

namespace selvage::fuzz {
namespace {

using namespace conformance;
using namespace model;

constexpr unsigned kMostShrunk = 200;  // findings of one clause
constexpr std::size_t kShrinkBudget = 2000;

void print(const Case& c, const Because& b) {
    std::fprintf(stderr, "\nselvage: broken: %s\n  %s\n  %s: %s\n", clause_text(b.clause).id.data(),
                 print_evidence(b.evidence).c_str(), c.provider.c_str(), describe(c).c_str());
}

std::string file_name(const Because& b, const Case& c, std::size_t number) {
    std::string out = c.provider + "-" + std::string(clause_text(b.clause).id) + "-" + std::to_string(number);
    std::replace_if(
        out.begin(), out.end(),
        [](char ch) { return std::isalnum(static_cast<unsigned char>(ch)) == 0 && ch != '-' && ch != '.'; }, '_');
    return out;
}

}  // namespace

bool Findings::is_new(const Because& because, const Case& c) {
    if (++of_clause_[because.clause] > kMostShrunk) return false;
    return seen_.insert(c.provider + signature(because, c)).second;
}

void Findings::save(Target& target, Workbench& bench, const Case& c, const Because& because) {
    std::vector<Because> shown;
    const auto shows = [&](const Case& smaller) {
        Case trial = smaller;
        shown.clear();
        target.judge(trial, bench, shown);
        return std::any_of(shown.begin(), shown.end(),
                           [&](const Because& b) { return !b.supporting && alike(b, because); });
    };
    const Case minimal = shrink(c, shows, kShrinkBudget);
    if (!shows(minimal)) return;  // it does not show again
    const auto link =
        std::find_if(shown.begin(), shown.end(), [&](const Because& b) { return !b.supporting && alike(b, because); });
    if (!is_new(*link, minimal)) return;
    print(minimal, *link);
    std::filesystem::create_directories(folder_);
    const auto base = std::filesystem::path(folder_) / file_name(*link, minimal, seen_.size());
    std::ofstream(base.string() + ".case") << print_case(minimal, link->clause, print_evidence(link->evidence));
    std::ofstream(base.string() + ".c") << c_program(minimal, link->clause, {*link});
}

void Findings::tell(Target& target, Workbench& bench, const Case& c, const std::vector<Because>& broken) {
    if (folder_.empty()) {
        for (const auto& b : broken)
            if (!b.supporting) print(c, b);
        std::abort();
    }
    for (const auto& b : broken) {
        if (!b.supporting && is_new(b, c)) save(target, bench, c, b);
    }
}

}  // namespace selvage::fuzz
