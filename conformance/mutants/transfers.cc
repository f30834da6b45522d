// Transfers: messages, tagged messages, reads and writes, atomics, queues and counters.
//
// Most rows wait for their third chance before they misbehave for the first time: a library that is broken at the first
// message alone would be found by anything.
#include <rdma/fi_errno.h>

#include <csignal>
#include <cstring>
#include <map>
#include <optional>

#include "conformance/mutants/traffic_wrap.h"

namespace selvage::mutants {
namespace {

constexpr std::uint64_t kAtomicSwap = FI_CSWAP;

bool is_send(const Post& p) { return p.kind == Kind::Send || p.kind == Kind::TaggedSend; }
bool is_recv(const Post& p) { return p.kind == Kind::Recv || p.kind == Kind::TaggedRecv; }
bool is_atomic(const Post& p) { return p.kind >= Kind::Atomic; }

// True at every `nth` call with the same counter.
bool nth(unsigned& counter, unsigned n) { return ++counter % n == 0; }

// A copy of the local memory that lives on, with the last byte changed.
void spoil(Post& p) {
    if (p.length() == 0) return;
    for (auto& piece : p.iov) {
        if (piece.iov_len == 0) continue;
        auto* const copy = new char[piece.iov_len];  // the base may read it at any time
        std::memcpy(copy, piece.iov_base, piece.iov_len);
        copy[piece.iov_len - 1] = static_cast<char>(copy[piece.iov_len - 1] ^ 0x21);
        piece.iov_base = copy;
    }
}

// Takes `n` bytes off the end.
void cut(Post& p, std::size_t n) {
    if (p.iov.empty() || p.iov.back().iov_len <= n) return;
    p.iov.back().iov_len -= n;
    if (!p.target.empty() && p.target.back().len > n) p.target.back().len -= n;
}

using OnPost = std::function<void(Post&)>;
using OnEntry = std::function<void(fi_cq_tagged_entry&)>;

// Shapes: a call changed before it is made; an entry changed after it was read.
struct Row {
    Table& table;
    Mutant& add(const char* name, const char* breaks, std::vector<std::string> clauses, TrafficHooks hooks) {
        Mutant& m = plain(table, name, breaks, std::move(clauses)).on("traffic", "tcp", 600);
        m.life.child = carries(std::move(hooks));
        return m;
    }
    Mutant& posts(const char* name, const char* breaks, std::vector<std::string> clauses, OnPost change) {
        TrafficHooks h;
        h.post = [change](Post& p) {
            change(p);
            return go(p);
        };
        return add(name, breaks, std::move(clauses), h);
    }
    Mutant& entries(const char* name, const char* breaks, std::vector<std::string> clauses, OnEntry change) {
        TrafficHooks h;
        h.read = [change](Reading& r) {
            for (auto& e : r.entries) change(e);
        };
        return add(name, breaks, std::move(clauses), h);
    }
    // Errors changed as they are read.
    Mutant& failures(const char* name, const char* breaks, std::vector<std::string> clauses,
                     std::function<void(fi_cq_err_entry&)> change) {
        TrafficHooks h;
        h.error = [change](fid_cq*, fi_cq_err_entry* e, ssize_t ret) {
            if (ret > 0) change(*e);
            return ret;
        };
        return add(name, breaks, std::move(clauses), h);
    }
    // Errors that `which` picks are told as successes.
    Mutant& forgives(const char* name, const char* breaks, std::vector<std::string> clauses,
                     std::function<bool(const fi_cq_err_entry&)> which) {
        TrafficHooks h;
        static std::map<fid_cq*, fi_cq_err_entry> waiting;
        h.read = [which](Reading& r) {
            if (r.ret != -FI_EAVAIL || waiting.contains(r.cq)) return;
            fi_cq_err_entry e = {};
            if (base_readerr(r.cq, &e) <= 0) return;
            if (!which(e)) {
                waiting[r.cq] = e;
                return;
            }
            r.ret = -FI_EAGAIN;
            r.entries.push_back({e.op_context, e.flags, e.len, e.buf, e.data, e.tag});
        };
        h.error = [](fid_cq* cq, fi_cq_err_entry* e, ssize_t ret) -> ssize_t {
            const auto it = waiting.find(cq);
            if (it == waiting.end()) return ret;
            *e = it->second;
            waiting.erase(it);
            return 1;
        };
        return add(name, breaks, std::move(clauses), h);
    }
};

void add_messages(Row row) {
    static unsigned n;
    TrafficHooks h;
    h.post = [](Post& p) -> ssize_t { return is_send(p) && nth(n, 5) ? 0 : go(p); };
    row.add("send-lost", "loses every fifth message, and says nothing", {"cq.entry.comes"}, h);
    h = {};
    h.post = [](Post& p) -> ssize_t {
        if (!is_send(p) || p.inject || p.length() > 64 || !nth(n, 3)) return go(p);
        Post again = p;
        const ssize_t ret = go(p);
        if (ret == 0) go(again);
        return ret;
    };
    row.add(
        "send-doubled", "sends every third small message twice",
        {"cq.entry.once", "msg.match.order", "tagged.match.order", "msg.match.boundaries", "tagged.match.boundaries"},
        h);
    h = {};
    static std::optional<Post> held;
    h.post = [](Post& p) -> ssize_t {
        if (!is_send(p)) return go(p);
        if (!held) {
            held = p;
            return 0;
        }
        const ssize_t ret = go(p);
        if (ret == -FI_EAGAIN) return ret;
        Post first = *held;
        held.reset();
        go(first);
        return ret;
    };
    h.read = [](Reading&) {
        if (!held) return;
        Post first = *held;
        held.reset();
        go(first);
    };
    row.add("send-reordered", "sends the second of two messages first", {"msg.match.order", "tagged.match.order"}, h);
    row.posts("send-emptied", "sends messages of at most 8 bytes without their bytes",
              {"msg.send.whole", "tagged.send.whole", "msg.inject.whole", "tagged.inject.whole", "msg.vector.whole",
               "tagged.vector.whole"},
              [](Post& p) {
                  if (is_send(p) && p.length() <= 8)
                      for (auto& i : p.iov) i.iov_len = 0;
              });
    row.posts("send-cut", "sends messages of more than 64 KiB - 1 a byte short",
              {"msg.send.whole", "tagged.send.whole", "msg.vector.whole", "tagged.vector.whole"}, [](Post& p) {
                  if (is_send(p) && p.length() >= 65536) cut(p, 1);
              });
    row.posts("send-spoilt", "changes a byte of each fourth message",
              {"msg.send.whole", "tagged.send.whole", "msg.inject.whole", "tagged.inject.whole", "msg.vector.whole",
               "tagged.vector.whole"},
              [](Post& p) {
                  if (is_send(p) && nth(n, 4)) spoil(p);
              });
    row.posts("vector-first", "sends the first piece of several alone", {"msg.vector.whole", "tagged.vector.whole"},
              [](Post& p) {
                  if (is_send(p) && p.iov.size() > 1) p.iov.resize(1);
              });
    row.posts("inject-tells", "writes an entry for what is injected", {"msg.inject.silent", "tagged.inject.silent"},
              [](Post& p) {
                  if (is_send(p)) p.inject = false;
              });
    row.posts("data-lost", "carries no remote data", {"msg.data.carried", "tagged.data.carried", "cq.data.received"},
              [](Post& p) {
                  if (is_send(p)) {
                      p.with_data = p.with_data && p.inject && p.iov.size() > 1;
                      p.flags &= ~FI_REMOTE_CQ_DATA;
                  }
              });
    row.posts("data-changed", "carries other remote data",
              {"msg.data.carried", "tagged.data.carried", "cq.data.received"}, [](Post& p) { p.data ^= 1; });
    row.posts("receive-beyond", "receives more than the buffer holds",
              {"msg.receive.within-buffer", "tagged.receive.within-buffer"}, [](Post& p) {
                  if (is_recv(p) && p.iov.size() == 1 && p.iov[0].iov_len > 1) p.iov[0].iov_len += 8;
              });
    row.posts("receive-less", "takes the buffer for shorter than it is",
              {"msg.send.whole", "tagged.send.whole", "cq.entry.comes"}, [](Post& p) {
                  if (is_recv(p) && p.iov.size() == 1 && p.iov[0].iov_len == 100) p.iov[0].iov_len = 90;
              });
    row.posts("directed-deaf", "receives from anybody where one peer was named",
              {"msg.match.source", "tagged.match.source"}, [](Post& p) {
                  if (is_recv(p)) p.addr = FI_ADDR_UNSPEC;
              });
    h = {};
    h.post = [](Post& p) -> ssize_t { return is_send(p) && p.length() == 4096 ? -FI_EINVAL : go(p); };
    row.add("send-refused", "refuses messages of 4096 bytes",
            {"msg.call.accepted", "tagged.call.accepted", "msg.call.succeeds", "tagged.call.succeeds"}, h);
    h = {};
    h.post = [](Post& p) -> ssize_t { return is_send(p) && p.length() == 65536 ? -FI_EAGAIN : go(p); };
    row.add("send-again", "has no room for messages of 64 KiB, ever",
            {"msg.call.again", "tagged.call.again", "msg.call.accepted", "tagged.call.accepted"}, h);
    h = {};
    h.post = [](Post& p) -> ssize_t {
        const ssize_t ret = go(p);
        return is_recv(p) && ret == 0 && p.iov.size() == 1 && p.length() == 64 ? 1 : ret;
    };
    row.add("receive-positive", "returns 1 from a receive that it took",
            {"msg.call.succeeds", "tagged.call.succeeds", "msg.call.errno", "tagged.call.errno"}, h);
    h = {};
    h.post = [](Post& p) -> ssize_t {
        if (is_send(p) && p.length() == 65536 && p.message) std::raise(SIGSEGV);
        return go(p);
    };
    row.add("send-crash", "dies of a message of 64 KiB", {"msg.call.comes-back", "tagged.call.comes-back"}, h);
    h = {};
    h.post = [](Post& p) -> ssize_t {
        if (p.kind == Kind::TaggedSend && p.length() == 1 && p.inject) std::_Exit(3);
        return go(p);
    };
    row.add("inject-exit", "ends the process when one byte is injected",
            {"msg.call.comes-back", "tagged.call.comes-back"}, h);
}

void add_tags(Row row) {
    static unsigned n;
    row.posts("tag-changed", "sends the tag 6 as 5", {"tagged.match.tag", "cq.entry.comes", "tagged.match.order"},
              [](Post& p) {
                  if (p.kind == Kind::TaggedSend && p.tag == 6) p.tag = 5;
              });
    row.posts("ignore-lost", "does not know the ignore mask", {"cq.entry.comes", "tagged.match.tag"}, [](Post& p) {
        if (p.kind == Kind::TaggedRecv) p.ignore = 0;
    });
    row.posts("ignore-all", "receives any tag", {"tagged.match.tag", "tagged.match.order"}, [](Post& p) {
        if (p.kind == Kind::TaggedRecv && nth(n, 2)) p.ignore = ~std::uint64_t{0};
    });
    row.posts("tag-short", "knows the lower 32 bits of a tag alone", {"cq.tag.received", "tagged.match.tag"},
              [](Post& p) {
                  if (p.kind == Kind::TaggedSend) p.tag &= 0xFFFFFFFF;
                  if (p.kind == Kind::TaggedRecv) p.tag &= 0xFFFFFFFF;
              });
    row.posts("peek-takes", "a look at a message takes it", {"tagged.peek.leaves-message", "cq.entry.comes"},
              [](Post& p) {
                  if (p.kind == Kind::TaggedRecv && (p.flags & (FI_PEEK | FI_CLAIM)) == FI_PEEK) p.flags |= FI_DISCARD;
              })
        .of("sockets");
    TrafficHooks h;
    h.post = [](Post& p) -> ssize_t { return (p.flags & FI_PEEK) != 0 ? 0 : go(p); };
    row.add("peek-silent", "a look tells nothing", {"tagged.peek.told", "cq.entry.comes"}, h).of("sockets");
    row.posts("discard-kept", "keeps a message that was thrown away", {"tagged.discard.gone", "tagged.match.order"},
              [](Post& p) {
                  if (p.kind == Kind::TaggedRecv) p.flags &= ~FI_DISCARD;
              })
        .of("sockets");
    row.posts("peek-any", "a look finds any message", {"tagged.peek.tag", "tagged.peek.nothing", "tagged.peek.found"},
              [](Post& p) {
                  if ((p.flags & FI_PEEK) != 0) p.ignore = ~std::uint64_t{0};
              })
        .of("sockets");
}

void add_queues(Row row) {
    static unsigned n;
    TrafficHooks h;
    h.read = [](Reading& r) {
        if (!r.entries.empty() && nth(n, 7)) r.entries.pop_back();
    };
    row.add("entry-lost", "loses every seventh completion", {"cq.entry.comes"}, h);
    h = {};
    h.read = [](Reading& r) {
        if (r.ret > 0 && nth(n, 7)) r.entries.push_back(r.entries.back());
    };
    row.add("entry-doubled", "tells every seventh completion twice", {"cq.entry.once", "cq.entry.comes"}, h);
    row.entries("context-null", "gives no context back for receives", {"cq.context.returned", "cq.entry.comes"},
                [](fi_cq_tagged_entry& e) {
                    if ((e.flags & FI_RECV) != 0) e.op_context = nullptr;
                });
    row.entries("length-none", "tells a length of 0 for what was received", {"cq.len.received"},
                [](fi_cq_tagged_entry& e) {
                    if ((e.flags & FI_RECV) != 0) e.len = 0;
                });
    row.entries("length-more", "tells a byte more than was received", {"cq.len.received"}, [](fi_cq_tagged_entry& e) {
        if ((e.flags & FI_RECV) != 0) e.len += 1;
    });
    row.entries("flags-no-recv", "tells receives without FI_RECV", {"cq.flags.recv"},
                [](fi_cq_tagged_entry& e) { e.flags &= ~FI_RECV; });
    row.entries("flags-no-send", "tells sends without FI_SEND", {"cq.flags.send"},
                [](fi_cq_tagged_entry& e) { e.flags &= ~FI_SEND; });
    row.entries("flags-no-tagged", "tells tagged messages without FI_TAGGED", {"cq.flags.tagged"},
                [](fi_cq_tagged_entry& e) { e.flags &= ~FI_TAGGED; });
    row.entries("flags-msg-always", "tells everything with FI_MSG", {"cq.flags.msg"},
                [](fi_cq_tagged_entry& e) { e.flags |= FI_MSG; });
    row.entries("flags-no-rma", "tells reads and writes without FI_RMA", {"cq.flags.rma"},
                [](fi_cq_tagged_entry& e) { e.flags &= ~FI_RMA; });
    row.entries("flags-data-always", "tells of remote data that nobody sent", {"cq.flags.remote-cq-data"},
                [](fi_cq_tagged_entry& e) {
                    if ((e.flags & FI_RECV) != 0) e.flags |= FI_REMOTE_CQ_DATA;
                });
    row.entries("flags-write-unasked", "tells writes with FI_REMOTE_WRITE", {"cq.flags.remote-unasked"},
                [](fi_cq_tagged_entry& e) {
                    if ((e.flags & FI_WRITE) != 0) e.flags |= FI_REMOTE_WRITE;
                });
    row.entries("tag-zero", "tells a tag of 0", {"cq.tag.received"}, [](fi_cq_tagged_entry& e) { e.tag = 0; });
    row.entries("data-zero", "tells remote data of 0", {"cq.data.received", "msg.data.carried", "tagged.data.carried"},
                [](fi_cq_tagged_entry& e) { e.data = 0; });
    row.posts("selective-tells", "tells also what nobody asked for", {"endpoint.selective.silent"},
              [](Post& p) { p.flags |= p.message ? FI_COMPLETION : 0; });
    row.posts("selective-mute", "tells nothing of what was asked for",
              {"msg.completion.selected", "tagged.completion.selected", "cq.entry.comes"}, [](Post& p) {
                  if (is_send(p)) p.flags &= ~FI_COMPLETION;
              });
    row.failures("error-negative", "tells negative errors", {"cq.error.code"},
                 [](fi_cq_err_entry& e) { e.err = -e.err; });
    row.failures("cancel-code", "tells a cancelled receive as failed", {"endpoint.cancel.code"},
                 [](fi_cq_err_entry& e) {
                     if (e.err == FI_ECANCELED) e.err = FI_EIO;
                 });
    row.failures("olen-zero", "does not tell how much was cut off", {"cq.olen.discarded"},
                 [](fi_cq_err_entry& e) { e.olen = 0; });
    row.forgives("overrun-forgiven", "tells a message that was cut off as whole",
                 {"cq.overrun.told", "cq.len.received"},
                 [](const fi_cq_err_entry& e) { return e.err == FI_ETRUNC || e.err == FI_EMSGSIZE; });
    row.forgives("access-forgiven", "tells a write that was refused as done",
                 {"rma.access.key", "rma.access.bounds", "rma.access.permission", "rma.write.whole", "rma.read.whole"},
                 [](const fi_cq_err_entry& e) { return (e.flags & FI_RMA) != 0; });
    h = {};
    h.cancel = [](fid_ep*, void*, ssize_t (*)(fid_ep*, void*)) -> ssize_t { return 0; };
    row.add("cancel-swallowed", "does not cancel", {"endpoint.cancel.ends", "cq.entry.comes"}, h);
    h = {};
    h.post = [](Post& p) -> ssize_t {
        const ssize_t ret = go(p);
        if (is_recv(p) && ret == 0 && p.iov.size() == 1 && p.length() == 100 && nth(n, 5))
            p.ep->ops->cancel(&p.ep->fid, p.context);
        return ret;
    };
    row.add("cancel-unasked", "cancels a receive that nobody cancelled", {"endpoint.cancel.unasked", "cq.entry.comes"},
            h);
}

void add_levels(Row row) {
    // A completion that is told before it is due: as soon as the operation was posted.
    static std::map<void*, bool> early;
    static std::vector<fi_cq_tagged_entry> made;
    TrafficHooks h;
    h.post = [](Post& p) -> ssize_t {
        const ssize_t ret = go(p);
        if (ret != 0 || !is_send(p) || (p.flags & FI_DELIVERY_COMPLETE) == 0) return ret;
        const std::uint64_t kind = p.kind == Kind::Send ? FI_MSG : FI_TAGGED;
        made.push_back({p.context, FI_SEND | kind, 0, nullptr, 0, 0});
        early[p.context] = true;
        return ret;
    };
    h.read = [](Reading& r) {
        std::erase_if(r.entries, [](const fi_cq_tagged_entry& e) { return early.erase(e.op_context) > 0; });
        for (const auto& e : made) r.entries.insert(r.entries.begin(), e);
        made.clear();
    };
    row.add("delivery-early", "tells a send with FI_DELIVERY_COMPLETE as soon as it is posted",
            {"cq.level.delivery-send", "cq.level.delivery-write"}, h);
    row.posts("delivery-lost", "knows no FI_DELIVERY_COMPLETE", {"cq.level.delivery-send"},
              [](Post& p) { p.flags &= ~FI_DELIVERY_COMPLETE; })
        .of("sockets");
}

void add_memory_access(Row row) {
    static unsigned n;
    static std::uint64_t good_key;
    TrafficHooks h;
    h.post = [](Post& p) -> ssize_t { return p.kind == Kind::Write && nth(n, 4) ? 0 : go(p); };
    row.add("write-lost", "loses every fourth write", {"cq.entry.comes", "rma.inject.whole"}, h);
    row.posts("write-elsewhere", "writes 16 bytes further on", {"rma.write.whole", "rma.write.vector"}, [](Post& p) {
        if (p.kind == Kind::Write && !p.target.empty() && p.length() == 8) p.target[0].addr += 16;
    });
    row.posts("write-cut", "writes a byte less", {"rma.write.whole", "rma.write.vector"}, [](Post& p) {
        if (p.kind == Kind::Write && p.length() > 4000) cut(p, 1);
    });
    row.posts("write-spoilt", "writes other bytes", {"rma.write.whole", "rma.inject.whole", "rma.write.vector"},
              [](Post& p) {
                  if (p.kind == Kind::Write && nth(n, 3)) spoil(p);
              });
    row.posts("read-cut", "reads a byte less", {"rma.read.whole", "rma.read.vector"}, [](Post& p) {
        if (p.kind == Kind::Read && p.length() > 4000) cut(p, 1);
    });
    row.posts("read-beyond", "reads 8 bytes more than fit", {"rma.read.within-buffer"}, [](Post& p) {
        if (p.kind != Kind::Read || p.message || p.iov.size() != 1 || p.length() != 4096) return;
        p.iov[0].iov_len += 8;
        p.target[0].len += 8;
    });
    row.posts("key-any", "takes any key", {"rma.access.key", "atomic.access.refused"}, [](Post& p) {
        for (auto& t : p.target) {
            if (t.key < 0x10000) good_key = t.key;
            if (t.key >= 0x10000 && good_key != 0) t.key = good_key;
        }
    });
    row.posts("bounds-none", "brings what is out of bounds back into them",
              {"rma.access.bounds", "atomic.access.bounds"}, [](Post& p) {
                  for (auto& t : p.target)
                      if ((t.addr & 0xFFFFF) == 0 || (t.addr + t.len) % 0x200000 < t.len)
                          t.addr = t.addr - t.addr % 4096 - 0x20000;
              });
    row.posts("write-data-lost", "writes without the remote data", {"rma.data.told"}, [](Post& p) {
        if (p.kind != Kind::Write) return;
        p.with_data = false;
        p.flags &= ~FI_REMOTE_CQ_DATA;
    });
    row.posts("write-inject-tells", "writes an entry for an injected write", {"rma.inject.silent"}, [](Post& p) {
        if (p.kind == Kind::Write) p.inject = false;
    });
}

void add_atomics(Row row) {
    row.posts("atomic-sum", "multiplies where it should add", {"atomic.update.stored", "atomic.update.fetched"},
              [](Post& p) {
                  if (is_atomic(p) && p.op == FI_SUM) p.op = FI_PROD;
              })
        .of("sockets");
    row.posts("atomic-less", "changes one value less", {"atomic.update.stored"},
              [](Post& p) {
                  if (p.kind != Kind::Atomic || p.iov[0].iov_len < 2) return;
                  --p.iov[0].iov_len;
                  --p.target[0].len;
              })
        .of("sockets");
    row.posts("fetch-only", "fetches and changes nothing", {"atomic.update.fetched"},
              [](Post& p) {
                  if (p.kind == Kind::Fetch && p.op == FI_SUM) p.op = FI_ATOMIC_READ;
              })
        .of("sockets");
    row.posts("swap-always", "swaps where the values differ", {"atomic.update.compared"},
              [](Post& p) {
                  if (p.kind == Kind::Compare && p.op == kAtomicSwap) p.op = FI_CSWAP_NE;
              })
        .of("sockets");
    TrafficHooks h;
    h.valid = [](int, std::size_t*) { return -FI_EOPNOTSUPP; };
    row.add("valid-none", "says that it can do no atomics, and does them", {"atomic.valid.unsupported"}, h)
        .of("sockets");
}

void add_counters(Row row) {
    TrafficHooks h;
    h.count = [](fid_cntr*, std::uint64_t value) { return value * 2; };
    row.add("counter-double", "counts everything twice",
            {"cntr.count.send", "cntr.count.recv", "cntr.count.read", "cntr.count.write"}, h);
    h = {};
    h.count = [](fid_cntr*, std::uint64_t) { return std::uint64_t{0}; };
    row.add("counter-stuck", "counts nothing",
            {"cntr.count.send", "cntr.count.recv", "cntr.count.read", "cntr.count.write"}, h);
    h = {};
    static std::map<fid_cntr*, std::uint64_t> reads;
    h.errors = [](fid_cntr* c, std::uint64_t value) { return value + reads[c]++; };
    row.add("counter-errors", "counts errors that there were none", {"cntr.error.none"}, h);
}

}  // namespace

void add_transfers(Table& table) {
    const Row row{table};
    add_messages(row);
    add_tags(row);
    add_queues(row);
    add_levels(row);
    add_memory_access(row);
    add_atomics(row);
    add_counters(row);
}

}  // namespace selvage::mutants
