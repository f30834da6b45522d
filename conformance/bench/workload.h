// A workload: one thing that is measured on one library in one process, and what is hoped for.
//
// Workloads are grouped in suites (suites.h).  The frame (pairs.h, instructions.h, print.h) knows nothing of what they
// do, so anything that yields samples can be one: calls by the clock, a ping-pong with a process of its own, a stream.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace selvage::conformance::bench {

/// What a sample is, and so which of two sides is ahead.
enum class Quantity : std::uint8_t {
    Time,      ///< nanoseconds; less is better
    Rate,      ///< bytes per second; more is better
    Messages,  ///< messages per second; more is better
    Memory,    ///< bytes; less is better
};

/// Whether less of it is better.
inline bool less_is_better(Quantity q) { return q == Quantity::Time || q == Quantity::Memory; }

/// How long one run may sample.
struct Effort {
    std::chrono::milliseconds time{30};
};

/// What is asked of the library under test.  0: nothing.
struct Goal {
    double below = 0;         ///< its median, in the unit of the quantity: below for times, above for rates
    double times = 0;         ///< how many times as good as the first rival that is a library, at least
    double floor = 0;         ///< its median by that of the floor: at most for times, at least for rates
    double beside = 0;        ///< its median by that of the row beside: as for the floor
    double instructions = 0;  ///< its instructions per call: fewer than that
    [[nodiscard]] bool any() const { return below > 0 || times > 0 || floor > 0 || beside > 0 || instructions > 0; }
};

/// Where a workload stands among others like it, for plots and programs.  Empty where it stands alone.
struct Place {
    std::string provider;
    std::string operation;
    std::string kind;
    std::uint64_t size = 0;
};

/// How the processes of a session stand on the machine.
struct Setting {
    Effort effort;
    std::array<int, 2> cores{-1, -1};  ///< of the process that measures, and of its peer; -1: not pinned
    bool realtime = false;             ///< SCHED_FIFO while a workload is measured, and no longer
};

/// Why a workload can't be measured, in one line.  Thrown in the child, printed by the parent.
struct CannotMeasure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Something made ready to be called `n` times.
using Loop = std::function<void(std::uint64_t n)>;

struct Workload {
    std::string name;   ///< one word, for the command line and the data
    std::string title;  ///< a few words, for the table
    Quantity quantity = Quantity::Time;
    Goal goal = {};
    Place place = {};
    std::string floor = {};   ///< name of the floor that it is held against; empty: none
    std::string beside = {};  ///< name of another row of the same library that it is held against; empty: none
    int members = 0;          ///< how many processes take part; 0: two
    bool round_trip = false;  ///< half of it is one way
    bool quick = true;        ///< among those of a short run
    bool steady = false;      ///< a floor that shows whether the machine was the same before and after
    /// Measures in a child process that has opened no library yet: opens the one at the path, returns samples.
    std::function<std::vector<double>(const std::string& library, const Effort& effort)> run = {};
    /// For counting instructions: opens the library and makes ready.  Empty: they are not counted.
    std::function<Loop(const std::string& library)> ready = {};
    std::uint64_t counted_calls = 100;  ///< how many of the loop are counted
};

}  // namespace selvage::conformance::bench
