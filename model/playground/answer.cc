#include "model/playground/answer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "model/explain/explain.h"
#include "model/playground/case_file.h"
#include "model/playground/history.h"
#include "model/playground/vocabulary.h"
#include "model/spec/clause.h"
#include "model/text/call_text.h"
#include "model/text/profile_text.h"

namespace selvage::model::playground {
namespace {

std::string_view word(Choice choice) {
    if (choice == Choice::No) return name(Verdict::Kind::MustRefuse);
    return name(choice == Choice::May ? Verdict::Kind::MayRefuse : Verdict::Kind::Granted);
}

std::string_view path_of(Field f) { return row(f).path; }

// A field as the form shows it: words, numbers, strings without their quotes.
std::string shown(const Info& info, Field f) {
    if (is_text(f) && row(f).form == Form::String) return text(info, f).value_or("");
    return print_field(info, f);
}

// One profile, for one call.
class Judged {
public:
    Judged(const Query& query, const Profile& profile, std::set<Clause>& named)
        : query_(query), profile_(profile), named_(named) {}

    Json json() {
        if (profile_.only && *profile_.only != query_.version) return unknown();
        const Verdict verdict = expect(query_, world_, profile_);
        Json errors = Json::array();
        for (const int e : verdict.errnos) errors.push_back(print_error(e));
        const auto explained = explain(query_, world_, profile_);
        return {{"provider", profile_.provider},
                {"verdict", name(verdict.kind)},
                {"errors", errors},
                {"because", links(verdict.because, nullptr)},
                {"entries", entries(explained)},
                {"proposals", verdict.kind == Verdict::Kind::Granted ? Json::array() : proposals(explained)}};
    }

private:
    // The profile holds for callers of another version alone.
    Json unknown() const {
        const Json none = Json::array();
        return {{"provider", profile_.provider},
                {"verdict", name(Verdict::Kind::Unspecified)},
                {"only", profile_.only->str()},
                {"errors", none},
                {"because", none},
                {"entries", none},
                {"proposals", none}};
    }

    Json links(const std::vector<Because>& because, const Entry* entry) {
        Json out = Json::array();
        for (const auto& b : because) {
            named_.insert(b.clause);
            const Field f = b.evidence.field;
            Json link = {{"clause", clause_text(b.clause).id}, {"evidence", print_evidence(b.evidence)}};
            if (entry != nullptr && (is_number(f) || is_text(f))) {
                link["field"] = path_of(f);
                link["asked"] = query_.hints ? shown(*query_.hints, f) : std::string("NULL hints");
                link["offered"] = shown(entry->offer, f);
            }
            out.push_back(std::move(link));
        }
        return out;
    }

    Json entries(const std::vector<Explained>& explained) {
        Json out = Json::array();
        for (const auto& e : explained) {
            Json offered = Json::object();
            for (const auto& r : number_fields())
                if (get(e.entry.offer, r.field) != 0) offered[std::string(r.path)] = shown(e.entry.offer, r.field);
            for (const auto& r : text_fields())
                if (text(e.entry.offer, r.field)) offered[std::string(r.path)] = shown(e.entry.offer, r.field);
            out.push_back({{"verdict", word(e.matching.choice)},
                           {"offered", std::move(offered)},
                           {"refuses", links(e.matching.refuses, &e.entry)},
                           {"leaves_open", links(e.matching.leaves_open, &e.entry)}});
        }
        return out;
    }

    Json proposals(const std::vector<Explained>& explained) {
        const auto granted = [&](const Query& q, const std::string&) {
            return expect(q, world_, profile_).kind == Verdict::Kind::Granted;
        };
        Json out = Json::array();
        for (const auto& p : propose(query_, world_, explained, granted)) {
            Json changes = Json::array();
            for (const auto& c : p.changes)
                changes.push_back({{"field", path_of(c.field)}, {"before", c.before}, {"after", c.after}});
            out.push_back({{"granted_by", p.granted_by}, {"changes", changes}, {"call", print_call(p.query)}});
        }
        return out;
    }

    const Query& query_;
    const Profile& profile_;
    std::set<Clause>& named_;
    World world_;
};

Json clause_json(Clause clause) {
    const ClauseText& c = clause_text(clause);
    Json out = {{"promise", c.promise}, {"level", name(c.level)}, {"source", Json::array()}};
    for (const auto s : c.source) out["source"].push_back(s);
    if (!c.dispute_reading.empty()) out["reading"] = c.dispute_reading;
    return out;
}

// The fields of hints that ask for something.
Json hints_json(const std::optional<Info>& hints) {
    if (!hints) return nullptr;
    Json out = Json::object();
    for (const auto& r : number_fields())
        if (get(*hints, r.field) != 0) out[std::string(r.path)] = shown(*hints, r.field);
    for (const auto& r : text_fields())
        if (text(*hints, r.field)) out[std::string(r.path)] = shown(*hints, r.field);
    return out;
}

Json text_json(const Text& text) { return text ? Json(*text) : Json(nullptr); }

Json judge_call(const Json& profiles, const std::string& call) {
    Query query;
    TextError bad;
    if (!parse_call(call, query, bad)) {
        Json out = could_not_read("call", bad.message);
        out["at"] = bad.at;
        return out;
    }
    Json judged = Json::array();
    std::set<Clause> named;
    for (std::size_t i = 0; i < profiles.size(); ++i) {
        const std::string where = "profile " + std::to_string(i);
        if (!profiles[i].is_string()) return could_not_read(where, "a profile is a text");
        Profile profile;
        std::string error;
        if (!parse_profile(profiles[i].get_ref<const std::string&>(), query.version, profile, error))
            return could_not_read(where, error);
        name_what_is_open(profile);
        judged.push_back(Judged(query, profile, named).json());
    }
    Json clauses = Json::object();
    for (const Clause c : named) clauses[std::string(clause_text(c).id)] = clause_json(c);
    return {{"call", print_call(query)},
            {"version", query.version.str()},
            {"node", text_json(query.node)},
            {"service", text_json(query.service)},
            {"flags", print_value(Family::getinfo_flags, query.flags)},
            {"hints", hints_json(query.hints)},
            {"profiles", judged},
            {"clauses", clauses}};
}

Json answer_json(const Json& request) {
    if (!request.is_object()) return could_not_read("request", "a request is a JSON object");
    if (request.value("ask", Json()) == "vocabulary") return vocabulary();
    if (request.contains("case")) return answer_case(request);
    if (request.contains("steps")) return answer_history(request);
    const auto profiles = request.find("profiles");
    const auto call = request.find("call");
    if (profiles == request.end() || !profiles->is_array()) return could_not_read("request", "needs \"profiles\"");
    if (call == request.end() || !call->is_string()) return could_not_read("request", "needs \"call\"");
    return judge_call(*profiles, call->get_ref<const std::string&>());
}

}  // namespace

std::string answer(std::string_view request) {
    // Without exceptions, and text of any bytes: what is no UTF-8 is replaced.
    const Json read = Json::parse(request, nullptr, false);
    return answer_json(read).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace selvage::model::playground
