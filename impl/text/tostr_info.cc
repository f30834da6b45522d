// The attribute structures as text. See tostr_info.h. The tables below are the order and the names of the lines.
#include "impl/text/tostr_info.h"

#include "impl/text/tostr_addr.h"
#include "impl/text/tostr_fields.h"

namespace selvage::impl {
namespace {

constexpr Field kInfoFields[] = {
    SELVAGE_FIELD(fi_info, caps, Show::Caps),
    SELVAGE_FIELD(fi_info, mode, Show::Mode),
    SELVAGE_FIELD(fi_info, addr_format, Show::AddrFormat),
    SELVAGE_FIELD(fi_info, src_addrlen, Show::Size),
    SELVAGE_FIELD(fi_info, dest_addrlen, Show::Size),
};

constexpr Field kTxAttrFields[] = {
    SELVAGE_FIELD(fi_tx_attr, caps, Show::Caps),
    SELVAGE_FIELD(fi_tx_attr, mode, Show::Mode),
    SELVAGE_FIELD(fi_tx_attr, op_flags, Show::OpFlags),
    SELVAGE_FIELD(fi_tx_attr, msg_order, Show::MsgOrder),
    SELVAGE_FIELD(fi_tx_attr, comp_order, Show::CompletionOrder),
    SELVAGE_FIELD(fi_tx_attr, inject_size, Show::Size),
    SELVAGE_FIELD(fi_tx_attr, size, Show::Size),
    SELVAGE_FIELD(fi_tx_attr, iov_limit, Show::Size),
    SELVAGE_FIELD(fi_tx_attr, rma_iov_limit, Show::Size),
    SELVAGE_FIELD(fi_tx_attr, tclass, Show::Hex32),
};

constexpr Field kRxAttrFields[] = {
    SELVAGE_FIELD(fi_rx_attr, caps, Show::Caps),
    SELVAGE_FIELD(fi_rx_attr, mode, Show::Mode),
    SELVAGE_FIELD(fi_rx_attr, op_flags, Show::OpFlags),
    SELVAGE_FIELD(fi_rx_attr, msg_order, Show::MsgOrder),
    SELVAGE_FIELD(fi_rx_attr, comp_order, Show::CompletionOrder),
    SELVAGE_FIELD(fi_rx_attr, total_buffered_recv, Show::Size),
    SELVAGE_FIELD(fi_rx_attr, size, Show::Size),
    SELVAGE_FIELD(fi_rx_attr, iov_limit, Show::Size),
};

// The bytes of a key are a secret and are never shown, only that there is one.
constexpr Field kEpAttrFields[] = {
    SELVAGE_FIELD(fi_ep_attr, type, Show::EpType),
    SELVAGE_FIELD(fi_ep_attr, protocol, Show::Protocol),
    SELVAGE_FIELD(fi_ep_attr, protocol_version, Show::Number32),
    SELVAGE_FIELD(fi_ep_attr, max_msg_size, Show::Size),
    SELVAGE_FIELD(fi_ep_attr, msg_prefix_size, Show::Size),
    SELVAGE_FIELD(fi_ep_attr, max_order_raw_size, Show::Size),
    SELVAGE_FIELD(fi_ep_attr, max_order_war_size, Show::Size),
    SELVAGE_FIELD(fi_ep_attr, max_order_waw_size, Show::Size),
    SELVAGE_FIELD(fi_ep_attr, mem_tag_format, Show::Tag),
    SELVAGE_FIELD(fi_ep_attr, tx_ctx_cnt, Show::Size),
    SELVAGE_FIELD(fi_ep_attr, rx_ctx_cnt, Show::Size),
    SELVAGE_FIELD(fi_ep_attr, auth_key_size, Show::Size),
    SELVAGE_FIELD(fi_ep_attr, auth_key, Show::Secret),
};

constexpr Field kDomainAttrFields[] = {
    SELVAGE_FIELD(fi_domain_attr, domain, Show::PointerAsNumber),
    SELVAGE_FIELD(fi_domain_attr, name, Show::String),
    SELVAGE_FIELD(fi_domain_attr, threading, Show::Threading),
    SELVAGE_FIELD(fi_domain_attr, control_progress, Show::Progress),
    SELVAGE_FIELD(fi_domain_attr, data_progress, Show::Progress),
    SELVAGE_FIELD(fi_domain_attr, resource_mgmt, Show::ResourceMgmt),
    SELVAGE_FIELD(fi_domain_attr, av_type, Show::AvType),
    SELVAGE_FIELD(fi_domain_attr, mr_mode, Show::MrMode),
    SELVAGE_FIELD(fi_domain_attr, mr_key_size, Show::Size),
    SELVAGE_FIELD(fi_domain_attr, cq_data_size, Show::Size),
    SELVAGE_FIELD(fi_domain_attr, cq_cnt, Show::Size),
    SELVAGE_FIELD(fi_domain_attr, ep_cnt, Show::Size),
    SELVAGE_FIELD(fi_domain_attr, tx_ctx_cnt, Show::Size),
    SELVAGE_FIELD(fi_domain_attr, rx_ctx_cnt, Show::Size),
    SELVAGE_FIELD(fi_domain_attr, max_ep_tx_ctx, Show::Size),
    SELVAGE_FIELD(fi_domain_attr, max_ep_rx_ctx, Show::Size),
    SELVAGE_FIELD(fi_domain_attr, max_ep_stx_ctx, Show::Size),
    SELVAGE_FIELD(fi_domain_attr, max_ep_srx_ctx, Show::Size),
    SELVAGE_FIELD(fi_domain_attr, cntr_cnt, Show::Size),
    SELVAGE_FIELD(fi_domain_attr, mr_iov_limit, Show::Size),
    SELVAGE_FIELD(fi_domain_attr, caps, Show::Caps),
    SELVAGE_FIELD(fi_domain_attr, mode, Show::Mode),
    SELVAGE_FIELD(fi_domain_attr, auth_key_size, Show::Size),
    SELVAGE_FIELD(fi_domain_attr, auth_key, Show::Secret),
    SELVAGE_FIELD(fi_domain_attr, max_err_data, Show::Size),
    SELVAGE_FIELD(fi_domain_attr, mr_cnt, Show::Size),
    SELVAGE_FIELD(fi_domain_attr, tclass, Show::Hex32),
};

// An opened instance gets a line of its own only when there is one.
constexpr Field kOpenedFabricField[] = {
    SELVAGE_FIELD(fi_fabric_attr, fabric, Show::Pointer),
};

constexpr Field kFabricAttrFields[] = {
    SELVAGE_FIELD(fi_fabric_attr, name, Show::String),
    SELVAGE_FIELD(fi_fabric_attr, prov_name, Show::String),
    SELVAGE_FIELD(fi_fabric_attr, prov_version, Show::Version),
    SELVAGE_FIELD(fi_fabric_attr, api_version, Show::Version),
};

constexpr Field kDeviceAttrFields[] = {
    SELVAGE_FIELD(fi_device_attr, name, Show::String),           SELVAGE_FIELD(fi_device_attr, device_id, Show::String),
    SELVAGE_FIELD(fi_device_attr, device_version, Show::String), SELVAGE_FIELD(fi_device_attr, vendor_id, Show::String),
    SELVAGE_FIELD(fi_device_attr, driver, Show::String),         SELVAGE_FIELD(fi_device_attr, firmware, Show::String),
};

constexpr Field kBusAttrFields[] = {
    SELVAGE_FIELD(fi_bus_attr, bus_type, Show::BusType),
};

constexpr Field kPciAttrFields[] = {
    SELVAGE_FIELD(fi_pci_attr, domain_id, Show::Number16),
    SELVAGE_FIELD(fi_pci_attr, bus_id, Show::Number8),
    SELVAGE_FIELD(fi_pci_attr, device_id, Show::Number8),
    SELVAGE_FIELD(fi_pci_attr, function_id, Show::Number8),
};

constexpr Field kLinkAttrFields[] = {
    SELVAGE_FIELD(fi_link_attr, address, Show::String),      SELVAGE_FIELD(fi_link_attr, mtu, Show::Size),
    SELVAGE_FIELD(fi_link_attr, speed, Show::Size),          SELVAGE_FIELD(fi_link_attr, state, Show::LinkState),
    SELVAGE_FIELD(fi_link_attr, network_type, Show::String),
};

void write_address_line(TextWriter& out, std::string_view label, std::uint32_t format, const void* address,
                        std::size_t length) noexcept {
    out.indent(4);
    out.put(label);
    write_address(out, format, address, length);
    out.put('\n');
}

bool has_tostr(const fid& object) noexcept { return FI_CHECK_OP(object.ops, fi_ops, tostr); }

// Some operations append to the text they find, some write from the start: an empty text at our position serves both.
void write_by_own_operation(TextWriter& out, const fid& object) noexcept {
    if (out.room() == 0) return;
    char* const start = out.position();
    const std::size_t length = out.room() + 1;
    start[0] = '\0';
    object.ops->tostr(&object, start, length);
    start[length - 1] = '\0';
    out.accept_foreign_text();
}

void write_nic_line(TextWriter& out, const fid_nic* nic) noexcept {
    if (nic == nullptr) {
        out.put(std::string_view("    nic: (nil)\n"));
    } else if (has_tostr(nic->fid)) {
        write_by_own_operation(out, nic->fid);
    } else {
        write_nic(out, *nic);
    }
}

}  // namespace

void write_tx_attr(TextWriter& out, const fi_tx_attr* attr, unsigned indent) noexcept {
    write_structure(out, "fi_tx_attr", kTxAttrFields, attr, indent);
}

void write_rx_attr(TextWriter& out, const fi_rx_attr* attr, unsigned indent) noexcept {
    write_structure(out, "fi_rx_attr", kRxAttrFields, attr, indent);
}

void write_ep_attr(TextWriter& out, const fi_ep_attr* attr, unsigned indent) noexcept {
    write_structure(out, "fi_ep_attr", kEpAttrFields, attr, indent);
}

void write_domain_attr(TextWriter& out, const fi_domain_attr* attr, unsigned indent) noexcept {
    write_structure(out, "fi_domain_attr", kDomainAttrFields, attr, indent);
}

void write_fabric_attr(TextWriter& out, const fi_fabric_attr* attr, unsigned indent) noexcept {
    if (attr == nullptr || attr->fabric == nullptr) {
        write_structure(out, "fi_fabric_attr", kFabricAttrFields, attr, indent);
        return;
    }
    write_structure(out, "fi_fabric_attr", kOpenedFabricField, attr, indent);
    write_fields(out, kFabricAttrFields, attr, indent + 4);
}

void write_info(TextWriter& out, const fi_info& info) noexcept {
    write_structure(out, "fi_info", kInfoFields, &info, 0);
    write_address_line(out, "src_addr: ", info.addr_format, info.src_addr, info.src_addrlen);
    write_address_line(out, "dest_addr: ", info.addr_format, info.dest_addr, info.dest_addrlen);
    out.put(std::string_view("    handle: "));
    out.pointer(info.handle);
    out.put('\n');
    write_tx_attr(out, info.tx_attr, 4);
    write_rx_attr(out, info.rx_attr, 4);
    write_ep_attr(out, info.ep_attr, 4);
    write_domain_attr(out, info.domain_attr, 4);
    write_fabric_attr(out, info.fabric_attr, 4);
    write_nic_line(out, info.nic);
}

void write_nic(TextWriter& out, const fid_nic& nic) noexcept {
    out.put(std::string_view("    nic:\n"));
    write_structure(out, "fi_device_attr", kDeviceAttrFields, nic.device_attr, 8);
    write_structure(out, "fi_bus_attr", kBusAttrFields, nic.bus_attr, 8);
    if (nic.bus_attr != nullptr && nic.bus_attr->bus_type == FI_BUS_PCI) {
        write_structure(out, "fi_pci_attr", kPciAttrFields, &nic.bus_attr->attr.pci, 12);
    }
    write_structure(out, "fi_link_attr", kLinkAttrFields, nic.link_attr, 8);
}

int nic_tostr(const fid* nic, char* buffer, std::size_t length) noexcept {
    if (nic == nullptr || buffer == nullptr || length == 0) return -FI_EINVAL;
    TextWriter out(buffer, length);
    write_nic(out, *reinterpret_cast<const fid_nic*>(nic));
    out.finish();
    return 0;
}

void write_fid(TextWriter& out, const fid* object) noexcept {
    if (object != nullptr && has_tostr(*object)) {
        write_by_own_operation(out, *object);
    } else if (object != nullptr && object->fclass == FI_CLASS_NIC) {
        write_nic(out, *reinterpret_cast<const fid_nic*>(object));
    } else {
        out.put(std::string_view("fid: "));
        out.pointer(object);
        out.put('\n');
    }
}

}  // namespace selvage::impl
