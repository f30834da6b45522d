// Attributes of routing messages: no length in them leads out of the message, and none is an endless walk.
#include "impl/net/route_socket.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace {

using selvage::impl::read_attribute;
using selvage::impl::read_text;
using selvage::impl::RouteAttributes;
using selvage::impl::RouteSocket;

// Bytes at the end of a block of exactly their size, so that a sanitizer sees a step beyond.
std::vector<char> attribute(uint16_t length, uint16_t type, const std::string& bytes) {
    std::vector<char> all(4 + bytes.size());
    memcpy(all.data(), &length, 2);
    memcpy(all.data() + 2, &type, 2);
    if (!bytes.empty()) memcpy(all.data() + 4, bytes.data(), bytes.size());
    return all;
}

int count(const std::vector<char>& bytes) {
    RouteAttributes attributes(bytes.data(), bytes.size());
    int found = 0;
    while (attributes.next()) ++found;
    return found;
}

TEST(RouteAttributesOf, EndWhereALengthIsWrong) {
    EXPECT_EQ(count(attribute(8, 1, "abcd")), 1);
    EXPECT_EQ(count(attribute(6, 1, "ab")), 1) << "the last needs no padding";
    for (const int length : {0, 1, 3, 9, 100, 65535}) {
        EXPECT_EQ(count(attribute(static_cast<uint16_t>(length), 1, "abcd")), 0) << length;
    }
    EXPECT_EQ(count({}), 0);
    EXPECT_EQ(count({1, 0, 0}), 0);
    EXPECT_EQ(RouteAttributes(nullptr, 0).next(), nullptr);
}

TEST(RouteAttributesOf, AnyBytesEnd) {
    std::mt19937 random(5);
    for (int round = 0; round < 20000; ++round) {
        std::vector<char> bytes(random() % 64);
        for (char& byte : bytes) byte = static_cast<char>(random() % (round % 2 ? 256 : 9));
        EXPECT_LE(count(bytes), 16);
    }
}

TEST(RouteAttributesOf, ValuesHaveTheirSizeAndTextsTheirRoom) {
    const std::vector<char> four = attribute(8, 1, std::string("\1\0\0\0", 4));
    const auto* number = reinterpret_cast<const rtattr*>(four.data());
    uint32_t value = 0;
    uint64_t wide = 7;
    EXPECT_TRUE(read_attribute(*number, &value));
    EXPECT_EQ(value, 1U);
    EXPECT_FALSE(read_attribute(*number, &wide));
    EXPECT_EQ(wide, 7U);
    const std::vector<char> endless = attribute(4 + 40, 1, std::string(40, 'x'));  // and no zero
    char name[16];
    read_text(*reinterpret_cast<const rtattr*>(endless.data()), name, sizeof name);
    EXPECT_EQ(std::string(name), std::string(15, 'x'));
    const std::vector<char> none = attribute(4, 1, "");
    read_text(*reinterpret_cast<const rtattr*>(none.data()), name, sizeof name);
    EXPECT_STREQ(name, "");
}

TEST(RouteSocketOf, AnAddressWithoutARouteIsAnErrorAndBlocksNobody) {
    struct None final : RouteSocket::Visitor {
        void visit(const nlmsghdr&) override { ++messages; }
        int messages = 0;
    } none;
    RouteSocket socket;
    ASSERT_EQ(socket.open(), 0);
    const uint8_t any[4] = {0, 0, 0, 0};
    EXPECT_NE(socket.find_route(77, any, sizeof any, none), 0) << "no such family";
    EXPECT_EQ(socket.dump_links(none), 0) << "and the next question has its own answer";
    EXPECT_GE(none.messages, 1);
}

}  // namespace
