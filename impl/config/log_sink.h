// Where the lines of the log go: FI_LOG_LOCATION, which is "stderr" (the default), "stdout", the path of a file that
// does not exist yet, or a directory, in which the file is ofi_PID.log. FI_LOG_LOCATION_MODE is the mode of a new file.
//
// Invariants:
//   1. nothing that exists is written to: a file is created by the open, and no symbolic link is followed,
//   2. a descriptor that the application has closed, and whose number now belongs to something else, is not written to,
//   3. what cannot be opened leaves standard error, and the caller has one line that says why.
// Called by log.cc alone. write_log from any thread; open_log_sink while no other thread can be logging.
#pragma once

#include <cstddef>

namespace selvage::impl {

inline constexpr std::size_t kSinkErrorMax = 512;

// Reads the environment (again). False: `error` has a line without a newline, and standard error is used, or, where
// only the mode is wrong, a file of the default mode.
bool open_log_sink(char (&error)[kSinkErrorMax]) noexcept;
// One write for one line; a signal or a full pipe may force a second.
void write_log(const char* text, std::size_t length) noexcept;

}  // namespace selvage::impl
