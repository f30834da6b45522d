// See faults.h.
#include "conformance/harness/faults.h"

#include <sys/mman.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>

#include <array>
#include <atomic>

#include "conformance/harness/alloc_hooks.h"

namespace selvage::conformance {
namespace {

constexpr std::array kCrashSignals{SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
constexpr std::size_t kMaxClaims = 16;
constexpr std::size_t kStackSize = 64 * 1024;

std::array<std::atomic<FaultClaim*>, kMaxClaims> claims;
thread_local sigjmp_buf* landing = nullptr;
thread_local bool has_stack = false;
// Written once, before anything that can fault is run.
std::array<struct sigaction, kCrashSignals.size()> next_handlers;
pid_t has_next_handlers = 0;

bool claimed(void* address) noexcept {
    for (auto& c : claims)
        if (FaultClaim* who = c.load(std::memory_order_acquire); who != nullptr && who->claim(address)) return true;
    return false;
}

/// A jump out of the handler does not give back the mask that was in force before it.
void unblock_crashes() noexcept {
    sigset_t crashes;
    sigemptyset(&crashes);
    for (int signal : kCrashSignals) sigaddset(&crashes, signal);
    pthread_sigmask(SIG_UNBLOCK, &crashes, nullptr);
}

/// What happens to a fault that is nobody's: the default action, unless this process has somebody who wants to know.
struct sigaction next_handler(int signal) noexcept {
    struct sigaction plain = {};
    plain.sa_handler = SIG_DFL;
    if (has_next_handlers == 0 || has_next_handlers != getpid()) return plain;
    for (std::size_t i = 0; i < kCrashSignals.size(); ++i)
        if (kCrashSignals[i] == signal) return next_handlers[i];
    return plain;
}

void on_fault(int signal, siginfo_t* info, void*) {
    const bool by_instruction = info->si_code > 0 && info->si_code != SI_KERNEL;
    if ((signal == SIGSEGV || signal == SIGBUS) && by_instruction && claimed(info->si_addr)) return;
    if (landing != nullptr) {
        unblock_crashes();
        siglongjmp(*landing, signal);
    }
    // The faulting instruction runs again, or a signal that was sent is sent once more.
    const struct sigaction next = next_handler(signal);
    sigaction(signal, &next, nullptr);
    if (info->si_code <= 0 || signal == SIGABRT) raise(signal);
}

void give_stack() {
    if (has_stack) return;
    has_stack = true;
    void* memory = mmap(nullptr, kStackSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    stack_t stack = {};
    stack.ss_sp = memory;
    stack.ss_size = kStackSize;
    sigaltstack(&stack, nullptr);
}

}  // namespace

void install_fault_handler() {
    give_stack();
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (int signal : kCrashSignals) sigaction(signal, &action, nullptr);
}

void hand_faults_on() {
    for (std::size_t i = 0; i < kCrashSignals.size(); ++i) {
        struct sigaction now = {};
        sigaction(kCrashSignals[i], nullptr, &now);
        const bool ours = (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_fault;
        if (!ours) next_handlers[i] = now;
    }
    has_next_handlers = getpid();
}

FaultClaim::FaultClaim() {
    for (auto& c : claims) {
        FaultClaim* none = nullptr;
        if (c.compare_exchange_strong(none, this, std::memory_order_acq_rel)) return;
    }
}

FaultClaim::~FaultClaim() {
    for (auto& c : claims) {
        FaultClaim* self = this;
        c.compare_exchange_strong(self, nullptr, std::memory_order_acq_rel);
    }
}

int detail::survive(void (*call)(void*), void* argument) noexcept {
    sigjmp_buf here;
    sigjmp_buf* const outer = landing;
    Allocations* const counting = subject_allocations();
    // The mask is not saved, which would be a system call: the handler unblocks what it must before it jumps.
    const int signal = sigsetjmp(here, 0);
    if (signal == 0) {
        landing = &here;
        call(argument);
    } else {
        set_subject_allocations(counting);
    }
    landing = outer;
    return signal;
}

}  // namespace selvage::conformance
