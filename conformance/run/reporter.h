// What a child reports to its parent of the findings of a property: each once, with nothing that names the process.
//
// The child's side; one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/base/child.h"
#include "conformance/drive/test_context.h"
#include "conformance/report/finding.h"
#include "conformance/run/ipc.h"
#include "conformance/run/novelty.h"

namespace selvage::conformance {

class Reporter {
public:
    Reporter(const Plan& plan, Channel& channel) : plan_(plan), channel_(channel) {}

    /// True if what was broken may come to be a finding of a clause that is wanted.
    [[nodiscard]] bool is_expected(const model::Because& broken) const;
    /// A finding, unless its like was there already.
    void send(Case shown, std::vector<model::Because> because, std::optional<Tries> intermittent);
    /// The same of one that is known.
    void pass_on(Case shown, std::vector<model::Because> because, std::optional<Tries> intermittent);
    /// A finding that is tried again beside the run: the parent tries it should this process end meanwhile.
    void pend(std::uint64_t id, Case shown, std::vector<model::Because> because);
    void conclude(std::uint64_t id);
    void note(const std::string& text) { channel_.send(std::string(kNoteMark) + text); }
    /// The first deviation was all that was to be found, and it was.
    [[nodiscard]] bool is_over() const { return over_; }
    Novelty& novelty() { return novelty_; }

private:
    const Plan& plan_;
    Channel& channel_;
    Novelty novelty_;
    bool over_ = false;
};

/// A refusal of what fits; it finds its clause by shrinking.
bool is_refusal(const model::Because& broken);

}  // namespace selvage::conformance
