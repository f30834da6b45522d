// One handler for the signals that a crashing library raises, shared by the arena (a store into hints) and survive().
//
// A fault goes first to the claims (an arena lets the store through), then to the innermost survive() of the thread,
// else the signal's default action ends the process, so that the parent sees the true signal.  Use in child processes
// only.  Everything reachable from the handler is async-signal-safe.
#pragma once

#include <type_traits>

namespace selvage::conformance {

/// Installs the handler for SIGSEGV, SIGBUS, SIGABRT, SIGFPE and SIGILL and gives this thread an alternate stack. Cheap
/// enough to call again whenever the library may have put its own handler there.
void install_fault_handler();

/// From now on a fault in this process that nobody claims or survives goes to the handlers that are in force now,
/// instead of to the signal's default action: for a process that wants to tell of its own crash.  Children of fork are
/// not concerned.
void hand_faults_on();

/// Somebody who may know a faulting address.  Called inside the signal handler.
class FaultClaim {
public:
    FaultClaim();
    FaultClaim(const FaultClaim&) = delete;
    FaultClaim& operator=(const FaultClaim&) = delete;
    /// @return true if the faulting instruction should run again.
    virtual bool claim(void* address) noexcept = 0;

protected:
    ~FaultClaim();
};

namespace detail {
int survive(void (*call)(void*), void* argument) noexcept;
}

/// Runs `fn` and returns which signal ended it, 0 if it returned.  Destructors of frames between the crash and here do
/// not run, and whatever the library was doing stays half done: only for children that are thrown away soon.
/// The handler must have been installed (survive() in guard.h does both).
template <class Fn>
int survive_installed(Fn&& fn) noexcept {
    using Plain = std::remove_reference_t<Fn>;
    return detail::survive([](void* f) { (*static_cast<Plain*>(f))(); },
                           const_cast<void*>(static_cast<const void*>(&fn)));
}

}  // namespace selvage::conformance
