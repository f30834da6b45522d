// See post.h.
#include "conformance/drive/endpoint/post.h"

#include <algorithm>

#include "conformance/case/atomic_values.h"
#include "conformance/case/operations.h"

namespace selvage::conformance {
namespace {

using model::CallForm;
using model::Operation;
using model::Transfer;

// Everything a call needs, by the names of the interface.
class Call {
public:
    Call(const Poster& poster, const PostedCall& call, Arguments& arguments)
        : o_(call.operation),
          target_(call.target),
          a_(arguments),
          local_(pieces(poster, call.local)),
          result_(pieces(poster, call.result)),
          compare_(pieces(poster, call.compare)),
          context_(poster.memory + call.context),
          poster_(poster),
          ep_(poster.ep),
          desc_(poster.descriptor),
          dest_(poster.peer) {
        a_.local = local_;
        a_.descriptors.assign(std::max<std::size_t>(a_.local.size(), 1), desc_);
        if (reaches_memory(o_)) aim();
    }

    std::int64_t make() {
        switch (o_.what) {
            case Transfer::Send:
                return send();
            case Transfer::TaggedSend:
                return tagged_send();
            case Transfer::Recv:
                return receive();
            case Transfer::TaggedRecv:
                return tagged_receive();
            case Transfer::Write:
                return write();
            case Transfer::Read:
                return read();
            case Transfer::Atomic:
                return atomic();
            case Transfer::FetchAtomic:
                return fetch();
            case Transfer::CompareAtomic:
                return compare();
            case Transfer::Cancel:
                return fi_cancel(&ep_->fid, context_);
            case Transfer::Progress:
                break;
        }
        return 0;
    }

private:
    static std::vector<iovec> pieces(const Poster& poster, const std::vector<MemoryRange>& ranges) {
        std::vector<iovec> out;
        out.reserve(ranges.size());
        for (const auto& r : ranges) out.push_back({poster.memory + r.offset, r.length});
        return out;
    }
    [[nodiscard]] void* buffer() const { return local_.front().iov_base; }
    [[nodiscard]] void* result() const { return result_.front().iov_base; }
    [[nodiscard]] void* compared() const { return compare_.front().iov_base; }
    [[nodiscard]] std::size_t length() const { return o_.length; }
    [[nodiscard]] std::size_t count() const { return a_.local.size(); }
    [[nodiscard]] fi_datatype datatype() const { return static_cast<fi_datatype>(o_.datatype); }
    [[nodiscard]] fi_op op() const { return static_cast<fi_op>(o_.op); }
    [[nodiscard]] fi_addr_t source() const {
        return o_.from_other ? poster_.self : o_.from_any ? FI_ADDR_UNSPEC : poster_.peer;
    }
    [[nodiscard]] bool message() const { return o_.form == CallForm::Message; }

    // The target's side of a read, write or atomic.
    void aim() {
        // A key that nothing has: far from the small ones that are asked for, and not one that the library gave.
        key_ = o_.bad_key ? (target_.key ^ 0x5A5A) + 0x10000 : target_.key;
        const std::size_t size = is_atomic(o_) ? std::max<std::size_t>(datatype_size(o_.datatype), 1) : 1;
        const std::uint64_t all = is_atomic(o_) ? o_.count : o_.length;
        const std::uint64_t pieces = std::clamp<std::uint64_t>(o_.target_pieces, 1, 64);
        std::uint64_t at = 0;
        for (std::uint64_t i = 0; i < pieces; ++i) {
            const std::uint64_t n = i + 1 < pieces ? all / pieces : all - at;
            const std::uint64_t address = target_.address + o_.offset + at * size;
            a_.target.push_back({address, n, key_});
            a_.target_values.push_back({address, n, key_});
            at += n;
        }
        address_ = a_.target.front().addr;
        const auto values = [&](std::vector<fi_ioc>& out, const std::vector<iovec>& from) {
            for (const auto& p : from) out.push_back({p.iov_base, p.iov_len / size});
        };
        if (!is_atomic(o_)) return;
        values(a_.values, local_);
        values(a_.results, result_);
        values(a_.compares, compare_);
    }

    [[nodiscard]] fi_msg plain_message(fi_addr_t addr) {
        return {a_.local.data(), a_.descriptors.data(), count(), addr, context_, o_.data};
    }
    [[nodiscard]] fi_msg_tagged tagged_message(fi_addr_t addr) {
        return {a_.local.data(), a_.descriptors.data(), count(), addr, o_.tag, o_.ignore, context_, o_.data};
    }
    [[nodiscard]] fi_msg_rma rma_message() {
        return {a_.local.data(),  a_.descriptors.data(), count(),  dest_,
                a_.target.data(), a_.target.size(),      context_, o_.data};
    }
    [[nodiscard]] fi_msg_atomic atomic_message() {
        return {a_.values.data(),
                a_.descriptors.data(),
                a_.values.size(),
                dest_,
                a_.target_values.data(),
                a_.target_values.size(),
                datatype(),
                op(),
                context_,
                o_.data};
    }

    std::int64_t send() {
        switch (o_.form) {
            case CallForm::Plain:
                return fi_send(ep_, buffer(), length(), desc_, dest_, context_);
            case CallForm::Vector:
                return fi_sendv(ep_, a_.local.data(), a_.descriptors.data(), count(), dest_, context_);
            case CallForm::Message: {
                const fi_msg m = plain_message(dest_);
                return fi_sendmsg(ep_, &m, o_.flags);
            }
            case CallForm::Inject:
                return fi_inject(ep_, buffer(), length(), dest_);
            case CallForm::Data:
                return fi_senddata(ep_, buffer(), length(), desc_, o_.data, dest_, context_);
            case CallForm::InjectData:
                return fi_injectdata(ep_, buffer(), length(), o_.data, dest_);
        }
        return 0;
    }

    std::int64_t tagged_send() {
        switch (o_.form) {
            case CallForm::Plain:
                return fi_tsend(ep_, buffer(), length(), desc_, dest_, o_.tag, context_);
            case CallForm::Vector:
                return fi_tsendv(ep_, a_.local.data(), a_.descriptors.data(), count(), dest_, o_.tag, context_);
            case CallForm::Message: {
                const fi_msg_tagged m = tagged_message(dest_);
                return fi_tsendmsg(ep_, &m, o_.flags);
            }
            case CallForm::Inject:
                return fi_tinject(ep_, buffer(), length(), dest_, o_.tag);
            case CallForm::Data:
                return fi_tsenddata(ep_, buffer(), length(), desc_, o_.data, dest_, o_.tag, context_);
            case CallForm::InjectData:
                return fi_tinjectdata(ep_, buffer(), length(), o_.data, dest_, o_.tag);
        }
        return 0;
    }

    std::int64_t receive() {
        if (message()) {
            const fi_msg m = plain_message(source());
            return fi_recvmsg(ep_, &m, o_.flags);
        }
        if (o_.form == CallForm::Vector)
            return fi_recvv(ep_, a_.local.data(), a_.descriptors.data(), count(), source(), context_);
        return fi_recv(ep_, buffer(), length(), desc_, source(), context_);
    }

    std::int64_t tagged_receive() {
        if (message()) {
            fi_msg_tagged m = tagged_message(source());
            // A look may bring a copy of the data along, if it has a buffer.
            if ((o_.flags & FI_DISCARD) != 0 || ((o_.flags & FI_PEEK) != 0 && o_.length == 0)) {
                m.msg_iov = nullptr;
                m.desc = nullptr;
                m.iov_count = 0;
            }
            return fi_trecvmsg(ep_, &m, o_.flags);
        }
        if (o_.form == CallForm::Vector)
            return fi_trecvv(ep_, a_.local.data(), a_.descriptors.data(), count(), source(), o_.tag, o_.ignore,
                             context_);
        return fi_trecv(ep_, buffer(), length(), desc_, source(), o_.tag, o_.ignore, context_);
    }

    std::int64_t write() {
        switch (o_.form) {
            case CallForm::Plain:
                return fi_write(ep_, buffer(), length(), desc_, dest_, address_, key_, context_);
            case CallForm::Vector:
                return fi_writev(ep_, a_.local.data(), a_.descriptors.data(), count(), dest_, address_, key_, context_);
            case CallForm::Message: {
                const fi_msg_rma m = rma_message();
                return fi_writemsg(ep_, &m, o_.flags);
            }
            case CallForm::Inject:
                return fi_inject_write(ep_, buffer(), length(), dest_, address_, key_);
            case CallForm::Data:
                return fi_writedata(ep_, buffer(), length(), desc_, o_.data, dest_, address_, key_, context_);
            case CallForm::InjectData:
                return fi_inject_writedata(ep_, buffer(), length(), o_.data, dest_, address_, key_);
        }
        return 0;
    }

    std::int64_t read() {
        if (message()) {
            const fi_msg_rma m = rma_message();
            return fi_readmsg(ep_, &m, o_.flags);
        }
        if (o_.form == CallForm::Vector)
            return fi_readv(ep_, a_.local.data(), a_.descriptors.data(), count(), dest_, address_, key_, context_);
        return fi_read(ep_, buffer(), length(), desc_, dest_, address_, key_, context_);
    }

    std::int64_t atomic() {
        const std::size_t n = o_.count;
        switch (o_.form) {
            case CallForm::Vector:
                return fi_atomicv(ep_, a_.values.data(), a_.descriptors.data(), a_.values.size(), dest_, address_, key_,
                                  datatype(), op(), context_);
            case CallForm::Message: {
                const fi_msg_atomic m = atomic_message();
                return fi_atomicmsg(ep_, &m, o_.flags);
            }
            case CallForm::Inject:
                return fi_inject_atomic(ep_, buffer(), n, dest_, address_, key_, datatype(), op());
            default:
                return fi_atomic(ep_, buffer(), n, desc_, dest_, address_, key_, datatype(), op(), context_);
        }
    }

    std::int64_t fetch() {
        if (message()) {
            const fi_msg_atomic m = atomic_message();
            return fi_fetch_atomicmsg(ep_, &m, a_.results.data(), a_.descriptors.data(), a_.results.size(), o_.flags);
        }
        if (o_.form == CallForm::Vector)
            return fi_fetch_atomicv(ep_, a_.values.data(), a_.descriptors.data(), a_.values.size(), a_.results.data(),
                                    a_.descriptors.data(), a_.results.size(), dest_, address_, key_, datatype(), op(),
                                    context_);
        return fi_fetch_atomic(ep_, buffer(), o_.count, desc_, result(), desc_, dest_, address_, key_, datatype(), op(),
                               context_);
    }

    std::int64_t compare() {
        if (message()) {
            const fi_msg_atomic m = atomic_message();
            return fi_compare_atomicmsg(ep_, &m, a_.compares.data(), a_.descriptors.data(), a_.compares.size(),
                                        a_.results.data(), a_.descriptors.data(), a_.results.size(), o_.flags);
        }
        if (o_.form == CallForm::Vector)
            return fi_compare_atomicv(ep_, a_.values.data(), a_.descriptors.data(), a_.values.size(),
                                      a_.compares.data(), a_.descriptors.data(), a_.compares.size(), a_.results.data(),
                                      a_.descriptors.data(), a_.results.size(), dest_, address_, key_, datatype(), op(),
                                      context_);
        return fi_compare_atomic(ep_, buffer(), o_.count, desc_, compared(), desc_, result(), desc_, dest_, address_,
                                 key_, datatype(), op(), context_);
    }

    const Operation& o_;
    const RemoteRegion& target_;
    Arguments& a_;
    const std::vector<iovec> local_, result_, compare_;
    void* context_;
    const Poster& poster_;
    fid_ep* ep_;
    void* desc_;
    fi_addr_t dest_;
    std::uint64_t key_ = 0;
    std::uint64_t address_ = 0;
};

}  // namespace

std::int64_t post(const Poster& poster, const PostedCall& call, Arguments& arguments) {
    arguments = {};
    return Call(poster, call, arguments).make();
}

}  // namespace selvage::conformance
