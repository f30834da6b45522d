// The field table: every field is reached by its path and by its accessors, and touches nothing else.
#include "model/value/field.h"

#include <gtest/gtest.h>

#include <set>

namespace selvage::model {
namespace {

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
