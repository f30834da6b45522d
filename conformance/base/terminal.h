// How the tool speaks: colours only where they are welcome, a progress bar only on a terminal.
//
// NO_COLOR (any value) turns colours off; output that is no terminal is plain.  Single-threaded.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace selvage::conformance {

enum class Tint { Plain, Good, Bad, Warn, Dim, Bold };

/// Text for stdout in a colour, or as it is.
std::string tinted(std::string_view text, Tint tint);
/// Columns that lines may have: what COLUMNS says, else those of the terminal behind stdout; 100 where there is none.
std::size_t columns();

/// Bytes that are safe to print on a terminal: control characters of a hostile library become \\xNN.
std::string printable(std::string_view text);

/// Progress of a run on stderr: a bar with rate and time left on a terminal, one line per finished step elsewhere.
class Progress {
public:
    /// @param quiet print nothing.
    explicit Progress(bool quiet);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Announces how many units of work there are in all.
    void expect(std::uint64_t total) { total_ = total; }
    /// Begins a step of at most `units`; others may be under way.  @return its number.
    std::size_t begin(const std::string& label, std::uint64_t units);
    /// Units of a step done so far.
    void at(std::size_t step, std::uint64_t done);
    /// A line that stays, between steps or within one.
    void note(const std::string& line);
    /// Ends a step; `result` is a word or two.
    void end(std::size_t step, const std::string& result, std::uint64_t done, double seconds);

private:
    struct Step {
        std::string label;
        std::uint64_t units = 0;
        std::uint64_t done = 0;
    };
    void draw(bool force);
    void clear();

    bool quiet_;
    bool terminal_;
    std::uint64_t total_ = 0;
    std::uint64_t finished_ = 0;  // units of finished steps
    std::uint64_t done_ = 0;      // units really done
    std::size_t begun_ = 0;
    std::map<std::size_t, Step> steps_;  // under way, by number
    std::chrono::steady_clock::time_point began_;
    std::chrono::steady_clock::time_point drawn_;
};

}  // namespace selvage::conformance
