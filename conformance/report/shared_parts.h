// What C programs of a report have in common, so that a page holds each part once.  Private to report/.  Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/report/finding.h"

namespace selvage::conformance {

/// The parts of the programs of a report that more than one of them has.  The report outlives it.
class SharedParts {
public:
    explicit SharedParts(const std::vector<const Deviation*>& deviations);

    /// A program: its own text, and a link in place of each run of shared parts, whose attribute `data-parts` has their
    /// numbers, so that the script of the page can copy the whole.
    [[nodiscard]] std::string program_html(std::string_view program);
    /// The shared parts of the programs so far, each as the element `part-NUMBER`; empty if there are none.
    [[nodiscard]] std::string parts_html() const;

private:
    std::map<std::string_view, std::size_t> number_of_;
    std::vector<std::string_view> parts_;
    std::set<std::size_t> linked_;
};

}  // namespace selvage::conformance
