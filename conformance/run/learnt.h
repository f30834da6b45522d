// Crashes that were learnt: acts on objects that ended the process end it again wherever they stand among others, on
// every offer of the same type of endpoint.  A case that holds them is passed over, so that a library that does not
// survive an act is asked everything else.
//
// The child's side.  One Learnt per TestContext.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "conformance/case/case.h"
#include "conformance/drive/test_context.h"

namespace selvage::conformance {

/// True if `acts` do all that `part` does, in its order and to the same objects.  Which offers they begin with is left
/// out.
bool holds(const std::vector<Action>& acts, const std::vector<Action>& part);

class Learnt {
public:
    /// @param context its plan has the crashes; the library is asked once for each.
    explicit Learnt(TestContext& context);

    /// True if the case is a sequence of acts that holds one which ended the process.
    [[nodiscard]] bool knows(const Case& c);

private:
    struct KnownCrash {
        std::vector<Action> acts;
        std::optional<std::uint64_t> ep_type;  ///< of its offer
    };
    /// Of the first offer that is opened; nothing if the library does not have it now.
    std::optional<std::uint64_t> ep_type_of(const Case& c);

    TestContext& context_;
    std::vector<KnownCrash> crashes_;
};

}  // namespace selvage::conformance
