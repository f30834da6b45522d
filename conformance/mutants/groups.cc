// What a few endpoints do together: collective operations, sets of addresses, named receive contexts, multicast groups,
// sources, keys.
#include <rdma/fi_errno.h>

#include <csignal>
#include <deque>
#include <map>

#include "conformance/mutants/group_wrap.h"
#include "conformance/mutants/transfers.h"

namespace selvage::mutants {
namespace {

constexpr unsigned kGroupCases = 150;

Mutant& on_groups(Mutant& m, const char* provider = "shm") { return m.on("groups", provider, kGroupCases); }

Mutant& together(Table& table, const char* name, const char* breaks, std::vector<std::string> clauses,
                 GroupHooks hooks) {
    Mutant& m = on_groups(plain(table, name, breaks, std::move(clauses)));
    m.life.child = acts_together(std::move(hooks));
    return m;
}

// A row that changes the calls of one operation.
void changes(Table& table, const char* name, const char* breaks, const char* clause, fi_collective_op operation,
             const std::function<ssize_t(CollectiveCall&)>& instead) {
    GroupHooks h;
    h.collective = [operation, instead](CollectiveCall& c) { return c.what == operation ? instead(c) : go(c); };
    together(table, name, breaks, {clause}, h);
}

ssize_t cut_short(CollectiveCall& c) {
    if (c.count > 1) --c.count;
    return go(c);
}
ssize_t reduce_otherwise(CollectiveCall& c) {
    if (c.op == FI_SUM) c.op = FI_MAX;
    return go(c);
}

void add_results(Table& table) {
    changes(table, "broadcast-short", "broadcasts an element less", "collective.broadcast.result", FI_BROADCAST,
            cut_short);
    changes(table, "alltoall-short", "exchanges an element less", "collective.alltoall.result", FI_ALLTOALL, cut_short);
    changes(table, "allgather-short", "gathers an element less", "collective.allgather.result", FI_ALLGATHER,
            cut_short);
    changes(table, "scatter-short", "scatters an element less", "collective.scatter.result", FI_SCATTER, cut_short);
    changes(table, "gather-short", "gathers an element less at the root", "collective.gather.result", FI_GATHER,
            cut_short);
    changes(table, "allreduce-maximum", "takes the maximum for the sum", "collective.allreduce.result", FI_ALLREDUCE,
            reduce_otherwise);
    changes(table, "reduce-maximum", "takes the maximum for the sum at the root", "collective.reduce.result", FI_REDUCE,
            reduce_otherwise);
    changes(table, "reduce-scatter-maximum", "takes the maximum for the sum, and scatters it",
            "collective.reduce-scatter.result", FI_REDUCE_SCATTER, reduce_otherwise);
}

void add_calls_of_groups(Table& table) {
    changes(table, "collective-crash", "dies of a broadcast", "collective.call.returns", FI_BROADCAST,
            [](CollectiveCall&) -> ssize_t { return std::raise(SIGSEGV); });
    changes(table, "collective-unsupported", "refuses to gather, and says that it can", "collective.query.supported",
            FI_GATHER, [](CollectiveCall&) -> ssize_t { return -FI_EOPNOTSUPP; });
    changes(table, "barrier-missing", "has no barrier", "getinfo.caps.collective-operations", FI_BARRIER,
            [](CollectiveCall&) -> ssize_t { return -FI_ENOSYS; });
    on_groups(
        plain(table, "collective-denied", "says that it cannot gather, and can", {"getinfo.caps.collective-each"}))
        .life.opened = [](int ret, fid** f) {
        if (ret != 0 || (*f)->fclass != FI_CLASS_DOMAIN) return ret;
        auto* const domain = reinterpret_cast<fid_domain*>(*f);
        static fi_ops_domain usual, own;
        own = usual = *domain->ops;
        own.query_collective = [](fid_domain* d, fi_collective_op what, fi_collective_attr* attr, std::uint64_t flags) {
            return what == FI_GATHER ? -FI_EOPNOTSUPP : usual.query_collective(d, what, attr, flags);
        };
        domain->ops = &own;
        return ret;
    };
    changes(table, "collective-lost", "forgets to gather at all", "collective.operation.completes", FI_ALLGATHER,
            [](CollectiveCall&) -> ssize_t { return 0; });
}

// Entries that are returned as soon as the operation is called; the base's own are swallowed.
struct Hurried {
    std::map<fid_cq*, std::deque<void*>> due;
    std::map<void*, int> reported;
};

void hurries(Table& table, const char* name, const char* breaks, const char* clause, fi_collective_op operation) {
    static Hurried hurried;
    GroupHooks h;
    h.collective = [operation](CollectiveCall& c) {
        const ssize_t ret = go(c);
        if (ret != 0 || c.what != operation) return ret;
        for (fid_cq* cq : queues_of(c.ep)) hurried.due[cq].push_back(c.context);
        hurried.reported[c.context] = 1;
        return ret;
    };
    TrafficHooks t;
    t.read = [](Reading& r) {
        std::erase_if(r.entries, [](const fi_cq_tagged_entry& e) { return hurried.reported.erase(e.op_context) != 0; });
        for (void* const context : hurried.due[r.cq]) r.entries.push_back({context, FI_COLLECTIVE, 0, nullptr, 0, 0});
        hurried.due[r.cq].clear();
    };
    Mutant& m = together(table, name, breaks, {clause}, h);
    m.life.child = [groups = m.life.child, queues = carries(t)](int ret, std::size_t kind, fid* on, fid* made) {
        return kind == FI_CLASS_CQ ? queues(ret, kind, on, made) : groups(ret, kind, on, made);
    };
}

void repeats_entries(Table& table) {
    static std::map<void*, int> operations;
    GroupHooks h;
    h.collective = [](CollectiveCall& c) {
        operations[c.context] = 1;
        return go(c);
    };
    TrafficHooks t;
    t.read = [](Reading& r) {
        static std::map<fid_cq*, fi_cq_tagged_entry> again;
        if (r.entries.empty() && again.contains(r.cq)) {
            r.entries.push_back(again[r.cq]);
            again.erase(r.cq);
            return;
        }
        for (const auto& e : r.entries)
            if (operations.erase(e.op_context) != 0) again[r.cq] = e;
    };
    Mutant& m = together(table, "collective-twice", "tells of each operation twice", {"collective.operation.once"}, h);
    m.life.child = [groups = m.life.child, queues = carries(t)](int ret, std::size_t kind, fid* on, fid* made) {
        return kind == FI_CLASS_CQ ? queues(ret, kind, on, made) : groups(ret, kind, on, made);
    };
}

bool is_join(const EventReading& r) { return r.ret > 0 && *r.event == FI_JOIN_COMPLETE; }

void add_joins(Table& table) {
    GroupHooks h;
    h.event = [](EventReading r) { return is_join(r) ? -FI_EAGAIN : r.ret; };
    together(table, "join-silent", "tells of no join", {"collective.join.completes"}, h);
    h.event = [](EventReading r) {
        static std::map<fid_eq*, fi_eq_entry> again;
        if (is_join(r) && !again.contains(r.eq)) {
            again[r.eq] = *r.entry;
        } else if (r.ret == -FI_EAGAIN && again.contains(r.eq)) {
            *r.event = FI_JOIN_COMPLETE;
            *r.entry = again[r.eq];
            again.erase(r.eq);
            return static_cast<ssize_t>(sizeof *r.entry);
        }
        return r.ret;
    };
    together(table, "join-told-twice", "tells of each join twice", {"collective.join.once"}, h);
    h.event = [](EventReading r) {
        if (is_join(r)) r.entry->fid = &r.eq->fid;
        return r.ret;
    };
    together(table, "join-other-fid", "names the event queue in the event of a join", {"collective.join.event-fid"}, h);
    h.event = [](EventReading r) {
        if (is_join(r)) r.entry->context = nullptr;
        return r.ret;
    };
    together(table, "join-no-context", "forgets the context of a join", {"collective.join.event-context"}, h);
    h = {};
    h.joined = [](fid_ep*, fid_mc* mc, void*) { mc->fi_addr = FI_ADDR_NOTAVAIL; };
    together(table, "group-no-address", "gives groups no address", {"collective.group.address"}, h);
    h.joined = [](fid_ep*, fid_mc* mc, void*) {
        static fi_ops own, *base;
        base = mc->fid.ops;
        own = *base;
        own.close = [](fid* object) {
            object->ops = base;
            base->close(object);
            return -FI_EBUSY;
        };
        mc->fid.ops = &own;
    };
    together(table, "group-busy", "says of each group that it is in use", {"collective.group.closes"}, h);
}

// The event of a join is returned by the first look behind it.
void add_early_join(Table& table) {
    static std::map<fid_eq*, std::deque<fi_eq_entry>> due;
    GroupHooks h;
    h.joined = [](fid_ep* ep, fid_mc* mc, void* context) { due[events_of(ep)].push_back({&mc->fid, context, 0}); };
    h.event = [](EventReading r) {
        auto& own = due[r.eq];
        if (is_join(r)) r.ret = -FI_EAGAIN;
        if (r.ret != -FI_EAGAIN || own.empty()) return r.ret;
        *r.event = FI_JOIN_COMPLETE;
        *r.entry = own.front();
        own.pop_front();
        return static_cast<ssize_t>(sizeof *r.entry);
    };
    together(table, "join-early", "tells of joins before all have joined", {"collective.join.waits"}, h);
}

void skips(Table& table, const char* name, const char* breaks, const char* clause, std::string operation) {
    GroupHooks h;
    h.skip = [operation = std::move(operation)](const char* what) { return operation == what; };
    together(table, name, breaks, {clause}, h);
}

void add_sets(Table& table) {
    GroupHooks h;
    h.set = [](fi_av_set_attr& a) {
        if (a.stride == 1 && a.end_addr > a.start_addr) --a.end_addr;
    };
    together(table, "set-exclusive", "leaves the last address out of a range", {"av-set.range.inclusive"}, h);
    h.set = [](fi_av_set_attr& a) {
        if (a.stride > 1) a.stride = 1;
    };
    together(table, "set-strideless", "knows no stride", {"av-set.stride.every"}, h);
    h.set = [](fi_av_set_attr& a) { a.flags &= ~FI_UNIVERSE; };
    together(table, "set-empty-universe", "makes an empty set of all addresses", {"av-set.universe.all"}, h);
    skips(table, "set-insert-idle", "inserts no address into a set", "av-set.insert.appends", "insert");
    skips(table, "set-remove-idle", "removes no address from a set", "av-set.remove.removes", "remove");
    skips(table, "set-union-idle", "unites no sets", "av-set.union.appends", "union");
    skips(table, "set-intersect-idle", "intersects no sets", "av-set.intersect.keeps-common", "intersect");
    skips(table, "set-diff-idle", "subtracts no sets", "av-set.diff.removes-common", "diff");
    h = {};
    h.no_address = true;
    together(table, "set-no-address", "gives sets no address", {"av-set.addr.joins"}, h);
}

void add_contexts_of_endpoints(Table& table) {
    GroupHooks h;
    h.no_scalable = true;
    together(table, "scalable-missing", "opens no scalable endpoint", {"endpoint.scalable.opens"}, h);
    h = {};
    h.rx_context = [](int ret, int index) { return index < 2 ? ret : -FI_EINVAL; };
    together(table, "scalable-two", "opens two receive contexts at most", {"endpoint.scalable.contexts"}, h);
}

void add_addressed(const Row& row) {
    on_groups(row.posts("context-unnamed", "sends to the first receive context whatever is named",
                        {"getinfo.caps.named-rx-ctx-targets"}, [](Post& p) {
                            if (is_send(p)) p.addr &= 0xffff;
                        }));
    on_groups(row.does("multicast-lost", "sends nothing to groups", {"getinfo.caps.multicast-transfers"},
                       [](Post& p) -> ssize_t { return (p.flags & FI_MULTICAST) != 0 ? 0 : go(p); }),
              "udp");
    on_groups(row.failures("source-withheld", "tells of no address that it does not know",
                           {"getinfo.caps.source-err-data"}, [](fi_cq_err_entry& e) { e.err_data_size = 0; }));
    TrafficHooks h;
    h.read = [](Reading& r) {
        for (fi_addr_t& from : r.from)
            if (from != FI_ADDR_NOTAVAIL) from = 0;
    };
    on_groups(row.add("user-id-forgotten", "tells of addresses whatever the user calls them",
                      {"getinfo.caps.av-user-id-data"}, h));
}

}  // namespace

void add_groups(Table& table) {
    add_results(table);
    add_calls_of_groups(table);
    hurries(table, "collective-early", "tells of a reduction before it is complete", "collective.operation.waits",
            FI_ALLREDUCE);
    hurries(table, "barrier-early", "tells of a barrier before it is complete", "collective.barrier.waits", FI_BARRIER);
    repeats_entries(table);
    add_joins(table);
    add_early_join(table);
    add_sets(table);
    add_contexts_of_endpoints(table);
    add_addressed({table});
    add_object_calls(table);
    // Whatever key a domain is opened with, it has that of the first.
    on_groups(plain(table, "key-ignored", "opens all domains with one key", {"endpoint.auth-key.isolates"}))
        .life.opening = [](fi_info& info) { info.domain_attr->auth_key_size = 0; };
}

}  // namespace selvage::mutants
