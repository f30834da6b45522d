// Calls on objects that nothing else uses: waits, closes of what is in use, vectors, regions, options, connections.
//
// A row replaces one function of one class of objects by a function without state, which knows the base's by usual<>.
// One mutation is switched on in a process, so one table of each type suffices.  Functions of fi_ops are replaced on
// objects of one class alone.
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstring>

#include "conformance/mutants/group_wrap.h"

namespace selvage::mutants {
namespace {

constexpr unsigned kCallCases = 150;
constexpr std::size_t kConnectData = 256;

template <typename Ops>
Ops usual;

// The object's table, as one of ours.
template <typename Ops>
Ops& own_table(Ops*& slot) {
    static Ops own;
    if (slot != &own) {
        own = usual<Ops> = *slot;
        slot = &own;
    }
    return own;
}

using Clauses = std::vector<std::string>;

// Changes objects of one class when they are opened on a fabric or domain.
void on_object(Table& table, const char* name, const char* breaks, Clauses clauses, const char* provider,
               std::size_t kind, void (*change)(fid*)) {
    plain(table, name, breaks, std::move(clauses)).on("groups", provider, kCallCases).life.child =
        [=](int ret, std::size_t opened, fid*, fid* made) {
            if (ret == 0 && made != nullptr && opened == kind) change(made);
            return ret;
        };
}
// Changes fabrics or domains.
void on_parent(Table& table, const char* name, const char* breaks, Clauses clauses, std::size_t kind,
               void (*change)(fid*)) {
    plain(table, name, breaks, std::move(clauses)).on("groups", "tcp", kCallCases).life.opened = [=](int ret, fid** f) {
        if (ret == 0 && (*f)->fclass == kind) change(*f);
        return ret;
    };
}

template <typename Object>
Object* as(fid* f) {
    return reinterpret_cast<Object*>(f);
}
fi_ops& base_calls(fid* f) { return own_table(f->ops); }

// fi_close says that what is in use is closed.
void close_what_is_busy(fid* f) {
    base_calls(f).close = [](fid* o) {
        const int ret = usual<fi_ops>.close(o);
        return ret == -FI_EBUSY ? 0 : ret;
    };
}

void add_waits(Table& table) {
    on_object(table, "sread-timed-out", "fi_cq_sread returns another error after its time", {"cq.sread.blocks"}, "shm",
              FI_CLASS_CQ, [](fid* f) {
                  own_table(as<fid_cq>(f)->ops).sread = [](fid_cq* cq, void* buf, std::size_t count, const void* cond,
                                                           int timeout) -> ssize_t {
                      const ssize_t ret = usual<fi_ops_cq>.sread(cq, buf, count, cond, timeout);
                      return ret == -FI_EAGAIN && timeout > 0 ? -FI_ETIMEDOUT : ret;
                  };
              });
    on_object(table, "sread-no-time", "fi_cq_sread returns another error where it has no time", {"cq.sread.at-once"},
              "shm", FI_CLASS_CQ, [](fid* f) {
                  own_table(as<fid_cq>(f)->ops).sread = [](fid_cq* cq, void* buf, std::size_t count, const void* cond,
                                                           int timeout) -> ssize_t {
                      const ssize_t ret = usual<fi_ops_cq>.sread(cq, buf, count, cond, timeout);
                      return ret == -FI_EAGAIN && timeout == 0 ? -FI_ETIMEDOUT : ret;
                  };
              });
    on_object(table, "signal-nobody", "fi_cq_signal wakes nobody", {"cq.signal.wakes"}, "shm", FI_CLASS_CQ,
              [](fid* f) { own_table(as<fid_cq>(f)->ops).signal = [](fid_cq*) { return 0; }; });
    on_object(table, "cntr-wait-positive", "fi_cntr_wait returns a positive errno", {"cntr.wait.threshold"}, "shm",
              FI_CLASS_CNTR, [](fid* f) {
                  own_table(as<fid_cntr>(f)->ops).wait = [](fid_cntr* cntr, std::uint64_t threshold, int timeout) {
                      const int ret = usual<fi_ops_cntr>.wait(cntr, threshold, timeout);
                      return ret == -FI_ETIMEDOUT ? FI_ETIMEDOUT : ret;
                  };
              });
    on_parent(table, "trywait-always", "fi_trywait always returns 0", {"poll.trywait.events"}, FI_CLASS_FABRIC,
              [](fid* f) { own_table(as<fid_fabric>(f)->ops).trywait = [](fid_fabric*, fid**, int) { return 0; }; });
}

void add_closes(Table& table) {
    on_object(table, "eq-closed-busy", "closes an event queue that an endpoint has", {"eq.close.busy"}, "tcp",
              FI_CLASS_EQ, close_what_is_busy);
    on_object(table, "cntr-closed-busy", "closes a counter that a region has, and the region",
              {"cntr.close.busy-region", "mr.close.busy"}, "shm", FI_CLASS_CNTR, close_what_is_busy);
    on_parent(table, "poll-set-closed-busy", "closes a poll set with a queue in it", {"poll.set.close-busy"},
              FI_CLASS_DOMAIN, [](fid* f) {
                  own_table(as<fid_domain>(f)->ops).poll_open = [](fid_domain* domain, fi_poll_attr* attr,
                                                                   fid_poll** set) {
                      const int ret = usual<fi_ops_domain>.poll_open(domain, attr, set);
                      if (ret == 0) close_what_is_busy(&(*set)->fid);
                      return ret;
                  };
              });
    on_parent(table, "wait-set-closed-busy", "closes a wait set that a queue has", {"poll.wait-set.close-busy"},
              FI_CLASS_FABRIC, [](fid* f) {
                  own_table(as<fid_fabric>(f)->ops).wait_open = [](fid_fabric* fabric, fi_wait_attr* attr,
                                                                   fid_wait** set) {
                      const int ret = usual<fi_ops_fabric>.wait_open(fabric, attr, set);
                      if (ret == 0) close_what_is_busy(&(*set)->fid);
                      return ret;
                  };
              });
}

void add_regions(Table& table) {
    on_parent(
        table, "mr-flag-ignored", "registers with any flag", {"mr.flags.unknown-refused"}, FI_CLASS_DOMAIN, [](fid* f) {
            own_table(as<fid_domain>(f)->mr).reg = [](fid* on, const void* buf, std::size_t length,
                                                      std::uint64_t access, std::uint64_t offset, std::uint64_t key,
                                                      std::uint64_t flags, fid_mr** mr, void* context) {
                return usual<fi_ops_mr>.reg(on, buf, length, access, offset, key, flags & FI_RMA_EVENT, mr, context);
            };
        });
    on_parent(table, "mr-iface-refused", "refuses an interface that is to be ignored", {"mr.iface.ignored"},
              FI_CLASS_DOMAIN, [](fid* f) {
                  own_table(as<fid_domain>(f)->mr).regattr = [](fid* on, const fi_mr_attr* attr, std::uint64_t flags,
                                                                fid_mr** mr) {
                      return attr->iface != FI_HMEM_SYSTEM ? -FI_ENOSYS : usual<fi_ops_mr>.regattr(on, attr, flags, mr);
                  };
              });
    on_object(table, "mr-no-raw-key", "has no raw keys", {"mr.raw-key.too-small"}, "shm", FI_CLASS_MR, [](fid* f) {
        base_calls(f).control = [](fid* o, int command, void* argument) {
            return command == FI_GET_RAW_MR ? -FI_ENOSYS : usual<fi_ops>.control(o, command, argument);
        };
    });
}

void on_vector(Table& table, const char* name, const char* breaks, const char* clause, void (*change)(fid*)) {
    on_object(table, name, breaks, {clause}, "tcp;ofi_rxm", FI_CLASS_AV, change);
}

using Insert = int (*)(fid_av*, const void*, std::size_t, fi_addr_t*, std::uint64_t, void*);
template <Insert insert>
void insert_otherwise(fid* f) {
    own_table(as<fid_av>(f)->ops).insert = insert;
}

int insert_at_end(fid_av* av, const void* from, std::size_t count, fi_addr_t* at, std::uint64_t flags, void* context) {
    const int ret = usual<fi_ops_av>.insert(av, from, count, at, flags, context);
    if (ret == 1 && at != nullptr && *at == 1) *at = 3;
    return ret;
}
int insert_without_status(fid_av* av, const void* from, std::size_t count, fi_addr_t* at, std::uint64_t flags,
                          void* context) {
    const bool requested = (flags & FI_SYNC_ERR) != 0;
    return usual<fi_ops_av>.insert(av, from, count, at, flags & ~FI_SYNC_ERR, requested ? nullptr : context);
}
int insert_without_queue(fid_av* av, const void* from, std::size_t count, fi_addr_t* at, std::uint64_t flags,
                         void* context) {
    const int ret = usual<fi_ops_av>.insert(av, from, count, at, flags, context);
    return ret == -FI_ENOEQ ? 1 : ret;
}
int insert_counted(fid_av* av, const void* from, std::size_t count, fi_addr_t* at, std::uint64_t flags, void* context) {
    const int ret = usual<fi_ops_av>.insert(av, from, count, at, flags, context);
    return ret == 0 ? static_cast<int>(count) : ret;
}

void add_vectors(Table& table) {
    on_vector(table, "av-at-end", "gives an address an index behind the last", "av.insert.lowest-index",
              insert_otherwise<insert_at_end>);
    on_vector(table, "av-no-status", "writes no status of an insertion", "av.insert.status",
              insert_otherwise<insert_without_status>);
    on_vector(table, "av-event-no-queue", "inserts without the queue for the event", "av.event.needs-queue",
              insert_otherwise<insert_without_queue>);
    on_vector(table, "av-event-counted", "returns a count where an event is to come", "av.event.completes",
              insert_otherwise<insert_counted>);
    on_vector(table, "av-symmetric-order", "inserts services of two nodes by turns", "av.insertsym.order", [](fid* f) {
        own_table(as<fid_av>(f)->ops).insertsym = [](fid_av* av, const char* node, std::size_t nodes,
                                                     const char* service, std::size_t services, fi_addr_t* at,
                                                     std::uint64_t flags, void* context) {
            const int ret = usual<fi_ops_av>.insertsym(av, node, nodes, service, services, at, flags, context);
            if (ret == 4 && at != nullptr) std::swap(at[1], at[2]);
            return ret;
        };
    });
    on_vector(table, "av-no-string", "takes no address as a string", "av.insertsvc.string", [](fid* f) {
        own_table(as<fid_av>(f)->ops).insertsvc = [](fid_av* av, const char* node, const char* service, fi_addr_t* at,
                                                     std::uint64_t flags, void* context) {
            return std::strstr(node, "://") != nullptr
                       ? -FI_EINVAL
                       : usual<fi_ops_av>.insertsvc(av, node, service, at, flags, context);
        };
    });
    on_vector(table, "av-unknown-name", "inserts names that no node has", "av.insertsvc.unknown-name", [](fid* f) {
        own_table(as<fid_av>(f)->ops).insertsvc = [](fid_av* av, const char* node, const char* service, fi_addr_t* at,
                                                     std::uint64_t flags, void* context) {
            const int ret = usual<fi_ops_av>.insertsvc(av, node, service, at, flags, context);
            return std::strstr(node, ".invalid") != nullptr && ret <= 0 ? 2 : ret;
        };
    });
    on_vector(table, "av-lookup-cut", "reports the length that fits", "av.lookup.length", [](fid* f) {
        own_table(as<fid_av>(f)->ops).lookup = [](fid_av* av, fi_addr_t at, void* name, std::size_t* length) {
            const std::size_t room = *length;
            const int ret = usual<fi_ops_av>.lookup(av, at, name, length);
            *length = std::min(*length, room);
            return ret;
        };
    });
    on_vector(table, "av-no-context", "forgets the context of a vector", "av.open.context",
              [](fid* f) { f->context = nullptr; });
}

void on_endpoint(Table& table, const char* name, const char* breaks, const char* clause, void (*change)(fid*)) {
    on_object(table, name, breaks, {clause}, "shm", FI_CLASS_EP, change);
}

// fi_enable says that it worked where the base returns this.
template <int error>
void enable_despite(fid* f) {
    base_calls(f).control = [](fid* o, int command, void* argument) {
        const int ret = usual<fi_ops>.control(o, command, argument);
        return command == FI_ENABLE && ret == -error ? 0 : ret;
    };
}

ssize_t receive_into_any(fid_ep* ep, const iovec* iov, void** desc, std::size_t count, fi_addr_t from, void* context) {
    const ssize_t ret = usual<fi_ops_msg>.recvv(ep, iov, desc, count, from, context);
    return ret == -FI_EINVAL ? 0 : ret;
}

void add_endpoints(Table& table) {
    on_endpoint(table, "name-not-cut", "gives no bytes of a name that does not fit", "endpoint.name.cut-short",
                [](fid* f) {
                    own_table(as<fid_ep>(f)->cm).getname = [](fid* o, void* name, std::size_t* length) {
                        const std::size_t room = *length;
                        const int ret = usual<fi_ops_cm>.getname(o, name, length);
                        if (ret == -FI_ETOOSMALL) std::memset(name, 0, room);
                        return ret;
                    };
                });
    on_endpoint(table, "p2p-no-option", "does not know FI_OPT_FI_HMEM_P2P", "endpoint.option.p2p-required", [](fid* f) {
        own_table(as<fid_ep>(f)->ops).setopt = [](fid* o, int level, int option, const void* value, std::size_t size) {
            return option == FI_OPT_FI_HMEM_P2P ? -FI_ENOPROTOOPT
                                                : usual<fi_ops_ep>.setopt(o, level, option, value, size);
        };
    });
    on_endpoint(table, "xpu-no-option", "does not know FI_OPT_XPU_TRIGGER", "endpoint.option.xpu-trigger", [](fid* f) {
        own_table(as<fid_ep>(f)->ops).getopt = [](fid* o, int level, int option, void* value, std::size_t* size) {
            return option == FI_OPT_XPU_TRIGGER ? -FI_ENOPROTOOPT
                                                : usual<fi_ops_ep>.getopt(o, level, option, value, size);
        };
    });
    on_endpoint(table, "no-op-flags", "does not know FI_GETOPSFLAG", "endpoint.control.op-flags", [](fid* f) {
        base_calls(f).control = [](fid* o, int command, void* argument) {
            return command == FI_GETOPSFLAG ? -FI_ENOSYS : usual<fi_ops>.control(o, command, argument);
        };
    });
    on_endpoint(table, "enable-no-transmit-queue", "enables an endpoint without a queue for sends",
                "endpoint.enable.needs-transmit-queue", enable_despite<FI_ENOCQ>);
    on_endpoint(table, "enable-no-receive-queue", "enables an endpoint without a queue for receives",
                "endpoint.enable.needs-receive-queue", enable_despite<FI_ENOCQ>);
    on_endpoint(table, "enable-unshared", "enables an endpoint without its shared context",
                "endpoint.enable.needs-shared", enable_despite<FI_EOPBADSTATE>);
    on_endpoint(table, "bind-other-domain", "binds a queue of another domain", "endpoint.bind.other-domain",
                [](fid* f) {
                    base_calls(f).bind = [](fid* o, fid* bound, std::uint64_t flags) {
                        const int ret = usual<fi_ops>.bind(o, bound, flags);
                        return ret == -FI_EDOMAIN ? 0 : ret;
                    };
                });
    on_endpoint(table, "bind-shared-twice", "binds two shared receive contexts", "endpoint.bind.single-shared",
                [](fid* f) {
                    base_calls(f).bind = [](fid* o, fid* bound, std::uint64_t flags) {
                        const int ret = usual<fi_ops>.bind(o, bound, flags);
                        return bound->fclass == FI_CLASS_SRX_CTX ? 0 : ret;
                    };
                });
    on_endpoint(table, "recvv-many", "takes more buffers than it says", "endpoint.rx-iov-limit.exceeded", [](fid* f) {
        // A library may choose its functions when the endpoint is enabled.
        base_calls(f).control = [](fid* o, int command, void* argument) {
            const int ret = usual<fi_ops>.control(o, command, argument);
            if (ret == 0 && command == FI_ENABLE) own_table(as<fid_ep>(o)->msg).recvv = receive_into_any;
            return ret;
        };
    });
}

void add_connections(Table& table) {
    on_object(table, "listen-alone", "listens without an event queue", {"cm.listen.needs-events"}, "tcp", FI_CLASS_PEP,
              [](fid* f) {
                  own_table(as<fid_pep>(f)->cm).listen = [](fid_pep* pep) {
                      const int ret = usual<fi_ops_cm>.listen(pep);
                      return ret == -FI_ENOEQ ? 0 : ret;
                  };
              });
    on_object(table, "no-backlog", "does not know FI_BACKLOG", {"cm.backlog.set"}, "tcp", FI_CLASS_PEP, [](fid* f) {
        base_calls(f).control = [](fid* o, int command, void* argument) {
            return command == FI_BACKLOG ? -FI_ENOSYS : usual<fi_ops>.control(o, command, argument);
        };
    });
    on_object(table, "connect-data-refused", "refuses a connection with too much data", {"cm.connect.cut-short"}, "tcp",
              FI_CLASS_EP, [](fid* f) {
                  own_table(as<fid_ep>(f)->cm).connect = [](fid_ep* ep, const void* to, const void* data,
                                                            std::size_t size) {
                      return size > kConnectData ? -FI_EINVAL : usual<fi_ops_cm>.connect(ep, to, data, size);
                  };
              });
}

}  // namespace

void add_object_calls(Table& table) {
    add_waits(table);
    add_closes(table);
    add_regions(table);
    add_vectors(table);
    add_endpoints(table);
    add_connections(table);
}

}  // namespace selvage::mutants
