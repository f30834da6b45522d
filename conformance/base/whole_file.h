// Files that are there whole or not at all: what is written takes the place of what was there once it is complete.
//
// A process that is ended on the way leaves what was there before, or nothing.  Any thread, as long as no two write the
// same file.
#pragma once

#include <string>
#include <string_view>

namespace selvage::conformance {

/// Writes a file anew.  A device, a pipe or a link is written to as it stands, and so is a file in whose folder no
/// other can be made.
/// @return false and one line in `error`, which names the file.
bool write_whole_file(const std::string& path, std::string_view content, std::string& error);

/// Why the file can't be written, as one line without its name; empty: it can.  Leaves nothing behind.
std::string why_not_writable(const std::string& path);

/// Why files can't be written into the folder, which need not be there; empty: they can.  Leaves nothing behind.
std::string why_no_folder(const std::string& path);

}  // namespace selvage::conformance
