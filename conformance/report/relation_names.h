// The words by which reports call relations.  Private to report/.  Pure functions.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "model/judge/ruling.h"

namespace selvage::conformance {

inline constexpr std::array<std::pair<model::Relation, std::string_view>, 12> kRelationNames = {{
    {model::Relation::Equals, "equals"},
    {model::Relation::Differs, "differs"},
    {model::Relation::Contains, "contains"},
    {model::Relation::Within, "within"},
    {model::Relation::AtLeast, "at-least"},
    {model::Relation::AtMost, "at-most"},
    {model::Relation::MultipleOf, "multiple-of"},
    {model::Relation::IsNull, "is-null"},
    {model::Relation::NotNull, "not-null"},
    {model::Relation::TextEquals, "text-equals"},
    {model::Relation::TextContains, "text-contains"},
    {model::Relation::Happens, "happens"},
}};

inline std::string_view relation_name(model::Relation r) {
    for (const auto& [relation, word] : kRelationNames)
        if (relation == r) return word;
    return "happens";
}

inline std::optional<model::Relation> find_relation(std::string_view word) {
    for (const auto& [relation, known] : kRelationNames)
        if (known == word) return relation;
    return std::nullopt;
}

}  // namespace selvage::conformance
