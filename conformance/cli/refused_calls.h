// The calls of fi_getinfo of a program that came back with nothing.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/value/query.h"

namespace selvage::conformance {

struct RefusedCall {
    model::Query query;
    std::int64_t result = 0;  ///< "-FI_ENODATA"
    std::size_t times = 1;    ///< that the program issued it
};

struct ProgramCalls {
    std::string library;               ///< that the first of them ran on
    std::size_t processes = 0;         ///< that used libfabric
    std::size_t queries = 0;           ///< calls of fi_getinfo, in all
    std::vector<RefusedCall> refused;  ///< each once, in the order in which they came up
    int status = 0;                    ///< what the program exited with; -1: a signal ended it
};

/// Runs a command line of sh with the recorder loaded, its output left alone.  @param library as in Recording.
/// @return false and a one-line `error`.
bool run_and_read(const std::string& command_line, const std::string& library, ProgramCalls& out, std::string& error);

}  // namespace selvage::conformance
