// See group_wrap.h.
#include "conformance/mutants/group_wrap.h"

#include <rdma/fi_errno.h>

#include <map>
#include <memory>

namespace selvage::mutants {
namespace {

// The base's tables, and the mutation.
struct Tables {
    GroupHooks hooks;
    fi_ops_collective *collective = nullptr, own_collective = {};
    fi_ops_cm *cm = nullptr, own_cm = {};
    fi_ops *ep = nullptr, own_ep_fid = {};
    fi_ops_av *av = nullptr, own_av = {};
    fi_ops_av_set *set = nullptr, own_set = {};
    fi_ops_eq *eq = nullptr, own_eq = {};
    fi_ops_ep *scalable = nullptr, own_scalable = {};
    std::map<const fid*, std::vector<fid_cq*>> queues;  // by endpoint
    std::map<const fid*, fid_eq*> events;
};
Tables& tables() {
    static Tables t;
    return t;
}

ssize_t made(CollectiveCall call) {
    const auto& hook = tables().hooks.collective;
    return hook ? hook(call) : go(call);
}

ssize_t barrier(fid_ep* ep, fi_addr_t group, void* context) {
    CollectiveCall c;
    c.ep = ep, c.group = group, c.context = context;
    return made(c);
}
ssize_t broadcast(fid_ep* ep, void* buf, std::size_t count, void* desc, fi_addr_t group, fi_addr_t root,
                  fi_datatype type, std::uint64_t flags, void* context) {
    return made({FI_BROADCAST, ep, buf, buf, count, desc, nullptr, group, root, type, FI_NOOP, flags, context});
}
ssize_t alltoall(fid_ep* ep, const void* from, std::size_t count, void* desc, void* to, void* to_desc, fi_addr_t group,
                 fi_datatype type, std::uint64_t flags, void* context) {
    return made({FI_ALLTOALL, ep, from, to, count, desc, to_desc, group, {}, type, FI_NOOP, flags, context});
}
ssize_t allreduce(fid_ep* ep, const void* from, std::size_t count, void* desc, void* to, void* to_desc, fi_addr_t group,
                  fi_datatype type, fi_op op, std::uint64_t flags, void* context) {
    return made({FI_ALLREDUCE, ep, from, to, count, desc, to_desc, group, {}, type, op, flags, context});
}
ssize_t allgather(fid_ep* ep, const void* from, std::size_t count, void* desc, void* to, void* to_desc, fi_addr_t group,
                  fi_datatype type, std::uint64_t flags, void* context) {
    return made({FI_ALLGATHER, ep, from, to, count, desc, to_desc, group, {}, type, FI_NOOP, flags, context});
}
ssize_t reduce_scatter(fid_ep* ep, const void* from, std::size_t count, void* desc, void* to, void* to_desc,
                       fi_addr_t group, fi_datatype type, fi_op op, std::uint64_t flags, void* context) {
    return made({FI_REDUCE_SCATTER, ep, from, to, count, desc, to_desc, group, {}, type, op, flags, context});
}
ssize_t reduce(fid_ep* ep, const void* from, std::size_t count, void* desc, void* to, void* to_desc, fi_addr_t group,
               fi_addr_t root, fi_datatype type, fi_op op, std::uint64_t flags, void* context) {
    return made({FI_REDUCE, ep, from, to, count, desc, to_desc, group, root, type, op, flags, context});
}
ssize_t scatter(fid_ep* ep, const void* from, std::size_t count, void* desc, void* to, void* to_desc, fi_addr_t group,
                fi_addr_t root, fi_datatype type, std::uint64_t flags, void* context) {
    return made({FI_SCATTER, ep, from, to, count, desc, to_desc, group, root, type, FI_NOOP, flags, context});
}
ssize_t gather(fid_ep* ep, const void* from, std::size_t count, void* desc, void* to, void* to_desc, fi_addr_t group,
               fi_addr_t root, fi_datatype type, std::uint64_t flags, void* context) {
    return made({FI_GATHER, ep, from, to, count, desc, to_desc, group, root, type, FI_NOOP, flags, context});
}

bool skips(const char* operation) { return tables().hooks.skip && tables().hooks.skip(operation); }
int set_union(fid_av_set* to, const fid_av_set* from) { return skips("union") ? 0 : tables().set->set_union(to, from); }
int set_intersect(fid_av_set* to, const fid_av_set* from) {
    return skips("intersect") ? 0 : tables().set->intersect(to, from);
}
int set_diff(fid_av_set* to, const fid_av_set* from) { return skips("diff") ? 0 : tables().set->diff(to, from); }
int set_insert(fid_av_set* set, fi_addr_t addr) { return skips("insert") ? 0 : tables().set->insert(set, addr); }
int set_remove(fid_av_set* set, fi_addr_t addr) { return skips("remove") ? 0 : tables().set->remove(set, addr); }
int set_addr(fid_av_set* set, fi_addr_t* addr) {
    return tables().hooks.no_address ? -FI_ENOSYS : tables().set->addr(set, addr);
}

// Puts a copy of an object's table in its place, and keeps the base's own.  @return the copy, to be changed.
template <typename Ops>
Ops& replace(Ops*& used, Ops*& base, Ops& own) {
    base = used;
    own = *base;
    used = &own;
    return own;
}

int open_set(fid_av* av, fi_av_set_attr* attr, fid_av_set** set, void* context) {
    Tables& t = tables();
    fi_av_set_attr changed = *attr;
    if (t.hooks.set) t.hooks.set(changed);
    const int ret = t.av->av_set(av, &changed, set, context);
    if (ret != 0) return ret;
    if (t.hooks.made) t.hooks.made(*set);
    fi_ops_av_set& own = replace((*set)->ops, t.set, t.own_set);
    own.set_union = set_union;
    own.intersect = set_intersect;
    own.diff = set_diff;
    own.insert = set_insert;
    own.remove = set_remove;
    own.addr = set_addr;
    return 0;
}

int join(fid_ep* ep, const void* addr, std::uint64_t flags, fid_mc** mc, void* context) {
    const int ret = tables().cm->join(ep, addr, flags, mc, context);
    if (ret == 0 && tables().hooks.joined) tables().hooks.joined(ep, *mc, context);
    return ret;
}

int bind(fid* ep, fid* other, std::uint64_t flags) {
    Tables& t = tables();
    if (other->fclass == FI_CLASS_CQ) t.queues[ep].push_back(reinterpret_cast<fid_cq*>(other));
    if (other->fclass == FI_CLASS_EQ) t.events[ep] = reinterpret_cast<fid_eq*>(other);
    return t.ep->bind(ep, other, flags);
}

ssize_t read_event(fid_eq* eq, std::uint32_t* event, void* buf, std::size_t length, std::uint64_t flags) {
    Tables& t = tables();
    const ssize_t ret = t.eq->read(eq, event, buf, length, flags);
    return t.hooks.event ? t.hooks.event({eq, event, static_cast<fi_eq_entry*>(buf), ret}) : ret;
}

int rx_context(fid_ep* sep, int index, fi_rx_attr* attr, fid_ep** rx, void* context) {
    const int ret = tables().scalable->rx_ctx(sep, index, attr, rx, context);
    return tables().hooks.rx_context ? tables().hooks.rx_context(ret, index) : ret;
}

// A library may choose its functions when the endpoint is enabled.
void wrap_collective(fid_ep* ep) {
    Tables& t = tables();
    if (ep->collective == nullptr || ep->collective == &t.own_collective) return;
    fi_ops_collective& own = replace(ep->collective, t.collective, t.own_collective);
    own.barrier = barrier;
    own.broadcast = broadcast;
    own.alltoall = alltoall;
    own.allreduce = allreduce;
    own.allgather = allgather;
    own.reduce_scatter = reduce_scatter;
    own.reduce = reduce;
    own.scatter = scatter;
    own.gather = gather;
}

int control(fid* ep, int command, void* argument) {
    const int ret = tables().ep->control(ep, command, argument);
    if (ret == 0 && command == FI_ENABLE) wrap_collective(reinterpret_cast<fid_ep*>(ep));
    return ret;
}

void wrap_endpoint(fid_ep* ep) {
    Tables& t = tables();
    fi_ops& own = replace(ep->fid.ops, t.ep, t.own_ep_fid);
    own.bind = bind;
    own.control = control;
    if (ep->cm != nullptr) replace(ep->cm, t.cm, t.own_cm).join = join;
}

void wrap_vector(fid_av* av) {
    Tables& t = tables();
    if (av->ops->size < sizeof(fi_ops_av)) return;
    replace(av->ops, t.av, t.own_av).av_set = open_set;
}

void wrap_events(fid_eq* eq) {
    Tables& t = tables();
    replace(eq->ops, t.eq, t.own_eq).read = read_event;
}

void wrap_scalable(fid_ep* sep) {
    Tables& t = tables();
    replace(sep->ops, t.scalable, t.own_scalable).rx_ctx = rx_context;
}

}  // namespace

ssize_t go(const CollectiveCall& c) {
    const fi_ops_collective& base = *tables().collective;
    switch (c.what) {
        case FI_BROADCAST:
            return base.broadcast(c.ep, c.to, c.count, c.desc, c.group, c.root, c.datatype, c.flags, c.context);
        case FI_ALLTOALL:
            return base.alltoall(c.ep, c.from, c.count, c.desc, c.to, c.result_desc, c.group, c.datatype, c.flags,
                                 c.context);
        case FI_ALLREDUCE:
            return base.allreduce(c.ep, c.from, c.count, c.desc, c.to, c.result_desc, c.group, c.datatype, c.op,
                                  c.flags, c.context);
        case FI_ALLGATHER:
            return base.allgather(c.ep, c.from, c.count, c.desc, c.to, c.result_desc, c.group, c.datatype, c.flags,
                                  c.context);
        case FI_REDUCE_SCATTER:
            return base.reduce_scatter(c.ep, c.from, c.count, c.desc, c.to, c.result_desc, c.group, c.datatype, c.op,
                                       c.flags, c.context);
        case FI_REDUCE:
            return base.reduce(c.ep, c.from, c.count, c.desc, c.to, c.result_desc, c.group, c.root, c.datatype, c.op,
                               c.flags, c.context);
        case FI_SCATTER:
            return base.scatter(c.ep, c.from, c.count, c.desc, c.to, c.result_desc, c.group, c.root, c.datatype,
                                c.flags, c.context);
        case FI_GATHER:
            return base.gather(c.ep, c.from, c.count, c.desc, c.to, c.result_desc, c.group, c.root, c.datatype, c.flags,
                               c.context);
        default:
            return base.barrier(c.ep, c.group, c.context);
    }
}

fid_eq* events_of(const fid_ep* ep) { return tables().events[&ep->fid]; }
std::vector<fid_cq*> queues_of(const fid_ep* ep) { return tables().queues[&ep->fid]; }

std::function<int(int, std::size_t, fid*, fid*)> acts_together(GroupHooks hooks) {
    return [hooks = std::make_shared<GroupHooks>(std::move(hooks))](int ret, std::size_t kind, fid*, fid* made) {
        if (ret != 0 || made == nullptr) return ret;
        tables().hooks = *hooks;
        if (kind == FI_CLASS_EP) wrap_endpoint(reinterpret_cast<fid_ep*>(made));
        if (kind == FI_CLASS_AV) wrap_vector(reinterpret_cast<fid_av*>(made));
        if (kind == FI_CLASS_EQ) wrap_events(reinterpret_cast<fid_eq*>(made));
        if (kind != FI_CLASS_SEP) return ret;
        if (hooks->no_scalable) {
            fi_close(made);
            return -FI_ENOSYS;
        }
        wrap_scalable(reinterpret_cast<fid_ep*>(made));
        return ret;
    };
}

}  // namespace selvage::mutants
