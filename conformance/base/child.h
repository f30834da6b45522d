// Runs work in a child process with a time limit, so that a library that crashes, hangs or exits ends only the child.
//
// Work reports through a Channel: records (bytes) that reach the parent even if the child dies right after, and a slot
// of shared memory that says what the child was doing when it died.  POSIX only; call from a single-threaded process.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace selvage::conformance {

/// How a child ended.
struct Ending {
    enum class Kind : std::uint8_t {
        Done,     ///< the work returned
        Crashed,  ///< died of `signal`
        Hung,     ///< killed: no sign of life within the limit
        Exited,   ///< something called exit or _exit in the middle, status in `status`
    } kind = Kind::Done;
    int signal = 0;
    int status = 0;
    std::uint64_t doing = 0;  ///< last value given to Channel::doing
};

/// By a signal that no library sends to itself, and the kernel does where memory is short.
inline bool was_killed_from_outside(const Ending& e) { return e.kind == Ending::Kind::Crashed && e.signal == SIGKILL; }
/// Who is killed from outside more often than that, one time after the other, is taken to have had a part in it.
inline constexpr unsigned kMostKilled = 2;
/// What a report says of it.
inline constexpr char kRunAgain[] = "a process was killed from outside (is memory short?); its case was run again";

/// The child's side.
class Channel {
public:
    /// Sends one record to the parent; blocks while the pipe is full.
    void send(std::string_view record);
    /// Notes what comes next (a query's number); one store, also a sign of life.
    void doing(std::uint64_t what);

private:
    friend class ChildRun;
    int fd_ = -1;
    volatile std::uint64_t* slot_ = nullptr;
};

/// What a process that was forked to use a library does first: it dies with `parent`, has the default signal
/// dispositions, and finds the names free that its namesakes left taken (leftovers.h).  Ends the process if `parent` is
/// dead already.
void begin_child(pid_t parent);

/// Ends this process as another one has ended whose status waitpid returned: by the same signal, or with the same
/// status.
[[noreturn]] void end_with_status(int status);

/// In a child, a sign of life without a record or a number: for who waits there for a process of its own that goes on.
/// Elsewhere it does nothing.
void sign_of_life();

class ChildRun;

/// A child under way, for a parent that looks after several.  One that is dropped is killed.
class Child {
public:
    /// As run_in_child.
    Child(const std::function<void(Channel&)>& work, std::chrono::milliseconds quiet);
    ~Child();
    Child(Child&&) noexcept;
    Child& operator=(Child&&) noexcept;
    /// Readable when records have come or the child has closed its end.
    [[nodiscard]] int descriptor() const;
    /// Hands out the records that have come.  @return false once no more will come.
    bool receive(const std::function<void(std::string_view)>& receive);
    /// Waits until it has ended.  REQUIRES: receive() has returned false.
    Ending end();

private:
    std::unique_ptr<ChildRun> run_;
};

/// Forks, runs `work` in the child, calls `receive` in the parent for each record, waits.
/// A child that was killed from outside before its first record is started again, kMostKilled times at most.
/// A child that waits for a child of its own lives as long as that one shows signs of life.
/// @param quiet the longest time without a sign of life (doing, send or sign_of_life) before the child is killed, on a
/// machine whose patience_factor() is 1.
/// @param busy if not 0, the longest time on a processor without one, which is over sooner where it spins.  It is of
/// the child alone, and not of those that it has started.
Ending run_in_child(const std::function<void(Channel&)>& work, const std::function<void(std::string_view)>& receive,
                    std::chrono::milliseconds quiet, std::chrono::milliseconds busy = {});
/// As run_in_child, and never started again: for what may not be done twice.
Ending run_once_in_child(const std::function<void(Channel&)>& work,
                         const std::function<void(std::string_view)>& receive, std::chrono::milliseconds quiet,
                         std::chrono::milliseconds busy = {});

}  // namespace selvage::conformance
