// The codec: what goes in comes out, with the ABI's widths, and every field is found by its address.
#include <gtest/gtest.h>

#include <cstring>

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include "conformance/harness/codec.h"

namespace selvage::conformance {
namespace {

using model::Field;
using model::Info;
using model::Part;

constexpr std::size_t kRoom = 64 * 1024;

/// Every field set, each number to another value, from 101 on.
Info full() {
    Info info;
    info.present = model::kAllParts;
    std::uint64_t value = 100;
    for (const auto& row : model::number_fields())
        if (row.form != model::Form::Object) set(info, row.field, ++value);
    for (const auto& row : model::text_fields()) text(info, row.field) = std::string(row.path);
    info.src_addrlen = info.src_addr->size();
    info.dest_addrlen = info.dest_addr->size();
    info.ep.auth_key_size = info.ep.auth_key->size();
    info.domain.auth_key_size = info.domain.auth_key->size();
    return info;
}

Info through(const Info& info, std::span<void* const> objects = {}, bool tight = false) {
    Arena arena(kRoom);
    Info back;
    EXPECT_EQ(decode(encode(info, arena, {objects, tight}), objects, back), nullptr);
    return back;
}

TEST(Codec, RoundTrips) {
    for (const bool tight : {false, true}) {
        EXPECT_EQ(through(full(), {}, tight), full());
        EXPECT_EQ(through(Info{}, {}, tight), Info{});
    }
    Info nic;
    nic.add(Part::Nic);
    EXPECT_EQ(through(nic), nic);
}

TEST(Codec, KeepsHandles) {
    int objects[3] = {};
    void* const pointers[] = {&objects[0], &objects[1], &objects[2]};
    Info info = full();
    info.handle = 1;
    info.domain.domain = 3;
    info.fabric.fabric = model::kForeign;
    EXPECT_EQ(through(info, pointers), info);
}

TEST(Codec, DecodingForgetsWhatWasThere) {
    Arena arena(kRoom);
    Info back = full();
    EXPECT_EQ(decode(encode(Info{}, arena, {}), {}, back), nullptr);
    EXPECT_EQ(back, Info{});
}

TEST(Codec, WritesExactWidths) {
    Arena arena(kRoom);
    Info info = full();
    info.caps = ~0ULL;
    info.addr_format = 0x1'0000'0007;
    info.ep.type = 0xffff'ffff'ffff'ffff;
    info.domain.mr_mode = 0x8000'0000;
    info.tx.size = 1ULL << 40;
    const fi_info* const raw = encode(info, arena, {});
    EXPECT_EQ(raw->next, nullptr);
    EXPECT_EQ(raw->caps, ~0ULL);
    EXPECT_EQ(raw->addr_format, 7U);
    EXPECT_EQ(raw->domain_attr->mr_mode, INT32_MIN);
    EXPECT_EQ(raw->tx_attr->size, 1ULL << 40);
    EXPECT_STREQ(raw->domain_attr->name, "domain_attr.name");
    Info back;
    decode(raw, {}, back);
    EXPECT_EQ(back.ep.type, 0xffff'ffffU);
    EXPECT_EQ(back.domain.mr_mode, 0x8000'0000U);
    EXPECT_EQ(back.caps, ~0ULL);
}

TEST(Codec, AbsentIsNull) {
    Arena arena(kRoom);
    const model::Query plain;
    const Encoded q = encode(plain, arena, {});
    EXPECT_EQ(q.node, nullptr);
    EXPECT_EQ(q.service, nullptr);
    EXPECT_EQ(q.hints, nullptr);
    EXPECT_EQ(q.version, model::kNewest.packed);
    Info info;
    info.add(Part::Domain);
    info.src_addr = "";
    info.dest_addrlen = 16;  // a lie
    const fi_info* const raw = encode(info, arena, {});
    EXPECT_EQ(raw->tx_attr, nullptr);
    EXPECT_NE(raw->domain_attr, nullptr);
    EXPECT_EQ(raw->domain_attr->name, nullptr);
    EXPECT_NE(raw->src_addr, nullptr);
    EXPECT_EQ(raw->dest_addr, nullptr);
    EXPECT_EQ(raw->dest_addrlen, 16U);
}

/// Where two structures of the same type first differ, pointers aside (words that are large in both).
template <class T>
const char* first_difference(const T* a, const T* b) {
    static_assert(sizeof(T) % 8 == 0);
    for (std::size_t at = 0; at < sizeof(T); at += 8) {
        const char* const x = reinterpret_cast<const char*>(a) + at;
        const char* const y = reinterpret_cast<const char*>(b) + at;
        std::uint64_t words[2];
        std::memcpy(&words[0], x, 8);
        std::memcpy(&words[1], y, 8);
        // A word of two halves, both set, is larger than 2^32 but far from any address of ours.
        if (words[0] == words[1] || (words[0] > 1ULL << 44 && words[1] > 1ULL << 44)) continue;
        for (std::size_t i = 0; i < 8; ++i)
            if (x[i] != y[i]) return x + i;
    }
    return nullptr;
}

TEST(Codec, FindsEveryNumberFieldByAddress) {
    Arena arena(kRoom);
    Arena other(kRoom);
    int object = 0;
    void* const objects[] = {&object};
    for (const auto& row : model::number_fields()) {
        model::Query q;
        q.hints = full();
        arena.reset(kRoom);
        const Encoded before = encode(q, arena, {objects, false});
        set(*q.hints, row.field, row.form == model::Form::Object ? 1 : 99);
        other.reset(kRoom);
        const Encoded after = encode(q, other, {objects, false});
        const fi_info* const x = before.hints;
        const fi_info* const y = after.hints;
        const char* found = first_difference(x, y);
        if (found == nullptr) found = first_difference(x->tx_attr, y->tx_attr);
        if (found == nullptr) found = first_difference(x->rx_attr, y->rx_attr);
        if (found == nullptr) found = first_difference(x->ep_attr, y->ep_attr);
        if (found == nullptr) found = first_difference(x->domain_attr, y->domain_attr);
        if (found == nullptr) found = first_difference(x->fabric_attr, y->fabric_attr);
        ASSERT_NE(found, nullptr) << row.path;
        EXPECT_EQ(field_at(before, found), row.field) << row.path;
    }
}

TEST(Codec, FindsTextsByAddress) {
    for (const bool tight : {false, true}) {
        Arena arena(kRoom);
        model::Query q;
        q.node = "node";
        q.service = "";
        q.hints = full();
        const Encoded e = encode(q, arena, {{}, tight});
        const fi_info& h = *e.hints;
        EXPECT_EQ(field_at(e, e.node), Field::call_node);
        EXPECT_EQ(field_at(e, e.node + 4), Field::call_node);
        EXPECT_EQ(field_at(e, e.service), Field::call_service);
        EXPECT_EQ(field_at(e, h.src_addr), Field::src_addr);
        EXPECT_EQ(field_at(e, h.dest_addr), Field::dest_addr);
        EXPECT_EQ(field_at(e, h.ep_attr->auth_key), Field::ep_auth_key);
        EXPECT_EQ(field_at(e, h.domain_attr->auth_key), Field::domain_auth_key);
        EXPECT_EQ(field_at(e, h.domain_attr->name), Field::domain_name);
        EXPECT_EQ(field_at(e, h.fabric_attr->name), Field::fabric_name);
        EXPECT_EQ(field_at(e, h.fabric_attr->prov_name), Field::fabric_prov_name);
        EXPECT_EQ(field_at(e, &h.next), Field::call_hints);
        EXPECT_EQ(field_at(e, &h.rx_attr), Field::part_rx);
        EXPECT_EQ(field_at(e, &q), Field::call_hints);
    }
}

TEST(Codec, RoomIsEnough) {
    model::Query q;
    q.node = std::string(5000, 'n');
    q.service = "s";
    q.hints = full();
    q.hints->add(Part::Nic);
    q.hints->handle = q.hints->domain.domain = q.hints->fabric.fabric = model::kForeign;
    Arena arena(1);
    for (int i = 0; i < 100; ++i) {
        q.node->push_back('x');
        arena.reset(3 * room_for(q));
        for (int k = 0; k < 3; ++k) EXPECT_NO_THROW(encode(q, arena, {}));
    }
}

TEST(Codec, ReadsListsAndReusesBuffers) {
    fi_info third = {};
    fi_info second = {};
    fi_info first = {};
    first.next = &second;
    second.next = &third;
    third.caps = 3;
    model::Answer answer;
    EXPECT_EQ(decode_list(&first, {}, answer), nullptr);
    ASSERT_EQ(answer.offers.size(), 3U);
    EXPECT_EQ(answer.offers[2].caps, 3U);
    second.next = nullptr;
    EXPECT_EQ(decode_list(&first, {}, answer), nullptr);
    EXPECT_EQ(answer.offers.size(), 2U);
    second.next = &first;
    EXPECT_NE(decode_list(&first, {}, answer), nullptr);
    EXPECT_EQ(answer.offers.size(), kMaxOffers);
}

}  // namespace
}  // namespace selvage::conformance
