// Asks a library that nobody has loaded yet: a new process, with its own environment.
//
// FI_PROVIDER is read when a library is loaded, so a child that has loaded it cannot show what it does.  The tool runs
// itself again with the hidden command `fresh-names`.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "conformance/drive/test_context.h"
#include "model/value/query.h"

namespace selvage::conformance {

/// What the call returned in a new process.
struct FreshAnswer {
    int ret = 0;
    std::vector<std::string> providers;  ///< prov_name of each offer, in order, repetitions kept
    int signal = 0;                      ///< it died of this
    bool hung = false;                   ///< it was killed, as its time was over
};

/// Asks with hints NULL and these flags, FI_PROVIDER as given (absent: unset).  Nothing if the process can't be
/// started, or was killed from outside.
/// @param limit  of its time, without what it stood in line for a processor; then it is hung, and killed
std::optional<FreshAnswer> issue_fresh(const Plan& plan, const std::optional<std::string>& fi_provider,
                                       std::uint64_t flags, std::chrono::milliseconds limit = std::chrono::seconds(20));

/// The other end: loads, asks, prints.  For the hidden command.
int fresh_names(const std::string& library, std::uint64_t flags);

}  // namespace selvage::conformance
