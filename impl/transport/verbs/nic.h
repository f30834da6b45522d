// fi_info::nic of an RDMA device: what the device says of itself, and what the kernel's files say beside it.
#pragma once

#include "impl/catalog/nic.h"
#include "impl/transport/verbs/devices.h"

namespace selvage::impl::verbs {

// `system` is /sys, `interface` the network interface of the port. What cannot be read is left unknown.
void describe_nic(const DevicePort& port, const char* interface, const char* system, NicValues* out);

// The bytes that one packet of a port carries, headers aside; 0 when the code is unknown.
size_t mtu_bytes(ibv_mtu mtu);
// Bits per second of a link, from the codes of ibv_port_attr; 0 when one of them is unknown.
size_t link_speed(uint8_t active_width, uint8_t active_speed);

}  // namespace selvage::impl::verbs
