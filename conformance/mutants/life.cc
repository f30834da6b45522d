// See life.h.
//
// A wrapped object gets its own copies of the operation tables, in which the functions that hooks care about are ours.
// What the tables were is kept in a Wrap, found by the object's address; Wraps are a fixed array under a lock, given up
// when the object is closed.  Without hooks nothing is wrapped.
#include "conformance/mutants/life.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <array>
#include <mutex>

namespace selvage::mutants {
namespace {

struct Wrap {
    fid* object = nullptr;
    const LifeHooks* hooks = nullptr;
    fi_ops* ops = nullptr;  // the base's
    fi_ops_fabric* fabric = nullptr;
    fi_ops_domain* domain = nullptr;
    fi_ops own = {};  // ours
    fi_ops_fabric own_fabric = {};
    fi_ops_domain own_domain = {};
    fi_ops_mr* mr = nullptr;
    fi_ops_mr own_mr = {};
};

std::mutex wraps_lock;
std::array<Wrap, 512> wraps;  // guarded by wraps_lock, but for the rows of objects that the caller holds open

Wrap* find(const fid* object) {
    const std::lock_guard guard(wraps_lock);
    for (Wrap& w : wraps)
        if (w.object == object) return &w;
    return nullptr;
}

Wrap& wrap_of(const fid* object) { return *find(object); }

Wrap* take(fid* object, const LifeHooks& hooks) {
    Wrap* w = find(nullptr);
    if (w == nullptr) return nullptr;
    w->object = object;
    w->hooks = &hooks;
    return w;
}

int base_close(fid* object) {
    Wrap& w = wrap_of(object);
    // The base looks at its own tables.
    fi_ops* const ours = object->ops;
    object->ops = w.ops;
    const int ret = w.ops->close(object);
    if (ret != 0) {
        object->ops = ours;
        return ret;
    }
    w.object = nullptr;
    return 0;
}

int close_wrapped(fid* object) {
    const auto& hook = wrap_of(object).hooks->close;
    return hook ? hook(object, base_close) : base_close(object);
}

int bind_wrapped(fid* object, fid* other, std::uint64_t flags) {
    Wrap& w = wrap_of(object);
    const int ret = w.ops->bind(object, other, flags);
    return w.hooks->bound ? w.hooks->bound(ret, object, other, flags) : ret;
}

int open_ops_wrapped(fid* object, const char* name, std::uint64_t flags, void** out, void* context) {
    Wrap& w = wrap_of(object);
    const int ret = w.ops->ops_open(object, name, flags, out, context);
    return w.hooks->ops ? w.hooks->ops(ret, name, false) : ret;
}

int set_ops_wrapped(fid* object, const char* name, std::uint64_t flags, void* ops, void* context) {
    Wrap& w = wrap_of(object);
    const int ret = w.ops->ops_set(object, name, flags, ops, context);
    return w.hooks->ops ? w.hooks->ops(ret, name, true) : ret;
}

int base_control(fid* object, int command, void* argument) {
    return wrap_of(object).ops->control(object, command, argument);
}

int control_wrapped(fid* object, int command, void* argument) {
    const auto& hook = wrap_of(object).hooks->control;
    return hook ? hook(object, command, argument, base_control) : base_control(object, command, argument);
}

// What the hook on children makes of an open.
template <typename Made>
int child(const Wrap& w, int ret, std::size_t kind, fid* on, Made** made) {
    return w.hooks->child ? w.hooks->child(ret, kind, on, ret == 0 ? &(*made)->fid : nullptr) : ret;
}

void wrap_fid(Wrap& w) {
    fid* const f = w.object;
    w.ops = f->ops;
    w.own = *f->ops;
    w.own.close = close_wrapped;
    w.own.bind = bind_wrapped;
    w.own.ops_open = open_ops_wrapped;
    w.own.ops_set = set_ops_wrapped;
    w.own.control = control_wrapped;
    f->ops = &w.own;
}

std::uint64_t cq_format = FI_CQ_FORMAT_CONTEXT;

int open_cq(fid_domain* domain, fi_cq_attr* attr, fid_cq** cq, void* context) {
    if (attr != nullptr) cq_format = attr->format;
    Wrap& w = wrap_of(&domain->fid);
    return child(w, w.domain->cq_open(domain, attr, cq, context), FI_CLASS_CQ, &domain->fid, cq);
}
int open_av(fid_domain* domain, fi_av_attr* attr, fid_av** av, void* context) {
    Wrap& w = wrap_of(&domain->fid);
    return child(w, w.domain->av_open(domain, attr, av, context), FI_CLASS_AV, &domain->fid, av);
}
int open_cntr(fid_domain* domain, fi_cntr_attr* attr, fid_cntr** cntr, void* context) {
    Wrap& w = wrap_of(&domain->fid);
    return child(w, w.domain->cntr_open(domain, attr, cntr, context), FI_CLASS_CNTR, &domain->fid, cntr);
}
int open_ep(fid_domain* domain, fi_info* info, fid_ep** ep, void* context) {
    Wrap& w = wrap_of(&domain->fid);
    return child(w, w.domain->endpoint(domain, info, ep, context), FI_CLASS_EP, &domain->fid, ep);
}
int open_scalable(fid_domain* domain, fi_info* info, fid_ep** sep, void* context) {
    Wrap& w = wrap_of(&domain->fid);
    return child(w, w.domain->scalable_ep(domain, info, sep, context), FI_CLASS_SEP, &domain->fid, sep);
}
int open_shared(fid_domain* domain, fi_rx_attr* attr, fid_ep** srx, void* context) {
    Wrap& w = wrap_of(&domain->fid);
    return child(w, w.domain->srx_ctx(domain, attr, srx, context), FI_CLASS_SRX_CTX, &domain->fid, srx);
}
int open_eq(fid_fabric* fabric, fi_eq_attr* attr, fid_eq** eq, void* context) {
    Wrap& w = wrap_of(&fabric->fid);
    return child(w, w.fabric->eq_open(fabric, attr, eq, context), FI_CLASS_EQ, &fabric->fid, eq);
}
int open_pep(fid_fabric* fabric, fi_info* info, fid_pep** pep, void* context) {
    Wrap& w = wrap_of(&fabric->fid);
    return child(w, w.fabric->passive_ep(fabric, info, pep, context), FI_CLASS_PEP, &fabric->fid, pep);
}

int register_memory(fid* object, const void* buffer, std::size_t length, std::uint64_t access, std::uint64_t offset,
                    std::uint64_t key, std::uint64_t flags, fid_mr** mr, void* context) {
    Wrap& w = wrap_of(object);
    return child(w, w.mr->reg(object, buffer, length, access, offset, key, flags, mr, context), FI_CLASS_MR, object,
                 mr);
}

std::size_t registered(const Wrap& w, std::size_t count) { return w.hooks->vectors ? w.hooks->vectors(count) : count; }

int register_vectors(fid* object, const iovec* ranges, std::size_t count, std::uint64_t access, std::uint64_t offset,
                     std::uint64_t key, std::uint64_t flags, fid_mr** mr, void* context) {
    Wrap& w = wrap_of(object);
    return w.mr->regv(object, ranges, registered(w, count), access, offset, key, flags, mr, context);
}
int register_attributes(fid* object, const fi_mr_attr* attr, std::uint64_t flags, fid_mr** mr) {
    Wrap& w = wrap_of(object);
    fi_mr_attr changed = *attr;
    changed.iov_count = registered(w, attr->iov_count);
    return w.mr->regattr(object, &changed, flags, mr);
}

int domain_opened(const LifeHooks& hooks, int ret, fid_domain** domain) {
    fid* object = ret == 0 ? &(*domain)->fid : nullptr;
    if (Wrap* w = object != nullptr ? take(object, hooks) : nullptr) {
        wrap_fid(*w);
        w->domain = (*domain)->ops;
        w->own_domain = *w->domain;
        w->own_domain.cq_open = open_cq;
        w->own_domain.av_open = open_av;
        w->own_domain.cntr_open = open_cntr;
        w->own_domain.endpoint = open_ep;
        w->own_domain.scalable_ep = open_scalable;
        w->own_domain.srx_ctx = open_shared;
        (*domain)->ops = &w->own_domain;
        w->mr = (*domain)->mr;
        w->own_mr = *w->mr;
        w->own_mr.reg = register_memory;
        w->own_mr.regv = register_vectors;
        w->own_mr.regattr = register_attributes;
        (*domain)->mr = &w->own_mr;
    }
    if (!hooks.opened) return ret;
    const int told = hooks.opened(ret, &object);
    *domain = reinterpret_cast<fid_domain*>(object);
    return told;
}

int open_domain(fid_fabric* fabric, fi_info* info, fid_domain** domain, void* context) {
    Wrap& w = wrap_of(&fabric->fid);
    fi_info changed = *info;
    fi_domain_attr attr = *info->domain_attr;
    changed.domain_attr = &attr;
    if (w.hooks->opening) w.hooks->opening(changed);
    const int ret = child(w, w.fabric->domain(fabric, w.hooks->opening ? &changed : info, domain, context),
                          FI_CLASS_DOMAIN, &fabric->fid, domain);
    return domain_opened(*w.hooks, ret, domain);
}

int open_domain2(fid_fabric* fabric, fi_info* info, fid_domain** domain, std::uint64_t flags, void* context) {
    Wrap& w = wrap_of(&fabric->fid);
    const int ret =
        child(w, w.fabric->domain2(fabric, info, domain, flags, context), FI_CLASS_DOMAIN, &fabric->fid, domain);
    return domain_opened(*w.hooks, ret, domain);
}

bool any(const LifeHooks& h) { return h.opened || h.close || h.child || h.bound || h.ops || h.opening || h.vectors; }

}  // namespace

std::uint64_t last_cq_format() { return cq_format; }

int fabric_opened(const LifeHooks& hooks, int ret, fid_fabric** fabric) {
    if (!any(hooks)) return ret;
    fid* object = ret == 0 ? &(*fabric)->fid : nullptr;
    if (Wrap* w = object != nullptr ? take(object, hooks) : nullptr) {
        wrap_fid(*w);
        w->fabric = (*fabric)->ops;
        w->own_fabric = *w->fabric;
        w->own_fabric.domain = open_domain;
        if (w->own_fabric.size >= sizeof(fi_ops_fabric)) w->own_fabric.domain2 = open_domain2;
        w->own_fabric.eq_open = open_eq;
        w->own_fabric.passive_ep = open_pep;
        (*fabric)->ops = &w->own_fabric;
    }
    if (!hooks.opened) return ret;
    const int told = hooks.opened(ret, &object);
    *fabric = reinterpret_cast<fid_fabric*>(object);
    return told;
}

}  // namespace selvage::mutants
