// The parts of a C program about transfers that are alike in all of them: the files of conformance/runtime, which the
// kit drives endpoints by, and those of reproduce/runtime, as text without their includes.
//
// A part takes for granted what stands ahead of it in runtime/all.c; the program defines the macros of its case
// (OPERATIONS, …).  Private to reproduce/.  Any thread.
#pragma once

#include <string_view>

namespace selvage::conformance::runtime {

// What is done to a side.
extern const std::string_view kSide, kOpen, kConnect, kRegions, kPost, kRead, kCounters, kClose;
extern const std::string_view kPostMessage, kPostTagged, kPostRma, kPostAtomic, kPostCancel;

extern const std::string_view kState;       ///< both sides, and what was read from their queues: begin()
extern const std::string_view kNeed;        ///< need(): what must work to get anywhere
extern const std::string_view kSteps;       ///< perform(): what is done to a side
extern const std::string_view kTogether;    ///< on(): does it here
extern const std::string_view kApart;       ///< part(), on(): does it in the process of the side
extern const std::string_view kPair;        ///< open_pair()
extern const std::string_view kRegion;      ///< region(): what an operation reaches
extern const std::string_view kEntries;     ///< poll_once(), progress()
extern const std::string_view kCarryOut;    ///< carry_out() an operation
extern const std::string_view kCloseAll;    ///< close_all()
extern const std::string_view kCounts;      ///< note_counts(), counted(), errors_of()
extern const std::string_view kMany;        ///< releases(), space_left() of a buffer for many messages
extern const std::string_view kHolds;       ///< holds(): such a buffer has a message with these bytes
extern const std::string_view kFill;        ///< fill(): the bytes of an operation
extern const std::string_view kBehind;      ///< is_touched()
extern const std::string_view kContexts;    ///< fill_contexts(), context_used()
extern const std::string_view kSameValues;  ///< same_values()

}  // namespace selvage::conformance::runtime
