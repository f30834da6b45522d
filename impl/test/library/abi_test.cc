// The versioned symbols: programs built against older, smaller structures own less, and nothing beyond is touched.
#include <gtest/gtest.h>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <string>

#include "impl/test/library/getinfo.h"
#include "impl/test/library/versioned.h"

namespace selvage::test {
namespace {

struct Sizes {
    const char* version;
    size_t info, tx, ep, domain, fabric;
};

constexpr size_t kOldTx = offsetof(fi_tx_attr, tclass);
constexpr size_t kOldInfo = offsetof(fi_info, nic);
const Sizes kSizes[] = {
    {"FABRIC_1.0", kOldInfo, kOldTx, offsetof(fi_ep_attr, auth_key_size), offsetof(fi_domain_attr, cntr_cnt),
     offsetof(fi_fabric_attr, api_version)},
    {"FABRIC_1.1", kOldInfo, kOldTx, sizeof(fi_ep_attr), offsetof(fi_domain_attr, tclass), sizeof(fi_fabric_attr)},
    {"FABRIC_1.2", sizeof(fi_info), kOldTx, sizeof(fi_ep_attr), offsetof(fi_domain_attr, tclass),
     sizeof(fi_fabric_attr)},
    {"FABRIC_1.3", sizeof(fi_info), sizeof(fi_tx_attr), sizeof(fi_ep_attr), sizeof(fi_domain_attr),
     sizeof(fi_fabric_attr)},
};

// Alignment keeps a structure of 28 bytes from ending at the edge; it may be unaligned there, so round up.
size_t aligned(size_t size) { return (size + 7) / 8 * 8; }

class Abi : public testing::TestWithParam<Sizes> {};

TEST_P(Abi, HintsAreReadNoFurtherThanTheCallerOwns) {
    const Sizes& size = GetParam();
    const auto get = symbol<GetInfoCall>("fi_getinfo", size.version);
    const auto release = symbol<FreeInfoCall>("fi_freeinfo", size.version);
    const auto duplicate = symbol<DupInfoCall>("fi_dupinfo", size.version);
    ASSERT_TRUE(get && release && duplicate);
    AtEdge<fi_info> hints(aligned(size.info));
    AtEdge<fi_tx_attr> tx(aligned(size.tx));
    AtEdge<fi_ep_attr> ep(aligned(size.ep));
    AtEdge<fi_domain_attr> domain(aligned(size.domain));
    AtEdge<fi_fabric_attr> fabric(aligned(size.fabric));
    hints->tx_attr = tx.get();
    hints->ep_attr = ep.get();
    hints->domain_attr = domain.get();
    hints->fabric_attr = fabric.get();
    char provider[] = "shm";
    fabric->prov_name = provider;
    fi_info* list = nullptr;
    ASSERT_EQ(get(FI_VERSION(1, 17), nullptr, nullptr, 0, hints.get(), &list), 0);
    EXPECT_STREQ(list->fabric_attr->prov_name, "shm");
    release(list);
    fi_info* copy = duplicate(hints.get());
    ASSERT_TRUE(copy);
    EXPECT_STREQ(copy->fabric_attr->prov_name, "shm");
    release(copy);
}

TEST_P(Abi, WhatAnOldCallerAllocatedIsFreedAsItIs) {
    const Sizes& size = GetParam();
    const auto release = symbol<FreeInfoCall>("fi_freeinfo", size.version);
    // Blocks of exactly the old sizes: a sanitizer sees any step beyond.
    const auto block = [](size_t bytes) { return calloc(1, aligned(bytes)); };
    auto* info = static_cast<fi_info*>(block(size.info));
    info->tx_attr = static_cast<fi_tx_attr*>(block(size.tx));
    info->ep_attr = static_cast<fi_ep_attr*>(block(size.ep));
    info->domain_attr = static_cast<fi_domain_attr*>(block(size.domain));
    info->domain_attr->name = strdup("name");
    info->fabric_attr = static_cast<fi_fabric_attr*>(block(size.fabric));
    info->src_addr = malloc(16);
    release(info);
}

void PrintTo(const Sizes& sizes, std::ostream* out) { *out << sizes.version; }

INSTANTIATE_TEST_SUITE_P(Layouts, Abi, testing::ValuesIn(kSizes), [](const auto& test) {
    const std::string version = test.param.version;  // "FABRIC_1.0"
    return version.substr(0, version.size() - 2) + "_" + version.back();
});

TEST(AbiFabric, OldestSymbolKnowsNoApiVersion) {
    const auto open_old = symbol<FabricCall>("fi_fabric", "FABRIC_1.0");
    const auto open_new = symbol<FabricCall>("fi_fabric", "FABRIC_1.1");
    ASSERT_TRUE(open_old && open_new);
    char name[] = "shm";
    fi_fabric_attr attr{};
    attr.name = name;
    attr.prov_name = name;
    attr.api_version = 0xffffffff;  // padding of the old structure: anything
    fid_fabric* fabric = nullptr;
    ASSERT_EQ(open_old(&attr, &fabric, nullptr), 0);
    EXPECT_EQ(fabric->api_version, FI_VERSION(1, 0));
    EXPECT_EQ(fi_close(&fabric->fid), 0);
    EXPECT_EQ(open_new(&attr, &fabric, nullptr), -FI_ENOSYS);
    EXPECT_FALSE(fabric);
    attr.api_version = FI_VERSION(1, 17);
    ASSERT_EQ(open_new(&attr, &fabric, nullptr), 0);
    EXPECT_EQ(fabric->api_version, FI_VERSION(1, 17));
    EXPECT_EQ(fi_close(&fabric->fid), 0);
}

TEST(AbiOpen, NothingCanBeOpenedByAnUnknownName) {
    fid* result = reinterpret_cast<fid*>(1);
    EXPECT_EQ(fi_open(FI_VERSION(1, 17), "nothing of that name", nullptr, 0, 0, &result, nullptr), -FI_ENOSYS);
    EXPECT_FALSE(result);
}

}  // namespace
}  // namespace selvage::test
