// A program to be counted by callgrind: small tagged messages, and small writes, over shared memory with
// FI_THREAD_DOMAIN. What is counted is named by the functions that it happens in (instructions_test.sh).
#include "impl/test/crowd/group_of_two.h"
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

extern "C" [[gnu::noinline]] void measured_longer_sends(Pair& pair, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        pair.send_longer();
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

// Messages that wait for a counter, which is moved when they are posted.
class Triggering : public Pair {
public:
    Triggering() : Pair("shm", FI_TAGGED | FI_TRIGGER) {
        SELVAGE_MUST(fi_cntr_open(sender.domain(), nullptr, &trigger_, nullptr));
        for (fi_triggered_context& context : contexts_) context.event_type = FI_TRIGGER_THRESHOLD;
    }
    ~Triggering() { fi_close(&trigger_->fid); }
    Triggering(const Triggering&) = delete;
    Triggering& operator=(const Triggering&) = delete;

    // REQUIRES: count <= kWindow
    void send_together(size_t count) {
        ++value_;
        for (size_t i = 0; i < count; ++i) {
            contexts_[i].trigger.threshold = {trigger_, value_};
            send_later(contexts_[i]);
        }
        SELVAGE_MUST(fi_cntr_add(trigger_, 1));
        await(sender, count);
    }

private:
    fid_cntr* trigger_ = nullptr;
    uint64_t value_ = 0;
    fi_triggered_context contexts_[kWindow] = {};
};

// One started by each change of the counter; and all by one.
extern "C" [[gnu::noinline]] void measured_triggers(Triggering& pair, size_t count) {
    for (size_t i = 0; i < count; ++i) pair.send_together(1);
}
extern "C" [[gnu::noinline]] void measured_windows(Triggering& pair, size_t count) { pair.send_together(count); }

// Two endpoints of which one writes to the other's memory.
class Writing {
public:
    Writing()
        : writer({.provider = "shm", .caps = kCaps, .service = {}}),
          target({.provider = "shm", .caps = kCaps, .service = {}, .memory = 4096}),
          to_(writer.insert(target.name())) {
        ssize_t result;
        while ((result = post()) == -FI_EAGAIN) serve();
        SELVAGE_MUST(result);
        while (!reap()) serve();
    }
    ssize_t post() { return fi_write(writer.ep, &out_, sizeof out_, nullptr, to_, target.base, target.key, &out_); }
    bool reap() { return read(writer); }
    // What has arrived, at most a batch of it.
    void serve() { read(target); }

    Station writer;
    Station target;

private:
    static constexpr uint64_t kCaps = FI_MSG | FI_RMA;
    static bool read(Station& station) {
        fi_cq_tagged_entry entry;
        const ssize_t count = fi_cq_read(station.cq, &entry, 1);
        if (count == -FI_EAGAIN) return false;
        SELVAGE_MUST(count);
        return true;
    }
    fi_addr_t to_;
    uint64_t out_ = 4711;
};

extern "C" [[gnu::noinline]] void measured_writes(Writing& pair, size_t count) {
    for (size_t i = 0; i < count; ++i) SELVAGE_MUST(pair.post());
}

// At the target.
extern "C" [[gnu::noinline]] void measured_service(Writing& pair, size_t batches) {
    for (size_t i = 0; i < batches; ++i) pair.serve();
}

// The answers and the reading of their completions.
extern "C" [[gnu::noinline]] void measured_ends(Writing& pair, size_t count) {
    for (size_t seen = 0; seen < count;) seen += pair.reap() ? 1 : 0;
}

// The root's broadcasts; and a member's, of which the messages are here before its calls.
extern "C" [[gnu::noinline]] void measured_broadcasts(GroupOfTwo& group, size_t count) {
    for (size_t i = 0; i < count; ++i) group.broadcast(0);
}
extern "C" [[gnu::noinline]] void measured_broadcasts_received(GroupOfTwo& group, size_t count) {
    for (size_t i = 0; i < count; ++i) group.broadcast(1);
}
// A member that calls before the other, which has called before it: the last step of both is an arrival.
extern "C" [[gnu::noinline]] void measured_reductions(GroupOfTwo& group, size_t count) {
    for (size_t i = 0; i < count; ++i) group.allreduce();
}

}  // namespace selvage::impl::test

int main() {
    using namespace selvage::impl::test;
    Pair pair("shm");
    // Until each has sent to the other: a receiver tells its sender now and then what it may send (window.h).
    constexpr size_t kBefore = 3000;
    for (size_t i = 0; i < kBefore; ++i) pair.exchange();
    for (size_t i = 0; i < kRounds; ++i) {
        measured_posts(pair, kWindow);
        measured_sends(pair, kWindow);
        measured_arrivals(pair, kWindow);
    }
    // Apart: behind a longer message a short one has a word of the ring to clear.
    Pair longer("shm");
    for (size_t i = 0; i < kBefore; ++i) longer.exchange();
    for (size_t i = 0; i < kRounds; ++i) {
        for (size_t posted = 0; posted < kWindow; ++posted) longer.post();
        measured_longer_sends(longer, kWindow);
        Pair::await(longer.receiver, kWindow);
    }
    constexpr size_t kBatches = 2;  // that hold a window
    Writing writing;
    for (size_t i = 0; i < kRounds; ++i) {
        measured_writes(writing, kWindow);
        measured_service(writing, kBatches);
        measured_ends(writing, kWindow);
    }
    Triggering triggering;
    for (size_t i = 0; i < kBefore; ++i) triggering.exchange();
    const auto receive_of = [&](void (*measured)(Triggering&, size_t)) {
        for (size_t i = 0; i < kWindow; ++i) triggering.post();
        measured(triggering, kWindow);
        Pair::await(triggering.receiver, kWindow);
    };
    for (size_t i = 0; i < kRounds; ++i) {
        receive_of(measured_triggers);
        receive_of(measured_windows);
    }
    GroupOfTwo group;
    for (size_t i = 0; i < kRounds; ++i) {
        measured_broadcasts(group, kWindow);
        measured_broadcasts_received(group, kWindow);
        measured_reductions(group, kWindow);
    }
    return 0;
}
