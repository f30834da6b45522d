// See case_file.h.
#include "model/playground/case_file.h"

#include <algorithm>
#include <optional>

#include "model/explain/explain.h"
#include "model/playground/history.h"
#include "model/text/call_text.h"
#include "model/text/profile_text.h"
#include "model/text/value_text.h"

namespace selvage::model::playground {
namespace {

constexpr std::size_t kMostBytes = 100000;

// Longer words of a file are cut in messages.
std::string in_quotes(std::string_view text) {
    constexpr std::size_t kLongest = 60;
    std::string out = "\"";
    for (const char c : text.substr(0, kLongest)) out += c >= ' ' && c < 0x7f ? c : '?';
    return out + (text.size() > kLongest ? "...\"" : "\"");
}

std::string_view trim(std::string_view s) {
    constexpr std::string_view kBlank = " \t\r";
    const auto first = s.find_first_not_of(kBlank);
    if (first == std::string_view::npos) return {};
    return s.substr(first, s.find_last_not_of(kBlank) - first + 1);
}

struct Line {
    std::size_t number;
    std::string text;
};

// What the file says, before anything is known of the provider.
struct CaseFile {
    std::optional<Query> call;
    std::optional<std::string> provider;
    std::size_t call_line = 1;
    std::uint64_t offer = 0;  // which entry of the call's answer the fabric is opened with
    std::vector<Line> steps;
};

class CaseReader {
public:
    /// @return false, with "line N" in `where` and why in `error`.
    bool read(std::string_view text, CaseFile& out) {
        if (text.size() > kMostBytes) return fail("a case file that the page shows has at most 100000 bytes");
        while (!text.empty()) {
            const auto end = std::min(text.find('\n'), text.size());
            ++number_;
            if (!take(trim(text.substr(0, end)), out)) return false;
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        number_ = std::max<std::size_t>(number_, 1);
        if (!begun_) return fail("a case file begins with \"selvage-case 1\"");
        if (!kind_) return fail("it ends without \"kind = lifecycle\"");
        if (!out.call) return fail("it ends without a call, such as call = version=1.17 hints={}");
        return !out.steps.empty() || fail("it ends without an action, such as fabric1 = open fabric offer=0");
    }

    [[nodiscard]] std::string where() const { return "line " + std::to_string(number_); }
    [[nodiscard]] const std::string& error() const { return error_; }

private:
    bool fail(std::string why) {
        error_ = std::move(why);
        return false;
    }

    bool take(std::string_view line, CaseFile& out) {
        if (line.empty()) return true;
        if (!begun_) {
            begun_ = line == "selvage-case 1";
            return begun_ || fail("a case file begins with \"selvage-case 1\", not with " + in_quotes(line));
        }
        if (line.starts_with("#")) {
            fails_ = line.ends_with(", taken to fail");
            return true;
        }
        const auto equals = line.find(" = ");
        const auto value = equals == std::string_view::npos ? std::string_view() : trim(line.substr(equals + 3));
        if (equals == std::string_view::npos || value.starts_with("open ")) return take_action(line, out);
        return take_key(line.substr(0, equals), value, out);
    }

    bool take_action(std::string_view line, CaseFile& out) {
        std::string step(line);
        if (const auto at = step.find(" offer="); at != std::string::npos && out.steps.empty()) {
            const auto end = std::min(step.find(' ', at + 1), step.size());
            if (!parse_plain(step.substr(at + 7, end - at - 7), out.offer))
                return fail(in_quotes(line) + ": offer is a number");
            step.replace(at + 7, end - at - 7, "0");
        }
        out.steps.push_back({number_, (fails_ ? "!" : "") + step});
        fails_ = false;
        return true;
    }

    bool take_key(std::string_view key, std::string_view value, CaseFile& out) {
        TextError bad;
        if (key == "kind") {
            kind_ = value == "lifecycle";
            return kind_ || fail("the page shows cases of the kind lifecycle; this one is " + in_quotes(value) +
                                 ", and selvage replay runs it");
        }
        if (key == "call") {
            out.call_line = number_;
            if (parse_call(value, out.call.emplace(), bad)) return true;
            return fail("call, at byte " + std::to_string(bad.at) + ": " + bad.message);
        }
        if (key == "provider") {
            Info hints;
            if (!value.starts_with('"') || !parse_hints("fabric_attr.prov_name=" + std::string(value), hints, bad) ||
                !hints.fabric.prov_name)
                return fail("provider is a string in double quotes, not " + in_quotes(value));
            out.provider = *hints.fabric.prov_name;
            return true;
        }
        return key == "clause" ||
               fail("unknown key " + in_quotes(key) + "; a lifecycle has clause, kind, provider and call");
    }

    bool begun_ = false;
    bool kind_ = false;
    bool fails_ = false;  // the page wrote so about the action that comes next
    std::size_t number_ = 0;
    std::string error_;
};

// Which entries of a profile may be in the answer to the call.
std::vector<std::size_t> fitting_entries(const Query& query, Profile profile) {
    name_what_is_open(profile);
    const World world;
    std::vector<std::size_t> out;
    const auto explained = explain(query, world, profile);
    for (std::size_t i = 0; i < explained.size(); ++i)
        if (explained[i].matching.choice != Choice::No) out.push_back(i);
    return out;
}

struct Place {
    std::string profile;
    std::string text;
    std::size_t entry = 0;
    std::string note;
};

// Looks for the profile and the entry that the case was made with.
class PlaceFinder {
public:
    explicit PlaceFinder(const CaseFile& file) : file_(file), provider_(file.provider) {
        if (!provider_ && file.call->hints) provider_ = file.call->hints->fabric.prov_name;
    }

    bool find(const Json& profiles, Place& out) {
        if (!profiles.is_object()) return false;
        for (const auto& [name, text] : profiles.items())
            if (text.is_string() && fits(name, text.get_ref<const std::string&>(), out)) return true;
        return false;
    }

    [[nodiscard]] std::string error() const {
        const std::string of = provider_ ? " of provider " + in_quotes(*provider_) : std::string();
        if (known_) return "no entry of the profile" + of + " fits this call";
        return "there is no profile" + of + " on this page; add one on the first tab (selvage profile writes it)";
    }

private:
    bool fits(const std::string& name, const std::string& text, Place& out) {
        Profile profile;
        std::string ignored;
        if (!parse_profile(text, file_.call->version, profile, ignored)) return false;
        if (provider_ && profile.provider != *provider_) return false;
        known_ = true;
        const auto entries = fitting_entries(*file_.call, profile);
        if (entries.empty()) return false;
        out.profile = name;
        out.text = text;
        const bool has = file_.offer < entries.size();
        out.entry = has ? entries[file_.offer] : entries.back();
        if (!has)
            out.note = "The profile has " + std::to_string(entries.size()) +
                       " entries that fit the call, and the file takes entry " + std::to_string(file_.offer) +
                       " of a machine's answer: shown with the last.";
        return true;
    }

    const CaseFile& file_;
    std::optional<std::string> provider_;
    bool known_ = false;
};

// "step 3" as the line that it stands on.
std::string line_of_step(const std::string& where, const CaseFile& file) {
    std::uint64_t step = 0;
    if (!where.starts_with("step ") || !parse_plain(where.substr(5), step)) return where;
    return "line " + std::to_string(file.steps.at(step - 1).number);
}

}  // namespace

Json answer_case(const Json& request) {
    const Json& text = request["case"];
    if (!text.is_string()) return could_not_read("request", "\"case\" is a text");
    CaseFile file;
    CaseReader reader;
    if (!reader.read(text.get_ref<const std::string&>(), file)) return could_not_read(reader.where(), reader.error());
    Place place;
    PlaceFinder finder(file);
    if (!finder.find(request.value("profiles", Json::object()), place))
        return could_not_read("line " + std::to_string(file.call_line), finder.error());
    Json steps = Json::array();
    for (const Line& line : file.steps) steps.push_back(line.text);
    const Json shown = answer_history({{"profile", place.text}, {"entry", place.entry}, {"steps", steps}});
    if (shown.contains("error"))
        return could_not_read(line_of_step(shown["where"].get<std::string>(), file), shown["error"].get<std::string>());
    Json out = {{"profile", place.profile}, {"entry", place.entry}, {"steps", std::move(steps)}};
    if (!place.note.empty()) out["note"] = place.note;
    return out;
}

}  // namespace selvage::model::playground
