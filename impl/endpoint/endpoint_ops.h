// Tables of endpoint operations in which every entry answers -FI_ENOSYS: the start of every real table, so that no
// function pointer is ever null. And the options that active and passive endpoints share.
#pragma once

#include "impl/base/object.h"

namespace selvage::impl {

struct ConnectionOps;

extern const fi_ops_msg kMissingMsg;
extern const fi_ops_collective kMissingCollective;
extern const fi_ops_collective kDisabledCollective;

// The tables of an endpoint that is not enabled answer -FI_EOPBADSTATE. Questions about atomics are answered.
extern const fi_ops_msg kDisabledMsg;
extern const fi_ops_tagged kDisabledTagged;
extern const fi_ops_rma kDisabledRma;
extern const fi_ops_atomic kDisabledAtomic;

#define SELVAGE_MISSING(table, entry) .entry = kMissing<decltype(table::entry)>

// An operation that always answers Error.
template <int Error, typename Function>
struct Answering;
template <int Error, typename Result, typename... Arguments>
struct Answering<Error, Result (*)(Arguments...)> {
    static Result call(Arguments...) { return static_cast<Result>(Error); }
};
template <int Error, typename Function>
inline constexpr Function kAnswering = Answering<Error, Function>::call;

// Tables of which every entry answers Error.
template <int Error>
constexpr fi_ops_msg answering_msg() {
    return {
        .size = sizeof(fi_ops_msg),
        .recv = kAnswering<Error, decltype(fi_ops_msg::recv)>,
        .recvv = kAnswering<Error, decltype(fi_ops_msg::recvv)>,
        .recvmsg = kAnswering<Error, decltype(fi_ops_msg::recvmsg)>,
        .send = kAnswering<Error, decltype(fi_ops_msg::send)>,
        .sendv = kAnswering<Error, decltype(fi_ops_msg::sendv)>,
        .sendmsg = kAnswering<Error, decltype(fi_ops_msg::sendmsg)>,
        .inject = kAnswering<Error, decltype(fi_ops_msg::inject)>,
        .senddata = kAnswering<Error, decltype(fi_ops_msg::senddata)>,
        .injectdata = kAnswering<Error, decltype(fi_ops_msg::injectdata)>,
    };
}
template <int Error>
constexpr fi_ops_tagged answering_tagged() {
    return {
        .size = sizeof(fi_ops_tagged),
        .recv = kAnswering<Error, decltype(fi_ops_tagged::recv)>,
        .recvv = kAnswering<Error, decltype(fi_ops_tagged::recvv)>,
        .recvmsg = kAnswering<Error, decltype(fi_ops_tagged::recvmsg)>,
        .send = kAnswering<Error, decltype(fi_ops_tagged::send)>,
        .sendv = kAnswering<Error, decltype(fi_ops_tagged::sendv)>,
        .sendmsg = kAnswering<Error, decltype(fi_ops_tagged::sendmsg)>,
        .inject = kAnswering<Error, decltype(fi_ops_tagged::inject)>,
        .senddata = kAnswering<Error, decltype(fi_ops_tagged::senddata)>,
        .injectdata = kAnswering<Error, decltype(fi_ops_tagged::injectdata)>,
    };
}
// The table of messages or tagged messages of an endpoint that can do all, some or none of `all`: what its capabilities
// leave out answers as `none` does.
template <typename Table>
constexpr Table granted(const Table& all, const Table& none, bool sends, bool receives) {
    Table table = none;
    if (sends) {
        table.send = all.send;
        table.sendv = all.sendv;
        table.sendmsg = all.sendmsg;
        table.inject = all.inject;
        table.senddata = all.senddata;
        table.injectdata = all.injectdata;
    }
    if (receives) {
        table.recv = all.recv;
        table.recvv = all.recvv;
        table.recvmsg = all.recvmsg;
    }
    return table;
}
template <int Error>
constexpr fi_ops_rma answering_rma() {
    return {
        .size = sizeof(fi_ops_rma),
        .read = kAnswering<Error, decltype(fi_ops_rma::read)>,
        .readv = kAnswering<Error, decltype(fi_ops_rma::readv)>,
        .readmsg = kAnswering<Error, decltype(fi_ops_rma::readmsg)>,
        .write = kAnswering<Error, decltype(fi_ops_rma::write)>,
        .writev = kAnswering<Error, decltype(fi_ops_rma::writev)>,
        .writemsg = kAnswering<Error, decltype(fi_ops_rma::writemsg)>,
        .inject = kAnswering<Error, decltype(fi_ops_rma::inject)>,
        .writedata = kAnswering<Error, decltype(fi_ops_rma::writedata)>,
        .injectdata = kAnswering<Error, decltype(fi_ops_rma::injectdata)>,
    };
}

template <int Error>
constexpr fi_ops_collective answering_collective() {
    return {
        .size = sizeof(fi_ops_collective),
        .barrier = kAnswering<Error, decltype(fi_ops_collective::barrier)>,
        .broadcast = kAnswering<Error, decltype(fi_ops_collective::broadcast)>,
        .alltoall = kAnswering<Error, decltype(fi_ops_collective::alltoall)>,
        .allreduce = kAnswering<Error, decltype(fi_ops_collective::allreduce)>,
        .allgather = kAnswering<Error, decltype(fi_ops_collective::allgather)>,
        .reduce_scatter = kAnswering<Error, decltype(fi_ops_collective::reduce_scatter)>,
        .reduce = kAnswering<Error, decltype(fi_ops_collective::reduce)>,
        .scatter = kAnswering<Error, decltype(fi_ops_collective::scatter)>,
        .gather = kAnswering<Error, decltype(fi_ops_collective::gather)>,
        .msg = kAnswering<Error, decltype(fi_ops_collective::msg)>,
        .barrier2 = kAnswering<Error, decltype(fi_ops_collective::barrier2)>,
    };
}

inline constexpr fi_ops_cm kMissingCm = {
    .size = sizeof(fi_ops_cm),
    SELVAGE_MISSING(fi_ops_cm, setname),
    SELVAGE_MISSING(fi_ops_cm, getname),
    SELVAGE_MISSING(fi_ops_cm, getpeer),
    SELVAGE_MISSING(fi_ops_cm, connect),
    SELVAGE_MISSING(fi_ops_cm, listen),
    SELVAGE_MISSING(fi_ops_cm, accept),
    SELVAGE_MISSING(fi_ops_cm, reject),
    SELVAGE_MISSING(fi_ops_cm, shutdown),
    SELVAGE_MISSING(fi_ops_cm, join),
};

inline constexpr fi_ops_ep kMissingEp = {
    .size = sizeof(fi_ops_ep),
    SELVAGE_MISSING(fi_ops_ep, cancel),
    SELVAGE_MISSING(fi_ops_ep, getopt),
    SELVAGE_MISSING(fi_ops_ep, setopt),
    SELVAGE_MISSING(fi_ops_ep, tx_ctx),
    SELVAGE_MISSING(fi_ops_ep, rx_ctx),
    SELVAGE_MISSING(fi_ops_ep, rx_size_left),
    SELVAGE_MISSING(fi_ops_ep, tx_size_left),
};

// The most application data that a connection request or answer carries with any provider.
inline constexpr size_t kConnectionDataMax = 256;
// FI_OPT_CM_DATA_SIZE, which can be read only.
int get_connection_option(const ConnectionOps* ops, int level, int option, void* value, size_t* length);
int set_connection_option(fid* descriptor, int level, int option, const void* value, size_t length);
// Copies an option out; -FI_ETOOSMALL with the size when there is no room.
int put_option(const void* source, size_t size, void* value, size_t* length);

}  // namespace selvage::impl
