// A property: a numbered family of cases that the judge rules on.
//
// Case `i` is a function of the plan, the provider and i alone, so that a run can go on after a crash with the next
// one, and any single case can be made again.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "conformance/case/case.h"
#include "conformance/drive/test_context.h"

namespace selvage::conformance {

class Property {
public:
    Property() = default;
    virtual ~Property() = default;
    Property(const Property&) = delete;
    Property& operator=(const Property&) = delete;

    /// Its name in reports and filters: "classes", "random", …
    [[nodiscard]] virtual std::string_view name() const = 0;
    /// One line for --dryrun and --help.
    [[nodiscard]] virtual std::string_view about() const = 0;
    /// How many cases it has under this plan; known without loading the library, so it may be an upper bound.
    [[nodiscard]] virtual std::uint64_t count(const Plan& plan) const = 0;
    /// Called once in each child before make().
    virtual void prepare(TestContext& context) = 0;
    /// Case `index`.  False: there is none under that number (an upper bound was given, nothing to relate, …).
    virtual bool make(TestContext& context, std::uint64_t index, Case& out) = 0;
    /// What could not be run although it was asked for, and why; asked behind the last case.
    [[nodiscard]] virtual std::string note() const { return {}; }
};

/// Every property of the kit, in the order in which they run.
std::vector<std::unique_ptr<Property>> all_properties();

}  // namespace selvage::conformance
