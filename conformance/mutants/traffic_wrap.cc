// See traffic_wrap.h.
#include "conformance/mutants/traffic_wrap.h"

#include <rdma/fi_errno.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>

#include "conformance/mutants/life.h"
#include "conformance/mutants/traffic_tables.h"

namespace selvage::mutants {
namespace {

struct CqWrap {
    const TrafficHooks* hooks = nullptr;
    fi_ops_cq* cq = nullptr;
    fi_ops_cq own = {};
    std::uint64_t format = FI_CQ_FORMAT_CONTEXT;
    std::uint64_t bound = 0;  // FI_TRANSMIT, FI_RECV
    Reading held;             ///< entries that a mutation has given beyond what the caller has room for
};
struct CntrWrap {
    const TrafficHooks* hooks = nullptr;
    fi_ops_cntr* cntr = nullptr;
    fi_ops_cntr own = {};
    std::uint64_t bound = 0;
};

template <typename Wrap>
std::map<const void*, std::unique_ptr<Wrap>>& wraps() {
    static std::map<const void*, std::unique_ptr<Wrap>> all;
    return all;
}
template <typename Wrap>
Wrap& wrap_of(const void* object) {
    return *wraps<Wrap>()[object];
}
template <typename Wrap>
Wrap& new_wrap(const void* object) {
    auto& place = wraps<Wrap>()[object];
    place = std::make_unique<Wrap>();
    return *place;
}

ssize_t base_cancel(fid_ep* ep, void* context) { return wrap_of<EpWrap>(ep).ep->cancel(&ep->fid, context); }
ssize_t cancel_wrapped(fid_t f, void* context) {
    auto* const ep = reinterpret_cast<fid_ep*>(f);
    const auto& hook = wrap_of<EpWrap>(ep).hooks->cancel;
    return hook ? hook(ep, context, base_cancel) : base_cancel(ep, context);
}

std::size_t entry_size(std::uint64_t format) {
    const std::array<std::size_t, 5> sizes = {sizeof(fi_cq_entry), sizeof(fi_cq_entry), sizeof(fi_cq_msg_entry),
                                              sizeof(fi_cq_data_entry), sizeof(fi_cq_tagged_entry)};
    return format < sizes.size() ? sizes[format] : sizes[0];
}

// What the base has now, as the mutation returns it.
Reading look(CqWrap& w, fid_cq* cq, std::size_t count) {
    const std::size_t size = entry_size(w.format);
    const std::size_t room = std::min<std::size_t>(count, 16);
    std::vector<char> raw(room * size);
    std::vector<fi_addr_t> sources(room, FI_ADDR_NOTAVAIL);
    Reading r;
    r.cq = cq;
    // Always the base's readfrom: its read may go through the table, which is ours, and back here without end.
    r.ret = w.cq->readfrom(cq, raw.data(), room, sources.data());
    for (std::size_t i = 0; r.ret > 0 && i < static_cast<std::size_t>(r.ret); ++i) {
        fi_cq_tagged_entry e = {};
        std::memcpy(&e, raw.data() + i * size, size);
        r.entries.push_back(e);
        r.from.push_back(sources[i]);
    }
    if (w.hooks->read) w.hooks->read(r);
    r.from.resize(r.entries.size(), FI_ADDR_NOTAVAIL);
    return r;
}

ssize_t read_queue(fid_cq* cq, void* buf, std::size_t count, fi_addr_t* from) {
    CqWrap& w = wrap_of<CqWrap>(cq);
    if (count == 0) return w.cq->readfrom(cq, buf, 0, nullptr);
    Reading& held = w.held;
    ssize_t ret = 0;
    if (held.entries.size() < count) {
        const Reading r = look(w, cq, count);
        held.entries.insert(held.entries.end(), r.entries.begin(), r.entries.end());
        held.from.insert(held.from.end(), r.from.begin(), r.from.end());
        ret = r.ret > 0 ? -FI_EAGAIN : r.ret;
    }
    if (held.entries.empty()) return ret;
    const std::size_t size = entry_size(w.format);
    const std::size_t n = std::min(count, held.entries.size());
    for (std::size_t i = 0; i < n; ++i) {
        std::memcpy(static_cast<char*>(buf) + i * size, &held.entries[i], size);
        if (from != nullptr) from[i] = held.from[i];
    }
    held.entries.erase(held.entries.begin(), held.entries.begin() + static_cast<std::ptrdiff_t>(n));
    held.from.erase(held.from.begin(), held.from.begin() + static_cast<std::ptrdiff_t>(n));
    return static_cast<ssize_t>(n);
}
ssize_t cq_read(fid_cq* cq, void* buf, std::size_t count) { return read_queue(cq, buf, count, nullptr); }
ssize_t cq_readfrom(fid_cq* cq, void* buf, std::size_t count, fi_addr_t* from) {
    return read_queue(cq, buf, count, from);
}
ssize_t cq_readerr(fid_cq* cq, fi_cq_err_entry* entry, std::uint64_t flags) {
    CqWrap& w = wrap_of<CqWrap>(cq);
    const ssize_t ret = w.cq->readerr(cq, entry, flags);
    return w.hooks->error ? w.hooks->error(cq, entry, ret) : ret;
}

std::uint64_t cntr_read(fid_cntr* cntr) {
    CntrWrap& w = wrap_of<CntrWrap>(cntr);
    const std::uint64_t value = w.cntr->read(cntr);
    return w.hooks->count ? w.hooks->count(cntr, value) : value;
}
std::uint64_t cntr_readerr(fid_cntr* cntr) {
    CntrWrap& w = wrap_of<CntrWrap>(cntr);
    const std::uint64_t value = w.cntr->readerr(cntr);
    return w.hooks->errors ? w.hooks->errors(cntr, value) : value;
}
int cntr_add_error(fid_cntr* cntr, std::uint64_t value) {
    return wrap_of<CntrWrap>(cntr).hooks->add_error(cntr, value);
}

void put_on(EpWrap& w, fid_ep* ep) {
    w.ep = ep->ops;
    w.own_ep = *ep->ops;
    w.own_ep.cancel = cancel_wrapped;
    ep->ops = &w.own_ep;
    put_calls(w, ep);
}

void take_off(EpWrap& w, fid_ep* ep) {
    ep->ops = w.ep;
    ep->msg = w.msg;
    ep->tagged = w.tagged;
    ep->rma = w.rma;
    ep->atomic = w.atomic;
}

// Enabling may give an endpoint other tables.
int control_wrapped(fid* f, int command, void* argument) {
    auto* const ep = reinterpret_cast<fid_ep*>(f);
    EpWrap& w = wrap_of<EpWrap>(ep);
    if (command != FI_ENABLE) return w.fid->control(f, command, argument);
    take_off(w, ep);
    const int ret = w.fid->control(f, command, argument);
    put_on(w, ep);
    return ret;
}

int bind_wrapped(fid* f, fid* other, std::uint64_t flags) {
    if (other->fclass == FI_CLASS_CQ) wrap_of<CqWrap>(other).bound |= flags;
    if (other->fclass == FI_CLASS_CNTR) wrap_of<CntrWrap>(other).bound |= flags;
    return wrap_of<EpWrap>(f).fid->bind(f, other, flags);
}

int close_wrapped(fid* f) {
    auto* const ep = reinterpret_cast<fid_ep*>(f);
    EpWrap& w = wrap_of<EpWrap>(ep);
    if (w.hooks->closed) w.hooks->closed();
    take_off(w, ep);
    f->ops = w.fid;
    const int ret = f->ops->close(f);
    if (ret != 0) {  // it lives on
        f->ops = &w.own_fid;
        put_on(w, ep);
    }
    return ret;
}

void wrap(fid_ep* ep, const TrafficHooks& hooks) {
    EpWrap& w = new_wrap<EpWrap>(ep);
    w.hooks = &hooks;
    w.fid = ep->fid.ops;
    w.own_fid = *ep->fid.ops;
    w.own_fid.control = control_wrapped;
    w.own_fid.bind = bind_wrapped;
    w.own_fid.close = close_wrapped;
    ep->fid.ops = &w.own_fid;
    put_on(w, ep);
}

void wrap(fid_cq* cq, const TrafficHooks& hooks) {
    CqWrap& w = new_wrap<CqWrap>(cq);
    w.hooks = &hooks;
    w.format = last_cq_format();
    w.cq = cq->ops;
    w.own = *cq->ops;
    w.own.read = cq_read;
    w.own.readfrom = cq_readfrom;
    w.own.readerr = cq_readerr;
    cq->ops = &w.own;
}

void wrap(fid_cntr* cntr, const TrafficHooks& hooks) {
    CntrWrap& w = new_wrap<CntrWrap>(cntr);
    w.hooks = &hooks;
    w.cntr = cntr->ops;
    w.own = *cntr->ops;
    w.own.read = cntr_read;
    w.own.readerr = cntr_readerr;
    if (hooks.add_error) w.own.adderr = cntr_add_error;
    cntr->ops = &w.own;
}
}  // namespace

// A library may do deferred work on a copy of its endpoint, which has our tables, too.
EpWrap& wrap_of_endpoint(const fid_ep* ep) {
    for (const auto& [wrapped, w] : wraps<EpWrap>())
        if (wrapped == ep || ep->msg == &w->own_msg || ep->rma == &w->own_rma) return *w;
    return wrap_of<EpWrap>(ep);
}

std::uint64_t bound_for(fid_cq* cq) { return wrap_of<CqWrap>(cq).bound; }
std::uint64_t bound_for(fid_cntr* cntr) { return wrap_of<CntrWrap>(cntr).bound; }

ssize_t base_readerr(fid_cq* cq, fi_cq_err_entry* entry) { return wrap_of<CqWrap>(cq).cq->readerr(cq, entry, 0); }
std::function<int(int, std::size_t, fid*, fid*)> carries(TrafficHooks hooks) {
    return [hooks = std::make_shared<TrafficHooks>(std::move(hooks))](int ret, std::size_t kind, fid*, fid* made) {
        if (ret != 0 || made == nullptr) return ret;
        if (kind == FI_CLASS_EP) wrap(reinterpret_cast<fid_ep*>(made), *hooks);
        if (kind == FI_CLASS_CQ) wrap(reinterpret_cast<fid_cq*>(made), *hooks);
        if (kind == FI_CLASS_CNTR) wrap(reinterpret_cast<fid_cntr*>(made), *hooks);
        return ret;
    };
}

}  // namespace selvage::mutants
