// See subject.h.
#include "conformance/bench/subject.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <random>

namespace selvage::conformance::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// Blocks are at least this long: a reading of the clock is nothing beside it.
constexpr std::chrono::microseconds kBlock{100};
/// The least that is sampled, however slow a call is.
constexpr std::size_t kFewest = 3;

/// How many calls fill a block.  Warms up on the way.
std::uint64_t calls_per_block(const Loop& loop) {
    for (std::uint64_t n = 1;; n *= 2) {
        const auto began = Clock::now();
        loop(n);
        if (Clock::now() - began >= kBlock) return n;
    }
}

}  // namespace

std::shared_ptr<const Library> open_for_measuring(const std::string& path) {
#ifndef SELVAGE_SANITIZED  // a sanitizer's run-time wants to stand first
    // Libraries are opened once: what comes after finds this one. If it fails, that says why.
    dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
#endif
    std::string error;
    std::shared_ptr<const Library> library = Library::open(path, error);
    if (!library) throw CannotMeasure(error);
    return library;
}

std::vector<double> sample(const Loop& loop, const Effort& effort) {
    const std::uint64_t n = calls_per_block(loop);
    std::vector<double> samples;
    const auto end = Clock::now() + effort.time;
    while (samples.size() < kFewest || Clock::now() < end) {
        const auto began = Clock::now();
        loop(n);
        const std::chrono::duration<double, std::nano> took = Clock::now() - began;
        samples.push_back(took.count() / static_cast<double>(n));
    }
    return samples;
}

void shift_addresses() {
    std::minstd_rand random(static_cast<unsigned>(getpid()));
    const auto below = [&](unsigned limit) { return std::uniform_int_distribution<unsigned>(0, limit - 1)(random); };
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): it stays, so that what comes later lies elsewhere
    static_cast<void>(!std::malloc(16UL * (1 + below(256))));
    static_cast<void>(!mmap(nullptr, 4096UL * (1 + below(256)), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

}  // namespace selvage::conformance::bench
