// Rows that are broken only where the peer is another process, as libraries are whose way within a process is sound.
//
// A row takes its chance where the domain that was opened last has one endpoint: both of a pair that lies in one
// process are opened on one.  Their names begin with "apart-": the score tries them in two processes, where they must
// be detected, and in one, where nothing may be found.
#include "conformance/mutants/transfers_processes.h"

#include <csignal>
#include <utility>

#include "conformance/mutants/life.h"

namespace selvage::mutants {
namespace {

unsigned endpoints = 0;  // of the domain that was opened last

bool peer_is_apart() { return endpoints == 1; }

// Counts endpoints, too.
void watch(Mutant& m) {
    m.life.opened = [](int ret, fid** opened) {
        if (ret == 0 && (*opened)->fclass == FI_CLASS_DOMAIN) endpoints = 0;
        return ret;
    };
    m.life.child = [inner = std::move(m.life.child)](int ret, std::size_t kind, fid* on, fid* made) {
        if (ret == 0 && kind == FI_CLASS_EP) ++endpoints;
        return inner(ret, kind, on, made);
    };
}

struct ApartRow {
    const Row& row;

    Mutant& posts(const char* name, const char* breaks, std::vector<std::string> clauses, OnPost change) const {
        return watched(row.posts(name, breaks, std::move(clauses), [change = std::move(change)](Post& p) {
            if (peer_is_apart()) change(p);
        }));
    }
    Mutant& does(const char* name, const char* breaks, std::vector<std::string> clauses, InsteadOfPost instead) const {
        return watched(row.does(name, breaks, std::move(clauses), [instead = std::move(instead)](Post& p) -> ssize_t {
            return peer_is_apart() ? instead(p) : go(p);
        }));
    }
    Mutant& entries(const char* name, const char* breaks, std::vector<std::string> clauses, OnEntry change) const {
        return watched(
            row.entries(name, breaks, std::move(clauses), [change = std::move(change)](fi_cq_tagged_entry& e) {
                if (peer_is_apart()) change(e);
            }));
    }
    static Mutant& watched(Mutant& m) {
        watch(m);
        return m;
    }
};

void add_messages(const ApartRow& row) {
    static unsigned n;
    row.does("apart-lost", "loses every fifth message between processes, and says nothing",
             {"cq.entry.comes", "msg.inject.whole", "tagged.inject.whole"},
             [](Post& p) -> ssize_t { return is_send(p) && nth(n, 5) ? 0 : go(p); });
    row.posts("apart-cut", "sends messages of 64 KiB and more between processes a byte short",
              {"msg.send.whole", "tagged.send.whole", "msg.vector.whole", "tagged.vector.whole"}, [](Post& p) {
                  if (is_send(p) && p.length() >= 65536) cut(p, 1);
              });
    row.posts("apart-spoilt", "changes a byte of each fourth message between processes",
              {"msg.send.whole", "tagged.send.whole", "msg.inject.whole", "tagged.inject.whole", "msg.vector.whole",
               "tagged.vector.whole"},
              [](Post& p) {
                  if (is_send(p) && nth(n, 4)) spoil(p);
              });
    row.does(
        "apart-doubled", "sends every third small message to another process twice",
        {"cq.entry.once", "msg.match.order", "tagged.match.order", "msg.match.boundaries", "tagged.match.boundaries"},
        [](Post& p) -> ssize_t {
            if (!is_send(p) || p.inject || p.length() > 64 || !nth(n, 3)) return go(p);
            Post again = p;
            const ssize_t ret = go(p);
            if (ret == 0) go(again);
            return ret;
        });
    row.posts("apart-tag", "changes the tags of messages to another process", {"tagged.match.tag"}, [](Post& p) {
        if (p.kind == Kind::TaggedSend && nth(n, 3)) p.tag ^= 1;
    });
    row.posts("apart-data", "changes the data that go with a message to another process", {"cq.data.received"},
              [](Post& p) {
                  if (is_send(p) && p.with_data) p.data ^= 0x10;
              });
}

void add_endings(const ApartRow& row) {
    row.posts("apart-crash", "dies of a receive of 64 KiB where the sender is another process",
              {"msg.call.comes-back", "tagged.call.comes-back"}, [](Post& p) {
                  if (is_recv(p) && p.length() == 65536) std::raise(SIGSEGV);
              });
    row.posts("apart-hang", "does not come back from such a receive", {"msg.call.comes-back", "tagged.call.comes-back"},
              [](Post& p) {
                  volatile bool forever = true;
                  while (is_recv(p) && p.length() == 65536 && forever) continue;
              });
}

void add_memory(const ApartRow& row) {
    row.posts("apart-write", "writes the memory of another process a byte short", {"rma.write.whole"}, [](Post& p) {
        if (p.kind == Kind::Write) cut(p, 1);
    });
    row.posts("apart-offset", "writes eight bytes behind the place that it was given, in another process",
              {"rma.write.whole", "rma.access.bounds"}, [](Post& p) {
                  if (p.kind == Kind::Write && p.target.front().len > 8)
                      for (auto& t : p.target) t.addr += 8;
              });
    row.posts("apart-read", "reads the memory of another process from the wrong place", {"rma.read.whole"},
              [](Post& p) {
                  if (p.kind == Kind::Read)
                      for (auto& t : p.target) t.addr += t.addr % 16 < 8 ? 8 : -8;
              });
    row.posts("apart-sum", "joins bits where it should add, in the memory of another process",
              {"atomic.update.stored", "atomic.update.fetched"}, [](Post& p) {
                  if (is_atomic(p) && p.op == FI_SUM) p.op = FI_BOR;
              });
}

void add_entries(const ApartRow& row) {
    row.entries("apart-length", "tells a length of messages from another process that is too long", {"cq.len.received"},
                [](fi_cq_tagged_entry& e) {
                    if ((e.flags & FI_RECV) != 0) ++e.len;
                });
    row.entries("apart-flags", "does not say of messages from another process that they were received",
                {"cq.flags.recv"}, [](fi_cq_tagged_entry& e) { e.flags &= ~std::uint64_t{FI_RECV}; });
}

}  // namespace

void add_process_rows(const Row& row) {
    const ApartRow apart{row};
    add_messages(apart);
    add_endings(apart);
    add_memory(apart);
    add_entries(apart);
}

}  // namespace selvage::mutants
