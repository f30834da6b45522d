// Random delays at atomic accesses, for programs of several processes on a library that is compiled with points.h.
//
// SELVAGE_DELAYS=SEED[:PER_MILLE[:MICROSECONDS]] in the environment switches them on: at so many of a thousand accesses
// the thread gives its processor up, spins for a moment, or sleeps for as long at most. Each thread has random numbers
// of its own, made from the seed and its number, so that runs with one seed resemble each other, and no two are equal.
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "impl/test/crowd/random.h"
#include "impl/test/schedule/points.h"

namespace selvage::impl::test {
namespace {

unsigned long seed, per_mille = 5, microseconds = 200;

void spin(uint64_t loops) {
    for (uint64_t i = 0; i < loops; ++i) asm volatile("" : : : "memory");
}

void delay(Random& random) {
    switch (random.below(8)) {
        case 0: {
            const timespec nap{.tv_sec = 0, .tv_nsec = static_cast<long>(random.below(microseconds * 1000 + 1))};
            nanosleep(&nap, nullptr);
            break;
        }
        case 1:
        case 2:
            sched_yield();
            break;
        default:
            spin(random.below(2000));
    }
}

void maybe_delay(Access, const volatile void*) {
    thread_local Random random(seed ^ (static_cast<uint64_t>(syscall(SYS_gettid)) << 32));
    if (random.below(1000) < per_mille) delay(random);
}

[[gnu::constructor]] void read_environment() {
    const char* text = getenv("SELVAGE_DELAYS");
    if (!text || sscanf(text, "%lu:%lu:%lu", &seed, &per_mille, &microseconds) < 1) return;
    set_observer(maybe_delay);
}

}  // namespace
}  // namespace selvage::impl::test
