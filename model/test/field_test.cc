// The field table: every field is reached by its path and by its accessors, and touches nothing else.
#include "model/value/field.h"

#include <gtest/gtest.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <algorithm>
#include <set>

namespace selvage::model {
namespace {

// A value of any type, for counting the members of a structure of the interface.
struct Anything {
    template <typename T>
    operator T() const;  // NOLINT(google-explicit-constructor)
};
template <typename Structure, typename... Members>
constexpr std::size_t members() {
    if constexpr (requires { Structure{Members{}..., Anything{}}; })
        return members<Structure, Members..., Anything>();
    else
        return sizeof...(Members);
}

struct OfThree {
    std::uint32_t number;
    void* pointer;
    fi_ep_type word;
};
static_assert(members<OfThree>() == 3);

std::size_t rows_of(Part part) {
    const auto is_of = [&](const FieldRow& r) { return r.part == part; };
    return static_cast<std::size_t>(std::ranges::count_if(number_fields(), is_of) +
                                    std::ranges::count_if(text_fields(), is_of));
}

TEST(Fields, AreAllThatTheHeadersKnow) {
    constexpr std::size_t kNext = 1;
    EXPECT_EQ(members<fi_info>(), rows_of(Part::Info) + parts().size() + kNext);
    EXPECT_EQ(members<fi_tx_attr>(), rows_of(Part::Tx));
    EXPECT_EQ(members<fi_rx_attr>(), rows_of(Part::Rx));
    EXPECT_EQ(members<fi_ep_attr>(), rows_of(Part::Ep));
    EXPECT_EQ(members<fi_domain_attr>(), rows_of(Part::Domain));
    EXPECT_EQ(members<fi_fabric_attr>(), rows_of(Part::Fabric));
}

TEST(Fields, KnowHowWideTheirMembersAre) {
    EXPECT_EQ(row(Field::caps).widest, ~0ULL);
    EXPECT_EQ(row(Field::handle).widest, ~0ULL);
    EXPECT_EQ(row(Field::domain_mr_mode).widest, 0xFFFFFFFFU);
    EXPECT_EQ(row(Field::ep_type).widest, 0xFFFFFFFFU);
    EXPECT_EQ(row(Field::ep_protocol_version).widest, 0xFFFFFFFFU);
}

TEST(Fields, OfBytesHaveALength) {
    EXPECT_EQ(row(Field::src_addr).partner, Field::src_addrlen);
    EXPECT_EQ(row(Field::domain_auth_key).partner, Field::domain_auth_key_size);
    for (const auto& r : number_fields()) EXPECT_EQ(r.hint == Hint::Length, is_text(r.partner)) << r.path;
    for (const auto& r : text_fields()) {
        EXPECT_EQ(r.form == Form::Bytes, is_number(r.partner)) << r.path;
        EXPECT_TRUE(!is_number(r.partner) || row(r.partner).partner == r.field) << r.path;
        Info info;
        text(info, r.field) = "four";
        fit_length(info, r.field);
        EXPECT_EQ(get(info, r.partner), r.form == Form::Bytes ? 4U : 0U) << r.path;
        forget(info, r.field);
        EXPECT_EQ(info, Info{}) << r.path;
    }
}

TEST(Fields, GoWithTheirPart) {
    EXPECT_EQ(find_part("domain_attr")->part, Part::Domain);
    EXPECT_EQ(find_part("domain"), nullptr);
    EXPECT_EQ(part_of(Field::caps), nullptr);
    for (const auto& p : parts()) {
        EXPECT_EQ(part_of(p.field), &p);
        Info info;
        info.add(p.part);
        for (const auto& r : number_fields())
            if (r.part == p.part) set(info, r.field, 1);
        for (const auto& r : text_fields())
            if (r.part == p.part) text(info, r.field) = "x";
        drop_part(info, p.part);
        EXPECT_EQ(info, Info{}) << p.path;
    }
}

TEST(Fields, AreFoundByTheirPaths) {
    std::set<std::string_view> paths;
    for (const auto& rows : {number_fields(), text_fields()})
        for (const auto& r : rows) {
            EXPECT_EQ(&row(r.field), &r) << r.path;
            EXPECT_EQ(find_field(r.path), &r) << r.path;
            EXPECT_TRUE(paths.insert(r.path).second) << r.path;
        }
    EXPECT_EQ(find_field("tx_attr.sizes"), nullptr);
    EXPECT_EQ(find_field("version")->part, Part::Call);
    EXPECT_EQ(row(Field::string).path, "string");
}

TEST(Fields, HaveTheKindTheirTableSays) {
    for (const auto& r : number_fields()) {
        EXPECT_TRUE(is_number(r.field));
        EXPECT_FALSE(is_text(r.field));
        EXPECT_EQ(r.form == Form::Bits || r.form == Form::Enum, r.family != Family::none) << r.path;
        EXPECT_EQ(r.form == Form::Bits, is_bits(r.family)) << r.path;
    }
    for (const auto& r : text_fields()) EXPECT_TRUE(is_text(r.field) && !is_number(r.field)) << r.path;
    EXPECT_FALSE(is_number(Field::call_version) || is_text(Field::call_node));
}

TEST(Fields, AreSetAloneAndReadBack) {
    for (const auto& r : number_fields()) {
        Info info;
        set(info, r.field, ~0ULL);
        EXPECT_EQ(info.present, 0) << r.path;
        for (const auto& other : number_fields())
            EXPECT_EQ(get(info, other.field), other.field == r.field ? ~0ULL : 0) << r.path << ' ' << other.path;
        for (const auto& other : text_fields()) EXPECT_FALSE(text(info, other.field)) << r.path;
    }
}

TEST(Fields, OfTextAreSetAloneAndReadBack) {
    for (const auto& r : text_fields()) {
        Info info;
        text(info, r.field) = "x";
        for (const auto& other : text_fields()) EXPECT_EQ(text(info, other.field).has_value(), other.field == r.field);
        for (const auto& other : number_fields()) EXPECT_EQ(get(info, other.field), 0U) << r.path;
    }
}

TEST(Fields, ThePartOfAFieldIsInItsPath) {
    for (const auto& r : number_fields()) EXPECT_EQ(r.path.find('.') == std::string_view::npos, r.part == Part::Info);
    for (const auto& r : text_fields()) EXPECT_EQ(r.path.find('.') == std::string_view::npos, r.part == Part::Info);
}

}  // namespace
}  // namespace selvage::model
