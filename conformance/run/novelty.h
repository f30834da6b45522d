// Which broken cases are worth making smaller, and which are the same finding.  Values only; one thread.
#pragma once

#include <map>
#include <set>
#include <string>

#include "conformance/case/case.h"
#include "model/judge/ruling.h"

namespace selvage::conformance {

/// Decides which broken cases are worth shrinking, and which have been reported already.
class Novelty {
public:
    /// True while shrinking cases of this clause still brings up new ones.
    bool worth_shrinking(model::Clause clause);
    /// True if that hangs on cases of the clause that are being shrunk beside the run.
    [[nodiscard]] bool is_open(model::Clause clause);
    /// A case that is worth it is shrunk beside the run; it has been.
    void begin(model::Clause clause) { ++seen_[clause].under_way; }
    void end(model::Clause clause) { --seen_[clause].under_way; }
    /// Notes a shrunk case.  True if nothing like it was seen before.
    bool is_new(model::Clause clause, const std::string& signature);
    /// True if nothing would be new of such a shrunk case.
    [[nodiscard]] bool is_known(model::Clause clause, const std::string& signature) const;
    /// Nothing was seen, after all: it says nothing of what is still to come.
    void came_to_nothing(model::Clause clause);
    /// It was none.
    void forget(model::Clause clause, const std::string& signature) { seen_[clause].signatures.erase(signature); }

private:
    struct Seen {
        unsigned shrunk = 0;
        unsigned barren = 0;     // shrunk in a row to what was known, as far as is known
        unsigned under_way = 0;  // of them those that are being shrunk
        std::set<std::string> signatures;
    };
    std::map<model::Clause, Seen> seen_;
};

/// What makes two minimal cases the same finding: clause, field, and which hints are set.  Intermittent ones are not
/// minimal: of them the clause, the field and the endpoint.
std::string signature(const model::Because& because, const Case& shown, bool intermittent = false);

/// True if two broken links are of one kind: shrinking may turn the one into the other.
bool alike(const model::Because& a, const model::Because& b);

/// True if a clause says that an entry comes because FI_COMPLETION asked for it.
bool selects(model::Clause clause);

}  // namespace selvage::conformance
