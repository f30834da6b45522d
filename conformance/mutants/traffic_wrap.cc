// See traffic_wrap.h.
#include "conformance/mutants/traffic_wrap.h"

#include <rdma/fi_errno.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <memory>

#include "conformance/mutants/life.h"

namespace selvage::mutants {
namespace {

// Of a wrapped object: the base's tables, and ours.
struct EpWrap {
    const TrafficHooks* hooks = nullptr;
    fi_ops_ep* ep = nullptr;
    fi_ops_msg* msg = nullptr;
    fi_ops_tagged* tagged = nullptr;
    fi_ops_rma* rma = nullptr;
    fi_ops_atomic* atomic = nullptr;
    fi_ops_ep own_ep = {};
    fi_ops_msg own_msg = {};
    fi_ops_tagged own_tagged = {};
    fi_ops_rma own_rma = {};
    fi_ops_atomic own_atomic = {};
};
struct CqWrap {
    const TrafficHooks* hooks = nullptr;
    fi_ops_cq* cq = nullptr;
    fi_ops_cq own = {};
    std::uint64_t format = FI_CQ_FORMAT_CONTEXT;
    Reading held;  ///< entries that a mutation has given beyond what the caller has room for
};
struct CntrWrap {
    const TrafficHooks* hooks = nullptr;
    fi_ops_cntr* cntr = nullptr;
    fi_ops_cntr own = {};
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

ssize_t told(Post& p) {
    const auto& hook = wrap_of<EpWrap>(p.ep).hooks->post;
    return hook ? hook(p) : go(p);
}

Post basic(Kind kind, fid_ep* ep, fi_addr_t addr, void* context) {
    Post p;
    p.kind = kind;
    p.ep = ep;
    p.addr = addr;
    p.context = context;
    return p;
}

void set_local(Post& p, const void* buf, std::size_t len, void* desc) {
    p.iov = {{const_cast<void*>(buf), len}};
    p.desc = desc;
}
void set_local(Post& p, const iovec* iov, void** desc, std::size_t count) {
    p.iov.assign(iov, iov + count);
    p.desc = desc != nullptr && count > 0 ? desc[0] : nullptr;
}
// fi_ops_msg, fi_ops_tagged: the two differ by tag and ignore.
template <bool tagged, bool send>
constexpr Kind kKind = tagged ? (send ? Kind::TaggedSend : Kind::TaggedRecv) : (send ? Kind::Send : Kind::Recv);

ssize_t msg_recv(fid_ep* ep, void* buf, std::size_t len, void* desc, fi_addr_t addr, void* context) {
    Post p = basic(Kind::Recv, ep, addr, context);
    set_local(p, buf, len, desc);
    return told(p);
}
ssize_t msg_recvv(fid_ep* ep, const iovec* iov, void** desc, std::size_t count, fi_addr_t addr, void* context) {
    Post p = basic(Kind::Recv, ep, addr, context);
    set_local(p, iov, desc, count);
    return told(p);
}
template <bool send>
ssize_t msg_msg(fid_ep* ep, const fi_msg* m, std::uint64_t flags) {
    Post p = basic(kKind<false, send>, ep, m->addr, m->context);
    set_local(p, m->msg_iov, m->desc, m->iov_count);
    p.data = m->data;
    p.flags = flags;
    p.message = true;
    return told(p);
}
ssize_t msg_send(fid_ep* ep, const void* buf, std::size_t len, void* desc, fi_addr_t addr, void* context) {
    Post p = basic(Kind::Send, ep, addr, context);
    set_local(p, buf, len, desc);
    return told(p);
}
ssize_t msg_sendv(fid_ep* ep, const iovec* iov, void** desc, std::size_t count, fi_addr_t addr, void* context) {
    Post p = basic(Kind::Send, ep, addr, context);
    set_local(p, iov, desc, count);
    return told(p);
}
ssize_t msg_inject(fid_ep* ep, const void* buf, std::size_t len, fi_addr_t addr) {
    Post p = basic(Kind::Send, ep, addr, nullptr);
    set_local(p, buf, len, nullptr);
    p.inject = true;
    return told(p);
}
ssize_t msg_senddata(fid_ep* ep, const void* buf, std::size_t len, void* desc, std::uint64_t data, fi_addr_t addr,
                     void* context) {
    Post p = basic(Kind::Send, ep, addr, context);
    set_local(p, buf, len, desc);
    p.data = data;
    p.with_data = true;
    return told(p);
}
ssize_t msg_injectdata(fid_ep* ep, const void* buf, std::size_t len, std::uint64_t data, fi_addr_t addr) {
    Post p = basic(Kind::Send, ep, addr, nullptr);
    set_local(p, buf, len, nullptr);
    p.data = data;
    p.inject = p.with_data = true;
    return told(p);
}

ssize_t tag_recv(fid_ep* ep, void* buf, std::size_t len, void* desc, fi_addr_t addr, std::uint64_t tag,
                 std::uint64_t ignore, void* context) {
    Post p = basic(Kind::TaggedRecv, ep, addr, context);
    set_local(p, buf, len, desc);
    p.tag = tag;
    p.ignore = ignore;
    return told(p);
}
ssize_t tag_recvv(fid_ep* ep, const iovec* iov, void** desc, std::size_t count, fi_addr_t addr, std::uint64_t tag,
                  std::uint64_t ignore, void* context) {
    Post p = basic(Kind::TaggedRecv, ep, addr, context);
    set_local(p, iov, desc, count);
    p.tag = tag;
    p.ignore = ignore;
    return told(p);
}
template <bool send>
ssize_t tag_msg(fid_ep* ep, const fi_msg_tagged* m, std::uint64_t flags) {
    Post p = basic(kKind<true, send>, ep, m->addr, m->context);
    set_local(p, m->msg_iov, m->desc, m->iov_count);
    p.tag = m->tag;
    p.ignore = m->ignore;
    p.data = m->data;
    p.flags = flags;
    p.message = true;
    return told(p);
}
ssize_t tag_send(fid_ep* ep, const void* buf, std::size_t len, void* desc, fi_addr_t addr, std::uint64_t tag,
                 void* context) {
    Post p = basic(Kind::TaggedSend, ep, addr, context);
    set_local(p, buf, len, desc);
    p.tag = tag;
    return told(p);
}
ssize_t tag_sendv(fid_ep* ep, const iovec* iov, void** desc, std::size_t count, fi_addr_t addr, std::uint64_t tag,
                  void* context) {
    Post p = basic(Kind::TaggedSend, ep, addr, context);
    set_local(p, iov, desc, count);
    p.tag = tag;
    return told(p);
}
ssize_t tag_inject(fid_ep* ep, const void* buf, std::size_t len, fi_addr_t addr, std::uint64_t tag) {
    Post p = basic(Kind::TaggedSend, ep, addr, nullptr);
    set_local(p, buf, len, nullptr);
    p.tag = tag;
    p.inject = true;
    return told(p);
}
ssize_t tag_senddata(fid_ep* ep, const void* buf, std::size_t len, void* desc, std::uint64_t data, fi_addr_t addr,
                     std::uint64_t tag, void* context) {
    Post p = basic(Kind::TaggedSend, ep, addr, context);
    set_local(p, buf, len, desc);
    p.tag = tag;
    p.data = data;
    p.with_data = true;
    return told(p);
}
ssize_t tag_injectdata(fid_ep* ep, const void* buf, std::size_t len, std::uint64_t data, fi_addr_t addr,
                       std::uint64_t tag) {
    Post p = basic(Kind::TaggedSend, ep, addr, nullptr);
    set_local(p, buf, len, nullptr);
    p.tag = tag;
    p.data = data;
    p.inject = p.with_data = true;
    return told(p);
}

template <bool writes>
ssize_t rma_plain(fid_ep* ep, void* buf, std::size_t len, void* desc, fi_addr_t addr, std::uint64_t at,
                  std::uint64_t key, void* context) {
    Post p = basic(writes ? Kind::Write : Kind::Read, ep, addr, context);
    set_local(p, buf, len, desc);
    p.target = {{at, len, key}};
    return told(p);
}
ssize_t rma_write(fid_ep* ep, const void* buf, std::size_t len, void* desc, fi_addr_t addr, std::uint64_t at,
                  std::uint64_t key, void* context) {
    return rma_plain<true>(ep, const_cast<void*>(buf), len, desc, addr, at, key, context);
}
template <bool writes>
ssize_t rma_vector(fid_ep* ep, const iovec* iov, void** desc, std::size_t count, fi_addr_t addr, std::uint64_t at,
                   std::uint64_t key, void* context) {
    Post p = basic(writes ? Kind::Write : Kind::Read, ep, addr, context);
    set_local(p, iov, desc, count);
    p.target = {{at, p.length(), key}};
    return told(p);
}
template <bool writes>
ssize_t rma_message(fid_ep* ep, const fi_msg_rma* m, std::uint64_t flags) {
    Post p = basic(writes ? Kind::Write : Kind::Read, ep, m->addr, m->context);
    set_local(p, m->msg_iov, m->desc, m->iov_count);
    p.target.assign(m->rma_iov, m->rma_iov + m->rma_iov_count);
    p.data = m->data;
    p.flags = flags;
    p.message = true;
    return told(p);
}
ssize_t rma_inject(fid_ep* ep, const void* buf, std::size_t len, fi_addr_t addr, std::uint64_t at, std::uint64_t key) {
    Post p = basic(Kind::Write, ep, addr, nullptr);
    set_local(p, buf, len, nullptr);
    p.target = {{at, len, key}};
    p.inject = true;
    return told(p);
}
ssize_t rma_writedata(fid_ep* ep, const void* buf, std::size_t len, void* desc, std::uint64_t data, fi_addr_t addr,
                      std::uint64_t at, std::uint64_t key, void* context) {
    Post p = basic(Kind::Write, ep, addr, context);
    set_local(p, buf, len, desc);
    p.target = {{at, len, key}};
    p.data = data;
    p.with_data = true;
    return told(p);
}
ssize_t rma_injectdata(fid_ep* ep, const void* buf, std::size_t len, std::uint64_t data, fi_addr_t addr,
                       std::uint64_t at, std::uint64_t key) {
    Post p = basic(Kind::Write, ep, addr, nullptr);
    set_local(p, buf, len, nullptr);
    p.target = {{at, len, key}};
    p.data = data;
    p.inject = p.with_data = true;
    return told(p);
}

// Atomics in the plain forms; the others go to the base unseen.
ssize_t atomic_write(fid_ep* ep, const void* buf, std::size_t count, void* desc, fi_addr_t addr, std::uint64_t at,
                     std::uint64_t key, fi_datatype datatype, fi_op op, void* context) {
    Post p = basic(Kind::Atomic, ep, addr, context);
    set_local(p, buf, count, desc);
    p.target = {{at, count, key}};
    p.datatype = datatype;
    p.op = op;
    return told(p);
}
ssize_t atomic_fetch(fid_ep* ep, const void* buf, std::size_t count, void* desc, void* result, void* result_desc,
                     fi_addr_t addr, std::uint64_t at, std::uint64_t key, fi_datatype datatype, fi_op op,
                     void* context) {
    Post p = basic(Kind::Fetch, ep, addr, context);
    set_local(p, buf, count, desc);
    p.result = {{result, count}};
    p.result_desc = result_desc;
    p.target = {{at, count, key}};
    p.datatype = datatype;
    p.op = op;
    return told(p);
}
ssize_t atomic_compare(fid_ep* ep, const void* buf, std::size_t count, void* desc, const void* compare,
                       void* compare_desc, void* result, void* result_desc, fi_addr_t addr, std::uint64_t at,
                       std::uint64_t key, fi_datatype datatype, fi_op op, void* context) {
    Post p = basic(Kind::Compare, ep, addr, context);
    set_local(p, buf, count, desc);
    p.compare = {{const_cast<void*>(compare), count}};
    p.compare_desc = compare_desc;
    p.result = {{result, count}};
    p.result_desc = result_desc;
    p.target = {{at, count, key}};
    p.datatype = datatype;
    p.op = op;
    return told(p);
}

int said_valid(fid_ep* ep, int ret, std::size_t* count) {
    const auto& hook = wrap_of<EpWrap>(ep).hooks->valid;
    return hook ? hook(ret, count) : ret;
}
int atomic_valid(fid_ep* ep, fi_datatype type, fi_op op, std::size_t* count) {
    return said_valid(ep, wrap_of<EpWrap>(ep).atomic->writevalid(ep, type, op, count), count);
}
int fetch_valid(fid_ep* ep, fi_datatype type, fi_op op, std::size_t* count) {
    return said_valid(ep, wrap_of<EpWrap>(ep).atomic->readwritevalid(ep, type, op, count), count);
}
int compare_valid(fid_ep* ep, fi_datatype type, fi_op op, std::size_t* count) {
    return said_valid(ep, wrap_of<EpWrap>(ep).atomic->compwritevalid(ep, type, op, count), count);
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

ssize_t read_queue(fid_cq* cq, void* buf, std::size_t count, fi_addr_t* from) {
    CqWrap& w = wrap_of<CqWrap>(cq);
    const std::size_t size = entry_size(w.format);
    // Always the base's readfrom: its read may go through the table, which is ours, and back here without end.
    Reading& r = w.held;
    r.cq = cq;
    if (count > 0 && r.entries.size() < count) {
        const std::size_t room = std::min<std::size_t>(count, 16);
        std::vector<char> raw(room * size);
        std::vector<fi_addr_t> sources(room, FI_ADDR_NOTAVAIL);
        r.ret = w.cq->readfrom(cq, raw.data(), room, sources.data());
        const std::size_t had = r.entries.size();
        for (std::size_t i = 0; r.ret > 0 && i < static_cast<std::size_t>(r.ret); ++i) {
            fi_cq_tagged_entry e = {};
            std::memcpy(&e, raw.data() + i * size, size);
            r.entries.push_back(e);
            r.from.push_back(sources[i]);
        }
        if (w.hooks->read && (r.entries.size() > had || r.ret < 0)) w.hooks->read(r);
        r.from.resize(r.entries.size(), FI_ADDR_NOTAVAIL);
    } else if (count == 0) {
        return w.cq->readfrom(cq, buf, 0, nullptr);
    }
    if (r.entries.empty()) return r.ret > 0 ? -FI_EAGAIN : r.ret;
    const std::size_t n = std::min(count, r.entries.size());
    for (std::size_t i = 0; i < n; ++i) {
        std::memcpy(static_cast<char*>(buf) + i * size, &r.entries[i], size);
        if (from != nullptr) from[i] = r.from[i];
    }
    r.entries.erase(r.entries.begin(), r.entries.begin() + static_cast<std::ptrdiff_t>(n));
    r.from.erase(r.from.begin(), r.from.begin() + static_cast<std::ptrdiff_t>(n));
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

void wrap_messages(EpWrap& w, fid_ep* ep) {
    if ((w.msg = ep->msg) != nullptr) {
        w.own_msg = {sizeof(fi_ops_msg), msg_recv,      msg_recvv,  msg_msg<false>, msg_send,
                     msg_sendv,          msg_msg<true>, msg_inject, msg_senddata,   msg_injectdata};
        ep->msg = &w.own_msg;
    }
    if ((w.tagged = ep->tagged) != nullptr) {
        w.own_tagged = {sizeof(fi_ops_tagged), tag_recv,   tag_recvv,    tag_msg<false>, tag_send, tag_sendv,
                        tag_msg<true>,         tag_inject, tag_senddata, tag_injectdata};
        ep->tagged = &w.own_tagged;
    }
}

void wrap_memory(EpWrap& w, fid_ep* ep) {
    if ((w.rma = ep->rma) != nullptr) {
        w.own_rma = {sizeof(fi_ops_rma), rma_plain<false>,  rma_vector<false>, rma_message<false>, rma_write,
                     rma_vector<true>,   rma_message<true>, rma_inject,        rma_writedata,      rma_injectdata};
        ep->rma = &w.own_rma;
    }
    if ((w.atomic = ep->atomic) != nullptr) {
        w.own_atomic = *w.atomic;
        w.own_atomic.write = atomic_write;
        w.own_atomic.readwrite = atomic_fetch;
        w.own_atomic.compwrite = atomic_compare;
        w.own_atomic.writevalid = atomic_valid;
        w.own_atomic.readwritevalid = fetch_valid;
        w.own_atomic.compwritevalid = compare_valid;
        ep->atomic = &w.own_atomic;
    }
}

void wrap(fid_ep* ep, const TrafficHooks& hooks) {
    EpWrap& w = new_wrap<EpWrap>(ep);
    w.hooks = &hooks;
    w.ep = ep->ops;
    w.own_ep = *ep->ops;
    w.own_ep.cancel = cancel_wrapped;
    ep->ops = &w.own_ep;
    wrap_messages(w, ep);
    wrap_memory(w, ep);
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
    cntr->ops = &w.own;
}

// The base's functions, with the call as it stands.

ssize_t go_message(Post& p, EpWrap& w) {
    std::vector<void*> desc(std::max<std::size_t>(p.iov.size(), 1), p.desc);
    const bool receives = p.kind == Kind::Recv;
    if (p.message) {
        const fi_msg m = {p.iov.data(), desc.data(), p.iov.size(), p.addr, p.context, p.data};
        return receives ? w.msg->recvmsg(p.ep, &m, p.flags) : w.msg->sendmsg(p.ep, &m, p.flags);
    }
    if (receives) return w.msg->recvv(p.ep, p.iov.data(), desc.data(), p.iov.size(), p.addr, p.context);
    const iovec& one = p.iov.front();
    if (p.inject && p.with_data) return w.msg->injectdata(p.ep, one.iov_base, one.iov_len, p.data, p.addr);
    if (p.inject) return w.msg->inject(p.ep, one.iov_base, one.iov_len, p.addr);
    if (p.with_data) return w.msg->senddata(p.ep, one.iov_base, one.iov_len, p.desc, p.data, p.addr, p.context);
    return w.msg->sendv(p.ep, p.iov.data(), desc.data(), p.iov.size(), p.addr, p.context);
}

ssize_t go_tagged(Post& p, EpWrap& w) {
    std::vector<void*> desc(std::max<std::size_t>(p.iov.size(), 1), p.desc);
    const bool receives = p.kind == Kind::TaggedRecv;
    if (p.message) {
        const fi_msg_tagged m = {p.iov.data(), desc.data(), p.iov.size(), p.addr, p.tag, p.ignore, p.context, p.data};
        return receives ? w.tagged->recvmsg(p.ep, &m, p.flags) : w.tagged->sendmsg(p.ep, &m, p.flags);
    }
    if (receives)
        return w.tagged->recvv(p.ep, p.iov.data(), desc.data(), p.iov.size(), p.addr, p.tag, p.ignore, p.context);
    const iovec& one = p.iov.front();
    if (p.inject && p.with_data) return w.tagged->injectdata(p.ep, one.iov_base, one.iov_len, p.data, p.addr, p.tag);
    if (p.inject) return w.tagged->inject(p.ep, one.iov_base, one.iov_len, p.addr, p.tag);
    if (p.with_data)
        return w.tagged->senddata(p.ep, one.iov_base, one.iov_len, p.desc, p.data, p.addr, p.tag, p.context);
    return w.tagged->sendv(p.ep, p.iov.data(), desc.data(), p.iov.size(), p.addr, p.tag, p.context);
}

ssize_t go_memory(Post& p, EpWrap& w) {
    std::vector<void*> desc(std::max<std::size_t>(p.iov.size(), 1), p.desc);
    const fi_rma_iov& t = p.target.front();
    if (p.message) {
        const fi_msg_rma m = {p.iov.data(),    desc.data(),     p.iov.size(), p.addr,
                              p.target.data(), p.target.size(), p.context,    p.data};
        return p.kind == Kind::Read ? w.rma->readmsg(p.ep, &m, p.flags) : w.rma->writemsg(p.ep, &m, p.flags);
    }
    if (p.kind == Kind::Read)
        return w.rma->readv(p.ep, p.iov.data(), desc.data(), p.iov.size(), p.addr, t.addr, t.key, p.context);
    const iovec& one = p.iov.front();
    if (p.inject && p.with_data)
        return w.rma->injectdata(p.ep, one.iov_base, one.iov_len, p.data, p.addr, t.addr, t.key);
    if (p.inject) return w.rma->inject(p.ep, one.iov_base, one.iov_len, p.addr, t.addr, t.key);
    if (p.with_data)
        return w.rma->writedata(p.ep, one.iov_base, one.iov_len, p.desc, p.data, p.addr, t.addr, t.key, p.context);
    return w.rma->writev(p.ep, p.iov.data(), desc.data(), p.iov.size(), p.addr, t.addr, t.key, p.context);
}

ssize_t go_atomic(Post& p, EpWrap& w) {
    const iovec& one = p.iov.front();
    const fi_rma_iov& t = p.target.front();
    if (p.kind == Kind::Atomic)
        return w.atomic->write(p.ep, one.iov_base, one.iov_len, p.desc, p.addr, t.addr, t.key, p.datatype, p.op,
                               p.context);
    void* const result = p.result.front().iov_base;
    if (p.kind == Kind::Fetch)
        return w.atomic->readwrite(p.ep, one.iov_base, one.iov_len, p.desc, result, p.result_desc, p.addr, t.addr,
                                   t.key, p.datatype, p.op, p.context);
    return w.atomic->compwrite(p.ep, one.iov_base, one.iov_len, p.desc, p.compare.front().iov_base, p.compare_desc,
                               result, p.result_desc, p.addr, t.addr, t.key, p.datatype, p.op, p.context);
}

}  // namespace

std::size_t Post::length() const {
    std::size_t sum = 0;
    for (const auto& i : iov) sum += i.iov_len;
    return sum;
}

ssize_t base_readerr(fid_cq* cq, fi_cq_err_entry* entry) { return wrap_of<CqWrap>(cq).cq->readerr(cq, entry, 0); }

ssize_t go(Post& p) {
    EpWrap& w = wrap_of<EpWrap>(p.ep);
    switch (p.kind) {
        case Kind::Send:
        case Kind::Recv:
            return go_message(p, w);
        case Kind::TaggedSend:
        case Kind::TaggedRecv:
            return go_tagged(p, w);
        case Kind::Write:
        case Kind::Read:
            return go_memory(p, w);
        default:
            return go_atomic(p, w);
    }
}

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
