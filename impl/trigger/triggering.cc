// See triggering.h. The base's tables say what the endpoint can do: a call that they lack answers as it does there.
#include "impl/endpoint/triggering.h"

#include "impl/endpoint/structured_calls.h"

namespace selvage::impl {
namespace {

constexpr ssize_t kNoCondition = -FI_EINVAL;

const fid_ep& base_of(fid_ep* ep) { return Endpoint::of(ep)->base->descriptor; }
// Where the calls go: to the base's with a structure, called with the alias.
struct ToBase {
    static uint64_t transmit_flags(fid_ep* ep) { return Endpoint::of(ep)->tx_flags; }
    static uint64_t receive_flags(fid_ep* ep) { return Endpoint::of(ep)->rx_flags; }

    static ssize_t send(const char*, fid_ep* ep, const fi_msg& message, uint64_t flags) {
        return base_of(ep).msg->sendmsg(ep, &message, flags);
    }
    static ssize_t send(const char*, fid_ep* ep, const fi_msg_tagged& message, uint64_t flags) {
        return base_of(ep).tagged->sendmsg(ep, &message, flags);
    }
    static ssize_t recv(const char*, fid_ep* ep, const fi_msg& message, uint64_t flags) {
        return base_of(ep).msg->recvmsg(ep, &message, flags);
    }
    static ssize_t recv(const char*, fid_ep* ep, const fi_msg_tagged& message, uint64_t flags) {
        return base_of(ep).tagged->recvmsg(ep, &message, flags);
    }
    static ssize_t read(const char*, fid_ep* ep, const fi_msg_rma& message, uint64_t flags) {
        return base_of(ep).rma->readmsg(ep, &message, flags);
    }
    static ssize_t write(const char*, fid_ep* ep, const fi_msg_rma& message, uint64_t flags) {
        return base_of(ep).rma->writemsg(ep, &message, flags);
    }
    static ssize_t atomic(const char*, fid_ep* ep, const fi_msg_atomic& message, uint64_t flags) {
        return base_of(ep).atomic->writemsg(ep, &message, flags);
    }
    static ssize_t fetch(const char*, fid_ep* ep, const fi_msg_atomic& message, const fi_msg_fetch& results,
                         uint64_t flags) {
        return base_of(ep).atomic->readwritemsg(ep, &message, results.msg_iov, results.desc, results.iov_count, flags);
    }
    static ssize_t compare(const char*, fid_ep* ep, const fi_msg_atomic& message, const fi_msg_compare& comparands,
                           const fi_msg_fetch& results, uint64_t flags) {
        return base_of(ep).atomic->compwritemsg(ep, &message, comparands.msg_iov, comparands.desc, comparands.iov_count,
                                                results.msg_iov, results.desc, results.iov_count, flags);
    }
};
using Calls = StructuredCalls<ToBase>;

// What names no context: refused while transfers wait for what their context names.
bool waits(fid_ep* ep) { return Endpoint::of(ep)->tx_flags & FI_TRIGGER; }

// The base's function of a table, called with the alias.
template <auto Table, auto Function, typename Signature>
struct Forwarding;
template <auto Table, auto Function, typename Result, typename... Arguments>
struct Forwarding<Table, Function, Result (*)(fid_ep*, Arguments...)> {
    static Result call(fid_ep* ep, Arguments... arguments) { return (base_of(ep).*Table->*Function)(ep, arguments...); }
    static Result inject(fid_ep* ep, Arguments... arguments) {
        return waits(ep) ? kNoCondition : call(ep, arguments...);
    }
};
#define SELVAGE_FORWARD(table, entry, how) \
    .entry = Forwarding<&fid_ep::table, &fi_ops_##table::entry, decltype(fi_ops_##table::entry)>::how

constexpr fi_ops_msg kMessages = {
    .size = sizeof(fi_ops_msg),
    .recv = Calls::recv,
    .recvv = Calls::recvv,
    SELVAGE_FORWARD(msg, recvmsg, call),
    .send = Calls::send,
    .sendv = Calls::sendv,
    SELVAGE_FORWARD(msg, sendmsg, call),
    SELVAGE_FORWARD(msg, inject, inject),
    .senddata = Calls::senddata,
    SELVAGE_FORWARD(msg, injectdata, inject),
};
constexpr fi_ops_tagged kTagged = {
    .size = sizeof(fi_ops_tagged),
    .recv = Calls::trecv,
    .recvv = Calls::trecvv,
    SELVAGE_FORWARD(tagged, recvmsg, call),
    .send = Calls::tsend,
    .sendv = Calls::tsendv,
    SELVAGE_FORWARD(tagged, sendmsg, call),
    SELVAGE_FORWARD(tagged, inject, inject),
    .senddata = Calls::tsenddata,
    SELVAGE_FORWARD(tagged, injectdata, inject),
};
constexpr fi_ops_rma kAccesses = {
    .size = sizeof(fi_ops_rma),
    .read = Calls::read,
    .readv = Calls::readv,
    SELVAGE_FORWARD(rma, readmsg, call),
    .write = Calls::write,
    .writev = Calls::writev,
    SELVAGE_FORWARD(rma, writemsg, call),
    SELVAGE_FORWARD(rma, inject, inject),
    .writedata = Calls::writedata,
    SELVAGE_FORWARD(rma, injectdata, inject),
};
constexpr fi_ops_atomic kAtomics = {
    .size = sizeof(fi_ops_atomic),
    .write = Calls::atomic,
    .writev = Calls::atomicv,
    SELVAGE_FORWARD(atomic, writemsg, call),
    SELVAGE_FORWARD(atomic, inject, inject),
    .readwrite = Calls::fetch,
    .readwritev = Calls::fetchv,
    SELVAGE_FORWARD(atomic, readwritemsg, call),
    .compwrite = Calls::compare,
    .compwritev = Calls::comparev,
    SELVAGE_FORWARD(atomic, compwritemsg, call),
    SELVAGE_FORWARD(atomic, writevalid, call),
    SELVAGE_FORWARD(atomic, readwritevalid, call),
    SELVAGE_FORWARD(atomic, compwritevalid, call),
};

}  // namespace

void choose_tables(Endpoint* alias) {
    const fid_ep& base = alias->base->descriptor;
    fid_ep& own = alias->descriptor;
    const bool triggers = (alias->tx_flags | alias->rx_flags) & FI_TRIGGER;
    own.msg = triggers ? const_cast<fi_ops_msg*>(&kMessages) : base.msg;
    own.tagged = triggers ? const_cast<fi_ops_tagged*>(&kTagged) : base.tagged;
    own.rma = triggers ? const_cast<fi_ops_rma*>(&kAccesses) : base.rma;
    own.atomic = triggers ? const_cast<fi_ops_atomic*>(&kAtomics) : base.atomic;
    own.collective = base.collective;
}

}  // namespace selvage::impl
