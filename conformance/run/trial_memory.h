// What cases showed when they were tried, so that none is tried twice while cases are made smaller.
//
// For cases that each run in a process of their own: what ran before them changes nothing.  What is said of a finding
// is confirmed by trials that are made anew.  One thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "conformance/case/case.h"
#include "conformance/case/case_text.h"
#include "model/judge/ruling.h"

namespace selvage::conformance {

class TrialMemory {
public:
    /// What the case broke.
    /// @param run tries it and returns that; called if the case was not tried before.
    template <typename Run>
    const std::vector<model::Because>& shown_by(const Case& c, Run&& run) {
        std::string text = print_case(c);
        if (const auto known = shown_.find(text); known != shown_.end()) return known->second;
        return shown_.emplace(std::move(text), run()).first->second;
    }

private:
    std::map<std::string, std::vector<model::Because>> shown_;
};

}  // namespace selvage::conformance
