// A fuzz target: which inputs it takes, how it changes them, how it asks and judges.
//
// Each file of fuzz/targets/ is one program and defines target(); entry.cc gives it the functions that libFuzzer and
// AFL++ call.  One thread.
#pragma once

#include <string_view>
#include <vector>

#include "fuzz/vary/vary.h"
#include "fuzz/workbench.h"

namespace selvage::fuzz {

class Target {
public:
    Target() = default;
    virtual ~Target() = default;
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;

    [[nodiscard]] virtual std::string_view name() const = 0;
    /// Called once, with the library loaded.  @return false and one line in `error`.
    virtual bool prepare(const Options&, Workbench&, std::string&) { return true; }
    /// Whether an input is one of its own.
    [[nodiscard]] virtual bool takes(conformance::Case::Kind kind) const = 0;
    /// What it begins with when there is nothing yet.
    virtual Input first(Workbench& bench, Rng& rng) = 0;
    /// One change.
    virtual void vary(Input& input, Workbench& bench, Rng& rng) = 0;
    /// Asks and judges; `broken` receives the links.
    virtual void judge(conformance::Case& c, Workbench& bench, std::vector<model::Because>& broken) {
        bench.judge(c, broken);
    }
};

/// The target of this program.
Target& target();

}  // namespace selvage::fuzz
