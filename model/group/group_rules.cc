// See group_rules.h.
#include "model/group/group_rules.h"

#include <algorithm>

namespace selvage::model::rules {
namespace {

bool is_return(GroupFact f) {
    return f == GroupFact::SetReturned || f == GroupFact::AddrReturned || f == GroupFact::QueryReturned ||
           f == GroupFact::JoinReturned || f == GroupFact::Returned || f == GroupFact::Closed ||
           f == GroupFact::OpenReturned || f == GroupFact::SendReturned;
}

std::string name_of(const GroupCase& c, std::uint64_t m) {
    const char* const what = c.script.act == GroupAct::NamedContexts ? "context " : "member ";
    return what + std::to_string(m + 1) + " of " + std::to_string(c.script.members);
}

// Facts are signed only where they are errors.
bool holds(Relation r, std::int64_t actual, std::int64_t expected) {
    return stands(r, static_cast<std::uint64_t>(actual), static_cast<std::uint64_t>(expected));
}

}  // namespace

Evidence about_fact(const GroupCase& c, int round, std::uint64_t m, GroupFact f, Relation r, std::int64_t expected,
                    std::string what) {
    Evidence e = number(is_return(f) ? Field::call_return : Field::completion, r, static_cast<std::uint64_t>(expected),
                        static_cast<std::uint64_t>(fact(c, round, m, f)), name_of(c, m) + ": " + std::move(what));
    e.observed.what = Observable::MemberFact;
    e.observed.operations = {round, static_cast<int>(m), static_cast<int>(f)};
    return e;
}

Evidence about_value(const GroupCase& c, int round, std::uint64_t m, std::uint64_t k, std::uint64_t expected) {
    Evidence e =
        number(Field::completion, Relation::Equals, expected, round_of(c, round).members[m].values[k],
               name_of(c, m) + ": element " +
                   std::to_string(place_of(k, result_length(c.script, order_of(c, round), m)) + 1) + " of its result");
    e.observed.what = Observable::MemberValue;
    e.observed.operations = {round, static_cast<int>(m), static_cast<int>(k)};
    return e;
}

Ruling each_fact(const GroupCase& c, int round, const std::vector<std::uint64_t>& all, GroupFact f, Relation r,
                 std::int64_t expected, const char* what) {
    for (const std::uint64_t m : all)
        if (!holds(r, fact(c, round, m, f), expected))
            return Ruling::broken(about_fact(c, round, m, f, r, expected, what));
    return all.empty() ? Ruling::not_applicable() : Ruling::holds();
}

bool all_have(const GroupCase& c, int round, const std::vector<std::uint64_t>& all, GroupFact f, Relation r,
              std::int64_t expected) {
    return std::all_of(all.begin(), all.end(),
                       [&](std::uint64_t m) { return holds(r, fact(c, round, m, f), expected); });
}

bool all_called(const GroupCase& c, int round) {
    return round_of(c, round).posted &&
           all_have(c, round, order_of(c, round), GroupFact::Returned, Relation::Equals, 0);
}

bool all_complete(const GroupCase& c, int round) {
    const auto order = order_of(c, round);
    return all_called(c, round) && all_have(c, round, order, GroupFact::Entries, Relation::AtLeast, 1) &&
           all_have(c, round, order, GroupFact::Errors, Relation::Equals, 0);
}

Ruling results_right(const GroupCase& c, int round) {
    const auto order = order_of(c, round);
    bool any = false;
    for (const std::uint64_t m : order) {
        const std::uint64_t total = result_length(c.script, order, m);
        for (std::uint64_t k = 0; k < std::min(total, kMostGroupValues); ++k) {
            const std::uint64_t expected = result_of(c.script, order, m, place_of(k, total));
            if (round_of(c, round).members[m].values[k] != expected)
                return Ruling::broken(about_value(c, round, m, k, expected));
            any = true;
        }
    }
    return any ? Ruling::holds() : Ruling::not_applicable();
}

}  // namespace selvage::model::rules
