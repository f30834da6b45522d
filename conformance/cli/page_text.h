// The sentences of the manual pages that this machine has.  The repository holds none: only where they are, and their
// digests.
//
// A sentence is found by its digest, so any version of a page will do that has it word for word.  Pages come from
// man(1), as far as they are installed, and from files that the caller names.  Single-threaded.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace selvage::conformance {

class PageTexts {
public:
    /// Adds the sentences of a page as plain text, printed by man or by a web rendering.
    void add(std::string_view text);
    /// The sentence that a source ("fi_cq.3-1.17.0:122b") cites, or nothing.  Asks man for the page at first.
    std::string sentence(std::string_view source);
    /// There is a page of this name, so that a sentence is missing because it is another version's.
    [[nodiscard]] bool has_page_of(std::string_view source) const;

private:
    std::map<std::string, std::string> by_digest_;
    std::set<std::string> installed_, looked_for_;  // "fi_cq.3"
};

}  // namespace selvage::conformance
