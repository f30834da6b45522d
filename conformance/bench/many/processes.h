// The workers of one scenario: processes that are forked before any library is loaded, perform one order after another,
// and end with the object.
//
// The coordinator, which makes the object, loads no library: a worker that crashes or hangs costs the scenario alone.
// It has one thread; it gives signs of life while it waits.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "conformance/base/library.h"
#include "conformance/bench/many/board.h"

namespace selvage::conformance::bench::many {

/// The part that one process plays.  One thread.  Every function throws CannotMeasure for what the library refuses.
class Worker {
public:
    virtual ~Worker() = default;
    /// @param order any but Step::Weigh and Step::End.
    virtual void perform(const Order& order) = 0;
    /// Called over and over between orders, since a library may need calls to finish what it began.
    virtual void progress() = 0;
};
using MakeWorker = std::unique_ptr<Worker> (*)(const Entries& entries, const Scenario& scenario, Board& board,
                                               std::size_t number);

/// How long all workers together may take for one order.
inline constexpr std::chrono::seconds kOrderLimit{20};

class Processes {
public:
    /// @param limit how long all may take for one order, on a machine whose patience_factor() is 1.
    /// @throws CannotMeasure
    Processes(const std::string& library, const Scenario& scenario, const Setting& setting, MakeWorker make,
              std::chrono::milliseconds limit = kOrderLimit);
    /// Lets the workers end, and kills those that do not.
    ~Processes();
    Processes(const Processes&) = delete;
    Processes& operator=(const Processes&) = delete;

    /// All workers perform it.  @throws CannotMeasure if one cannot, dies, or takes too long.
    void order(const Order& what);
    /// The same.  @return nanoseconds from the first one's beginning to the last one's end.
    double talk(std::uint64_t turns, std::uint64_t window = 1);
    /// Reports of the last order, by worker.
    [[nodiscard]] const Report& report(std::size_t worker) const { return board_->reports[worker]; }
    /// Bytes of the files in /dev/shm that any of them has mapped.
    [[nodiscard]] double shared_memory() const;

private:
    void start(std::size_t number, const std::string& library, const Setting& setting, MakeWorker make);
    void publish(const Order& what);
    void look_for_failure();
    void end_all();

    Scenario scenario_;
    std::chrono::milliseconds limit_;
    Board* board_ = nullptr;
    std::uint64_t orders_ = 0;
    std::vector<pid_t> workers_;
    bool failed_ = false;
};

}  // namespace selvage::conformance::bench::many
