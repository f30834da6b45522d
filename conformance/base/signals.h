// Signal dispositions: what they are, how they differ, back to the defaults.
//
// For child processes around loading and calling a library; any thread, since dispositions belong to the process.
#pragma once

#include <csignal>
#include <vector>

namespace selvage::conformance {

/// The disposition of every signal.  Signals that the C library keeps for itself are left out.
class Dispositions {
public:
    /// Those of this process, now.
    static Dispositions now();
    /// Signals whose disposition here differs from `other`, ascending.
    [[nodiscard]] std::vector<int> differs_from(const Dispositions& other) const;
    /// Makes them those of this process.
    void restore() const;

private:
    std::vector<struct sigaction> actions_;  ///< index: signal number
};

/// Gives every signal its default disposition and unblocks all.
void restore_default_signals();

}  // namespace selvage::conformance
