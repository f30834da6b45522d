// Discovery of RDMA devices against a table of functions that stands in for libibverbs and librdmacm, and files that
// stand in for the kernel's.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "impl/transport/verbs/devices.h"
#include "impl/transport/verbs/nic.h"
#include "impl/transport/verbs/verbs.h"

namespace selvage::impl::verbs {
namespace {

namespace fs = std::filesystem;

// A folder that goes with the test.
class Scratch {
public:
    Scratch() {
        char name[] = "/tmp/selvage-verbs-XXXXXX";
        path_ = mkdtemp(name);
    }
    ~Scratch() { fs::remove_all(path_); }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    std::string at(const std::string& below) const { return path_ + "/" + below; }
    void write(const std::string& below, const std::string& text) const {
        fs::create_directories(fs::path(at(below)).parent_path());
        std::ofstream(at(below)) << text;
    }
    void link(const std::string& below, const std::string& target) const {
        fs::create_directories(fs::path(at(below)).parent_path());
        fs::create_symlink(target, at(below));
    }
    const char* c_str() const { return path_.c_str(); }

private:
    std::string path_;
};

// The stand-in. One device "fake0" with the address 192.0.2.1; `bind_error` and `channel_error` make calls fail.
struct Fake {
    rdma_event_channel channel{};
    ibv_device device{};
    ibv_context context{};
    int bind_error = 0;
    int channel_error = 0;
    int open_ids = 0;
    int open_channels = 0;
};
Fake fake;

int fake_bind(rdma_cm_id* id, sockaddr* address) {
    sockaddr_in wanted{};
    memcpy(&wanted, address, sizeof wanted);
    errno = fake.bind_error ? fake.bind_error : ENODEV;
    if (fake.bind_error || wanted.sin_addr.s_addr != htonl(0xc0000201)) return -1;
    id->verbs = &fake.context;
    id->port_num = 2;
    return 0;
}

RdmaLibrary fake_library() {
    fake = {};
    snprintf(fake.device.name, sizeof fake.device.name, "fake0");
    fake.context.device = &fake.device;
    RdmaLibrary table;
    table.create_event_channel = []() -> rdma_event_channel* {
        errno = fake.channel_error;
        if (fake.channel_error) return nullptr;
        ++fake.open_channels;
        return &fake.channel;
    };
    table.destroy_event_channel = [](rdma_event_channel*) { --fake.open_channels; };
    table.create_id = [](rdma_event_channel*, rdma_cm_id** id, void*, rdma_port_space) {
        *id = static_cast<rdma_cm_id*>(calloc(1, sizeof(rdma_cm_id)));
        ++fake.open_ids;
        return 0;
    };
    table.destroy_id = [](rdma_cm_id* id) {
        free(id);
        --fake.open_ids;
        return 0;
    };
    table.bind_addr = fake_bind;
    table.get_device_name = [](ibv_device* device) -> const char* { return device->name; };
    table.query_device = [](ibv_context*, ibv_device_attr* out) {
        *out = {};
        out->max_qp = 77;
        return 0;
    };
    table.query_port_compatible = [](ibv_context*, uint8_t port, _compat_ibv_port_attr* out) {
        reinterpret_cast<ibv_port_attr*>(out)->state = IBV_PORT_ACTIVE;
        reinterpret_cast<ibv_port_attr*>(out)->lid = port;
        return 0;
    };
    return table;
}

SocketAddress address_of(uint32_t host) {
    SocketAddress address;
    address.kind = AddressKind::Inet;
    address.v4 = {};
    address.v4.sin_family = AF_INET;
    address.v4.sin_addr.s_addr = htonl(host);
    return address;
}

TEST(VerbsDiscovery, AFolderThatIsNotThereOrEmptyMeansNoDevice) {
    const Scratch scratch;
    EXPECT_EQ(any_device(scratch.at("infiniband").c_str()), -FI_ENODEV);
    fs::create_directory(scratch.at("infiniband"));
    EXPECT_EQ(any_device(scratch.at("infiniband").c_str()), -FI_ENODEV);
    fs::create_directory(scratch.at("infiniband/fake0"));
    EXPECT_EQ(any_device(scratch.at("infiniband").c_str()), 0);
}

TEST(VerbsDiscovery, AFolderThatCannotBeReadForWantOfDescriptorsIsAnErrorAndNotNoDevice) {
    const Scratch scratch;
    fs::create_directories(scratch.at("infiniband/fake0"));
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    rlimit none = before;
    none.rlim_cur = 0;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    const int result = any_device(scratch.at("infiniband").c_str());
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(result, -FI_EMFILE);
}

TEST(VerbsDiscovery, AnAddressLeadsToItsPort) {
    const RdmaLibrary library = fake_library();
    {
        PortFinder finder(library);
        ASSERT_EQ(finder.open(), 0);
        DevicePort port;
        ASSERT_EQ(finder.find(address_of(0xc0000201), &port), 0);
        EXPECT_STREQ(port.device, "fake0");
        EXPECT_EQ(port.port, 2);
        EXPECT_EQ(port.device_attr.max_qp, 77);
        EXPECT_EQ(port.port_attr.lid, 2);
    }
    EXPECT_EQ(fake.open_ids, 0);
    EXPECT_EQ(fake.open_channels, 0);
}

TEST(VerbsDiscovery, AnAddressOfAnotherInterfaceIsOnNoDevice) {
    const RdmaLibrary library = fake_library();
    PortFinder finder(library);
    ASSERT_EQ(finder.open(), 0);
    DevicePort port;
    EXPECT_EQ(finder.find(address_of(0xc0000202), &port), -FI_ENODEV);
    EXPECT_EQ(fake.open_ids, 0);
}

TEST(VerbsDiscovery, ShortageIsAnErrorAndNoAnswerIsNone) {
    const RdmaLibrary library = fake_library();
    PortFinder finder(library);
    ASSERT_EQ(finder.open(), 0);
    DevicePort port;
    fake.bind_error = ENOMEM;
    EXPECT_EQ(finder.find(address_of(0xc0000201), &port), -FI_ENOMEM);
    fake.bind_error = EADDRNOTAVAIL;
    EXPECT_EQ(finder.find(address_of(0xc0000201), &port), -FI_ENODEV);
}

TEST(VerbsDiscovery, AUserWithoutAConnectionManagerHasNoDevice) {
    const RdmaLibrary library = fake_library();
    fake.channel_error = EACCES;
    PortFinder forbidden(library);
    EXPECT_EQ(forbidden.open(), -FI_ENODEV);
    fake.channel_error = EMFILE;
    PortFinder crowded(library);
    EXPECT_EQ(crowded.open(), -FI_EMFILE);
}

DevicePort a_port() {
    DevicePort port;
    snprintf(port.device, sizeof port.device, "fake0");
    port.device_attr.vendor_id = 0x2c9;
    port.device_attr.vendor_part_id = 4121;
    snprintf(port.device_attr.fw_ver, sizeof port.device_attr.fw_ver, "16.35");
    port.port_attr.state = IBV_PORT_ACTIVE;
    port.port_attr.active_mtu = IBV_MTU_4096;
    port.port_attr.active_width = 2;
    port.port_attr.active_speed = 32;
    port.port_attr.link_layer = IBV_LINK_LAYER_ETHERNET;
    return port;
}

TEST(VerbsNic, SaysWhatTheDeviceAndTheKernelSay) {
    const Scratch system;
    system.link("class/infiniband/fake0/device", "../../../devices/pci0000:3a/0000:3b:1f.7");
    system.link("devices/pci0000:3a/0000:3b:1f.7/subsystem", "../../../bus/pci");
    system.link("devices/pci0000:3a/0000:3b:1f.7/driver", "../../../bus/pci/drivers/mlx5_core");
    system.write("class/net/eth7/address", "02:00:00:00:00:07\n");
    NicValues nic;
    describe_nic(a_port(), "eth7", system.c_str(), &nic);
    EXPECT_TRUE(nic.present);
    EXPECT_STREQ(nic.name, "fake0");
    EXPECT_STREQ(nic.vendor_id, "0x02c9");
    EXPECT_STREQ(nic.device_id, "0x1019");
    EXPECT_STREQ(nic.firmware, "16.35");
    EXPECT_STREQ(nic.driver, "mlx5_core");
    EXPECT_STREQ(nic.address, "02:00:00:00:00:07");
    EXPECT_STREQ(nic.network_type, "Ethernet");
    EXPECT_EQ(nic.mtu, 4096u);
    EXPECT_EQ(nic.speed, 100000000000u);
    EXPECT_EQ(nic.state, FI_LINK_UP);
    ASSERT_EQ(nic.bus.bus_type, FI_BUS_PCI);
    EXPECT_EQ(nic.bus.attr.pci.domain_id, 0);
    EXPECT_EQ(nic.bus.attr.pci.bus_id, 0x3b);
    EXPECT_EQ(nic.bus.attr.pci.device_id, 0x1f);
    EXPECT_EQ(nic.bus.attr.pci.function_id, 7);
}

TEST(VerbsNic, ADeviceOfSoftwareIsOnNoBus) {
    const Scratch system;
    NicValues nic;
    describe_nic(a_port(), "none", system.c_str(), &nic);
    EXPECT_EQ(nic.bus.bus_type, FI_BUS_UNKNOWN);
    EXPECT_STREQ(nic.driver, "");
    EXPECT_STREQ(nic.address, "");
}

TEST(VerbsNic, WhatTheFilesHoldIsNotTrusted) {
    const Scratch system;
    system.link("class/infiniband/fake0/device", "../../../devices/10000:3b:00.0");
    system.link("devices/10000:3b:00.0/subsystem", "../../../bus/pci");
    system.link("devices/10000:3b:00.0/driver", std::string(250, 'd'));
    system.write("class/net/eth7/address", std::string(5000, 'x'));
    NicValues nic;
    describe_nic(a_port(), "eth7", system.c_str(), &nic);
    EXPECT_EQ(nic.bus.bus_type, FI_BUS_UNKNOWN) << "a domain of five digits is none";
    EXPECT_EQ(std::string(nic.address), std::string(sizeof nic.address - 1, 'x'));
    EXPECT_EQ(std::string(nic.driver), std::string(sizeof nic.driver - 1, 'd'));
}

TEST(VerbsNic, SpeedsAreLanesTimesTheLanesSpeed) {
    EXPECT_EQ(link_speed(1, 1), 2500000000u);
    EXPECT_EQ(link_speed(2, 64), 200000000000u);
    EXPECT_EQ(link_speed(8, 128), 1200000000000u);
    EXPECT_EQ(link_speed(3, 1), 0u) << "no such width";
    EXPECT_EQ(link_speed(1, 3), 0u) << "no such speed";
}

// On a machine with a device there is more to pay, and the next tests say nothing.
bool this_machine_has_a_device() { return any_device("/sys/class/infiniband") == 0; }

TEST(VerbsDiscovery, AMachineWithoutADeviceOffersNothingAndPaysUnderTwentyMicroseconds) {
    if (this_machine_has_a_device()) GTEST_SKIP() << "this machine has an RDMA device";
    std::array<double, 101> microseconds{};
    for (double& sample : microseconds) {
        TableBuilder builder;
        const auto begin = std::chrono::steady_clock::now();
        const int result = kVerbsProvider.discover(kVerbsProvider, builder);
        sample = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
        ASSERT_EQ(result, 0);
        Table* table = builder.finish();
        ASSERT_NE(table, nullptr);
        EXPECT_EQ(table->size(), 0u);
        table->release();
    }
    RecordProperty("first_us", std::to_string(microseconds[0]));
    std::sort(microseconds.begin(), microseconds.end());
    RecordProperty("median_us", std::to_string(microseconds[microseconds.size() / 2]));
    EXPECT_LT(microseconds[microseconds.size() / 2], 20.0);
}

}  // namespace
}  // namespace selvage::impl::verbs
