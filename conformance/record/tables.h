// Every table of operations, member by member: the name of the call, and of its arguments in order.
//
// A row: X(member, call, "argument …", traits). The rows of a table must be all of its members: tables_*.cc checks the
// number against the size of the structure. What an argument means follows from its type and its name (call.h).
#pragma once

#include <cstddef>
#include <string_view>

namespace selvage::record {

/// What is special about a call.
enum Trait : unsigned {
    kPlain = 0,
    kRepeats = 1,    ///< polls: equal results in a row are counted
    kExchanges = 2,  ///< the provider may exchange tables of the object
    kReceives = 4,   ///< `buf` or `iov` is filled later
};

struct Spec {
    std::string_view call;
    std::string_view arguments;
    unsigned traits;
};

/// Puts the recording functions into a table that has `size` bytes; members that are NULL stay so.
template <class Ops>
void replace_members(void* table, std::size_t size);

// clang-format off
#define SELVAGE_FID_ROWS(X) \
    X(close, "fi_close", "", kPlain) \
    X(bind, "fi_bind", "bfid flags", kExchanges) \
    X(control, "fi_control", "command arg", kExchanges) \
    X(ops_open, "fi_open_ops", "name flags ops context", kPlain) \
    X(tostr, "fi_fid_tostr", "buf len", kPlain) \
    X(ops_set, "fi_set_ops", "name flags ops context", kPlain)
#define SELVAGE_FABRIC_ROWS(X) \
    X(domain, "fi_domain", "info domain context", kPlain) \
    X(passive_ep, "fi_passive_ep", "info pep context", kPlain) \
    X(eq_open, "fi_eq_open", "attr eq context", kPlain) \
    X(wait_open, "fi_wait_open", "attr waitset", kPlain) \
    X(trywait, "fi_trywait", "fids count", kRepeats) \
    X(domain2, "fi_domain2", "info domain flags context", kPlain)
#define SELVAGE_DOMAIN_ROWS(X) \
    X(av_open, "fi_av_open", "attr av context", kPlain) \
    X(cq_open, "fi_cq_open", "attr cq context", kPlain) \
    X(endpoint, "fi_endpoint", "info ep context", kPlain) \
    X(scalable_ep, "fi_scalable_ep", "info sep context", kPlain) \
    X(cntr_open, "fi_cntr_open", "attr cntr context", kPlain) \
    X(poll_open, "fi_poll_open", "attr pollset", kPlain) \
    X(stx_ctx, "fi_stx_context", "attr stx context", kPlain) \
    X(srx_ctx, "fi_srx_context", "attr rx_ep context", kPlain) \
    X(query_atomic, "fi_query_atomic", "datatype op atomic_attr flags", kPlain) \
    X(query_collective, "fi_query_collective", "coll collective_attr flags", kPlain) \
    X(endpoint2, "fi_endpoint2", "info ep flags context", kPlain)
#define SELVAGE_MR_ROWS(X) \
    X(reg, "fi_mr_reg", "region len access offset requested_key flags mr context", kPlain) \
    X(regv, "fi_mr_regv", "regions count access offset requested_key flags mr context", kPlain) \
    X(regattr, "fi_mr_regattr", "attr flags mr", kPlain)
#define SELVAGE_AV_ROWS(X) \
    X(insert, "fi_av_insert", "addresses count fi_addr flags context", kPlain) \
    X(insertsvc, "fi_av_insertsvc", "node service fi_addr flags context", kPlain) \
    X(insertsym, "fi_av_insertsym", "node nodecnt service svccnt fi_addr flags context", kPlain) \
    X(remove, "fi_av_remove", "removed count flags", kPlain) \
    X(lookup, "fi_av_lookup", "fi_addr addr addrlen", kPlain) \
    X(straddr, "fi_av_straddr", "addr buf len", kPlain) \
    X(av_set, "fi_av_set", "attr av_set context", kPlain)
#define SELVAGE_AV_SET_ROWS(X) \
    X(set_union, "fi_av_set_union", "src", kPlain) \
    X(intersect, "fi_av_set_intersect", "src", kPlain) \
    X(diff, "fi_av_set_diff", "src", kPlain) \
    X(insert, "fi_av_set_insert", "fi_addr", kPlain) \
    X(remove, "fi_av_set_remove", "fi_addr", kPlain) \
    X(addr, "fi_av_set_addr", "found_addr", kPlain)
#define SELVAGE_EP_ROWS(X) \
    X(cancel, "fi_cancel", "context", kPlain) \
    X(getopt, "fi_getopt", "level optname optval optlen", kPlain) \
    X(setopt, "fi_setopt", "level optname optval optlen", kExchanges) \
    X(tx_ctx, "fi_tx_context", "index attr tx_ep context", kPlain) \
    X(rx_ctx, "fi_rx_context", "index attr rx_ep context", kPlain) \
    X(rx_size_left, "fi_rx_size_left", "", kRepeats) \
    X(tx_size_left, "fi_tx_size_left", "", kRepeats)
#define SELVAGE_CM_ROWS(X) \
    X(setname, "fi_setname", "address addrlen", kExchanges) \
    X(getname, "fi_getname", "addr addrlen", kPlain) \
    X(getpeer, "fi_getpeer", "addr addrlen", kPlain) \
    X(connect, "fi_connect", "peer param paramlen", kExchanges) \
    X(listen, "fi_listen", "", kExchanges) \
    X(accept, "fi_accept", "param paramlen", kExchanges) \
    X(reject, "fi_reject", "handle param paramlen", kPlain) \
    X(shutdown, "fi_shutdown", "flags", kExchanges) \
    X(join, "fi_join", "group flags mc context", kPlain)
#define SELVAGE_MSG_ROWS(X) \
    X(recv, "fi_recv", "buf len desc src_addr context", kReceives) \
    X(recvv, "fi_recvv", "iov desc count src_addr context", kReceives) \
    X(recvmsg, "fi_recvmsg", "msg flags", kReceives) \
    X(send, "fi_send", "buf len desc dest_addr context", kPlain) \
    X(sendv, "fi_sendv", "iov desc count dest_addr context", kPlain) \
    X(sendmsg, "fi_sendmsg", "msg flags", kPlain) \
    X(inject, "fi_inject", "buf len dest_addr", kPlain) \
    X(senddata, "fi_senddata", "buf len desc data dest_addr context", kPlain) \
    X(injectdata, "fi_injectdata", "buf len data dest_addr", kPlain)
#define SELVAGE_TAGGED_ROWS(X) \
    X(recv, "fi_trecv", "buf len desc src_addr tag ignore context", kReceives) \
    X(recvv, "fi_trecvv", "iov desc count src_addr tag ignore context", kReceives) \
    X(recvmsg, "fi_trecvmsg", "msg flags", kReceives) \
    X(send, "fi_tsend", "buf len desc dest_addr tag context", kPlain) \
    X(sendv, "fi_tsendv", "iov desc count dest_addr tag context", kPlain) \
    X(sendmsg, "fi_tsendmsg", "msg flags", kPlain) \
    X(inject, "fi_tinject", "buf len dest_addr tag", kPlain) \
    X(senddata, "fi_tsenddata", "buf len desc data dest_addr tag context", kPlain) \
    X(injectdata, "fi_tinjectdata", "buf len data dest_addr tag", kPlain)
#define SELVAGE_RMA_ROWS(X) \
    X(read, "fi_read", "buf len desc src_addr addr key context", kReceives) \
    X(readv, "fi_readv", "iov desc count src_addr addr key context", kReceives) \
    X(readmsg, "fi_readmsg", "msg flags", kReceives) \
    X(write, "fi_write", "buf len desc dest_addr addr key context", kPlain) \
    X(writev, "fi_writev", "iov desc count dest_addr addr key context", kPlain) \
    X(writemsg, "fi_writemsg", "msg flags", kPlain) \
    X(inject, "fi_inject_write", "buf len dest_addr addr key", kPlain) \
    X(writedata, "fi_writedata", "buf len desc data dest_addr addr key context", kPlain) \
    X(injectdata, "fi_inject_writedata", "buf len data dest_addr addr key", kPlain)
#define SELVAGE_ATOMIC_ROWS(X) \
    X(write, "fi_atomic", "operand count desc dest_addr addr key datatype op context", kPlain) \
    X(writev, "fi_atomicv", "ioc desc count dest_addr addr key datatype op context", kPlain) \
    X(writemsg, "fi_atomicmsg", "msg flags", kPlain) \
    X(inject, "fi_inject_atomic", "operand count dest_addr addr key datatype op", kPlain) \
    X(readwrite, "fi_fetch_atomic", \
      "operand count desc result result_desc dest_addr addr key datatype op context", kPlain) \
    X(readwritev, "fi_fetch_atomicv", \
      "ioc desc count resultv result_descs result_count dest_addr addr key datatype op context", kPlain) \
    X(readwritemsg, "fi_fetch_atomicmsg", "msg resultv result_descs result_count flags", kPlain) \
    X(compwrite, "fi_compare_atomic", \
      "operand count desc compare compare_desc result result_desc dest_addr addr key datatype op context", kPlain) \
    X(compwritev, "fi_compare_atomicv", \
      "ioc desc count comparev compare_descs compare_count resultv result_descs result_count dest_addr addr key " \
      "datatype op context", kPlain) \
    X(compwritemsg, "fi_compare_atomicmsg", \
      "msg comparev compare_descs compare_count resultv result_descs result_count flags", kPlain) \
    X(writevalid, "fi_atomicvalid", "datatype op valid_count", kPlain) \
    X(readwritevalid, "fi_fetch_atomicvalid", "datatype op valid_count", kPlain) \
    X(compwritevalid, "fi_compare_atomicvalid", "datatype op valid_count", kPlain)
#define SELVAGE_COLLECTIVE_ROWS(X) \
    X(barrier, "fi_barrier", "coll_addr context", kPlain) \
    X(broadcast, "fi_broadcast", "operand count desc coll_addr root_addr datatype flags context", kPlain) \
    X(alltoall, "fi_alltoall", "operand count desc result result_desc coll_addr datatype flags context", kPlain) \
    X(allreduce, "fi_allreduce", "operand count desc result result_desc coll_addr datatype op flags context", kPlain) \
    X(allgather, "fi_allgather", "operand count desc result result_desc coll_addr datatype flags context", kPlain) \
    X(reduce_scatter, "fi_reduce_scatter", \
      "operand count desc result result_desc coll_addr datatype op flags context", kPlain) \
    X(reduce, "fi_reduce", \
      "operand count desc result result_desc coll_addr root_addr datatype op flags context", kPlain) \
    X(scatter, "fi_scatter", \
      "operand count desc result result_desc coll_addr root_addr datatype flags context", kPlain) \
    X(gather, "fi_gather", \
      "operand count desc result result_desc coll_addr root_addr datatype flags context", kPlain) \
    X(msg, "fi_collective_msg", "collective_msg resultv result_descs result_count flags", kPlain) \
    X(barrier2, "fi_barrier2", "coll_addr flags context", kPlain)
#define SELVAGE_EQ_ROWS(X) \
    X(read, "fi_eq_read", "event entry len flags", kRepeats) \
    X(readerr, "fi_eq_readerr", "error_entry flags", kRepeats) \
    X(write, "fi_eq_write", "event entry len flags", kPlain) \
    X(sread, "fi_eq_sread", "event entry len timeout flags", kRepeats) \
    X(strerror, "fi_eq_strerror", "prov_errno err_data buf len", kPlain)
#define SELVAGE_CQ_ROWS(X) \
    X(read, "fi_cq_read", "entries count", kRepeats) \
    X(readfrom, "fi_cq_readfrom", "entries count sources", kRepeats) \
    X(readerr, "fi_cq_readerr", "error_entry flags", kRepeats) \
    X(sread, "fi_cq_sread", "entries count cond timeout", kRepeats) \
    X(sreadfrom, "fi_cq_sreadfrom", "entries count sources cond timeout", kRepeats) \
    X(signal, "fi_cq_signal", "", kPlain) \
    X(strerror, "fi_cq_strerror", "prov_errno err_data buf len", kPlain)
#define SELVAGE_CNTR_ROWS(X) \
    X(read, "fi_cntr_read", "", kRepeats) \
    X(readerr, "fi_cntr_readerr", "", kRepeats) \
    X(add, "fi_cntr_add", "value", kPlain) \
    X(set, "fi_cntr_set", "value", kPlain) \
    X(wait, "fi_cntr_wait", "threshold timeout", kRepeats) \
    X(adderr, "fi_cntr_adderr", "value", kPlain) \
    X(seterr, "fi_cntr_seterr", "value", kPlain)
#define SELVAGE_WAIT_ROWS(X) \
    X(wait, "fi_wait", "timeout", kRepeats)
#define SELVAGE_POLL_ROWS(X) \
    X(poll, "fi_poll", "contexts count", kRepeats) \
    X(poll_add, "fi_poll_add", "event_fid flags", kPlain) \
    X(poll_del, "fi_poll_del", "event_fid flags", kPlain)
// clang-format on

}  // namespace selvage::record
