// The child's side of a property: run its cases, judge them, shrink and send what is broken.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "conformance/base/child.h"
#include "conformance/properties/property.h"
#include "model/judge/judge.h"

namespace selvage::conformance {

/// Counters in memory shared with the parent, so that they outlive a child that dies.
struct Ledger {
    model::Tally tally;
    std::uint64_t queries = 0;      ///< cases run
    std::uint64_t passed_over = 0;  ///< cases that hold what is known to end the process, or to be lost
    std::uint64_t call_nanos = 0;   ///< time inside fi_getinfo and fi_freeinfo
};

/// Decides which broken cases are worth shrinking, and which have been told already.
class Novelty {
public:
    /// True while shrinking cases of this clause still brings up new ones.
    bool worth_shrinking(model::Clause clause);
    /// Notes a shrunk case.  True if nothing like it was seen before.
    bool is_new(model::Clause clause, const std::string& signature);
    /// It was none.
    void forget(model::Clause clause, const std::string& signature) { seen_[clause].signatures.erase(signature); }

private:
    struct Seen {
        unsigned shrunk = 0;
        unsigned barren = 0;  // shrunk in a row without anything new
        std::set<std::string> signatures;
    };
    std::map<model::Clause, Seen> seen_;
};

/// What makes two minimal cases the same finding: clause, field, and which hints are set.  Intermittent ones are not
/// minimal: of them the clause, the field and the endpoint.
std::string signature(const model::Because& because, const Case& shown, bool intermittent = false);

/// True if two broken links are of one kind: shrinking may turn the one into the other.
bool alike(const model::Because& a, const model::Because& b);

/// Runs cases from `start` on.  Channel::doing carries index + 1 of the case under way.
void explore(TestContext& context, Property& property, Channel& channel, Ledger& ledger, std::uint64_t start);

}  // namespace selvage::conformance
