// What a fuzz target is told beside libFuzzer's own options: whom to ask, how to judge, what to do with findings.
//
// Options begin with two dashes, which libFuzzer leaves alone; a program whose arguments are not its own (AFL++) is
// told by the environment: --keep-going=DIR is also SELVAGE_FUZZ_KEEP_GOING=DIR.  Read once, before anything runs.
#pragma once

#include <string>
#include <vector>

namespace selvage::fuzz {

struct Options {
    std::string library;  ///< the libfabric.so.1 to ask (default: the bundled one, or the one beside the program)
    std::string other;    ///< differential: the library to compare with (default: the system's)
    std::vector<std::string> providers;  ///< judged; empty: all that the library has
    std::vector<std::string> profiles;   ///< files of declared profiles to judge by
    std::string keep_going;              ///< a folder: findings are shrunk and saved there, and the run goes on
    std::string journal;                 ///< a file that always holds the input under way
    std::string tool;  ///< the selvage tool, for queries that need a fresh process (default as with library)
};

/// Reads what is meant for the target.  @return false and one line in `error`.
bool read_options(int argc, char** argv, Options& out, std::string& error);

}  // namespace selvage::fuzz
