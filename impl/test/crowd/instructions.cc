// A program to be counted by callgrind: small tagged messages over shared memory with FI_THREAD_DOMAIN. What is counted
// is named by the functions that it happens in (instructions_test.sh).
#include "impl/test/crowd/pair.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kRounds = 200;
constexpr size_t kWindow = 50;

}  // namespace

// The sends and the reading of their completions.
extern "C" [[gnu::noinline]] void measured_sends(Pair& pair, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        pair.send();
        Pair::await(pair.sender, 1);
    }
}

// The arrivals and the reading of their completions; the receives are posted.
extern "C" [[gnu::noinline]] void measured_arrivals(Pair& pair, size_t count) {
    for (size_t i = 0; i < count; ++i) Pair::await(pair.receiver, 1);
}

extern "C" [[gnu::noinline]] void measured_posts(Pair& pair, size_t count) {
    for (size_t i = 0; i < count; ++i) pair.post();
}

}  // namespace selvage::impl::test

int main() {
    using namespace selvage::impl::test;
    Pair pair("shm");
    for (size_t i = 0; i < kRounds; ++i) {
        measured_posts(pair, kWindow);
        measured_sends(pair, kWindow);
        measured_arrivals(pair, kWindow);
    }
    return 0;
}
