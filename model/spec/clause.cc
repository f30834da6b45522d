#include "model/spec/clause.h"

#include <algorithm>
#include <array>

namespace selvage::model {

const ClauseText* find_clause(std::string_view id) {
    const auto all = clauses();
    const auto it =
        std::lower_bound(all.begin(), all.end(), id, [](const ClauseText& c, std::string_view i) { return c.id < i; });
    return it != all.end() && it->id == id ? &*it : nullptr;
}

std::string_view name(Level level) {
    constexpr std::array<std::string_view, 3> kNames = {"must", "should", "may"};
    return kNames[static_cast<std::size_t>(level)];
}

std::string_view name(Status status) {
    constexpr std::array<std::string_view, 2> kNames = {"clear", "disputed"};
    return kNames[static_cast<std::size_t>(status)];
}

std::string_view name(Judges judges) {
    constexpr std::array<std::string_view, 11> kNames = {
        "query", "match", "offer", "answer", "pair", "side-effects", "lifecycle", "text", "traffic", "group", "none"};
    return kNames[static_cast<std::size_t>(judges)];
}

}  // namespace selvage::model
