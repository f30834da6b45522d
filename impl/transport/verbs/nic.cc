// See nic.h.
#include "impl/transport/verbs/nic.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace selvage::impl::verbs {
namespace {

struct Path {
    char text[256];
};

template <typename... Parts>
Path path(const char* format, Parts... parts) {
    Path result;
    if (snprintf(result.text, sizeof result.text, format, parts...) >= static_cast<int>(sizeof result.text)) {
        result.text[0] = 0;  // a name that no file has
    }
    return result;
}

// The first line of a small file; empty when there is none. Files of the kernel, but a name is a name.
void read_line(const Path& file, char* out, size_t size) {
    out[0] = 0;
    const int descriptor = open(file.text, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (descriptor < 0) return;
    const ssize_t length = read(descriptor, out, size - 1);
    close(descriptor);
    out[length > 0 ? length : 0] = 0;
    out[strcspn(out, "\n")] = 0;
}

// The last part of what a link points to; empty when it is no link.
void link_target(const Path& link, char* out, size_t size) {
    char target[256];
    const ssize_t length = readlink(link.text, target, sizeof target - 1);
    target[length > 0 ? length : 0] = 0;
    const char* slash = strrchr(target, '/');
    const char* name = slash ? slash + 1 : target;
    const size_t kept = strnlen(name, size - 1);
    memcpy(out, name, kept);
    out[kept] = 0;
}

// "0000:3b:00.1". A device of software is on no bus.
void describe_bus(const char* system, const char* device, fi_bus_attr* out) {
    char bus[16];
    char place[32];
    link_target(path("%s/class/infiniband/%s/device/subsystem", system, device), bus, sizeof bus);
    link_target(path("%s/class/infiniband/%s/device", system, device), place, sizeof place);
    unsigned domain, number, slot, function;
    const bool is_pci = strcmp(bus, "pci") == 0 &&
                        sscanf(place, "%x:%x:%x.%x", &domain, &number, &slot, &function) == 4 && domain <= 0xffff &&
                        number <= 0xff && slot <= 0xff && function <= 0xff;
    if (!is_pci) {
        out->bus_type = FI_BUS_UNKNOWN;
        return;
    }
    out->bus_type = FI_BUS_PCI;
    out->attr.pci = {static_cast<uint16_t>(domain), static_cast<uint8_t>(number), static_cast<uint8_t>(slot),
                     static_cast<uint8_t>(function)};
}

fi_link_state link_state(ibv_port_state state) {
    switch (state) {
        case IBV_PORT_ACTIVE:
        case IBV_PORT_ACTIVE_DEFER:
            return FI_LINK_UP;
        case IBV_PORT_DOWN:
        case IBV_PORT_INIT:
        case IBV_PORT_ARMED:
            return FI_LINK_DOWN;
        default:
            return FI_LINK_UNKNOWN;
    }
}

const char* network_type(uint8_t link_layer) {
    switch (link_layer) {
        case IBV_LINK_LAYER_ETHERNET:
            return "Ethernet";
        case IBV_LINK_LAYER_UNSPECIFIED:  // what InfiniBand ports of older drivers say
        case IBV_LINK_LAYER_INFINIBAND:
            return "InfiniBand";
        default:
            return "";
    }
}

}  // namespace

size_t mtu_bytes(ibv_mtu mtu) { return mtu >= IBV_MTU_256 && mtu <= IBV_MTU_4096 ? size_t{128} << mtu : 0; }

// Lanes by code, and megabits per second of one lane by code, as the InfiniBand specification numbers them.
size_t link_speed(uint8_t active_width, uint8_t active_speed) {
    struct Code {
        uint8_t code;
        size_t value;
    };
    constexpr Code kLanes[] = {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}};
    constexpr Code kLaneSpeeds[] = {{1, 2500},   {2, 5000},   {4, 10000},  {8, 10000},
                                    {16, 14000}, {32, 25000}, {64, 50000}, {128, 100000}};
    constexpr size_t kMega = 1000000;
    size_t lanes = 0, speed = 0;
    for (const Code& row : kLanes) lanes = row.code == active_width ? row.value : lanes;
    for (const Code& row : kLaneSpeeds) speed = row.code == active_speed ? row.value : speed;
    return lanes * speed * kMega;
}

void describe_nic(const DevicePort& port, const char* interface, const char* system, NicValues* out) {
    const ibv_device_attr& device = port.device_attr;
    out->present = true;
    snprintf(out->name, sizeof out->name, "%s", port.device);
    snprintf(out->device_id, sizeof out->device_id, "0x%04x", device.vendor_part_id);
    snprintf(out->device_version, sizeof out->device_version, "%u", device.hw_ver);
    snprintf(out->vendor_id, sizeof out->vendor_id, "0x%04x", device.vendor_id);
    snprintf(out->firmware, sizeof out->firmware, "%.*s", static_cast<int>(sizeof device.fw_ver), device.fw_ver);
    link_target(path("%s/class/infiniband/%s/device/driver", system, port.device), out->driver, sizeof out->driver);
    describe_bus(system, port.device, &out->bus);
    read_line(path("%s/class/net/%s/address", system, interface), out->address, sizeof out->address);
    out->mtu = mtu_bytes(port.port_attr.active_mtu);
    out->speed = link_speed(port.port_attr.active_width, port.port_attr.active_speed);
    out->state = link_state(port.port_attr.state);
    snprintf(out->network_type, sizeof out->network_type, "%s", network_type(port.port_attr.link_layer));
}

}  // namespace selvage::impl::verbs
