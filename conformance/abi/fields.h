// The number fields of each structure of the interface, once: encoding, decoding and finding a field by its address
// walk over these lists.  Member names are the same in the ABI and in model/value/info.h.
#pragma once

// clang-format off
#define SELVAGE_ABI_INFO(X) X(caps) X(mode) X(addr_format) X(src_addrlen) X(dest_addrlen)
#define SELVAGE_ABI_TX(X) \
    X(caps) X(mode) X(op_flags) X(msg_order) X(comp_order) X(inject_size) X(size) X(iov_limit) \
    X(rma_iov_limit) X(tclass)
#define SELVAGE_ABI_RX(X) \
    X(caps) X(mode) X(op_flags) X(msg_order) X(comp_order) X(total_buffered_recv) X(size) X(iov_limit)
#define SELVAGE_ABI_EP(X) \
    X(type) X(protocol) X(protocol_version) X(max_msg_size) X(msg_prefix_size) X(max_order_raw_size) \
    X(max_order_war_size) X(max_order_waw_size) X(mem_tag_format) X(tx_ctx_cnt) X(rx_ctx_cnt) X(auth_key_size)
#define SELVAGE_ABI_DOMAIN(X) \
    X(threading) X(control_progress) X(data_progress) X(resource_mgmt) X(av_type) X(mr_mode) X(mr_key_size) \
    X(cq_data_size) X(cq_cnt) X(ep_cnt) X(tx_ctx_cnt) X(rx_ctx_cnt) X(max_ep_tx_ctx) X(max_ep_rx_ctx) \
    X(max_ep_stx_ctx) X(max_ep_srx_ctx) X(cntr_cnt) X(mr_iov_limit) X(caps) X(mode) X(auth_key_size) X(max_err_data) \
    X(mr_cnt) X(tclass)
#define SELVAGE_ABI_FABRIC(X) X(prov_version) X(api_version)
// clang-format on
