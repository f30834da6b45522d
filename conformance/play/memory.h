// The buffers of a recorded program, laid out again.
//
// Every address of a buffer in the trace lies in one interval; overlapping buffers share theirs, so that what was one
// region is one region again. An interval keeps its offset within a page. Built before the players are forked: all of
// them know where each trace's buffers are, which a target's address in a remote access needs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/trace/trace.h"

namespace selvage::conformance {

class PlayMemory {
public:
    PlayMemory() = default;
    /// Collects the buffers of a trace and maps memory for them. @return false and `error`.
    bool build(const Trace& trace, std::string& error);
    /// Where a recorded address is now; nullptr if it is in no buffer of the trace.
    [[nodiscard]] char* at(std::uint64_t recorded) const;
    /// Bytes from `recorded` to the end of its interval.
    [[nodiscard]] std::uint64_t left(std::uint64_t recorded) const;

private:
    struct Interval {
        std::uint64_t start, end;
        char* now;
    };
    [[nodiscard]] const Interval* find(std::uint64_t recorded) const;
    std::vector<Interval> intervals_;
};

/// "0x7f…:64" as address and size. @return false if it is not that.
bool parse_piece(std::string_view text, std::uint64_t& address, std::uint64_t& size);

}  // namespace selvage::conformance
