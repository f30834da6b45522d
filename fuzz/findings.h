// What becomes of a broken promise: it is told and ends the run, or it is shrunk, saved, and the run goes on.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "fuzz/target.h"

namespace selvage::fuzz {

class Findings {
public:
    /// @param folder where findings are saved and the run goes on; empty: the first one ends it.
    explicit Findings(std::string folder) : folder_(std::move(folder)) {}

    /// Tells of the links that a case broke.  Returns only if the run is to go on.
    void tell(Target& target, Workbench& bench, const conformance::Case& c, const std::vector<model::Because>& broken);
    [[nodiscard]] std::size_t saved() const { return seen_.size(); }

private:
    [[nodiscard]] bool is_new(const model::Because& because, const conformance::Case& c);
    void save(Target& target, Workbench& bench, const conformance::Case& c, const model::Because& because);

    std::string folder_;
    std::map<model::Clause, unsigned> of_clause_;  // how many were shrunk
    std::set<std::string> seen_;
};

}  // namespace selvage::fuzz
