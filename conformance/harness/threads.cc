// See threads.h.
#include "conformance/harness/threads.h"

#include <atomic>
#include <latch>
#include <thread>

namespace selvage::conformance {
namespace {

/// One thread's work: `rounds` passes over the queries from `start`.
/// @return a query answered differently in two rounds, or -1.
int pass(const Caller& caller, std::size_t start, unsigned rounds, std::vector<model::Answer>& answers) {
    const std::size_t n = caller.prepared();
    model::Answer again;
    int unsteady = -1;
    for (unsigned r = 0; r < rounds; ++r) {
        for (std::size_t k = 0; k < n; ++k) {
            const std::size_t i = (start + k) % n;
            if (r == 0) {
                caller.issue_at_once(i, answers[i]);
                continue;
            }
            caller.issue_at_once(i, again);
            if (again == answers[i]) continue;
            unsteady = static_cast<int>(i);
            std::swap(answers[i], again);
        }
    }
    return unsteady;
}

}  // namespace

IssuedAtOnce issue_in_threads(Caller& caller, unsigned threads, unsigned rounds) {
    const std::size_t n = caller.prepared();
    IssuedAtOnce all;
    all.answers.assign(threads, std::vector<model::Answer>(n));
    std::atomic<int> unsteady{-1};
    std::latch together(threads);
    {
        std::vector<std::jthread> running;
        for (unsigned t = 0; t < threads; ++t)
            running.emplace_back([&, t] {
                together.arrive_and_wait();
                // Neighbours start one query apart, the first two at the same one.
                const int seen = pass(caller, t == 0 ? 0 : t - 1, rounds, all.answers[t]);
                if (seen >= 0) unsteady = seen;
            });
    }
    all.unsteady = unsteady;
    Issued written;
    all.hints_written = caller.hints_were_written(written);
    all.written_field = written.written_field;
    return all;
}

}  // namespace selvage::conformance
