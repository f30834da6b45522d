// Logging: FI_LOG_LEVEL, FI_LOG_PROV and FI_LOG_SUBSYS decide, one line for each message goes to standard error, or
// where FI_LOG_LOCATION says (log_sink.h).
//
// Invariants: settings are read once, at the first query; a disabled message costs one relaxed load and one
// branch; a line is handed to the kernel in a single write of at most kMaxLogLine bytes, which pipes keep whole; errno
// is left as it was; nothing is allocated. Any thread, except where a function says otherwise.
#pragma once

#include "impl/base/rdma.h"

#include <rdma/fi_ext.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <source_location>

namespace selvage::impl {

inline constexpr std::size_t kMaxLogLine = 4096;

// A level together with the place that mentions it, so that log() knows its caller: write the plain level.
struct LevelHere {
    LevelHere(fi_log_level value, std::source_location here = std::source_location::current()) noexcept
        : level(value), where(here) {}
    fi_log_level level;
    std::source_location where;
};

namespace log_detail {

// Bit level * 16 + subsystem. All bits are set until the settings are read, so that the first query of any kind
// takes the slow path; from then on a set bit is the answer, unless an imported logger wants to be asked.
extern std::atomic<std::uint64_t> mask;
inline constexpr unsigned kSubsysBits = 16;
static_assert(FI_LOG_MAX * kSubsysBits <= 64 && static_cast<unsigned>(FI_LOG_SUBSYS_MAX) <= kSubsysBits);

bool enabled_slow(const char* provider, fi_log_level level, fi_log_subsys subsys) noexcept;

}  // namespace log_detail

// Is a message of the library's core shown? Guard a log() call with it when the arguments cost something.
inline bool log_enabled(fi_log_level level, fi_log_subsys subsys) noexcept {
    const unsigned bit = static_cast<unsigned>(level) * log_detail::kSubsysBits + static_cast<unsigned>(subsys);
    if ((log_detail::mask.load(std::memory_order_relaxed) >> (bit & 63u) & 1u) == 0) [[likely]]
        return false;
    return log_detail::enabled_slow(nullptr, level, subsys);
}

// Has somebody set FI_LOG_LEVEL, to whatever it is? Warnings are shown without it; what is of use only to those who
// look into the log is not.
bool log_level_is_set() noexcept;

// The same as log_enabled() for a provider, by name; layered names such as "tcp;ofi_rxm" count when a part of them
// does.
inline bool log_enabled_for(const char* provider, fi_log_level level, fi_log_subsys subsys) noexcept {
    const unsigned bit = static_cast<unsigned>(level) * log_detail::kSubsysBits + static_cast<unsigned>(subsys);
    if ((log_detail::mask.load(std::memory_order_relaxed) >> (bit & 63u) & 1u) == 0) [[likely]]
        return false;
    return log_detail::enabled_slow(provider, level, subsys);
}

// Writes a line if it is enabled. The newline is added.
void log(LevelHere at, fi_log_subsys subsys, const char* format, ...) noexcept __attribute__((format(printf, 3, 4)));
void log_for(const char* provider, LevelHere at, fi_log_subsys subsys, const char* format, ...) noexcept
    __attribute__((format(printf, 4, 5)));

// For messages that others can cause without end: true for one caller in each interval (FI_LOG_INTERVAL), however many
// threads ask at once. `showtime` is zero at first, and each kind of message has its own; nullptr: always true.
bool log_turn(std::uint64_t* showtime) noexcept;

// The object named "logging" of fi_open: from now on the callbacks of logger decide and write; nullptr restores the
// library's own. The caller keeps logger alive until it is replaced and no other thread can be logging.
void import_logger(const fid_logging* logger) noexcept;
// Restores the library's own if `logger` is the one that was imported last.
void remove_logger(const fid_logging* logger) noexcept;

// Reads the environment again. For tests and start-up only: no other thread may be logging.
void reload_log_settings() noexcept;

}  // namespace selvage::impl
