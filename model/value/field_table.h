// The table of field.h, as macros alone: the spec compiler reads it, too, before there is a vocabulary.
#pragma once

// clang-format off
// X(name, path, part, form, family, member)
#define SELVAGE_NUMBER_FIELDS(X) \
    X(caps,                "caps",                            Info,   Bits,   caps,          caps) \
    X(mode,                "mode",                            Info,   Bits,   mode,          mode) \
    X(addr_format,         "addr_format",                     Info,   Enum,   addr_format,   addr_format) \
    X(src_addrlen,         "src_addrlen",                     Info,   Number, none,          src_addrlen) \
    X(dest_addrlen,        "dest_addrlen",                    Info,   Number, none,          dest_addrlen) \
    X(handle,              "handle",                          Info,   Object, none,          handle) \
    X(tx_caps,             "tx_attr.caps",                    Tx,     Bits,   caps,          tx.caps) \
    X(tx_mode,             "tx_attr.mode",                    Tx,     Bits,   mode,          tx.mode) \
    X(tx_op_flags,         "tx_attr.op_flags",                Tx,     Bits,   op_flags,      tx.op_flags) \
    X(tx_msg_order,        "tx_attr.msg_order",               Tx,     Bits,   msg_order,     tx.msg_order) \
    X(tx_comp_order,       "tx_attr.comp_order",              Tx,     Bits,   comp_order,    tx.comp_order) \
    X(tx_inject_size,      "tx_attr.inject_size",             Tx,     Size,   none,          tx.inject_size) \
    X(tx_size,             "tx_attr.size",                    Tx,     Size,   none,          tx.size) \
    X(tx_iov_limit,        "tx_attr.iov_limit",               Tx,     Size,   none,          tx.iov_limit) \
    X(tx_rma_iov_limit,    "tx_attr.rma_iov_limit",           Tx,     Size,   none,          tx.rma_iov_limit) \
    X(tx_tclass,           "tx_attr.tclass",                  Tx,     Enum,   tclass,        tx.tclass) \
    X(rx_caps,             "rx_attr.caps",                    Rx,     Bits,   caps,          rx.caps) \
    X(rx_mode,             "rx_attr.mode",                    Rx,     Bits,   mode,          rx.mode) \
    X(rx_op_flags,         "rx_attr.op_flags",                Rx,     Bits,   op_flags,      rx.op_flags) \
    X(rx_msg_order,        "rx_attr.msg_order",               Rx,     Bits,   msg_order,     rx.msg_order) \
    X(rx_comp_order,       "rx_attr.comp_order",              Rx,     Bits,   comp_order,    rx.comp_order) \
    X(rx_total_buffered_recv, "rx_attr.total_buffered_recv",  Rx,     Size,   none,          rx.total_buffered_recv) \
    X(rx_size,             "rx_attr.size",                    Rx,     Size,   none,          rx.size) \
    X(rx_iov_limit,        "rx_attr.iov_limit",               Rx,     Size,   none,          rx.iov_limit) \
    X(ep_type,             "ep_attr.type",                    Ep,     Enum,   ep_type,       ep.type) \
    X(ep_protocol,         "ep_attr.protocol",                Ep,     Enum,   protocol,      ep.protocol) \
    X(ep_protocol_version, "ep_attr.protocol_version",        Ep,     Number, none,          ep.protocol_version) \
    X(ep_max_msg_size,     "ep_attr.max_msg_size",            Ep,     Size,   none,          ep.max_msg_size) \
    X(ep_msg_prefix_size,  "ep_attr.msg_prefix_size",         Ep,     Size,   none,          ep.msg_prefix_size) \
    X(ep_max_order_raw_size, "ep_attr.max_order_raw_size",    Ep,     Size,   none,          ep.max_order_raw_size) \
    X(ep_max_order_war_size, "ep_attr.max_order_war_size",    Ep,     Size,   none,          ep.max_order_war_size) \
    X(ep_max_order_waw_size, "ep_attr.max_order_waw_size",    Ep,     Size,   none,          ep.max_order_waw_size) \
    X(ep_mem_tag_format,   "ep_attr.mem_tag_format",          Ep,     Number, none,          ep.mem_tag_format) \
    X(ep_tx_ctx_cnt,       "ep_attr.tx_ctx_cnt",              Ep,     Size,   none,          ep.tx_ctx_cnt) \
    X(ep_rx_ctx_cnt,       "ep_attr.rx_ctx_cnt",              Ep,     Size,   none,          ep.rx_ctx_cnt) \
    X(ep_auth_key_size,    "ep_attr.auth_key_size",           Ep,     Number, none,          ep.auth_key_size) \
    X(domain_domain,       "domain_attr.domain",              Domain, Object, none,          domain.domain) \
    X(domain_threading,    "domain_attr.threading",           Domain, Enum,   threading,     domain.threading) \
    X(domain_control_progress, "domain_attr.control_progress", Domain, Enum,  progress,      domain.control_progress) \
    X(domain_data_progress, "domain_attr.data_progress",      Domain, Enum,   progress,      domain.data_progress) \
    X(domain_resource_mgmt, "domain_attr.resource_mgmt",      Domain, Enum,   resource_mgmt, domain.resource_mgmt) \
    X(domain_av_type,      "domain_attr.av_type",             Domain, Enum,   av_type,       domain.av_type) \
    X(domain_mr_mode,      "domain_attr.mr_mode",             Domain, Bits,   mr_mode,       domain.mr_mode) \
    X(domain_mr_key_size,  "domain_attr.mr_key_size",         Domain, Size,   none,          domain.mr_key_size) \
    X(domain_cq_data_size, "domain_attr.cq_data_size",        Domain, Size,   none,          domain.cq_data_size) \
    X(domain_cq_cnt,       "domain_attr.cq_cnt",              Domain, Size,   none,          domain.cq_cnt) \
    X(domain_ep_cnt,       "domain_attr.ep_cnt",              Domain, Size,   none,          domain.ep_cnt) \
    X(domain_tx_ctx_cnt,   "domain_attr.tx_ctx_cnt",          Domain, Size,   none,          domain.tx_ctx_cnt) \
    X(domain_rx_ctx_cnt,   "domain_attr.rx_ctx_cnt",          Domain, Size,   none,          domain.rx_ctx_cnt) \
    X(domain_max_ep_tx_ctx, "domain_attr.max_ep_tx_ctx",      Domain, Size,   none,          domain.max_ep_tx_ctx) \
    X(domain_max_ep_rx_ctx, "domain_attr.max_ep_rx_ctx",      Domain, Size,   none,          domain.max_ep_rx_ctx) \
    X(domain_max_ep_stx_ctx, "domain_attr.max_ep_stx_ctx",    Domain, Size,   none,          domain.max_ep_stx_ctx) \
    X(domain_max_ep_srx_ctx, "domain_attr.max_ep_srx_ctx",    Domain, Size,   none,          domain.max_ep_srx_ctx) \
    X(domain_cntr_cnt,     "domain_attr.cntr_cnt",            Domain, Size,   none,          domain.cntr_cnt) \
    X(domain_mr_iov_limit, "domain_attr.mr_iov_limit",        Domain, Size,   none,          domain.mr_iov_limit) \
    X(domain_caps,         "domain_attr.caps",                Domain, Bits,   caps,          domain.caps) \
    X(domain_mode,         "domain_attr.mode",                Domain, Bits,   mode,          domain.mode) \
    X(domain_auth_key_size, "domain_attr.auth_key_size",      Domain, Number, none,          domain.auth_key_size) \
    X(domain_max_err_data, "domain_attr.max_err_data",        Domain, Size,   none,          domain.max_err_data) \
    X(domain_mr_cnt,       "domain_attr.mr_cnt",              Domain, Size,   none,          domain.mr_cnt) \
    X(domain_tclass,       "domain_attr.tclass",              Domain, Enum,   tclass,        domain.tclass) \
    X(fabric_fabric,       "fabric_attr.fabric",              Fabric, Object, none,          fabric.fabric) \
    X(fabric_prov_version, "fabric_attr.prov_version",        Fabric, Number, none,          fabric.prov_version) \
    X(fabric_api_version,  "fabric_attr.api_version",         Fabric, Number, none,          fabric.api_version)

#define SELVAGE_TEXT_FIELDS(X) \
    X(src_addr,            "src_addr",                        Info,   Bytes,  none,          src_addr) \
    X(dest_addr,           "dest_addr",                       Info,   Bytes,  none,          dest_addr) \
    X(ep_auth_key,         "ep_attr.auth_key",                Ep,     Bytes,  none,          ep.auth_key) \
    X(domain_name,         "domain_attr.name",                Domain, String, none,          domain.name) \
    X(domain_auth_key,     "domain_attr.auth_key",            Domain, Bytes,  none,          domain.auth_key) \
    X(fabric_name,         "fabric_attr.name",                Fabric, String, none,          fabric.name) \
    X(fabric_prov_name,    "fabric_attr.prov_name",           Fabric, String, none,          fabric.prov_name)

// What a finding may speak of beside the fields of an fi_info: the call's own arguments and result, a substructure.
#define SELVAGE_CALL_FIELDS(X) \
    X(call_version,  "version")  X(call_node, "node")  X(call_service, "service")  X(call_flags, "flags") \
    X(call_hints,    "hints")    X(call_return, "return")  X(call_list, "info")  X(call_count, "offers") \
    X(part_tx, "tx_attr")  X(part_rx, "rx_attr")  X(part_ep, "ep_attr")  X(part_domain, "domain_attr") \
    X(part_fabric, "fabric_attr")  X(part_nic, "nic")  X(subject, "process")  X(object, "object")  X(string, "string") \
    X(operation, "operation")  X(completion, "completion")
// clang-format on
