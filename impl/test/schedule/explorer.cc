// See explorer.h.
#include "impl/test/schedule/explorer.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <memory>
#include <thread>

#include "impl/test/crowd/random.h"
#include "impl/test/next_symbol.h"
#include "impl/test/schedule/points.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kNobody = SIZE_MAX;
constexpr unsigned kSpins = 3;                      // loads of the same value after which a thread is taken to wait
constexpr int64_t kTick = 20'000;                   // nanoseconds that pass with each look at the clock
constexpr int64_t kTimePassed = 1'000'000'000'000;  // that pass when nobody can do anything: longer than any timeout

struct Choice {
    uint32_t taken;
    uint32_t alternatives;
};

// A thread of the scenario. Only the one that runs, and the explorer between runs, touch any of it.
struct Runner {
    enum class State { Ready, Blocked, Timed, Ended };  // blocked: on a futex, for ever or for a time
    State state = State::Ready;
    const uint32_t* futex = nullptr;
    bool timed_out = false;
    const volatile void* seen = nullptr;  // the address of the last load, when nothing came between
    uint64_t value = 0;
    unsigned times = 0;  // it was loaded, and was the same
    uint64_t left = 0;   // when it last gave its turn away
    sem_t turn;
};

class Explorer {
public:
    Explorer(const Bounds& bounds) : bounds_(bounds), random_(bounds.seed) {}

    Explored run(const std::function<std::unique_ptr<Scenario>()>& make);

    void point(Access access, const volatile void* address);
    // The thread cannot go on by itself: another one has to, if there is any.
    void step_aside();
    int wait_on_futex(const uint32_t* word, uint32_t expected, bool timed);
    int wake_futex(const uint32_t* word);
    int64_t look_at_clock() { return clock_ += kTick; }

private:
    void run_once(Scenario& scenario);
    void body(Scenario& scenario, size_t index);
    void switch_to(size_t next, size_t self);
    uint32_t decide(uint32_t alternatives);
    bool next_schedule();
    size_t ready_after(size_t self, uint32_t skip) const;
    size_t next_in_turn(size_t self) const;
    uint32_t ready_besides(size_t self) const;
    void let_time_pass();
    void fail(const char* what);

    const Bounds& bounds_;
    Random random_;
    std::vector<Choice> choices_;  // of this schedule, and to be repeated by the next
    size_t at_ = 0;
    unsigned preemptions_ = 0;
    uint64_t points_ = 0;
    uint64_t turns_ = 0;
    int64_t clock_ = 0;
    std::vector<std::unique_ptr<Runner>> runners_;
    sem_t over_;
    std::string failure_;
    bool abandoned_ = false;  // every thread is let run as it likes, to its end
};

Explorer* explorer = nullptr;
thread_local size_t self_index = kNobody;

bool is_ours() { return explorer && self_index != kNobody; }

void observe(Access access, const volatile void* address) {
    if (is_ours()) explorer->point(access, address);
}

uint64_t word_at(const volatile void* address) {
    // Loads are of one to eight bytes; what is compared is the aligned word around them.
    return *reinterpret_cast<const volatile uint64_t*>(reinterpret_cast<uintptr_t>(address) & ~uintptr_t{7});
}

// Where it never ends, or nobody can go on, the scenario's threads are stuck for good: there is no way to unwind them.
void Explorer::fail(const char* what) {
    if (!failure_.empty()) return;
    failure_ = what;
    abandoned_ = true;
    sem_post(&over_);
    for (;;) pause();
}

uint32_t Explorer::ready_besides(size_t self) const {
    uint32_t count = 0;
    for (size_t i = 0; i < runners_.size(); ++i) {
        if (i != self && runners_[i]->state == Runner::State::Ready) ++count;
    }
    return count;
}

// The ready thread behind `self` in a circle, after skipping some.
size_t Explorer::ready_after(size_t self, uint32_t skip) const {
    for (size_t step = 1; step <= runners_.size(); ++step) {
        const size_t i = (self + step) % runners_.size();
        if (i == self || runners_[i]->state != Runner::State::Ready) continue;
        if (!skip--) return i;
    }
    return kNobody;
}

// Fair, so that a thread that waits for another does not keep it waiting: who has waited longest.
size_t Explorer::next_in_turn(size_t self) const {
    size_t next = kNobody;
    for (size_t i = 0; i < runners_.size(); ++i) {
        if (i == self || runners_[i]->state != Runner::State::Ready) continue;
        if (next == kNobody || runners_[i]->left < runners_[next]->left) next = i;
    }
    return next;
}

uint32_t Explorer::decide(uint32_t alternatives) {
    if (alternatives <= 1) return 0;
    if (bounds_.random) return static_cast<uint32_t>(random_.below(alternatives));
    if (at_ == choices_.size()) choices_.push_back({.taken = 0, .alternatives = alternatives});
    return choices_[at_++].taken;
}

void Explorer::switch_to(size_t next, size_t self) {
    if (self != kNobody) runners_[self]->left = ++turns_;
    sem_post(&runners_[next]->turn);
    if (self == kNobody || runners_[self]->state == Runner::State::Ended) return;
    while (sem_wait(&runners_[self]->turn) && errno == EINTR) {
    }
}

void Explorer::point(Access access, const volatile void* address) {
    Runner& runner = *runners_[self_index];
    if (++points_ > bounds_.points) fail("it never ends");
    const bool same = access == Access::Load && runner.seen == address && runner.value == word_at(address);
    runner.times = same ? runner.times + 1 : 0;
    runner.seen = access == Access::Load ? address : nullptr;
    if (runner.seen) runner.value = word_at(address);
    if (runner.times >= kSpins) return step_aside();
    const uint32_t others = ready_besides(self_index);
    if (!others || (!bounds_.random && preemptions_ >= bounds_.preemptions)) return;
    // Random schedules mostly go on: what happens at once elsewhere is seldom far away.
    if (bounds_.random && random_.below(4)) return;
    const uint32_t taken = decide(others + 1);
    if (!taken) return;
    ++preemptions_;
    switch_to(ready_after(self_index, taken - 1), self_index);
}

// Nobody can do anything: who sleeps for a time wakes.
void Explorer::let_time_pass() {
    clock_ += kTimePassed;
    for (auto& runner : runners_) {
        if (runner->state != Runner::State::Timed) continue;
        runner->timed_out = true;
        runner->state = Runner::State::Ready;
    }
}

void Explorer::step_aside() {
    const uint32_t others = ready_besides(self_index);
    if (!others) {
        let_time_pass();
        if (!ready_besides(self_index)) {
            if (runners_[self_index]->state != Runner::State::Ready) fail("nobody can go on");
            return;
        }
    }
    switch_to(next_in_turn(self_index), self_index);
}

int Explorer::wait_on_futex(const uint32_t* word, uint32_t expected, bool timed) {
    Runner& runner = *runners_[self_index];
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != expected) return EAGAIN;
    runner.state = timed ? Runner::State::Timed : Runner::State::Blocked;
    runner.futex = word;
    runner.timed_out = false;
    runner.seen = nullptr;
    step_aside();
    if (runner.state != Runner::State::Ready) {  // nobody was ready but by time, and that was this one
        runner.state = Runner::State::Ready;
    }
    return runner.timed_out ? ETIMEDOUT : 0;
}

int Explorer::wake_futex(const uint32_t* word) {
    int woken = 0;
    for (auto& runner : runners_) {
        const bool sleeps = runner->state == Runner::State::Blocked || runner->state == Runner::State::Timed;
        if (!sleeps || runner->futex != word) continue;
        runner->state = Runner::State::Ready;
        ++woken;
    }
    return woken;
}

void Explorer::body(Scenario& scenario, size_t index) {
    self_index = index;
    while (sem_wait(&runners_[index]->turn) && errno == EINTR) {
    }
    scenario.run(index);
    runners_[index]->state = Runner::State::Ended;
    self_index = kNobody;
    if (next_in_turn(index) == kNobody) let_time_pass();
    const size_t next = next_in_turn(index);
    if (next != kNobody) return switch_to(next, kNobody);
    for (auto& runner : runners_) abandoned_ = abandoned_ || runner->state != Runner::State::Ended;
    if (abandoned_) failure_ = "who sleeps is not woken";
    sem_post(&over_);
}

void Explorer::run_once(Scenario& scenario) {
    at_ = 0;
    preemptions_ = 0;
    points_ = turns_ = 0;
    clock_ = kTimePassed;
    runners_.clear();
    sem_init(&over_, 0, 0);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < scenario.threads(); ++i) {
        runners_.push_back(std::make_unique<Runner>());
        sem_init(&runners_.back()->turn, 0, 0);
    }
    for (size_t i = 0; i < scenario.threads(); ++i) threads.emplace_back([this, &scenario, i] { body(scenario, i); });
    const uint32_t first = decide(static_cast<uint32_t>(runners_.size()));
    sem_post(&runners_[first]->turn);
    while (sem_wait(&over_) && errno == EINTR) {
    }
    for (std::thread& thread : threads) abandoned_ ? thread.detach() : thread.join();
    if (failure_.empty()) failure_ = scenario.verdict();
}

// False: all have been tried.
bool Explorer::next_schedule() {
    while (!choices_.empty() && choices_.back().taken + 1 == choices_.back().alternatives) choices_.pop_back();
    if (choices_.empty()) return false;
    ++choices_.back().taken;
    return true;
}

Explored Explorer::run(const std::function<std::unique_ptr<Scenario>()>& make) {
    Explored result;
    explorer = this;
    set_observer(observe);
    const uint64_t most = bounds_.random ? bounds_.random : bounds_.schedules;
    for (bool more = true; more && result.schedules < most;) {
        std::unique_ptr<Scenario> scenario = make();
        run_once(*scenario);
        ++result.schedules;
        result.points = std::max(result.points, points_);
        if (!failure_.empty()) {
            if (abandoned_) {  // its threads are in it for good
                static_cast<void>(scenario.release());
                for (auto& runner : runners_) static_cast<void>(runner.release());
            }
            result.failure = failure_;
            for (const Choice& choice : choices_) result.choices.push_back(choice.taken);
            break;
        }
        choices_.resize(std::min(choices_.size(), at_));
        more = bounds_.random || next_schedule();
        result.complete = !more;
    }
    set_observer(nullptr);
    explorer = nullptr;
    return result;
}

}  // namespace

Explored explore(const std::function<std::unique_ptr<Scenario>()>& make, const Bounds& bounds) {
    return Explorer(bounds).run(make);
}

}  // namespace selvage::impl::test

// What blocks or gives the processor up in the C library, in front of the library's calls.
using selvage::impl::test::explorer;
using selvage::impl::test::is_ours;

extern "C" {

int sched_yield() {
    if (!is_ours()) return static_cast<int>(SELVAGE_NEXT(syscall)(SYS_sched_yield));
    explorer->step_aside();
    return 0;
}

int nanosleep(const timespec* time, timespec* left) {
    if (!is_ours()) return SELVAGE_NEXT(nanosleep)(time, left);
    explorer->step_aside();
    return 0;
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
    if (!is_ours()) return static_cast<int>(SELVAGE_NEXT(syscall)(SYS_clock_gettime, clock, time));
    const int64_t now = explorer->look_at_clock();
    *time = {.tv_sec = now / 1'000'000'000, .tv_nsec = now % 1'000'000'000};
    return 0;
}

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
    if (!is_ours()) return SELVAGE_NEXT(pthread_mutex_lock)(mutex);
    for (;;) {
        explorer->point(selvage::impl::test::Access::Exchange, mutex);
        const int error = pthread_mutex_trylock(mutex);
        if (error != EBUSY) return error;
        explorer->step_aside();
    }
}

int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
    if (!is_ours()) return SELVAGE_NEXT(pthread_mutex_unlock)(mutex);
    explorer->point(selvage::impl::test::Access::Store, mutex);
    const int error = SELVAGE_NEXT(pthread_mutex_unlock)(mutex);
    explorer->point(selvage::impl::test::Access::Done, mutex);
    return error;
}

long syscall(long number, ...) noexcept {
    va_list arguments;
    va_start(arguments, number);
    long of[6];
    for (long& each : of) each = va_arg(arguments, long);
    va_end(arguments);
    auto& real = SELVAGE_NEXT(syscall);
    if (number != SYS_futex || !is_ours()) return real(number, of[0], of[1], of[2], of[3], of[4], of[5]);
    const auto* word = reinterpret_cast<const uint32_t*>(of[0]);
    const int command = static_cast<int>(of[1]) & FUTEX_CMD_MASK;
    if (command == FUTEX_WAKE) return explorer->wake_futex(word);
    if (command != FUTEX_WAIT) return real(number, of[0], of[1], of[2], of[3], of[4], of[5]);
    errno = explorer->wait_on_futex(word, static_cast<uint32_t>(of[2]), of[3] != 0);
    return errno ? -1 : 0;
}

}  // extern "C"
