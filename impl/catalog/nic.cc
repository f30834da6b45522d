// See nic.h.
#include "impl/catalog/nic.h"

#include <cstdlib>
#include <initializer_list>

#include "impl/base/object.h"
#include "impl/text/tostr_info.h"

namespace selvage::impl {
namespace {

void free_device(fi_device_attr* device) {
    if (!device) return;
    for (char* text : {device->name, device->device_id, device->device_version, device->vendor_id, device->driver,
                       device->firmware}) {
        free(text);
    }
    free(device);
}

void free_link(fi_link_attr* link) {
    if (!link) return;
    free(link->address);
    free(link->network_type);
    free(link);
}

// What prov_attr points to is of a size that only its maker knows; this library makes none, and copies none.
int close_nic(fid* descriptor) {
    auto* nic = object_of<fid_nic>(descriptor);
    free_device(nic->device_attr);
    free(nic->bus_attr);
    free_link(nic->link_attr);
    free(nic);
    return 0;
}

int control_nic(fid* descriptor, int command, void* argument) {
    if (command != FI_DUP) return without_command(command);
    if (!argument) return -FI_EINVAL;
    fid_nic* copy = duplicate_nic(*object_of<fid_nic>(descriptor));
    if (!copy) return -FI_ENOMEM;
    *static_cast<fid_nic**>(argument) = copy;
    return 0;
}

constexpr fi_ops make_nic_ops() {
    fi_ops ops = make_fid_ops(close_nic, kMissing<decltype(fi_ops::bind)>, control_nic);
    ops.tostr = nic_tostr;
    return ops;
}

constexpr fi_ops kNicOps = make_nic_ops();

// Copies below leave nullptr where there is nothing to copy or no memory; `ok` tells which.
template <typename T>
T* copied(const T* source, bool& ok) {
    if (!source) return nullptr;
    auto* block = static_cast<T*>(malloc(sizeof(T)));
    if (block) *block = *source;
    ok = ok && block;
    return block;
}

void own(char*& text, bool& ok) {
    if (!text) return;
    text = strdup(text);
    ok = ok && text;
}

fi_device_attr* copied_device(const fi_device_attr* source, bool& ok) {
    fi_device_attr* device = copied(source, ok);
    if (!device) return nullptr;
    for (char* fi_device_attr::*text :
         {&fi_device_attr::name, &fi_device_attr::device_id, &fi_device_attr::device_version,
          &fi_device_attr::vendor_id, &fi_device_attr::driver, &fi_device_attr::firmware}) {
        own(device->*text, ok);
    }
    return device;
}

fi_link_attr* copied_link(const fi_link_attr* source, bool& ok) {
    fi_link_attr* link = copied(source, ok);
    if (!link) return nullptr;
    own(link->address, ok);
    own(link->network_type, ok);
    return link;
}

char* text_or_null(char* text) { return *text ? text : nullptr; }

}  // namespace

fid_nic* duplicate_nic(const fid_nic& source) {
    auto* nic = static_cast<fid_nic*>(calloc(1, sizeof(fid_nic)));
    if (!nic) return nullptr;
    init_fid(nic->fid, FI_CLASS_NIC, nullptr, kNicOps);
    bool ok = true;
    nic->device_attr = copied_device(source.device_attr, ok);
    nic->bus_attr = copied(source.bus_attr, ok);
    nic->link_attr = copied_link(source.link_attr, ok);
    if (ok) return nic;
    close_nic(&nic->fid);
    return nullptr;
}

fid_nic* NicValues::link() {
    if (!present) return nullptr;
    init_fid(nic_.fid, FI_CLASS_NIC, nullptr, kNicOps);
    device_ = {text_or_null(name),      text_or_null(device_id), text_or_null(device_version),
               text_or_null(vendor_id), text_or_null(driver),    text_or_null(firmware)};
    link_ = {text_or_null(address), mtu, speed, state, text_or_null(network_type)};
    nic_.device_attr = &device_;
    nic_.bus_attr = &bus;
    nic_.link_attr = &link_;
    return &nic_;
}

}  // namespace selvage::impl
