// See waiver.h.
#include "conformance/report/waiver.h"

#include <sstream>

#include "model/specc/toml.h"

namespace selvage::conformance {
namespace {

std::string at(const toml::source_region& where) { return "line " + std::to_string(where.begin.line) + ": "; }

bool text(const toml::table& row, const char* key, bool needed, std::string& out, std::string& error) {
    const auto* node = row.get(key);
    if (node == nullptr) {
        if (needed) error = at(row.source()) + "a waiver needs " + key + " = \"...\"";
        return !needed;
    }
    const auto value = node->value<std::string>();
    if (!value || (needed && value->empty())) {
        error = at(node->source()) + key + " must be a string that says something";
        return false;
    }
    out = *value;
    return true;
}

bool read_row(const toml::table& row, Waiver& out, std::string& error) {
    std::string id;
    if (!text(row, "clause", true, id, error) || !text(row, "provider", true, out.provider, error) ||
        !text(row, "reason", true, out.reason, error) || !text(row, "url", false, out.url, error))
        return false;
    for (const auto& [key, value] : row) {
        if (key == "clause" || key == "provider" || key == "reason" || key == "url") continue;
        error = at(value.source()) + std::string(key.str()) +
                " is no key of a waiver; known are clause, provider, reason, url";
        return false;
    }
    const auto* clause = model::find_clause(id);
    if (clause == nullptr) {
        error = at(row.source()) + "no clause has the id " + id + "; selvage clauses lists them";
        return false;
    }
    out.clause = clause->clause;
    return true;
}

}  // namespace

bool parse_waivers(std::string_view source, std::vector<Waiver>& out, std::string& error) {
    toml::table file;
    try {
        file = toml::parse(source);
    } catch (const toml::parse_error& e) {
        error = at(e.source()) + std::string(e.description());
        return false;
    }
    for (const auto& [key, value] : file) {
        if (key == "waiver" && value.is_array_of_tables()) continue;
        error = at(value.source()) + "a waiver file consists of [[waiver]] tables";
        return false;
    }
    out.clear();
    if (const auto* rows = file["waiver"].as_array())
        for (const auto& row : *rows)
            if (!read_row(*row.as_table(), out.emplace_back(), error)) return false;
    return true;
}

void apply_waivers(std::vector<Waiver>& waivers, Report& report) {
    for (auto& d : report.deviations) {
        for (auto& w : waivers) {
            if (w.clause != d.clause || (w.provider != "*" && w.provider != d.provider)) continue;
            d.waived = w.url.empty() ? w.reason : w.reason + " (" + w.url + ")";
            ++w.used;
            break;
        }
    }
}

}  // namespace selvage::conformance
