// The file of counters that a process of the reference library keeps (docs/formats.md, "Counters of a process").
//
// The file is another process's word and may be changed while it is read, or have been made to harm whoever reads it:
// it is read by copying, never mapped, every length and number is checked, and no text of it is printable before
// printable() (cli/terminal.h) has seen it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace selvage::conformance {

/// The counters of a record, in the order of the file.
enum class Counter : std::uint8_t {
    KeptMessages,
    KeptBytes,
    KeptBytesMost,
    Announcements,
    Answers,
    AnswerBytes,
    Unexpected,
    BadFrames,
    OverBudget,
    NoMemory,
    AnnouncedShort,
    InFrames,
    Lost,
    Reconnects,
    Refused,
    Expired,
    Count,
};
inline constexpr std::size_t kStatCounters = static_cast<std::size_t>(Counter::Count);
/// As JSON and the log of the library spell it.
std::string_view name_of(Counter counter);

struct CounterSet {
    std::array<std::uint64_t, kStatCounters> values{};
    [[nodiscard]] std::uint64_t at(Counter c) const { return values[static_cast<std::size_t>(c)]; }
};

struct PeerStat {
    std::string address;  ///< empty if it is not known
    bool down = false;
    unsigned last_error = 0;  ///< why it went down last; 0 if it never did
    CounterSet counters;
};

struct EndpointStat {
    std::uint64_t number = 0;
    std::string provider;
    std::string address;
    CounterSet counters;
    std::vector<PeerStat> peers;
};

struct StatSnapshot {
    std::uint32_t pid = 0;  ///< as the process itself sees it
    std::vector<EndpointStat> endpoints;
    std::size_t skipped = 0;  ///< records that were being changed however often they were read
};

/// Reads an open file.  @return false and a one-line `error` for a file that is none.
bool read_stat_file(int file, StatSnapshot& out, std::string& error);

}  // namespace selvage::conformance
