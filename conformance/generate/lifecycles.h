// Sequences of actions on objects: the fixed ones for each offer, and random ones that follow the state model.
//
// Pure functions but for RapidCheck's own machinery; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/case/case.h"
#include "model/lifecycle/registration.h"

namespace selvage::conformance {

// Bits of Action::flags that the executor reads itself.
inline constexpr std::uint64_t kLifeNullContext = 1;  ///< open fabric, open domain: with a NULL context
inline constexpr std::uint64_t kLifeOtherProvider =
    2;                                                ///< open fabric: `name` replaces the provider's, not the fabric's
inline constexpr std::uint64_t kLifeCompleteOps = 1;  ///< set-ops: a complete override
inline constexpr std::uint64_t kLifeTooSmallOps =
    2;  ///< set-ops: one whose size is too small; 0: one of NULL callbacks

using model::kMostVectors;
using model::kMrvAttributes;
using model::kMrvKey;
using model::vectors_of;

inline constexpr std::uint64_t kMostReceives = 4160;  ///< of one action

/// What a script is written for.
struct Stage {
    int offer = 0;  ///< index into the answer
    std::uint64_t ep_type = 0;
    bool thorough = true;  ///< every script; else only the first few, which open and close
    std::string provider;  ///< the offer's prov_name
    /// FI_TRANSMIT or FI_RECV: its endpoints go that way alone, and one script will do; 0: both ways.
    std::uint64_t direction = 0;
    std::uint64_t mr_iov_limit = 0;
    std::uint64_t max_ep_srx_ctx = 0;
    std::uint64_t rx_size = 0;  ///< rx_attr.size
};

/// How many fixed scripts there are, and one of them.  Empty: it does not suit the stage.
std::size_t script_count();
std::vector<Action> script(std::size_t which, const Stage& stage);

/// A random sequence: mostly of steps that must work, some closes in the wrong order.
std::vector<Action> random_script(const std::vector<Stage>& stages, std::uint64_t seed, std::uint64_t index);

}  // namespace selvage::conformance
