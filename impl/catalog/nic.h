// fi_info::nic, see fi_nic(3): what an offer says of its hardware, and the objects that answers carry.
//
// An offer holds the values in place (NicValues). Every answer gets an object of its own, made of malloc blocks like
// the rest of an fi_info; it copies itself (FI_DUP), shows itself (tostr) and frees itself (close). Any thread.
#pragma once

#include "impl/base/rdma.h"

namespace selvage::impl {

// Invariant: texts are terminated; an empty one is not known and becomes a null pointer. The structures of the
// interface point into this object after link(), and a copy has to be linked again.
struct NicValues {
    bool present = false;

    char name[64] = {};
    char device_id[24] = {};
    char device_version[24] = {};
    char vendor_id[24] = {};
    char driver[64] = {};
    char firmware[65] = {};  // a device tells up to 64 characters
    char address[64] = {};
    char network_type[16] = {};
    fi_bus_attr bus{};
    size_t mtu = 0;    // bytes
    size_t speed = 0;  // bits per second
    fi_link_state state = FI_LINK_UNKNOWN;

    // The object that answers are copied from, or nullptr when there is no hardware.
    fid_nic* link();

private:
    fid_nic nic_{};
    fi_device_attr device_{};
    fi_link_attr link_{};
};

// A copy with the operations of this library's own, every pointer a malloc block; nullptr when memory is short.
fid_nic* duplicate_nic(const fid_nic& source);

}  // namespace selvage::impl
