// See waiver.h.
#include "conformance/report/waiver.h"

#include <algorithm>
#include <iomanip>
#include <iterator>
#include <optional>
#include <sstream>

#include "model/specc/toml.h"

namespace selvage::conformance {
namespace {

std::string at(const toml::source_region& where) { return "line " + std::to_string(where.begin.line) + ": "; }

bool text(const toml::table& row, const char* key, std::string& out, std::string& error) {
    const auto* node = row.get(key);
    if (node == nullptr) {
        error = at(row.source()) + "a waiver needs " + key + " = \"...\"";
        return false;
    }
    const auto value = node->value<std::string>();
    if (!value || value->empty()) {
        error = at(node->source()) + key + " must be a string that says something";
        return false;
    }
    out = *value;
    return true;
}

std::string day_text(std::chrono::year_month_day day) {
    std::ostringstream out;
    out << std::setfill('0') << static_cast<int>(day.year()) << '-' << std::setw(2)
        << static_cast<unsigned>(day.month()) << '-' << std::setw(2) << static_cast<unsigned>(day.day());
    return out.str();
}

bool read_day(const toml::table& row, std::chrono::year_month_day& out, std::string& error) {
    const auto* node = row.get("expires");
    const auto value = node == nullptr ? std::nullopt : node->value<toml::date>();
    if (!value) {
        error = at(node == nullptr ? row.source() : node->source()) + "a waiver needs expires = 2027-12-31, a day";
        return false;
    }
    out = {std::chrono::year(value->year), std::chrono::month(value->month), std::chrono::day(value->day)};
    if (!out.ok()) error = at(node->source()) + "there is no such day";
    return out.ok();
}

bool read_row(const toml::table& row, std::chrono::year_month_day today, Waiver& out, std::string& error) {
    constexpr std::string_view kKeys[] = {"clause", "provider", "owner", "reason", "url", "expires"};
    for (const auto& [key, value] : row) {
        if (std::find(std::begin(kKeys), std::end(kKeys), key.str()) != std::end(kKeys)) continue;
        error = at(value.source()) + std::string(key.str()) +
                " is no key of a waiver; known are clause, provider, owner, reason, url, expires";
        return false;
    }
    std::string id;
    if (!text(row, "clause", id, error) || !text(row, "provider", out.provider, error) ||
        !text(row, "owner", out.owner, error) || !text(row, "reason", out.reason, error) ||
        !text(row, "url", out.url, error) || !read_day(row, out.expires, error))
        return false;
    if (out.expires < today) {
        error = at(row.source()) + "the waiver of " + id + " held until " + day_text(out.expires) +
                ": mend what it waives, or let " + out.owner + " renew it";
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

bool parse_waivers(std::string_view source, std::chrono::year_month_day today, std::vector<Waiver>& out,
                   std::string& error) {
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
            if (!read_row(*row.as_table(), today, out.emplace_back(), error)) return false;
    return true;
}

void apply_waivers(std::vector<Waiver>& waivers, Report& report) {
    for (auto& d : report.deviations) {
        for (auto& w : waivers) {
            if (w.clause != d.clause || (w.provider != "*" && w.provider != d.provider)) continue;
            d.waived = w.reason + " (" + w.owner + ", " + w.url + ", until " + day_text(w.expires) + ")";
            ++w.used;
            break;
        }
    }
}

std::string unneeded_waiver(const std::vector<Waiver>& waivers, const Report& report) {
    for (const auto& w : waivers) {
        if (w.used != 0) continue;
        const auto looked_at = [&](const ProviderResult& p) {
            return (w.provider == "*" || w.provider == p.provider) &&
                   result_of(report, p, w.clause) == ClauseResult::Kept;
        };
        if (!std::any_of(report.providers.begin(), report.providers.end(), looked_at)) continue;
        return "the waiver of " + std::string(model::clause_text(w.clause).id) + " on " + w.provider +
               " is not needed any more: the promise is kept";
    }
    return {};
}

}  // namespace selvage::conformance
