// A process that runs exchanges: it keeps its pair of endpoints from one to the next as long as nothing is odd.
//
// Belongs to the process that made it; a child of that process starts its own.  Started at the first exchange, and
// again after a death.  One thread.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "conformance/case/case.h"
#include "conformance/subject/caller.h"
#include "conformance/subject/child.h"
#include "model/traffic/traffic.h"

namespace selvage::conformance {

class Worker {
public:
    explicit Worker(const Library& library) : library_(library) {}
    ~Worker();
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Runs the exchange of a case; fills all but `version` and `info`.
    /// @return how the process ended, if it did: `out` then holds the operations alone.
    Ending run(const Case& c, model::Traffic& out);

private:
    void start();
    void stop();
    [[noreturn]] void work(int fd, pid_t parent) noexcept;
    Ending bury(bool hung);

    const Library& library_;
    pid_t owner_ = -1;
    pid_t pid_ = -1;
    int fd_ = -1;
    std::string setup_;  ///< what the worker's pair was opened with, as text
};

}  // namespace selvage::conformance
