// Which known names look most like a misspelt one: edit distance, case and the FI_ in front ignored.
#include <algorithm>
#include <numeric>

#include "model/text/value_text.h"

namespace selvage::model {
namespace {

std::string plain_form(std::string_view name) {
    std::string out(name.substr(0, 64));
    for (auto& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    return out.starts_with("FI_") ? out.substr(3) : out;
}

std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        auto diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < b.size(); ++j) {
            const auto replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row[b.size()];
}

// The last part of a path counts as the whole path: "size" is near to "tx_attr.size".
std::size_t unlikeness(std::string_view expected, std::string_view name) {
    const auto whole = distance(expected, plain_form(name));
    const auto dot = name.rfind('.');
    if (dot == std::string_view::npos || expected.find('.') != std::string_view::npos) return whole;
    return std::min(whole, distance(expected, plain_form(name.substr(dot + 1))));
}

}  // namespace

std::string nearest(std::string_view expected, const std::vector<std::string_view>& names) {
    const auto form = plain_form(expected);
    std::vector<std::pair<std::size_t, std::string_view>> ranked;
    for (const auto name : names) ranked.emplace_back(unlikeness(form, name), name);
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string out;
    for (std::size_t i = 0; i < ranked.size() && i < 3 && ranked[i].first <= ranked[0].first + 1; ++i)
        out += (i == 0 ? "" : ", ") + std::string(ranked[i].second);
    return out;
}

}  // namespace selvage::model
