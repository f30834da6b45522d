// Faults in the data path: the n-th call of a class fails, for every n from 1 until a run in which it is not reached,
// while two endpoints are opened, transfer messages, memory and atomics, and are closed.
//
// What has to hold for each n:
//   1. The failure is absorbed, or surfaces as a negative error code or an error completion.
//   2. Nothing crashes, and every wait ends (a run that stands still for kStandstill is a hang).
//   3. What completed at the sender with FI_DELIVERY_COMPLETE was received, with the right bytes. Nothing is received
//      twice, no operation completes twice.
//   4. Afterwards a message passes in both directions between the same endpoints, or, where opening them failed or a
//      queue was overrun, between new ones.
//   5. After closing, as many blocks of memory, descriptors and mappings of regions are held as before.
//
// What is absorbed while an endpoint is opened is also looked at where it is the only one and closed at once.
//
// A worker process runs one n after the other, and says in shared memory where it is; its parent looks whether it moves
// and starts another behind the n that ended it.
//
//   impl_faults PROVIDER [--automatic] [--class NAME] [--error NUMBER] [--n N] [--burst K] [--cold] [--quick]
//               [--wide] [--verbose]
//
// --quick: calls that send and receive do not fail.
// --wide: many messages and accesses at once also while calls that send or receive fail, which takes minutes.
// --cold: each n in a process of its own that has not used the library before; memory is then not compared.
#include <dirent.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "impl/test/faults/each_call_run.h"

namespace selvage::impl::test {

Board* board;
Options options;

void at(const char* step) {
    snprintf(board->step, sizeof board->step, "%s", step);
    ++board->steps;
}

void note_violation(char* where, size_t size) {
    const ErrorChoice& choice = kChoices[board->choice];
    ++board->violations;
    snprintf(where, size, "%s, %s (%d), n = %ld, %s", options.provider.c_str(), choice.name, choice.error,
             board->n.load(), board->step);
}

bool fits(ssize_t result) {
    switch (-result) {
        case FI_ENOMEM:
        case FI_EMFILE:
        case FI_ENOSPC:
        case FI_ENOBUFS:
        case FI_EAGAIN:
        case FI_EINTR:
        case FI_EPERM:
        case FI_EIO:
        case FI_ECONNRESET:
        case FI_ECONNABORTED:
        case FI_ENOTCONN:
        case FI_EHOSTUNREACH:
        case FI_ETIMEDOUT:
            return true;
        default:
            return false;
    }
}

namespace {

constexpr auto kStandstill = milliseconds(20000);  // of a worker
constexpr long kMostCalls = 20'000;

long open_descriptors() {
    long count = 0;
    DIR* folder = opendir("/proc/self/fd");
    while (folder && readdir(folder)) ++count;
    if (folder) closedir(folder);
    return count;
}
long mapped_regions() {
    long count = 0;
    FILE* maps = fopen("/proc/self/maps", "r");
    char line[512];
    while (maps && fgets(line, sizeof line, maps)) count += strstr(line, "selvage-shm") != nullptr;
    if (maps) fclose(maps);
    return count;
}
struct Held {
    long blocks, descriptors, regions;
};
Held held() { return {live_blocks(), open_descriptors(), mapped_regions()}; }

bool run_once(const Fault* fault) {
    static char storage[sizeof(Run)] alignas(Run);
    auto* run = new (storage) Run;
    const bool reached = run->execute(fault);
    run->~Run();
    return reached;
}

void compare(const Held& before) {
    Held after = held();
    // Threads of the library may still be ending.
    const auto more = [&] {
        return after.blocks > before.blocks || after.descriptors > before.descriptors || after.regions > before.regions;
    };
    for (int i = 0; i < 200 && more(); ++i, after = held()) usleep(1000);
    if (!more()) return;
    violated("%ld blocks, %ld descriptors and %ld mappings are not given back", after.blocks - before.blocks,
             after.descriptors - before.descriptors, after.regions - before.regions);
}

// From board->choice and board->n on, to the end of the choice.
void work(long last) {
    at("warm-up");
    const ErrorChoice& choice = kChoices[board->choice];
    if (!options.cold) {
        for (int i = 0; i < 3; ++i) {
            const auto begin = Clock::now();
            run_once(nullptr);
            if (Clock::now() - begin > milliseconds(5000)) violated("a run without a fault takes seconds");
        }
    }
    for (; board->n <= last; ++board->n) {
        const Held before = held();
        const Fault fault{.calls = choice.calls, .error = choice.error, .n = board->n, .burst = options.burst};
        const auto begin = Clock::now();
        const bool reached = run_once(&fault);
        if (options.verbose && Clock::now() - begin > milliseconds(1500)) {
            const std::chrono::duration<double> took = Clock::now() - begin;
            printf("%s, n = %ld%s: %.1f s\n", choice.name, board->n.load(), board->idle ? ", idle" : "", took.count());
        }
        ++board->executions[board->choice];
        board->reached[board->choice] += reached;
        if (!options.cold) compare(before);
        if (!reached) {
            board->over = true;
            break;
        }
        if (options.cold) {
            ++board->n;
            break;
        }
    }
    board->finished = true;
}

// False: the worker crashed or stood still at board->n.
bool supervise(long last) {
    board->finished = false;
    board->over = false;
    fflush(stdout);
    const pid_t worker = fork();
    if (worker == 0) {
        work(last);
        fflush(stdout);
        _exit(0);
    }
    long steps = board->steps;
    auto moved = Clock::now();
    for (;;) {
        int status = 0;
        if (waitpid(worker, &status, WNOHANG) == worker) {
            if (board->finished && WIFEXITED(status) && !WEXITSTATUS(status)) return true;
            violated("the process ended with status %x", static_cast<unsigned>(status));
            return false;
        }
        usleep(2000);
        if (board->steps != steps) {
            steps = board->steps;
            moved = Clock::now();
        } else if (Clock::now() - moved > kStandstill) {
            violated("the process hangs");
            kill(worker, SIGABRT);
            waitpid(worker, &status, 0);
            return false;
        }
    }
}

}  // namespace
}  // namespace selvage::impl::test

int main(int argc, char** argv) {
    using namespace selvage::impl::test;
    std::string only;
    int only_error = 0;
    long only_n = 0;
    if (argc < 2) return 2;
    options.provider = argv[1];
    for (int i = 2; i < argc; ++i) {
        const std::string word = argv[i];
        const auto value = [&] { return i + 1 < argc ? argv[++i] : "0"; };
        if (word == "--automatic")
            options.automatic = true;
        else if (word == "--cold")
            options.cold = true;
        else if (word == "--quick")
            options.quick = true;
        else if (word == "--wide")
            options.wide = true;
        else if (word == "--verbose")
            options.verbose = true;
        else if (word == "--class")
            only = value();
        else if (word == "--error")
            only_error = atoi(value());
        else if (word == "--n")
            only_n = atol(value());
        else if (word == "--burst")
            options.burst = atol(value());
        else
            return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    static char output[BUFSIZ];  // or else it counts as a block that the library keeps
    setvbuf(stdout, output, _IOLBF, sizeof output);
    void* memory = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 2;
    board = new (memory) Board{};
    const auto start = Clock::now();
    long executions = 0;
    for (int i = 0; i < kChoiceCount; ++i) {
        if (kChoices[i].wide && !options.wide) continue;
        const bool moves = kChoices[i].calls == CallClass::Send || kChoices[i].calls == CallClass::Receive;
        if (moves && options.quick) continue;
        if (!only.empty() && only != kChoices[i].name) continue;
        if (only_error && only_error != kChoices[i].error) continue;
        board->choice = i;
        const auto begin = Clock::now();
        const long last = only_n ? only_n : kMostCalls;
        for (const bool idle : {true, false}) {
            board->idle = idle;
            board->n = only_n ? only_n : 1;
            do {
                if (!supervise(last)) ++board->n;  // behind the one that ended the worker
            } while (!board->over && board->n <= last);
        }
        const std::chrono::duration<double> took = Clock::now() - begin;
        executions += board->executions[i];
        printf("%-14s %-10s %4d: %5ld of n reached, %6.2f s\n", options.provider.c_str(), kChoices[i].name,
               kChoices[i].error, board->reached[i], took.count());
        fflush(stdout);
    }
    const std::chrono::duration<double> took = Clock::now() - start;
    printf(
        "%s%s: %ld runs in %.1f s; %ld could not open, %ld calls refused, %ld error completions, %ld messages lost "
        "with a connection, %ld with new endpoints; %ld violations\n",
        options.provider.c_str(), options.automatic ? ", automatic" : "", executions, took.count(), board->failed_opens,
        board->refused, board->errors, board->lost, board->renewed, board->violations);
    return board->violations ? 1 : 0;
}
