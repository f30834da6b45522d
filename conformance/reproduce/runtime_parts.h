// The parts of a C program about transfers that are alike in all of them: the files of runtime/, as text.
//
// A part takes for granted what stands ahead of it in runtime/all.c; the program defines the macros of its case
// (FORMAT, OPERATIONS, …).  Private to reproduce/.  Any thread.
#pragma once

#include <string_view>

namespace selvage::conformance::runtime {

extern const std::string_view kState;       ///< the sides, and what was read from their queues
extern const std::string_view kNeed;        ///< need(): what must work to get anywhere
extern const std::string_view kOpen;        ///< open_side()
extern const std::string_view kConnect;     ///< connect_sides()
extern const std::string_view kRegions;     ///< region()
extern const std::string_view kClose;       ///< close_all()
extern const std::string_view kRemote;      ///< remote(): the address of a target's byte
extern const std::string_view kRead;        ///< poll_once(), progress()
extern const std::string_view kCounts;      ///< note_counts()
extern const std::string_view kErrors;      ///< errors_of() counters
extern const std::string_view kMany;        ///< releases(), space_left() of a buffer for many messages
extern const std::string_view kHolds;       ///< holds(): such a buffer has a message with these bytes
extern const std::string_view kFill;        ///< fill(): the bytes of an operation
extern const std::string_view kBehind;      ///< is_touched()
extern const std::string_view kContexts;    ///< fill_contexts(), context_used()
extern const std::string_view kSource;      ///< source_of()
extern const std::string_view kSameValues;  ///< same_values()

}  // namespace selvage::conformance::runtime
