// See view.h.
#include "conformance/report/view.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

// Length of the valid UTF-8 sequence at the start of `s`, or 0.
std::size_t sequence(std::string_view s) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    const std::size_t length = lead >= 0xC2 && lead < 0xE0   ? 2
                               : lead >= 0xE0 && lead < 0xF0 ? 3
                               : lead >= 0xF0 && lead < 0xF5 ? 4
                                                             : 0;
    if (length == 0 || s.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xC0U) != 0x80) return 0;
    if (lead == 0xE0 && byte(1) < 0xA0) return 0;  // longer than needed
    if (lead == 0xED && byte(1) > 0x9F) return 0;  // surrogates
    if ((lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F)) return 0;
    if (lead == 0xEF && byte(1) == 0xBF && byte(2) >= 0xBE) return 0;  // no characters in XML
    return length;
}

std::string number_text(model::Field field, std::uint64_t v) {
    const auto& row = model::row(field);
    if (field == model::Field::call_return) return model::print_error(static_cast<int>(static_cast<std::int64_t>(v)));
    if (field == model::Field::call_flags) return model::print_value(model::Family::getinfo_flags, v);
    return row.family == model::Family::none ? std::to_string(v) : model::print_value(row.family, v);
}

}  // namespace

std::vector<const Deviation*> ordered(const Report& report) {
    std::vector<const Deviation*> out;
    for (const auto& d : report.deviations) out.push_back(&d);
    const auto key = [](const Deviation* d) {
        return std::make_tuple(!d->waived.empty(), d->grade, std::string_view(d->provider),
                               model::clause_text(d->clause).id, d->api_version, std::string_view(d->summary));
    };
    std::stable_sort(out.begin(), out.end(), [&](const auto* a, const auto* b) { return key(a) < key(b); });
    return out;
}

std::array<std::uint64_t, 4> counts_of(const Report& report, const ProviderResult& provider) {
    std::array<std::uint64_t, 4> counts{};
    for (const auto& c : model::clauses()) ++counts[static_cast<std::size_t>(result_of(report, provider, c.clause))];
    return counts;
}

std::vector<Unreached> unreached(const Report& report) {
    std::vector<Unreached> out;
    for (const auto& c : model::clauses()) {
        Unreached row{.clause = &c, .anywhere = false, .reasons = {}};
        for (const auto& p : report.providers) {
            const auto result = result_of(report, p, c.clause);
            row.anywhere = row.anywhere || result == ClauseResult::Kept || result == ClauseResult::Broken;
            if (result != ClauseResult::Unreached) continue;
            auto reason = reason_of(report, p, c.clause);
            if (reason.empty()) reason = kNoReason;
            const auto same = std::find_if(row.reasons.begin(), row.reasons.end(),
                                           [&](const auto& known) { return known.first == reason; });
            if (same == row.reasons.end()) {
                row.reasons.emplace_back(reason, p.provider);
            } else {
                same->second += ", " + p.provider;
            }
        }
        if (!row.reasons.empty()) out.push_back(std::move(row));
    }
    return out;
}

std::string link_text(const model::Because& link) {
    return std::string(model::clause_text(link.clause).id) + ": " + clean(model::print_evidence(link.evidence));
}

std::string_view at_times_text(const Deviation& d) {
    if (!d.shown_by.before.empty())
        return "Intermittent: this is what was run when it was seen, with what the pair of endpoints had carried "
               "before. "
               "Run again, the case and the program show it at times at best.";
    return "Intermittent: the case and the program show it at times, and not each time.";
}

std::string expected_text(const model::Evidence& e) {
    if (e.expected_field != model::Field::subject) return std::string(model::row(e.expected_field).path);
    if (e.expected_text) return clean(*e.expected_text);
    if (e.relation == model::Relation::IsNull) return "NULL";
    if (e.relation == model::Relation::NotNull) return "not NULL";
    if (e.relation == model::Relation::Happens || e.field == model::Field::operation) return "";
    return model::is_text(e.field) ? "NULL" : number_text(e.field, e.expected);
}

std::string actual_text(const model::Evidence& e) {
    if (e.actual_text) return clean(*e.actual_text);
    return model::is_text(e.field) ? "NULL" : number_text(e.field, e.actual);
}

std::vector<std::string> anchors(const std::vector<const Deviation*>& deviations) {
    std::vector<std::string> out;
    std::map<std::string, int> seen;
    for (const auto* d : deviations) {
        std::string name = std::string(model::clause_text(d->clause).id) + "-" + d->provider;
        for (auto& c : name) {
            const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
            if (!plain) c = c == '_' ? '_' : '-';
        }
        const int n = ++seen[name];
        out.push_back(n == 1 ? name : name + "-" + std::to_string(n));
    }
    return out;
}

std::string clean(std::string_view text) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string out;
    while (!text.empty()) {
        const std::size_t length = sequence(text);
        const auto byte = static_cast<unsigned char>(text.front());
        const bool control = byte < 0x20 ? byte != '\n' && byte != '\t' : byte == 0x7F;
        if (length == 0 || control) {
            out.append("\\x").push_back(kHex[byte >> 4]);
            out.push_back(kHex[byte & 15]);
            text.remove_prefix(1);
        } else {
            out.append(text.substr(0, length));
            text.remove_prefix(length);
        }
    }
    return out;
}

std::string escape(std::string_view text) {
    std::string out;
    for (const char c : clean(text)) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out.push_back(c);
        }
    }
    return out;
}

std::string wrap(std::string_view text, std::string_view lead, std::size_t width) {
    std::string out;
    std::string line(lead);
    const auto flush = [&] {
        out += line + "\n";
        line = lead;
    };
    while (!text.empty()) {
        const auto end = std::min(text.find_first_of(" \n"), text.size());
        const auto word = text.substr(0, end);
        if (line.size() > lead.size() && line.size() + 1 + word.size() > width) flush();
        if (line.size() > lead.size()) line.push_back(' ');
        line.append(word);
        if (end < text.size() && text[end] == '\n') flush();
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (line.size() > lead.size()) flush();
    return out;
}

}  // namespace selvage::conformance
