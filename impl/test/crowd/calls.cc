// See calls.h.
#include "impl/test/crowd/calls.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace selvage::impl::test {
namespace {

// Calls that the code under test does not make.
constexpr long kBegin = SYS_getpgrp;
constexpr long kEnd = SYS_getppid;

// Runs until the next entry into the kernel; its number, -1 for any other stop, -2 at the end.
long next_call(pid_t child, int* status) {
    const int pass_on =
        WIFSTOPPED(*status) && !(WSTOPSIG(*status) & 0x80) && WSTOPSIG(*status) != SIGSTOP ? WSTOPSIG(*status) : 0;
    if (ptrace(PTRACE_SYSCALL, child, 0, pass_on) || waitpid(child, status, 0) != child) return -2;
    if (!WIFSTOPPED(*status)) return -2;
    struct __ptrace_syscall_info info {};
    if (WSTOPSIG(*status) != (SIGTRAP | 0x80)) return -1;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) <= 0) return -1;
    return info.op == PTRACE_SYSCALL_INFO_ENTRY ? static_cast<long>(info.entry.nr) : -1;
}

}  // namespace

void begin_counting() { syscall(kBegin); }
void end_counting() { syscall(kEnd); }

size_t Calls::of(std::initializer_list<long> numbers) const {
    size_t sum = 0;
    for (const long number : numbers) {
        const auto found = by_number.find(number);
        if (found != by_number.end()) sum += found->second;
    }
    return sum;
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
    bool counting = false;
    for (long number; (number = next_call(child, &calls.status)) != -2;) {
        if (number == kBegin) {
            counting = true;
        } else if (number == kEnd) {
            counting = false;
        } else if (counting && number >= 0) {
            ++calls.by_number[number];
        }
    }
    return calls;
}

}  // namespace selvage::impl::test
