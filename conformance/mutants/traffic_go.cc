// The base's functions, called with what a Post says.
#include <algorithm>

#include "conformance/mutants/traffic_tables.h"

namespace selvage::mutants {
namespace {

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

std::vector<fi_ioc> values(const std::vector<iovec>& iov) {
    std::vector<fi_ioc> out;
    for (const auto& i : iov) out.push_back({i.iov_base, i.iov_len});
    return out;
}

// Of several pieces, or with flags.
ssize_t go_atomic_pieces(Post& p, EpWrap& w) {
    auto iov = values(p.iov), result = values(p.result), compare = values(p.compare);
    std::vector<void*> desc(std::max<std::size_t>(iov.size(), 1), p.desc);
    std::vector<void*> result_desc(std::max<std::size_t>(result.size(), 1), p.result_desc);
    std::vector<void*> compare_desc(std::max<std::size_t>(compare.size(), 1), p.compare_desc);
    std::vector<fi_rma_ioc> target;
    for (const auto& t : p.target) target.push_back({t.addr, t.len, t.key});
    const fi_msg_atomic m = {iov.data(),    desc.data(), iov.size(), p.addr,    target.data(),
                             target.size(), p.datatype,  p.op,       p.context, p.data};
    const fi_rma_iov& t = p.target.front();
    if (p.kind == Kind::Atomic) {
        if (p.message) return w.atomic->writemsg(p.ep, &m, p.flags);
        return w.atomic->writev(p.ep, iov.data(), desc.data(), iov.size(), p.addr, t.addr, t.key, p.datatype, p.op,
                                p.context);
    }
    if (p.kind == Kind::Fetch) {
        if (p.message)
            return w.atomic->readwritemsg(p.ep, &m, result.data(), result_desc.data(), result.size(), p.flags);
        return w.atomic->readwritev(p.ep, iov.data(), desc.data(), iov.size(), result.data(), result_desc.data(),
                                    result.size(), p.addr, t.addr, t.key, p.datatype, p.op, p.context);
    }
    if (p.message)
        return w.atomic->compwritemsg(p.ep, &m, compare.data(), compare_desc.data(), compare.size(), result.data(),
                                      result_desc.data(), result.size(), p.flags);
    return w.atomic->compwritev(p.ep, iov.data(), desc.data(), iov.size(), compare.data(), compare_desc.data(),
                                compare.size(), result.data(), result_desc.data(), result.size(), p.addr, t.addr, t.key,
                                p.datatype, p.op, p.context);
}

ssize_t go_atomic(Post& p, EpWrap& w) {
    if (p.message || p.iov.size() > 1) return go_atomic_pieces(p, w);
    const iovec& one = p.iov.front();
    const fi_rma_iov& t = p.target.front();
    if (p.kind == Kind::Atomic && p.inject)
        return w.atomic->inject(p.ep, one.iov_base, one.iov_len, p.addr, t.addr, t.key, p.datatype, p.op);
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

ssize_t go(Post& p) {
    EpWrap& w = wrap_of_endpoint(p.ep);
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

}  // namespace selvage::mutants
