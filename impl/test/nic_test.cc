// fi_info::nic: copied with the info that carries it, shown like any other, and released with it.
#include "impl/catalog/nic.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "impl/catalog/info_memory.h"
#include "impl/text/tostr_info.h"

namespace selvage::impl {
namespace {

NicValues a_device() {
    NicValues values;
    values.present = true;
    snprintf(values.name, sizeof values.name, "rxe0");
    snprintf(values.vendor_id, sizeof values.vendor_id, "0xffffff");
    snprintf(values.address, sizeof values.address, "02:00:00:00:00:01");
    snprintf(values.network_type, sizeof values.network_type, "Ethernet");
    values.bus.bus_type = FI_BUS_PCI;
    values.bus.attr.pci = {1, 2, 3, 4};
    values.mtu = 4096;
    values.speed = 2500000000;
    values.state = FI_LINK_UP;
    return values;
}

std::string shown(const fid_nic& nic) {
    char text[1024];
    EXPECT_EQ(nic.fid.ops->tostr(&nic.fid, text, sizeof text), 0);
    return text;
}

// What belongs to one copy only.
void expect_apart(const fid_nic& a, const fid_nic& b) {
    EXPECT_NE(&a, &b);
    EXPECT_NE(a.device_attr, b.device_attr);
    EXPECT_NE(a.bus_attr, b.bus_attr);
    EXPECT_NE(a.link_attr, b.link_attr);
    EXPECT_NE(a.device_attr->name, b.device_attr->name);
    EXPECT_NE(a.link_attr->address, b.link_attr->address);
}

TEST(Nic, WhatIsNotKnownIsNull) {
    NicValues values = a_device();
    const fid_nic* nic = values.link();
    ASSERT_NE(nic, nullptr);
    EXPECT_EQ(nic->fid.fclass, static_cast<size_t>(FI_CLASS_NIC));
    EXPECT_STREQ(nic->device_attr->name, "rxe0");
    EXPECT_EQ(nic->device_attr->driver, nullptr);
    EXPECT_EQ(nic->device_attr->firmware, nullptr);
    EXPECT_EQ(nic->prov_attr, nullptr);
    EXPECT_EQ(nic->link_attr->speed, 2500000000u);
}

TEST(Nic, OfTheApplicationIsDuplicatedWithWhatItHas) {
    char name[] = "own0";
    fi_device_attr device = {};
    fid_nic nic = {};
    fi_info info = {};
    device.name = name;
    nic.device_attr = &device;
    info.nic = &nic;
    fi_info* copy = duplicate_info(info, Layout::V1_3);
    ASSERT_NE(copy, nullptr);
    ASSERT_NE(copy->nic, nullptr);
    EXPECT_NE(copy->nic->device_attr, &device);
    EXPECT_STREQ(copy->nic->device_attr->name, "own0");
    EXPECT_NE(copy->nic->device_attr->name, name);
    EXPECT_EQ(copy->nic->link_attr, nullptr);
    free_info_list(copy, Layout::V1_3);
}

TEST(Nic, WithoutHardwareThereIsNone) {
    NicValues values;
    EXPECT_EQ(values.link(), nullptr);
}

TEST(Nic, ACopyOfAnInfoHasANicOfItsOwn) {
    NicValues values = a_device();
    InfoSet set;
    set.info.nic = values.link();
    fi_info* first = duplicate_info(set.info, Layout::V1_3);
    ASSERT_NE(first, nullptr);
    ASSERT_NE(first->nic, nullptr);
    expect_apart(*first->nic, *set.info.nic);
    fi_info* second = duplicate_info(*first, Layout::V1_3);
    ASSERT_NE(second, nullptr);
    expect_apart(*second->nic, *first->nic);
    const std::string text = shown(*first->nic);
    free_info_list(first, Layout::V1_3);
    EXPECT_EQ(shown(*second->nic), text);
    EXPECT_NE(text.find("name: rxe0"), std::string::npos) << text;
    EXPECT_NE(text.find("bus_id: 2"), std::string::npos) << text;
    EXPECT_NE(text.find("speed: 2500000000"), std::string::npos) << text;
    free_info_list(second, Layout::V1_3);
}

TEST(Nic, ACallerOfAnOlderLayoutGetsNone) {
    NicValues values = a_device();
    InfoSet set;
    set.info.nic = values.link();
    fi_info* copy = duplicate_info(set.info, Layout::V1_1);
    ASSERT_NE(copy, nullptr);
    EXPECT_EQ(copy->nic, nullptr);
    free_info_list(copy, Layout::V1_1);
}

}  // namespace
}  // namespace selvage::impl
