// Names by which neighbours find each other (transport/near/near_name.h).
#include <gtest/gtest.h>

#include <string>

#include "impl/net/context_id.h"
#include "impl/transport/near/near_name.h"
#include "impl/transport/shm/region.h"

namespace selvage::impl::test {
namespace {

constexpr near::Namespace kSpace{.device = 4, .inode = 4026531840};

SocketAddress parse(const char* text) {
    ParsedAddress parsed;
    EXPECT_TRUE(parse_text_address(text, &parsed)) << text;
    return parsed.socket;
}

std::string name_of(const char* text, const near::Namespace& space = kSpace) {
    char name[kShmTextMax];
    return near::write_name(space, parse(text), name) ? name : "";
}

bool reads(const std::string& text, SocketAddress* out) {
    char name[kShmTextMax] = {};
    text.copy(name, sizeof name);
    return near::read_name(kSpace, name, out);
}

TEST(NearName, AnAddressComesBackFromItsName) {
    for (const char* text : {"fi_sockaddr_in://127.0.0.1:7471", "fi_sockaddr_in://10.1.2.3:65535",
                             "fi_sockaddr_in6://[::1]:80", "fi_sockaddr_in6://[fe80::1%2]:9000"}) {
        SocketAddress address;
        ASSERT_TRUE(reads(name_of(text), &address)) << text;
        EXPECT_TRUE(address.same_endpoint(parse(text))) << text;
        char name[kShmTextMax] = {};
        ASSERT_TRUE(near::write_name(kSpace, address, name));
        EXPECT_TRUE(shm::valid_text(name));
    }
}

TEST(NearName, NamespacesAddressesAndPortsHaveNamesOfTheirOwn) {
    const std::string name = name_of("fi_sockaddr_in://127.0.0.1:7471");
    EXPECT_NE(name, name_of("fi_sockaddr_in://127.0.0.1:7472"));
    EXPECT_NE(name, name_of("fi_sockaddr_in://127.0.0.2:7471"));
    EXPECT_NE(name, name_of("fi_sockaddr_in://127.0.0.1:7471", {.device = 4, .inode = 4026531841}));
    EXPECT_NE(name, name_of("fi_sockaddr_in://127.0.0.1:7471", {.device = 5, .inode = 4026531840}));
}

TEST(NearName, ContextsOfAnAddressHaveNamesOfTheirOwn) {
    SocketAddress address = parse("fi_sockaddr_in6://[fe80::1%2]:9000");
    for (const uint16_t context :
         {receive_context(0), receive_context(7), transmit_context(0), transmit_context(255)}) {
        address.context = context;
        char name[kShmTextMax];
        ASSERT_TRUE(near::write_name(kSpace, address, name));
        SocketAddress read;
        ASSERT_TRUE(reads(name, &read)) << name;
        EXPECT_TRUE(read.same_endpoint(address));
        EXPECT_EQ(read.context, context);
    }
    SocketAddress read;
    EXPECT_FALSE(reads(name_of("fi_sockaddr_in://127.0.0.1:7471") + "/0", &read));
    EXPECT_FALSE(reads(name_of("fi_sockaddr_in://127.0.0.1:7471") + "/256", &read));
}

TEST(NearName, AnAddressOfNoSingleEndpointHasNone) {
    EXPECT_EQ(name_of("fi_sockaddr_in://0.0.0.0:7471"), "");
    EXPECT_EQ(name_of("fi_sockaddr_in6://[::]:7471"), "");
    EXPECT_EQ(name_of("fi_sockaddr_in://127.0.0.1:0"), "");
}

TEST(NearName, WhatNoOneWroteIsNotRead) {
    const std::string good = name_of("fi_sockaddr_in://127.0.0.1:7471");
    SocketAddress address;
    ASSERT_TRUE(reads(good, &address));
    const size_t host = good.rfind('-') + 1;
    ASSERT_EQ(good.substr(host), "7f000001");
    for (const char* other : {"7F000001", "0x7f000001", "07f000001", "+7f000001", " 7f000001", "7f000001 ",
                              "7f000001-0", "17f000001", "-80ffffff", "0", "", "g"}) {
        EXPECT_FALSE(reads(good.substr(0, host) + other, &address)) << other;
    }
    EXPECT_FALSE(reads(good.substr(0, host - 1), &address));
    EXPECT_TRUE(reads(good.substr(0, good.size() - 1), &address));  // another address
    std::string family = good;
    family[good.find("4-1d2f")] = '6';
    EXPECT_FALSE(reads(family, &address));
    std::string port = good;
    EXPECT_FALSE(reads(port.replace(good.find("1d2f"), 4, "11d2f"), &address));
    EXPECT_FALSE(reads(name_of("fi_sockaddr_in://127.0.0.1:7471", {1, 2}), &address));  // of another namespace
    EXPECT_FALSE(reads(std::string(kShmTextMax, '0'), &address));
    EXPECT_FALSE(reads("", &address));
}

}  // namespace
}  // namespace selvage::impl::test
