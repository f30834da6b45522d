// Queries for fi_getinfo: by classes and their products, and at random with a bias towards what the provider offers.
//
// Both are pure functions of (profile, seed, index): query 4711 of a run can be made alone.  Naive random hints are
// refused almost always; the bias is what makes answers come back and promises about them apply.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/generate/rng.h"
#include "model/value/profile.h"
#include "model/value/query.h"

namespace selvage::conformance {

/// One thing to set in a call.
struct Choice {
    model::Field field = model::Field::caps;
    std::uint64_t number = 0;
    std::string text;
};

/// All single choices for a provider: every field, every class.  Fixed order.
std::vector<Choice> choices(const model::Profile& profile);

/// Applies a choice to a call (making hints if there are none).
void apply(const Choice& choice, model::Query& query);

/// The call that only names the provider and supports every mode.
model::Query base_call(const model::Profile& profile);

/// Every choice alone, then products of two, in an order that spreads over the fields.
class ClassQueries {
public:
    explicit ClassQueries(const model::Profile& profile);
    [[nodiscard]] std::uint64_t count() const;  ///< singles and all pairs
    /// Query `index` for an API version.  Beyond the singles, pairs are visited in a full-period stride.
    [[nodiscard]] model::Query make(std::uint64_t index) const;
    [[nodiscard]] std::uint64_t singles() const { return choices_.size(); }

private:
    const model::Profile& profile_;
    std::vector<Choice> choices_;
};

/// A random query, biased to what the profile offers.
model::Query random_query(const model::Profile& profile, const std::vector<Choice>& all, Rng& rng);

/// One of the API versions 1.0 to 1.18, most often the newest that the library knows.
model::Version random_version(model::Version library, Rng& rng);

}  // namespace selvage::conformance
