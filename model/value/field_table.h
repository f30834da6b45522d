// The fields of struct fi_info and of its parts, once: macros alone, for field.h, for what goes through the structures
// of the interface member by member, and for the spec compiler, which reads them before there is a vocabulary.
//
// The rows of a part are M(X, member, ...): numbers and objects with their form, the family of their words and what
// they mean in hints (see field.h), in the order of the structure; texts with their form.  Members have the same names
// in the interface and in info.h.  A length is named after its bytes.
#pragma once

// clang-format off
#define SELVAGE_INFO_NUMBERS(M, X) \
    M(X, caps, Bits, caps, Request) \
    M(X, mode, Bits, mode, Duty) \
    M(X, addr_format, Enum, addr_format, Request) \
    M(X, src_addrlen, Number, none, Length) \
    M(X, dest_addrlen, Number, none, Length) \
    M(X, handle, Object, none, Request)
#define SELVAGE_INFO_TEXTS(M, X) M(X, src_addr, Bytes) M(X, dest_addr, Bytes)

#define SELVAGE_TX_NUMBERS(M, X) \
    M(X, caps, Bits, caps, Request) \
    M(X, mode, Bits, mode, Duty) \
    M(X, op_flags, Bits, op_flags, Request) \
    M(X, msg_order, Bits, msg_order, Request) \
    M(X, comp_order, Bits, comp_order, Request) \
    M(X, inject_size, Size, none, Request) \
    M(X, size, Size, none, Request) \
    M(X, iov_limit, Size, none, Request) \
    M(X, rma_iov_limit, Size, none, Request) \
    M(X, tclass, Enum, tclass, Request)

#define SELVAGE_RX_NUMBERS(M, X) \
    M(X, caps, Bits, caps, Request) \
    M(X, mode, Bits, mode, Duty) \
    M(X, op_flags, Bits, op_flags, Request) \
    M(X, msg_order, Bits, msg_order, Request) \
    M(X, comp_order, Bits, comp_order, Request) \
    M(X, total_buffered_recv, Size, none, Request) \
    M(X, size, Size, none, Request) \
    M(X, iov_limit, Size, none, Request)

#define SELVAGE_EP_NUMBERS(M, X) \
    M(X, type, Enum, ep_type, Request) \
    M(X, protocol, Enum, protocol, Request) \
    M(X, protocol_version, Number, none, Request) \
    M(X, max_msg_size, Size, none, Request) \
    M(X, msg_prefix_size, Size, none, Request) \
    M(X, max_order_raw_size, Size, none, Request) \
    M(X, max_order_war_size, Size, none, Request) \
    M(X, max_order_waw_size, Size, none, Request) \
    M(X, mem_tag_format, Number, none, Request) \
    M(X, tx_ctx_cnt, Size, none, Request) \
    M(X, rx_ctx_cnt, Size, none, Request) \
    M(X, auth_key_size, Number, none, Length)
#define SELVAGE_EP_TEXTS(M, X) M(X, auth_key, Bytes)

#define SELVAGE_DOMAIN_NUMBERS(M, X) \
    M(X, domain, Object, none, Request) \
    M(X, threading, Enum, threading, Request) \
    M(X, control_progress, Enum, progress, Request) \
    M(X, data_progress, Enum, progress, Request) \
    M(X, resource_mgmt, Enum, resource_mgmt, Request) \
    M(X, av_type, Enum, av_type, Request) \
    M(X, mr_mode, Bits, mr_mode, Duty) \
    M(X, mr_key_size, Size, none, Request) \
    M(X, cq_data_size, Size, none, Request) \
    M(X, cq_cnt, Size, none, Request) \
    M(X, ep_cnt, Size, none, Request) \
    M(X, tx_ctx_cnt, Size, none, Request) \
    M(X, rx_ctx_cnt, Size, none, Request) \
    M(X, max_ep_tx_ctx, Size, none, Request) \
    M(X, max_ep_rx_ctx, Size, none, Request) \
    M(X, max_ep_stx_ctx, Size, none, Request) \
    M(X, max_ep_srx_ctx, Size, none, Request) \
    M(X, cntr_cnt, Size, none, Request) \
    M(X, mr_iov_limit, Size, none, Request) \
    M(X, caps, Bits, caps, Request) \
    M(X, mode, Bits, mode, Duty) \
    M(X, auth_key_size, Number, none, Length) \
    M(X, max_err_data, Size, none, Request) \
    M(X, mr_cnt, Size, none, Request) \
    M(X, tclass, Enum, tclass, Request)
#define SELVAGE_DOMAIN_TEXTS(M, X) M(X, name, String) M(X, auth_key, Bytes)

#define SELVAGE_FABRIC_NUMBERS(M, X) \
    M(X, fabric, Object, none, Request) \
    M(X, prov_version, Number, none, Request) \
    M(X, api_version, Number, none, Request)
#define SELVAGE_FABRIC_TEXTS(M, X) M(X, name, String) M(X, prov_name, String)

// What X gets of a row: name of the Field, path, part, structure and member of the interface, member of an Info, the rest.
#define SELVAGE_OF_INFO(X, member, ...) X(member, #member, Info, fi_info, member, member, __VA_ARGS__)
#define SELVAGE_OF_TX(X, member, ...) X(tx_##member, "tx_attr." #member, Tx, fi_tx_attr, member, tx.member, __VA_ARGS__)
#define SELVAGE_OF_RX(X, member, ...) X(rx_##member, "rx_attr." #member, Rx, fi_rx_attr, member, rx.member, __VA_ARGS__)
#define SELVAGE_OF_EP(X, member, ...) X(ep_##member, "ep_attr." #member, Ep, fi_ep_attr, member, ep.member, __VA_ARGS__)
#define SELVAGE_OF_DOMAIN(X, member, ...) \
    X(domain_##member, "domain_attr." #member, Domain, fi_domain_attr, member, domain.member, __VA_ARGS__)
#define SELVAGE_OF_FABRIC(X, member, ...) \
    X(fabric_##member, "fabric_attr." #member, Fabric, fi_fabric_attr, member, fabric.member, __VA_ARGS__)

#define SELVAGE_NUMBER_FIELDS(X) \
    SELVAGE_INFO_NUMBERS(SELVAGE_OF_INFO, X) \
    SELVAGE_TX_NUMBERS(SELVAGE_OF_TX, X) \
    SELVAGE_RX_NUMBERS(SELVAGE_OF_RX, X) \
    SELVAGE_EP_NUMBERS(SELVAGE_OF_EP, X) \
    SELVAGE_DOMAIN_NUMBERS(SELVAGE_OF_DOMAIN, X) \
    SELVAGE_FABRIC_NUMBERS(SELVAGE_OF_FABRIC, X)
#define SELVAGE_TEXT_FIELDS(X) \
    SELVAGE_INFO_TEXTS(SELVAGE_OF_INFO, X) \
    SELVAGE_EP_TEXTS(SELVAGE_OF_EP, X) \
    SELVAGE_DOMAIN_TEXTS(SELVAGE_OF_DOMAIN, X) \
    SELVAGE_FABRIC_TEXTS(SELVAGE_OF_FABRIC, X)

// The parts, in the order of struct fi_info: X(part, name of the Field, member of fi_info).
#define SELVAGE_PARTS(X) \
    X(Tx, part_tx, tx_attr)  X(Rx, part_rx, rx_attr)  X(Ep, part_ep, ep_attr)  X(Domain, part_domain, domain_attr) \
    X(Fabric, part_fabric, fabric_attr)  X(Nic, part_nic, nic)

// What a finding may speak of beside the fields of an fi_info and its parts: the call's own arguments and result, what is
// in its course.
#define SELVAGE_CALL_FIELDS(X) \
    X(call_version,  "version")  X(call_node, "node")  X(call_service, "service")  X(call_flags, "flags") \
    X(call_hints,    "hints")    X(call_return, "return")  X(call_list, "info")  X(call_count, "offers")
#define SELVAGE_OTHER_FIELDS(X) \
    X(subject, "process")  X(object, "object")  X(string, "string")  X(operation, "operation")  X(completion, "completion")
// clang-format on
