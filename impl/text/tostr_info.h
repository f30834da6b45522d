// The attribute structures as text: fi_info and everything below it, one "name: value" line for each field.
//
// Invariants: structures are only read, absent ones are shown as "(null)", and a list is shown one element at a time
// (fi_info::next is not followed). Pure functions, but for calls of a NIC's own tostr operation: any thread.
#pragma once

#include "impl/base/rdma.h"
#include "impl/text/tostr_writer.h"

#include <cstddef>

namespace selvage::impl {

// indent is the column of the structure's own name; its fields stand four columns to the right.
void write_info(TextWriter& out, const fi_info& info) noexcept;
void write_tx_attr(TextWriter& out, const fi_tx_attr* attr, unsigned indent) noexcept;
void write_rx_attr(TextWriter& out, const fi_rx_attr* attr, unsigned indent) noexcept;
void write_ep_attr(TextWriter& out, const fi_ep_attr* attr, unsigned indent) noexcept;
void write_domain_attr(TextWriter& out, const fi_domain_attr* attr, unsigned indent) noexcept;
void write_fabric_attr(TextWriter& out, const fi_fabric_attr* attr, unsigned indent) noexcept;

// An object as text: by its own tostr operation where it has one, a NIC by its attributes, others by address.
void write_fid(TextWriter& out, const fid* object) noexcept;

// The attributes of a NIC. nic_tostr has the signature of fi_ops::tostr and writes from the start of the buffer, for
// use in the operations of the library's own NIC objects.
void write_nic(TextWriter& out, const fid_nic& nic) noexcept;
int nic_tostr(const fid* nic, char* buffer, std::size_t length) noexcept;

}  // namespace selvage::impl
