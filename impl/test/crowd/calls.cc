// See calls.h.
#include "impl/test/crowd/calls.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

namespace selvage::impl::test {
namespace {

// Calls that the code under test does not make.
constexpr long kBegin = SYS_getpgrp;
constexpr long kEnd = SYS_getppid;

// Runs until the next entry into the kernel or return from it; false at the end.
bool next_stop(pid_t child, int* status, struct __ptrace_syscall_info* info) {
    for (;;) {
        const bool signalled = WIFSTOPPED(*status) && !(WSTOPSIG(*status) & 0x80) && WSTOPSIG(*status) != SIGSTOP;
        const int pass_on = signalled ? WSTOPSIG(*status) : 0;
        if (ptrace(PTRACE_SYSCALL, child, 0, pass_on) || waitpid(child, status, 0) != child) return false;
        if (!WIFSTOPPED(*status)) return false;
        if (WSTOPSIG(*status) != (SIGTRAP | 0x80)) continue;
        if (ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof *info, info) > 0) return true;
    }
}

}  // namespace

void begin_counting() { syscall(kBegin); }
void end_counting() { syscall(kEnd); }

size_t Calls::sum(const std::map<long, size_t>& counts, std::initializer_list<long> numbers) {
    size_t result = 0;
    for (const long number : numbers) {
        const auto found = counts.find(number);
        if (found != counts.end()) result += found->second;
    }
    return result;
}

size_t Calls::all() const {
    size_t sum = 0;
    for (const auto& [number, count] : by_number) sum += count;
    return sum;
}

Calls count_calls(const std::function<void()>& run) {
    Calls calls;
    const pid_t child = fork();
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)) _exit(0);
        raise(SIGSTOP);
        run();
        _exit(0);
    }
    if (child < 0 || waitpid(child, &calls.status, 0) != child || !WIFSTOPPED(calls.status)) return calls;
    calls.traced = ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) == 0;
    using Clock = std::chrono::steady_clock;
    bool counting = false;
    auto began = Clock::now();
    long number = -1;
    struct __ptrace_syscall_info info {};
    while (next_stop(child, &calls.status, &info)) {
        if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
            if (counting && number >= 0 && info.exit.rval > 0) ++calls.fruitful[number];
            number = -1;
            continue;
        }
        number = static_cast<long>(info.entry.nr);
        if (number == kBegin || number == kEnd) {
            counting = number == kBegin;
            if (counting)
                began = Clock::now();
            else
                calls.seconds += std::chrono::duration<double>(Clock::now() - began).count();
            number = -1;
        } else if (counting) {
            ++calls.by_number[number];
        }
    }
    return calls;
}

}  // namespace selvage::impl::test
