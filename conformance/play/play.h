// Replays a set of traces: one process for each, and the first difference of each.
//
// Call from a single-threaded process: it forks.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "conformance/trace/trace.h"

namespace selvage::conformance {

struct PlayOptions {
    std::string library;  ///< empty: the one that the loader finds
    std::chrono::seconds limit{10};
    bool keep_going = false;
};

/// What came of one trace.
struct Played {
    std::string difference;  ///< empty: none
    std::string left_out;    ///< calls that were not made, by name
    std::uint64_t played = 0, skipped = 0;
    bool stopped = false;  ///< ended because another trace's player had ended
};

struct PlayResult {
    std::vector<Played> traces;
    bool transfers = false;    ///< data was moved: all peers are in the set
    std::string unknown_peer;  ///< if not: an address that no trace of the set opened
    std::string not_played;    ///< or: a call that is not played, and that later calls may wait for
};

/// @return false and `error` if it could not be run.
bool play_traces(std::vector<Trace> traces, const PlayOptions& options, PlayResult& result, std::string& error);

}  // namespace selvage::conformance
