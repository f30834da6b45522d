// A library opened for measuring, and one call on it as a loop or by the clock.  For child processes; one thread.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "conformance/base/library.h"
#include "conformance/bench/workload.h"

namespace selvage::conformance::bench {

/// Opens a library so that its calls of malloc and free reach the C library directly: the tool's own, which count for
/// the judgement, would be measured along.
/// @throws CannotMeasure
std::shared_ptr<const Library> open_for_measuring(const std::string& path);

/// Calls n times until a block takes long enough for the clock, then samples blocks while the effort lasts.
/// @return nanoseconds per call, one for each block.
std::vector<double> sample(const Loop& loop, const Effort& effort);

/// Takes a little memory of every kind, another amount in each process, so that no result hangs on where things
/// happen to lie.  The tool runs without address randomisation.
void shift_addresses();

/// A workload of calls.  `make` gets the opened library and returns something to call; it may throw CannotMeasure.
/// The call is inlined into the loop.
template <class Make>
Workload calls(std::string name, std::string title, Goal goal, Make make) {
    Workload w;
    w.name = std::move(name);
    w.title = std::move(title);
    w.goal = goal;
    w.ready = [make](const std::string& path) -> Loop {
        auto library = open_for_measuring(path);
        return [library, call = make(library->entries())](std::uint64_t n) mutable {
            for (std::uint64_t i = 0; i < n; ++i) call();
        };
    };
    w.run = [ready = w.ready](const std::string& path, const Effort& effort) { return sample(ready(path), effort); };
    return w;
}

}  // namespace selvage::conformance::bench
