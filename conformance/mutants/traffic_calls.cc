// The calls that post transfers: each is brought into the one form, and handed to the mutation.
#include "conformance/mutants/traffic_tables.h"

namespace selvage::mutants {
namespace {

ssize_t told(Post& p) {
    const auto& hook = wrap_of_endpoint(p.ep).hooks->post;
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

void set_values(std::vector<iovec>& out, const fi_ioc* ioc, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) out.push_back({ioc[i].addr, ioc[i].count});
}
Post atomic_vector(Kind kind, fid_ep* ep, const fi_ioc* iov, void** desc, std::size_t count, fi_addr_t addr,
                   std::uint64_t at, std::uint64_t key, fi_datatype datatype, fi_op op, void* context) {
    Post p = basic(kind, ep, addr, context);
    set_values(p.iov, iov, count);
    p.desc = desc != nullptr && count > 0 ? desc[0] : nullptr;
    p.target = {{at, p.length(), key}};
    p.datatype = datatype;
    p.op = op;
    return p;
}
Post atomic_message(Kind kind, fid_ep* ep, const fi_msg_atomic* m, std::uint64_t flags) {
    Post p = basic(kind, ep, m->addr, m->context);
    set_values(p.iov, m->msg_iov, m->iov_count);
    p.desc = m->desc != nullptr && m->iov_count > 0 ? m->desc[0] : nullptr;
    for (std::size_t i = 0; i < m->rma_iov_count; ++i)
        p.target.push_back({m->rma_iov[i].addr, m->rma_iov[i].count, m->rma_iov[i].key});
    p.datatype = m->datatype;
    p.op = m->op;
    p.data = m->data;
    p.flags = flags;
    p.message = true;
    return p;
}
void set_results(Post& p, fi_ioc* result, void** desc, std::size_t count) {
    set_values(p.result, result, count);
    p.result_desc = desc != nullptr && count > 0 ? desc[0] : nullptr;
}
void set_compares(Post& p, const fi_ioc* compare, void** desc, std::size_t count) {
    set_values(p.compare, compare, count);
    p.compare_desc = desc != nullptr && count > 0 ? desc[0] : nullptr;
}

ssize_t atomic_writev(fid_ep* ep, const fi_ioc* iov, void** desc, std::size_t count, fi_addr_t addr, std::uint64_t at,
                      std::uint64_t key, fi_datatype datatype, fi_op op, void* context) {
    Post p = atomic_vector(Kind::Atomic, ep, iov, desc, count, addr, at, key, datatype, op, context);
    return told(p);
}
ssize_t atomic_writemsg(fid_ep* ep, const fi_msg_atomic* m, std::uint64_t flags) {
    Post p = atomic_message(Kind::Atomic, ep, m, flags);
    return told(p);
}
ssize_t atomic_inject(fid_ep* ep, const void* buf, std::size_t count, fi_addr_t addr, std::uint64_t at,
                      std::uint64_t key, fi_datatype datatype, fi_op op) {
    Post p = basic(Kind::Atomic, ep, addr, nullptr);
    set_local(p, buf, count, nullptr);
    p.target = {{at, count, key}};
    p.datatype = datatype;
    p.op = op;
    p.inject = true;
    return told(p);
}
ssize_t atomic_fetchv(fid_ep* ep, const fi_ioc* iov, void** desc, std::size_t count, fi_ioc* result, void** result_desc,
                      std::size_t results, fi_addr_t addr, std::uint64_t at, std::uint64_t key, fi_datatype datatype,
                      fi_op op, void* context) {
    Post p = atomic_vector(Kind::Fetch, ep, iov, desc, count, addr, at, key, datatype, op, context);
    set_results(p, result, result_desc, results);
    return told(p);
}
ssize_t atomic_fetchmsg(fid_ep* ep, const fi_msg_atomic* m, fi_ioc* result, void** result_desc, std::size_t results,
                        std::uint64_t flags) {
    Post p = atomic_message(Kind::Fetch, ep, m, flags);
    set_results(p, result, result_desc, results);
    return told(p);
}
ssize_t atomic_comparev(fid_ep* ep, const fi_ioc* iov, void** desc, std::size_t count, const fi_ioc* compare,
                        void** compare_desc, std::size_t compares, fi_ioc* result, void** result_desc,
                        std::size_t results, fi_addr_t addr, std::uint64_t at, std::uint64_t key, fi_datatype datatype,
                        fi_op op, void* context) {
    Post p = atomic_vector(Kind::Compare, ep, iov, desc, count, addr, at, key, datatype, op, context);
    set_compares(p, compare, compare_desc, compares);
    set_results(p, result, result_desc, results);
    return told(p);
}
ssize_t atomic_comparemsg(fid_ep* ep, const fi_msg_atomic* m, const fi_ioc* compare, void** compare_desc,
                          std::size_t compares, fi_ioc* result, void** result_desc, std::size_t results,
                          std::uint64_t flags) {
    Post p = atomic_message(Kind::Compare, ep, m, flags);
    set_compares(p, compare, compare_desc, compares);
    set_results(p, result, result_desc, results);
    return told(p);
}

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
    const auto& hook = wrap_of_endpoint(ep).hooks->valid;
    return hook ? hook(ret, count) : ret;
}
int atomic_valid(fid_ep* ep, fi_datatype type, fi_op op, std::size_t* count) {
    return said_valid(ep, wrap_of_endpoint(ep).atomic->writevalid(ep, type, op, count), count);
}
int fetch_valid(fid_ep* ep, fi_datatype type, fi_op op, std::size_t* count) {
    return said_valid(ep, wrap_of_endpoint(ep).atomic->readwritevalid(ep, type, op, count), count);
}
int compare_valid(fid_ep* ep, fi_datatype type, fi_op op, std::size_t* count) {
    return said_valid(ep, wrap_of_endpoint(ep).atomic->compwritevalid(ep, type, op, count), count);
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
        w.own_atomic = {sizeof(fi_ops_atomic), atomic_write,  atomic_writev,   atomic_writemsg, atomic_inject,
                        atomic_fetch,          atomic_fetchv, atomic_fetchmsg, atomic_compare,  atomic_comparev,
                        atomic_comparemsg,     atomic_valid,  fetch_valid,     compare_valid};
        ep->atomic = &w.own_atomic;
    }
}

}  // namespace

void put_calls(EpWrap& w, fid_ep* ep) {
    wrap_messages(w, ep);
    wrap_memory(w, ep);
}

}  // namespace selvage::mutants
