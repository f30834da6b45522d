// Collectives without memory: the n-th allocation fails, for every n from 1 until a run in which it is not reached,
// while three endpoints of this process join a group, carry out operations, and leave it.
//
// What has to hold for each n:
//   1. A call returns 0 or an error; what was called ends at every member, with the right values where it ends well.
//      (A member that stands still is a hang.)
//   2. Where something failed, the next operation ends with an error at every member.
//   3. Afterwards the same endpoints join and use another group, unless a queue was overrun.
//   4. After closing, as many blocks of memory are held as before.
//
// That it can fail was shown with errors that were put into collective/ and engine/receiver_*.cc, one at a time.
// Nothing else notices: scratch memory, a kept message or the record of the last operation that is not freed; a record
// that is lost when its scratch memory fails; a copy that failed and is taken for one; a sequence number, or a join,
// that counts though the call was refused. Others notice as well: the errno of a step that is ignored, a receive with
// the tag of another member, an abort that is never sent, a lost member that is not noted. CollectiveRandom alone
// notices a repeated call with another reduction, units of short messages that are not given back, and a round whose
// local steps are left out. Six more of these 33 have tests of their own (CollectiveEnd, ShortCollectives, Schedule).
//
//   impl_faults_collective PROVIDER [--n N] [--burst K]
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "impl/test/crowd/station.h"
#include "impl/test/faults/failing_calls.h"
#include "impl/test/faults/violation.h"

namespace selvage::impl::test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMembers = 3;
constexpr auto kPatience = std::chrono::seconds(8);  // of one wait
constexpr unsigned kStandstill = 60;                 // seconds of a run
constexpr size_t kValuesMost = 40'000;
constexpr size_t kAhead = 5;  // operations that a root calls before the others do
constexpr int kAttempts = 20;

struct Options {
    std::string provider = "shm";
    long n = 0, burst = 1;
} options;
long current = 0, violations = 0, refused = 0, failed = 0;
const char* step = "";

uint64_t out[kMembers][kMembers * kValuesMost], in[kMembers][kMembers * kValuesMost];

struct Member {
    explicit Member(size_t number) : self(number) {}

    // A call that an allocation may have failed is made again. 0 or an error.
    template <typename Call>
    int insist(Call call) {
        int result = 0;
        for (long i = 0; i < options.burst + 2; ++i) {
            if (!(result = call())) return 0;
            ++refused;
        }
        return result;
    }
    int join() {
        fi_av_set_attr attr{};
        attr.start_addr = attr.end_addr = FI_ADDR_NOTAVAIL;
        fi_addr_t address = FI_ADDR_NOTAVAIL;
        int error = insist([&] { return fi_av_set(station.av, &attr, &set, nullptr); });
        for (const fi_addr_t member : members) {
            if (!error) error = insist([&] { return fi_av_set_insert(set, member); });
        }
        if (!error) error = fi_av_set_addr(set, &address);
        if (!error) error = insist([&] { return fi_join_collective(station.ep, address, set, 0, &mc, nullptr); });
        outcome = 0;
        return error;
    }
    void leave() {
        if (mc && fi_close(&mc->fid)) violated("member %zu cannot leave", self);
        if (set && fi_close(&set->fid)) violated("member %zu: a set", self);
        mc = nullptr;
        set = nullptr;
    }
    void poll_join() {
        fi_eq_entry entry;
        fi_eq_err_entry error{};
        uint32_t event;
        const ssize_t read = fi_eq_read(station.eq, &event, &entry, sizeof entry, 0);
        if (read > 0) outcome = 1;
        if (read == -FI_EAVAIL && fi_eq_readerr(station.eq, &error, 0) > 0) outcome = -error.err;
    }
    void poll() {
        fi_cq_tagged_entry entry;
        const ssize_t read = fi_cq_read(station.cq, &entry, 1);
        if (read == 1) --pending;
        if (read != -FI_EAVAIL) return;
        fi_cq_err_entry error{};
        if (fi_cq_readerr(station.cq, &error, 0) != 1) return violated("member %zu: an error that is not there", self);
        if (error.err == FI_EOVERRUN) {
            overrun = true;
            return;
        }
        --pending;
        ++failed;
        broken = error.err;
    }

    const size_t self;
    Station station{{.provider = options.provider, .caps = FI_MSG | FI_COLLECTIVE, .service = {}}};
    std::vector<fi_addr_t> members;
    fid_av_set* set = nullptr;
    fid_mc* mc = nullptr;
    int outcome = 0;  // of the join: 1 or the negative of an error
    int broken = 0;   // the errno of the last operation that failed
    int pending = 0;
    bool overrun = false;  // of the queue, from which nothing is read then
};

class Run {
public:
    Run() {
        for (size_t n = 0; n < kMembers; ++n) members_.push_back(std::make_unique<Member>(n));
        for (auto& member : members_) {
            for (auto& other : members_) member->members.push_back(member->station.insert(other->station.name()));
        }
    }
    ~Run() {
        for (auto& member : members_) member->station.close_endpoint();
    }
    // False when the fault was not reached.
    bool execute(const Fault& fault) {
        inject(fault);
        step = "join";
        if (!join_all() || !operate()) check_failed();
        step = "leave";
        if (is_overrun()) leave_overrun();
        for (auto& member : members_) member->leave();
        const bool reached = injected();
        clear();
        step = "after the fault";
        if (!is_overrun()) check_alive();
        return reached;
    }

private:
    template <typename Done>
    bool wait(Done done) {
        const auto end = Clock::now() + kPatience;
        while (!done() && !is_overrun()) {
            for (auto& member : members_) member->poll();
            if (Clock::now() > end) return false;
        }
        return true;
    }
    bool is_overrun() const {
        return std::any_of(members_.begin(), members_.end(), [](auto& m) { return m->overrun; });
    }
    // What is under way is nobody's concern, but ends.
    void leave_overrun() {
        const auto end = Clock::now() + kPatience;
        for (auto& member : members_) {
            while (member->mc && fi_close(&member->mc->fid) == -FI_EBUSY && Clock::now() < end) {
                for (auto& each : members_) each->poll();
            }
            if (Clock::now() < end) member->mc = nullptr;
        }
    }

    bool join_all() {
        bool good = true;
        for (auto& member : members_) {
            if (const int error = member->join()) {
                violated("member %zu: a join that is tried again: %s", member->self, fi_strerror(-error));
                good = false;
            }
        }
        const bool ended = wait([&] {
            bool all = true;
            for (auto& member : members_) {
                if (!member->outcome) member->poll_join();
                all &= member->outcome || !member->mc;
            }
            return all;
        });
        for (auto& member : members_) {
            if (!ended && !member->outcome) violated("the join of member %zu hangs", member->self);
            good &= member->outcome == 1;
        }
        return good;
    }

    // Called by one member. False: the group has failed.
    template <typename Call>
    bool post(Member& member, Call call) {
        int result = 0;
        for (long i = 0; i < options.burst + 2; ++i) {
            result = -FI_EAGAIN;
            const bool ended = wait([&] { return (result = static_cast<int>(call(member))) != -FI_EAGAIN; });
            if (!ended) violated("member %zu finds no room", member.self);
            if (!result) return ++member.pending, true;
            ++refused;
        }
        member.broken = -result;
        return false;
    }
    // By all, the one with this number first. False: it has failed.
    template <typename Call>
    bool carry_out(const char* name, size_t first, size_t ahead, Call call) {
        step = name;
        bool good = true;
        for (size_t i = 0; i < kMembers; ++i) {
            Member& member = *members_[(first + i) % kMembers];
            for (size_t k = 0; k < ahead; ++k) good = good && post(member, call);
            for (int turn = 0; turn < 20 && (first + i) % 2; ++turn) {
                for (auto& each : members_) each->poll();
            }
        }
        return await() && good;
    }
    bool await() {
        const bool ended = wait([&] {
            return std::all_of(members_.begin(), members_.end(), [](auto& m) { return m->pending <= 0 || m->broken; });
        });
        bool good = true;
        for (auto& member : members_) {
            if (!ended && !member->broken && !is_any_broken()) violated("member %zu hangs", member->self);
            good &= !member->broken && !member->pending;
        }
        return good;
    }
    bool is_any_broken() const {
        return std::any_of(members_.begin(), members_.end(), [](auto& m) { return m->broken; });
    }

    void fill(size_t count) {
        for (size_t n = 0; n < kMembers; ++n) {
            for (size_t i = 0; i < kMembers * count; ++i) out[n][i] = 100 * (n + 1) + i % 97, in[n][i] = 0;
        }
    }
    bool reduce(const char* name, size_t count, size_t first) {
        fill(count);
        const bool good = carry_out(name, first, 1, [&](Member& m) {
            return fi_allreduce(m.station.ep, out[m.self], count, nullptr, in[m.self], nullptr, fi_mc_addr(m.mc),
                                FI_UINT64, FI_SUM, 0, nullptr);
        });
        for (size_t n = 0; n < kMembers && good; ++n) {
            for (size_t i = 0; i < count; ++i) {
                if (in[n][i] == 600 + 3 * (i % 97)) continue;
                return violated("member %zu has another sum", n), false;
            }
        }
        return good;
    }
    bool broadcast(const char* name, size_t count, size_t root, size_t ahead, size_t first) {
        fill(count);
        const bool good = carry_out(name, first, ahead, [&](Member& m) {
            return fi_broadcast(m.station.ep, out[m.self], count, nullptr, fi_mc_addr(m.mc), m.members[root], FI_UINT64,
                                0, nullptr);
        });
        for (size_t n = 0; n < kMembers && good; ++n) {
            if (memcmp(out[n], out[root], count * sizeof(uint64_t)) == 0) continue;
            return violated("member %zu has other data", n), false;
        }
        return good;
    }
    bool operate() {
        const auto barrier = [](Member& m) { return fi_barrier(m.station.ep, fi_mc_addr(m.mc), nullptr); };
        const auto gather = [](Member& m) {
            return fi_gather(m.station.ep, out[m.self], 600, nullptr, in[m.self], nullptr, fi_mc_addr(m.mc),
                             m.members[1], FI_UINT64, 0, nullptr);
        };
        const auto alltoall = [](Member& m) {
            return fi_alltoall(m.station.ep, out[m.self], 300, nullptr, in[m.self], nullptr, fi_mc_addr(m.mc),
                               FI_UINT64, 0, nullptr);
        };
        return broadcast("a short broadcast", 1, 0, 1, 0) && reduce("a short allreduce", 1, 1) &&
               broadcast("short broadcasts ahead", 2, 1, kAhead, 1) &&
               broadcast("broadcasts ahead", 300, 0, kAhead, 0) && carry_out("barriers", 2, 2, barrier) &&
               reduce("an allreduce", 300, 2) && broadcast("a long broadcast", kValuesMost, 2, 2, 2) &&
               broadcast("a long broadcast, receivers first", kValuesMost, 2, 1, 0) &&
               carry_out("gather", 0, 2, gather) && carry_out("alltoall", 0, 1, alltoall) &&
               reduce("a long allreduce", kValuesMost, 0) && broadcast("a short broadcast again", 1, 0, 1, 1);
    }

    // The group has failed at one member at least, so it does at all, and nothing is under way any more.
    void check_failed() {
        step = "what comes after a failure";
        for (auto& member : members_) {
            member->broken = 0;
            if (!member->mc || member->outcome != 1) continue;
            ssize_t result = -FI_EAGAIN;
            wait([&] {
                return (result = fi_barrier(member->station.ep, fi_mc_addr(member->mc), nullptr)) != -FI_EAGAIN;
            });
            if (!result) ++member->pending;
        }
        const bool ended =
            wait([&] { return std::all_of(members_.begin(), members_.end(), [](auto& m) { return !m->pending; }); });
        for (auto& member : members_) {
            if (!ended && member->pending) violated("%d operations of member %zu hang", member->pending, member->self);
        }
    }

    void check_alive() {
        for (int attempt = 0; attempt < kAttempts; ++attempt) {
            for (auto& member : members_) member->broken = member->pending = 0;
            const bool good =
                join_all() && reduce("an allreduce of another group", 1, 0) && reduce("a long one", kValuesMost, 1);
            if (!good) check_failed();
            for (auto& member : members_) member->leave();
            if (good) return;
        }
        violated("no group of the same endpoints works any more");
    }

    std::vector<std::unique_ptr<Member>> members_;
};

bool execute(long n) {
    current = n;
    alarm(kStandstill);
    Run run;
    return run.execute({.calls = CallClass::Allocation, .error = ENOMEM, .n = n, .burst = options.burst});
}

// Returns whether the n-th allocation was reached.
bool look(long n) {
    const long before = live_blocks();
    const bool reached = execute(n);
    const long left = live_blocks() - before;
    if (left) violated("%ld blocks of memory are left", left);
    return reached;
}

void stands_still(int) {
    const char text[] = "it stands still\n";
    if (write(STDERR_FILENO, text, sizeof text - 1) < 0) _exit(2);
    _exit(1);
}

int main_of(int count, char** arguments) {
    options.provider = count > 1 ? arguments[1] : "shm";
    for (int i = 2; i + 1 < count; i += 2) {
        const std::string name = arguments[i];
        if (name == "--n") options.n = atol(arguments[i + 1]);
        if (name == "--burst") options.burst = atol(arguments[i + 1]);
    }
    signal(SIGALRM, stands_still);
    constexpr long kNever = 1'000'000'000;
    for (int i = 0; i < 2; ++i) execute(kNever);  // what the library makes once is there
    if (options.n) {
        look(options.n);
    } else {
        while (look(++options.n) && violations < 20) {
        }
    }
    printf("%s: %ld allocations failed, %ld calls were refused, %ld operations failed, %ld violations\n",
           options.provider.c_str(), options.n - 1, refused, failed, violations);
    return violations || options.n < 2;
}

}  // namespace

void note_violation(char* where, size_t size) {
    ++violations;
    snprintf(where, size, "%s, n = %ld, %s", options.provider.c_str(), current, step);
}

}  // namespace selvage::impl::test

int main(int count, char** arguments) { return selvage::impl::test::main_of(count, arguments); }
