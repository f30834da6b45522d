// A process that runs exchanges: it keeps its pair of endpoints from one to the next as long as nothing is odd.
//
// Belongs to the process that made it; a child of that process starts its own.  Started at the first exchange, and
// again after a crash.  One thread.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "conformance/base/child.h"
#include "conformance/base/library.h"
#include "conformance/case/case.h"
#include "conformance/drive/transfer/charge.h"
#include "conformance/drive/transfer/never_came.h"
#include "model/traffic/traffic.h"

namespace selvage::conformance {

/// What a worker is about.  Before: it runs what the case's pair carries first.  Leaving: it closes the pair of another
/// case, which is no doing of the one at hand.
enum class Phase : std::uint8_t { Running, Opening, Closing, Leaving, Before };

/// What became of a pair in an exchange that did not end as it should.
enum class Loss : std::uint8_t {
    None,
    Missing,  ///< something expected never came, and was waited for
    Ended,    ///< the process died, or hung
};

/// What a worker writes to shared memory, so that it outlives it.
struct WorkerState {
    Phase phase = Phase::Running;
    Charge charge;            ///< while it runs, and while it closes what has carried that
    unsigned waits = 0;       ///< how often something expected never came
    unsigned timed = 0;       ///< how often a time alone said so
    unsigned lost = 0;        ///< barriers that never came through
    unsigned vain_rests = 0;  ///< times without a call in which nothing came
    pid_t agent = -1;         ///< the process of side B, if it has one
    bool patient = false;     ///< set by the other side: waits are never short
    bool hasty = false;       ///< of the last exchange: it gave something up after a short wait
    bool starved = false;     ///< of the last exchange: the provider had too little time (Patience)
    bool open = false;        ///< a pair is kept for the next exchange
    unsigned carried = 0;     ///< exchanges that the pair of the last one had carried before it
    /// Counts the library's calls that came back.  Written by the worker, read by the process that waits for it, which
    /// looks for nothing but change: relaxed.
    std::atomic<unsigned> beat{0};
    KnownAbsences known;  ///< that stood after a long wait
};

/// What the exchanges of one set-up left open: a pair whose closing ended the process.
struct LeftPair {
    Case shown;  ///< the last exchange that it carried, and those before
    Ending ending;
};

/// What a worker has learnt of its library.  A trial beside the run begins with what the run's has.
struct Experience {
    unsigned waits = 0;       ///< how often something that should have come was waited for in vain
    unsigned lost = 0;        ///< barriers that never came through
    unsigned vain_rests = 0;  ///< times without a call in which nothing came
    std::size_t losses = 0;   ///< how often it died; hanging, which takes long, counts for more
};

class Worker {
public:
    explicit Worker(const Library& library);
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Runs the exchange of a case; fills all but `version` and `info`.  What the case has before it is run first, on a
    /// new pair in a new process; if that leaves the pair other than it was, the exchange is not run, and `detail` says
    /// so.  Once the library has died too often, only what is known to end it is returned, from memory; of the rest
    /// `detail` says that it was not run.
    /// @return how the process ended, if it did: `out` then holds the operations alone.
    Ending run(const Case& c, model::Traffic& out);

    /// Closes what is open and ends the process: the next exchange finds nothing of those before it.
    void renew();
    /// In a child of the owner: forgets the owner's process and shares nothing with it from now on.
    void detach();
    /// What it has learnt; what trials beside it have learnt since they began.
    [[nodiscard]] Experience experience() const;
    void gain(const Experience& more);
    /// The exchanges that the pair had carried when it was given the last one, oldest first, at most kMostBefore.
    [[nodiscard]] const std::vector<std::vector<model::Operation>>& history() const { return history_; }
    /// True if it had carried more than history() holds.
    [[nodiscard]] bool history_is_cut() const { return history_is_cut_; }
    /// True if the last exchange gave something up after a wait that is short because the library is known to lose
    /// things, or to hang.  What was missing may have come later.
    [[nodiscard]] bool hasty() const { return state_->hasty; }
    /// From now on waits are as long as at first, or as short as they have become.
    void set_patient(bool patient) { state_->patient = patient; }
    /// Where side B of pairs in two processes is opened: HOST:PORT of an agent; empty: on this machine.
    void set_peer(const std::string& peer) { peer_ = peer; }
    /// True: a call that does not come back is given up sooner, as it is known not to.
    void set_quick(bool quick) { quick_ = quick; }
    /// A call did not come back although it was waited for with patience.
    [[nodiscard]] bool is_known_to_hang() const { return known_to_hang_; }
    /// False if the last exchange was not run: see run().
    [[nodiscard]] bool ran() const { return ran_; }
    /// What the last exchange lost.
    [[nodiscard]] Loss loss() const { return loss_; }
    /// A pair whose closing ended the process while another set-up was due.  Each is returned once.
    std::optional<LeftPair> take_left();

    /// How often it died, in all; hanging, which takes long, counts for more.
    [[nodiscard]] std::size_t losses() const { return losses_; }
    /// How often something that should have come was waited for in vain.
    [[nodiscard]] unsigned waits() const { return state_->waits; }
    /// How often an exchange was judged after a time alone, without an order that proves that nothing more comes.
    [[nodiscard]] unsigned timed() const { return state_->timed; }
    /// Why pairs did not open, each call that failed with what it returned.
    [[nodiscard]] const std::set<std::string>& troubles() const { return troubles_; }

private:
    Ending run_or_recall(const Case& c, model::Traffic& out);
    void start(std::uint64_t processes);
    void stop();
    [[noreturn]] void work(int fd, pid_t parent, std::uint64_t processes) noexcept;
    Ending reap(bool hung);
    Ending remembered(const Case& c, model::Traffic& out) const;
    /// Waits for the answer.  @return false if a call of the library does not come back.
    [[nodiscard]] bool awaited() const;
    /// A call that does not come back is given up sooner.
    [[nodiscard]] bool is_quick() const;
    /// Sends a request and waits for its answer.  @return how the process ended, if it did.
    Ending issue(const std::string& request, std::string& answer);
    [[nodiscard]] static std::string request_for(const Case& c, bool same);
    Ending note_end(const Ending& e, const Case& c, const std::string& setup, model::Traffic& out);
    void note_history(const Case& c);
    void note_left(const Ending& e);
    [[nodiscard]] std::string remembered_as(const Case& c) const;

    const Library& library_;
    pid_t owner_ = -1;
    pid_t pid_ = -1;
    int fd_ = -1;
    std::string peer_;
    std::uint64_t processes_ = 0;  ///< that the worker opens pairs in
    std::size_t losses_ = 0;
    unsigned killed_ = 0;  ///< from outside, since an exchange came to an end
    struct Crashes {
        unsigned count = 0;
        Ending ending;
    };
    std::map<std::string, Crashes> crashes_;   ///< by set-up: those at opening
    std::map<std::string, std::string> shut_;  ///< by set-up: the error of a pair that does not open
    std::set<std::string> troubles_;
    struct KnownCrash {
        Ending ending;
        Phase phase;
        int operation;
    };
    std::map<std::string, KnownCrash> fatal_;             ///< by case, and what its pair had carried: what ended it
    Case current_;                                        ///< what was sent last
    std::vector<std::vector<model::Operation>> past_;     ///< the last kMostBefore exchanges of its set-up
    std::vector<std::vector<model::Operation>> history_;  ///< of them those that the pair had carried
    bool history_is_cut_ = false;
    bool ran_ = true;
    Loss loss_ = Loss::None;
    bool quick_ = false;
    bool known_to_hang_ = false;  ///< a call did not come back although it was waited for with patience
    std::optional<LeftPair> left_;
    WorkerState* state_ = nullptr;
    std::string setup_;  ///< what the worker's pair was opened with, as text
};

/// What is seen of a pair whose closing ended the process.
void note_closing_crash(const LeftPair& left, model::Traffic& out);

/// The worker of this process for a library.
Worker& worker_of(const Library& library);

}  // namespace selvage::conformance
