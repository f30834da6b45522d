// A process that runs exchanges: it keeps its pair of endpoints from one to the next as long as nothing is odd.
//
// Belongs to the process that made it; a child of that process starts its own.  Started at the first exchange, and
// again after a death.  One thread.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "conformance/case/case.h"
#include "conformance/subject/caller.h"
#include "conformance/subject/child.h"
#include "model/traffic/traffic.h"

namespace selvage::conformance {

/// What a worker is about.  Leaving: it closes the pair of the set-up before, which is no doing of the case at hand.
enum class Phase : std::uint8_t { Running, Opening, Closing, Leaving };

/// What a worker tells in shared memory, so that it outlives it.
struct Stand {
    Phase phase = Phase::Running;
    int operation = -1;  ///< while it runs: whose call was made last
    unsigned waits = 0;  ///< how often something expected never came
    unsigned timed = 0;  ///< how often a time alone said so
    /// Counts the library's calls that came back.  Written by the worker, read by the process that waits for it, which
    /// looks for nothing but change: relaxed.
    std::atomic<unsigned> beat{0};
};

class Worker {
public:
    explicit Worker(const Library& library);
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Runs the exchange of a case; fills all but `version` and `info`.  Once the library has died too often, only what
    /// is known to end it is told, from memory; of the rest `detail` says that it was not run.
    /// @return how the process ended, if it did: `out` then holds the operations alone.
    Ending run(const Case& c, model::Traffic& out);

    /// How often it died, in all; hanging, which takes long, counts for more.
    [[nodiscard]] std::size_t losses() const { return losses_; }
    /// How often something that should have come was waited for in vain.
    [[nodiscard]] unsigned waits() const { return stand_->waits; }
    /// How often an exchange was judged after a time alone, without an order that proves that nothing more comes.
    [[nodiscard]] unsigned timed() const { return stand_->timed; }
    /// Why pairs did not open, each call that failed with what it returned; and deaths that are no case's own.
    [[nodiscard]] const std::set<std::string>& troubles() const { return troubles_; }

private:
    void start();
    void stop();
    [[noreturn]] void work(int fd, pid_t parent) noexcept;
    Ending bury(bool hung);
    Ending told_from_memory(const Case& c, model::Traffic& out) const;
    /// Waits for the answer.  @return false if a call of the library does not come back.
    [[nodiscard]] bool awaited() const;
    /// Sends a request and waits for its answer.  @return how the process ended, if it did.
    Ending ask(const std::string& request, std::string& answer);
    static void note_death(const Ending& e, Phase phase, const Case& c, model::Traffic& out);

    const Library& library_;
    pid_t owner_ = -1;
    pid_t pid_ = -1;
    int fd_ = -1;
    std::size_t losses_ = 0;
    struct Deaths {
        unsigned count = 0;
        Ending ending;
    };
    std::map<std::string, Deaths> deaths_;     ///< by set-up: those at opening
    std::map<std::string, std::string> shut_;  ///< by set-up: what was told of a pair that does not open
    std::set<std::string> troubles_;
    struct Death {
        Ending ending;
        Phase phase;
        int operation;
    };
    std::map<std::string, Death> fatal_;  ///< by case: what ended it
    Stand* stand_ = nullptr;
    std::string setup_;  ///< what the worker's pair was opened with, as text
};

/// The worker of this process for a library.
Worker& worker_of(const Library& library);

}  // namespace selvage::conformance
