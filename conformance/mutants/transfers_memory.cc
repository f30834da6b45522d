// Reads, writes and atomics; and what counters say of all transfers.
#include <csignal>
#include <map>

#include "conformance/mutants/transfers.h"

namespace selvage::mutants {
namespace {

constexpr std::uint64_t kSmallKeys = 0x10000;  // a key that nothing has is above it

// The last key that something had.
std::uint64_t good_key;
void learn_key(const Post& p) {
    for (const auto& t : p.target)
        if (t.key < kSmallKeys) good_key = t.key;
}

// An access with a bad key reaches the target all the same, and is told as failed.
ssize_t reaches_and_fails(Post& p) {
    learn_key(p);
    if (p.target.empty() || p.target[0].key < kSmallKeys || good_key == 0 || p.kind == Kind::Read) return go(p);
    Post real = p;
    for (auto& t : real.target) t.key = good_key;
    real.inject = true;
    real.message = false;
    real.with_data = false;
    if (real.iov.size() == 1 && real.kind != Kind::Fetch && real.kind != Kind::Compare) go(real);
    return go(p);
}

void add_writes(const Row& row) {
    static unsigned n;
    row.does("write-lost", "loses every fourth write", {"cq.entry.comes"},
             [](Post& p) -> ssize_t { return p.kind == Kind::Write && nth(n, 4) ? 0 : go(p); });
    row.does("write-inject-lost", "loses what is injected", {"rma.inject.whole"},
             [](Post& p) -> ssize_t { return p.kind == Kind::Write && p.inject ? 0 : go(p); });
    row.posts("write-elsewhere", "writes 16 bytes further on", {"rma.write.whole", "rma.write.vector"}, [](Post& p) {
        if (p.kind == Kind::Write && !p.target.empty() && p.length() == 8) p.target[0].addr += 16;
    });
    row.posts("write-cut", "writes a byte less", {"rma.write.whole", "rma.write.vector"}, [](Post& p) {
        if (p.kind == Kind::Write && p.length() > 4000) cut(p, 1);
    });
    row.posts("write-vector", "writes the first piece of several alone", {"rma.write.vector"}, [](Post& p) {
        if (p.kind != Kind::Write || p.iov.size() < 2) return;
        p.iov.resize(1);
        p.target.resize(1);
        p.target[0].len = p.iov[0].iov_len;
    });
    row.posts("write-spoilt", "writes other bytes", {"rma.write.whole"}, [](Post& p) {
        if (p.kind == Kind::Write && nth(n, 3)) spoil(p);
    });
    row.posts("write-data-lost", "writes without the remote data", {"rma.data.told"}, [](Post& p) {
        if (p.kind != Kind::Write) return;
        p.with_data = false;
        p.flags &= ~FI_REMOTE_CQ_DATA;
    });
    row.posts("write-inject-tells", "writes an entry for an injected write", {"rma.inject.silent"}, [](Post& p) {
        if (p.kind == Kind::Write) p.inject = false;
    });
    row.posts("write-tells-target", "tells the target of each write", {"rma.target.silent"}, [](Post& p) {
        if (p.kind == Kind::Write && !p.inject && !p.message && p.iov.size() == 1) p.with_data = true;
    });
    row.posts("access-mute", "tells nothing of an access that was to be told", {"rma.completion.selected"},
              [](Post& p) {
                  if (is_rma(p)) p.flags &= ~FI_COMPLETION;
              });
}

void add_reads(const Row& row) {
    row.posts("read-cut", "reads a byte less", {"rma.read.whole", "rma.read.vector"}, [](Post& p) {
        if (p.kind == Kind::Read && p.length() > 4000) cut(p, 1);
    });
    row.posts("read-vector", "reads into the first piece of several alone", {"rma.read.vector"}, [](Post& p) {
        if (p.kind != Kind::Read || p.iov.size() < 2) return;
        p.iov.resize(1);
        p.target.resize(1);
        p.target[0].len = p.iov[0].iov_len;
    });
    row.posts("read-beyond", "reads 8 bytes more than fit", {"rma.read.within-buffer"}, [](Post& p) {
        if (p.kind != Kind::Read || p.message || p.iov.size() != 1 || p.length() != 4096) return;
        p.iov[0].iov_len += 8;
        p.target[0].len += 8;
    });
}

void add_access(const Row& row) {
    row.does("write-refused", "refuses to write 4096 bytes", {"rma.call.accepted"},
             [](Post& p) -> ssize_t { return is_rma(p) && p.length() == 4096 ? -FI_EINVAL : go(p); });
    row.does("write-errno", "refuses to write 4096 bytes, with an error that is none", {"rma.call.errno"},
             [](Post& p) -> ssize_t { return is_rma(p) && p.length() == 4096 ? -100000 : go(p); });
    row.does("write-crash", "dies of a write of 64 KiB", {"rma.call.comes-back"}, [](Post& p) -> ssize_t {
        if (p.kind == Kind::Write && p.length() == 65536) std::raise(SIGSEGV);
        return go(p);
    });
    static bool large;
    TrafficHooks h;
    h.post = [](Post& p) {
        large = large || (p.kind == Kind::Write && p.length() == 65536);
        return go(p);
    };
    h.closed = [] {
        if (large) std::raise(SIGSEGV);
    };
    row.add("close-crash", "dies when an endpoint is closed that has written 64 KiB", {"domain.close.child"}, h);
    row.fails("write-fails", "tells writes as failed", {"rma.call.succeeds"}, FI_EIO,
              [](const fi_cq_tagged_entry& e) { return (e.flags & FI_RMA) != 0 && (e.flags & FI_WRITE) != 0; });
    row.posts("key-any", "takes any key", {"rma.access.key", "atomic.access.refused"}, [](Post& p) {
        learn_key(p);
        for (auto& t : p.target)
            if (t.key >= kSmallKeys && good_key != 0) t.key = good_key;
    });
    row.does("key-bad-touches", "writes with a bad key, and tells an error", {"rma.access.untouched"},
             [](Post& p) -> ssize_t { return is_rma(p) ? reaches_and_fails(p) : go(p); });
    row.posts("bounds-none", "brings what is out of bounds back into them",
              {"rma.access.bounds", "atomic.access.bounds"}, [](Post& p) {
                  for (auto& t : p.target)
                      if (t.addr % 0x200000 == 0 || (t.addr + t.len) % 0x200000 < t.len)
                          t.addr = t.addr - t.addr % 4096 - 0x20000;
              });
    row.forgives("access-forgiven", "tells an access that was refused as done",
                 {"rma.access.key", "rma.access.bounds", "rma.access.permission"},
                 [](const fi_cq_err_entry& e) { return (e.flags & FI_RMA) != 0; });
}

}  // namespace

void add_memory_rows(const Row& row) {
    add_writes(row);
    add_reads(row);
    add_access(row);
}

namespace {

// Of what fetches: the result is changed when its entry is read.
void change_result(const fi_cq_tagged_entry& e, Kind kind, std::size_t at_end) {
    const Post* const p = posted_with(e.op_context);
    if (p == nullptr || p->kind != kind || p->result.empty() || p->datatype != FI_UINT64) return;
    const auto& last = p->result.back();
    auto* const bytes = static_cast<unsigned char*>(last.iov_base);
    if (last.iov_len > 0) bytes[at_end == 0 ? 0 : last.iov_len * sizeof(std::uint64_t) + at_end - 1] ^= 0x21;
}

void add_updates(const Row& row) {
    row.posts("atomic-sum", "multiplies where it should add", {"atomic.update.stored", "atomic.update.fetched"},
              [](Post& p) {
                  if (is_atomic(p) && p.op == FI_SUM) p.op = FI_PROD;
              });
    row.posts("atomic-less", "changes one value less", {"atomic.update.stored"}, [](Post& p) {
        if (p.kind != Kind::Atomic || p.iov[0].iov_len < 2) return;
        --p.iov[0].iov_len;
        --p.target[0].len;
    });
    row.posts("atomic-vector", "changes the values of the first piece alone", {"atomic.update.vector"},
              [](Post& p) {
                  if (p.kind != Kind::Atomic || p.iov.size() < 2) return;
                  p.iov.resize(1);
                  p.target.resize(1);
                  p.target[0].len = p.iov[0].iov_len;
              })
        .cases = kMoreCases;
    row.posts("fetch-only", "fetches and changes nothing", {"atomic.update.fetched"}, [](Post& p) {
        if (p.kind == Kind::Fetch && p.op == FI_SUM) p.op = FI_ATOMIC_READ;
    });
    row.posts("swap-always", "swaps where the values differ", {"atomic.update.compared"}, [](Post& p) {
        if (p.kind == Kind::Compare && p.op == FI_CSWAP) p.op = FI_CSWAP_NE;
    });
    row.entries("fetch-spoilt", "fetches other values", {"atomic.fetch.initial"},
                [](fi_cq_tagged_entry& e) { change_result(e, Kind::Fetch, 0); });
    row.entries("compare-spoilt", "brings other values of a comparison", {"atomic.compare.initial"},
                [](fi_cq_tagged_entry& e) { change_result(e, Kind::Compare, 0); });
    row.entries("fetch-beyond", "fetches more than there is room for", {"atomic.fetch.within-buffer"},
                [](fi_cq_tagged_entry& e) { change_result(e, Kind::Fetch, 1); });
    row.does("atomic-inject-lost", "loses atomics that are injected", {"atomic.inject.stored"},
             [](Post& p) -> ssize_t { return is_atomic(p) && p.inject ? 0 : go(p); });
    row.posts("atomic-inject-tells", "writes an entry for an atomic that is injected", {"atomic.inject.silent"},
              [](Post& p) {
                  if (is_atomic(p)) p.inject = false;
              });
    row.posts("atomic-mute", "tells nothing of an atomic that was to be told", {"atomic.completion.selected"},
              [](Post& p) {
                  if (is_atomic(p)) p.flags &= ~FI_COMPLETION;
              });
    TrafficHooks h;
    h.post = [](Post& p) {
        remember(p);
        return go(p);
    };
    h.read = [](Reading& r) {
        for (std::size_t i = r.entries.size(); i-- > 0;) {
            const Post* const p = posted_with(r.entries[i].op_context);
            if (p == nullptr || p->kind != Kind::Compare || !p->message) continue;
            r.entries.erase(r.entries.begin() + static_cast<std::ptrdiff_t>(i));
            r.from.erase(r.from.begin() + static_cast<std::ptrdiff_t>(i));
        }
        if (r.ret > 0 && r.entries.empty()) r.ret = -FI_EAGAIN;
    };
    row.add("compare-mute", "tells nothing of a comparison that is posted as a message", {"cq.entry.comes"}, h);
}

}  // namespace

void add_atomic_rows(const Row& row) {
    add_updates(row);
    TrafficHooks h;
    h.valid = [](int, std::size_t*) { return -FI_EOPNOTSUPP; };
    row.add("valid-none", "says that it can do no atomics, and does them", {"atomic.valid.unsupported"}, h);
    h.valid = [](int ret, std::size_t* count) {
        if (ret == 0) *count = 2;
        return ret;
    };
    row.add("valid-few", "says that it can do two values, and does more", {"atomic.valid.count"}, h);
    row.does("atomic-refused", "refuses atomics of FI_UINT64", {"atomic.call.accepted"},
             [](Post& p) -> ssize_t { return is_atomic(p) && p.datatype == FI_UINT64 ? -FI_EINVAL : go(p); });
    row.does("atomic-errno", "refuses atomics of FI_UINT64, with an error that is none", {"atomic.call.errno"},
             [](Post& p) -> ssize_t { return is_atomic(p) && p.datatype == FI_UINT64 ? -100000 : go(p); });
    row.does("atomic-crash", "dies of a sum of four values", {"atomic.call.comes-back"}, [](Post& p) -> ssize_t {
        if (is_atomic(p) && p.op == FI_SUM && p.length() == 4) std::raise(SIGSEGV);
        return go(p);
    });
    row.fails("atomic-fails", "tells atomics as failed", {"atomic.call.succeeds"}, FI_EIO,
              [](const fi_cq_tagged_entry& e) { return (e.flags & FI_ATOMIC) != 0; });
    row.does("atomic-bad-touches", "changes values with a bad key, and tells an error", {"atomic.access.untouched"},
             [](Post& p) -> ssize_t { return p.kind == Kind::Atomic ? reaches_and_fails(p) : go(p); })
        .cases = kMoreCases;
}

void add_counter_rows(const Row& row) {
    struct Counter {
        const char* name;
        std::uint64_t kind;
        const char* clause;
    };
    for (const Counter& c :
         {Counter{"counter-send", FI_SEND, "cntr.count.send"}, Counter{"counter-recv", FI_RECV, "cntr.count.recv"},
          Counter{"counter-read", FI_READ, "cntr.count.read"}, Counter{"counter-write", FI_WRITE, "cntr.count.write"},
          Counter{"counter-remote-read", FI_REMOTE_READ, "cntr.count.remote-read"},
          Counter{"counter-remote-write", FI_REMOTE_WRITE, "cntr.count.remote-write"}}) {
        TrafficHooks h;
        h.count = [kind = c.kind](fid_cntr* cntr, std::uint64_t value) {
            return (bound_for(cntr) & kind) != 0 ? value + (value + 2) / 3 : value;
        };
        row.add(c.name, "counts one of three of these twice", {c.clause}, h);
    }
    TrafficHooks h;
    h.count = [](fid_cntr*, std::uint64_t) { return std::uint64_t{0}; };
    row.add("counter-stuck", "counts nothing",
            {"cntr.count.send", "cntr.count.recv", "cntr.count.read", "cntr.count.write"}, h);
    h = {};
    static std::map<fid_cntr*, std::uint64_t> reads;
    h.errors = [](fid_cntr* c, std::uint64_t value) { return value + reads[c]++; };
    row.add("counter-errors", "counts errors that there were none", {"cntr.error.none"}, h);
    h = {};
    h.errors = [](fid_cntr*, std::uint64_t) { return std::uint64_t{0}; };
    row.add("counter-errors-none", "counts no errors", {"cntr.error.counted"}, h);
}

}  // namespace selvage::mutants
