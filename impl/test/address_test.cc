// Addresses: text and raw forms, and what is not an address.
#include "impl/net/address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <string>

namespace selvage::impl {
namespace {

std::string round_trip(const char* text) {
    ParsedAddress parsed;
    if (!parse_text_address(text, &parsed)) return "invalid";
    if (parsed.kind == AddressKind::Shm) return parsed.shm;
    char out[kAddressBytesMax];
    const size_t length = write_text_address(parsed.socket, FI_SOCKADDR_IN, out, sizeof out);
    EXPECT_EQ(length, strlen(out) + 1);
    return out;
}

TEST(Address, TextForms) {
    EXPECT_EQ(round_trip("fi_sockaddr://10.31.6.12:7471"), "fi_sockaddr_in://10.31.6.12:7471");
    EXPECT_EQ(round_trip("fi_sockaddr_in6://[fe80::6:12]:7471"), "fi_sockaddr_in6://[fe80::6:12]:7471");
    EXPECT_EQ(round_trip("fi_sockaddr://10.31.6.12:7471?qos=3"), "fi_sockaddr_in://10.31.6.12:7471");
    EXPECT_EQ(round_trip("fi_sockaddr_in://10.31.6.12"), "fi_sockaddr_in://10.31.6.12:0");
    EXPECT_EQ(round_trip("fi_sockaddr://[::1]:5/field"), "fi_sockaddr_in6://[::1]:5");
    EXPECT_EQ(round_trip("fi_shm://:service"), "fi_shm://:service");
    EXPECT_EQ(round_trip("fi_shm"), "fi_shm://");
}

TEST(Address, NotAnAddress) {
    for (const char* text : {"fi_sockaddr_in6://10.0.0.1:1", "fi_sockaddr_in://[::1]:1", "fi_sockaddr://10.0.0.1:65536",
                             "fi_sockaddr://10.0.0.1:x", "fi_sockaddr://[::1", "fi_sockaddr://host:1", "fi_shm://a/b",
                             "fi_shm://a b", "fi_addr_efa://x", "10.0.0.1", ""}) {
        EXPECT_EQ(round_trip(text), "invalid") << text;
    }
    EXPECT_EQ(round_trip(("fi_shm://" + std::string(kShmTextMax, 'x')).c_str()), "invalid");
}

TEST(Address, RawFormsAreReadNoFurtherThanTheirLength) {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    ParsedAddress parsed;
    EXPECT_TRUE(read_address(FI_SOCKADDR_IN6, &v6, sizeof v6, &parsed));
    EXPECT_FALSE(read_address(FI_SOCKADDR_IN6, &v6, sizeof v6 - 1, &parsed));
    EXPECT_FALSE(read_address(FI_SOCKADDR_IN, &v6, sizeof v6, &parsed));
    EXPECT_TRUE(read_address(FI_SOCKADDR, &v6, sizeof v6, &parsed));
    EXPECT_TRUE(read_address(FI_FORMAT_UNSPEC, &v6, sizeof v6, &parsed));
    EXPECT_FALSE(read_address(FI_SOCKADDR_IB, &v6, sizeof v6, &parsed));
    EXPECT_FALSE(read_address(FI_SOCKADDR, &v6, 1, &parsed));
    EXPECT_FALSE(read_address(FI_SOCKADDR, nullptr, 16, &parsed));
    const char unterminated[] = {'f', 'i', '_', 's', 'h', 'm', ':', '/', '/', 'x', 'y'};
    EXPECT_TRUE(read_address(FI_ADDR_STR, unterminated, sizeof unterminated, &parsed));
    EXPECT_STREQ(parsed.shm, "fi_shm://xy");
}

TEST(Address, Hosts) {
    SocketAddress a, b;
    EXPECT_FALSE(a.same_host(b));
    a.kind = b.kind = AddressKind::Inet6;
    inet_pton(AF_INET6, "fe80::1", &a.v6.sin6_addr);
    b = a;
    b.v6.sin6_scope_id = 2;
    EXPECT_TRUE(a.same_host(b));  // one of them names no link
    a.v6.sin6_scope_id = 3;
    EXPECT_FALSE(a.same_host(b));
}

TEST(Address, QueuePairsAreReadAsTheyAreAndToldApart) {
    SocketAddress a;
    a.kind = AddressKind::IbUd;
    EXPECT_FALSE(a.names_endpoint());
    a.ib = {.gid = {0xfd, 0, 0, 0x77, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
            .queue_pair = 0x12,
            .local_id = 3,
            .partition_key = 0xffff,
            .service = 0,
            .service_level = 1,
            .unused = {}};
    EXPECT_TRUE(a.names_endpoint());
    ParsedAddress parsed;
    EXPECT_FALSE(read_address(FI_ADDR_IB_UD, a.bytes(), a.length() - 1, &parsed));
    ASSERT_TRUE(read_address(FI_ADDR_IB_UD, a.bytes(), a.length(), &parsed));
    EXPECT_EQ(parsed.kind, AddressKind::IbUd);
    EXPECT_TRUE(parsed.socket.same_endpoint(a));
    ParsedAddress other;
    EXPECT_FALSE(read_address(FI_SOCKADDR, a.bytes(), a.length(), &other));
    char text[kAddressBytesMax];
    const size_t length = write_text_address(a, FI_SOCKADDR_IN, text, sizeof text);
    EXPECT_STREQ(text, "fi_addr_ib_ud://fd00:77::1:12/3/ffff/1");
    EXPECT_EQ(length, strlen(text) + 1);
    SocketAddress b = a;
    b.ib.queue_pair = 0x13;
    EXPECT_TRUE(a.same_host(b));
    EXPECT_FALSE(a.same_endpoint(b));
    b.ib.gid[15] = 2;
    EXPECT_FALSE(a.same_host(b));
    b.ib.queue_pair = kQueuePairMax + 1;
    EXPECT_FALSE(b.names_endpoint());
    // It has no port, and none is written over it.
    a.set_port(7);
    EXPECT_TRUE(parsed.socket.same_endpoint(a));
    EXPECT_EQ(a.port(), 0);
}

}  // namespace
}  // namespace selvage::impl
