// Histories: what goes wrong only on a pair of endpoints that has carried something before; and what does at random.
#include <csignal>
#include <map>
#include <random>
#include <utility>

#include "conformance/mutants/transfers_history.h"

namespace selvage::mutants {
namespace {

// What the endpoints at hand have carried since they were opened.
struct Carried {
    std::map<const fid_ep*, unsigned> sent;         // messages
    std::map<const fid_cq*, unsigned> returned;     // entries of transmits
    std::map<const fid_cntr*, unsigned> looked_at;  // reads of a counter since the first atomic
    unsigned messages = 0, tags = 0, reads = 0, writes = 0;
    bool tagged = false, atomic = false, cancelled = false, failed = false;
    std::uint64_t data = 0;  // what went with the last message that had any
};
Carried& carried() {
    static Carried all;
    return all;
}

TrafficHooks forgetting() {
    TrafficHooks h;
    h.closed = [] { carried() = {}; };
    return h;
}

TrafficHooks posts(std::function<ssize_t(Post&)> post) {
    TrafficHooks h = forgetting();
    h.post = std::move(post);
    return h;
}

void add_messages(const Row& row) {
    row.add("history-eighth-lost", "loses the eighth message of an endpoint",
            {"cq.entry.comes", "msg.inject.whole", "tagged.inject.whole"}, posts([](Post& p) -> ssize_t {
                if (!is_send(p)) return go(p);
                unsigned& sent = carried().sent[p.ep];
                const ssize_t ret = sent == 7 ? 0 : go(p);
                sent += ret == 0 ? 1 : 0;
                return ret;
            }));
    row.add("history-read-spoils", "changes a byte of a message behind the third read of a pair",
            {"msg.send.whole", "tagged.send.whole", "msg.inject.whole", "tagged.inject.whole", "msg.vector.whole",
             "tagged.vector.whole"},
            posts([](Post& p) -> ssize_t {
                carried().reads += p.kind == Kind::Read ? 1 : 0;
                if (is_send(p) && carried().reads == 3) spoil(p);
                return go(p);
            }));
    row.add("history-fence-hangs", "does not return from what is fenced behind a tagged message",
            {"rma.call.comes-back", "atomic.call.comes-back", "msg.call.comes-back", "tagged.call.comes-back"},
            posts([](Post& p) -> ssize_t {
                if (p.kind == Kind::TaggedSend) carried().tagged = true;
                const volatile bool hangs = p.message && !is_recv(p) && (p.flags & FI_FENCE) != 0 && carried().tagged;
                while (hangs) continue;
                return go(p);
            }))
        .cases = kMoreCases;
}

void add_tags_and_data(const Row& row) {
    row.add("history-tag-drifts", "changes the tag of a message behind four that had tags", {"tagged.match.tag"},
            posts([](Post& p) -> ssize_t {
                if (p.kind == Kind::TaggedSend && ++carried().tags % 5 == 0) p.tag ^= 1;
                return go(p);
            }));
    row.add("history-data-stays", "sends the data of the message before instead of a message's own",
            {"cq.data.received"}, posts([](Post& p) -> ssize_t {
                if (is_send(p) && p.with_data) std::swap(p.data, carried().data);
                return go(p);
            }))
        .cases = kMoreCases;
}

void add_memory(const Row& row) {
    row.add("history-write-short", "writes a byte less behind five writes", {"rma.write.whole"},
            posts([](Post& p) -> ssize_t {
                if (p.kind == Kind::Write && ++carried().writes > 5) cut(p, 1);
                return go(p);
            }));
    row.add("history-sum-joins", "joins bits where it should add, once something was read",
            {"atomic.update.stored", "atomic.update.fetched"}, posts([](Post& p) -> ssize_t {
                carried().reads += p.kind == Kind::Read ? 1 : 0;
                if (is_atomic(p) && p.op == FI_SUM && carried().reads > 0) p.op = FI_BOR;
                return go(p);
            }))
        .cases = kMoreCases;
}

void add_behind_failures(const Row& row) {
    TrafficHooks h = posts([](Post& p) -> ssize_t {
        if (is_send(p) && p.length() > 0 && carried().cancelled) spoil(p);
        return go(p);
    });
    h.cancel = [](fid_ep* ep, void* context, ssize_t (*base)(fid_ep*, void*)) {
        carried().cancelled = true;
        return base(ep, context);
    };
    row.add("history-cancel-spoils", "changes a byte of each message behind a cancelled receive",
            {"msg.send.whole", "tagged.send.whole", "msg.inject.whole", "tagged.inject.whole", "msg.vector.whole",
             "tagged.vector.whole"},
            h)
        .cases = kMoreCases;
    h = forgetting();
    h.error = [](fid_cq*, fi_cq_err_entry*, ssize_t ret) {
        carried().failed = carried().failed || ret == 1;
        return ret;
    };
    h.read = [](Reading& r) {
        for (auto& entry : r.entries) {
            if (carried().failed && (entry.flags & FI_RECV) != 0) ++entry.len;
        }
    };
    row.add("history-error-lengthens", "tells a length that is too long of what is received behind an error",
            {"cq.len.received"}, h)
        .cases = kMoreCases;
}

// Memory is damaged, which shows when an endpoint is closed: of this pair, or of a later one.
void add_behind_denied(const Row& row) {
    TrafficHooks h = posts([](Post& p) -> ssize_t {
        const ssize_t ret = go(p);
        carried().atomic = carried().atomic || (is_atomic(p) && ret == 0);
        return ret;
    });
    h.valid = [](int, std::size_t*) { return -FI_EOPNOTSUPP; };
    h.closed = [] {
        if (carried().atomic) std::raise(SIGSEGV);
        carried() = {};
    };
    row.add("history-denied-atomic", "does atomics that it denies, and dies when the endpoint is closed",
            {"atomic.call.comes-back"}, h);
    static int closed = 0;
    h.closed = [] {
        if (carried().atomic && ++closed > 2) std::raise(SIGSEGV);
    };
    row.add("history-denied-late", "does atomics that it denies, and dies when a third endpoint is closed behind one",
            {"atomic.valid.unsupported"}, h);
}

}  // namespace

void add_history_rows(const Row& row) {
    add_messages(row);
    add_tags_and_data(row);
    add_memory(row);
    add_behind_failures(row);
    TrafficHooks h = forgetting();
    h.read = [](Reading& r) {
        if (r.ret <= 0 || (bound_for(r.cq) & FI_TRANSMIT) == 0) return;
        unsigned& returned = carried().returned[r.cq];
        const bool doubled = returned < 9 && returned + r.entries.size() >= 9;
        returned += static_cast<unsigned>(r.entries.size());
        if (!doubled) return;
        r.entries.push_back(r.entries.back());
        r.from.push_back(r.from.back());
    };
    row.add("history-entry-doubled", "tells the ninth transmit of an endpoint twice", {"cq.entry.once"}, h);
    h = posts([](Post& p) -> ssize_t {
        carried().atomic = carried().atomic || is_atomic(p);
        return go(p);
    });
    // Counters are read when a program begins and when it ends: the third time is the end of the one behind the atomic.
    h.count = [](fid_cntr* cntr, std::uint64_t value) {
        return carried().atomic && ++carried().looked_at[cntr] > 2 ? value + 1 : value;
    };
    row.add("history-count-off", "counts one too many in the program behind one with an atomic",
            {"cntr.count.send", "cntr.count.recv", "cntr.count.read", "cntr.count.write"}, h)
        .cases = kMoreCases;
    h = posts([](Post& p) -> ssize_t {
        carried().messages += is_send(p) ? 1 : 0;
        return go(p);
    });
    h.closed = [] {
        if (carried().messages > 8) std::raise(SIGSEGV);
        carried() = {};
    };
    row.add("history-close-crash", "dies when an endpoint is closed that has carried nine messages",
            {"domain.close.child"}, h);
    add_behind_denied(row);
    static std::random_device chance;  // each process has other luck
    row.does("at-times-lost", "loses one message in fifty, at random",
             {"cq.entry.comes", "msg.inject.whole", "tagged.inject.whole"},
             [](Post& p) -> ssize_t { return is_send(p) && chance() % 50 == 0 ? 0 : go(p); });
}

}  // namespace selvage::mutants
