// Writes that peers do by themselves into this process, with their own processors (engine/engine_share.h). A region
// that is closed while some are under way waits for their end, as its memory is somebody else's afterwards.
#ifndef SELVAGE_IMPL_CORE_FOREIGN_WRITES_H
#define SELVAGE_IMPL_CORE_FOREIGN_WRITES_H

#include <atomic>
#include <cstdint>

#include "impl/core/wait.h"

namespace selvage::impl {

struct Domain;

// How long who closes something waits for a peer that writes into it: a second, and between two looks 50 us.
class Patience {
public:
    // False: it is at its end.
    bool wait() const;

private:
    Deadline end_{1000};
};

// Who knows of such writes: an engine.
class WriteWatch {
public:
    // Looks whether those that it knows of have ended. Called with the domain's lock, from any thread.
    virtual void look_at_writes() = 0;
    WriteWatch* next_watch = nullptr;

protected:
    ~WriteWatch() = default;
};

struct ForeignWrites {
    // Of all endpoints of the domain. Counted before they begin; released when they have ended, with the acquire of
    // await(): what they wrote is there.
    std::atomic<uint32_t> under_way{0};
    WriteWatch* first = nullptr;  // the domain's lock

    void add(WriteWatch& watch);
    void remove(WriteWatch& watch);
    // Until none is under way, or for a second: a peer that was stopped while it writes is not waited for any longer.
    // Without the domain's lock.
    static void await(Domain& domain);
};

}  // namespace selvage::impl

#endif
