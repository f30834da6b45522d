// Names by which neighbours find each other (transport/near/near_name.h).
#include <gtest/gtest.h>

#include <cstring>
#include <string>

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
    memcpy(name, text.data(), std::min(text.size(), sizeof name));
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

TEST(NearName, AnAddressOfNoSingleEndpointHasNone) {
    EXPECT_EQ(name_of("fi_sockaddr_in://0.0.0.0:7471"), "");
    EXPECT_EQ(name_of("fi_sockaddr_in6://[::]:7471"), "");
    EXPECT_EQ(name_of("fi_sockaddr_in://127.0.0.1:0"), "");
}

TEST(NearName, WhatNoOneWroteIsNotRead) {
    const std::string good = name_of("fi_sockaddr_in://127.0.0.1:7471");
    SocketAddress address;
    ASSERT_TRUE(reads(good, &address));
    const auto changed = [&](size_t from_end, char c) {
        std::string text = good;
        text[text.size() - from_end] = c;
        return text;
    };
    EXPECT_FALSE(reads(good.substr(0, good.size() - 1), &address));
    EXPECT_FALSE(reads(good + "0", &address));
    EXPECT_FALSE(reads(changed(1, 'g'), &address));
    EXPECT_FALSE(reads(changed(1, 'A'), &address));
    EXPECT_FALSE(reads(changed(9, '1'), &address));                                     // a scope, of IPv4
    EXPECT_FALSE(reads(changed(17, '1'), &address));                                    // bytes that are not used
    EXPECT_FALSE(reads(good.substr(0, good.size() - 8) + "00000000", &address));        // every address
    EXPECT_FALSE(reads(name_of("fi_sockaddr_in://127.0.0.1:7471", {1, 2}), &address));  // of another namespace
    EXPECT_FALSE(reads(std::string(kShmTextMax, '0'), &address));
    EXPECT_FALSE(reads("", &address));
}

}  // namespace
}  // namespace selvage::impl::test
