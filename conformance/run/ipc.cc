#include "conformance/run/ipc.h"

#include <nlohmann/json.hpp>

#include "conformance/case/case_text.h"
#include "model/spec/clause.h"

namespace selvage::conformance {
namespace {

using nlohmann::json;
using namespace model;

// Bytes that are no UTF-8 would make the JSON library throw; they travel as arrays of numbers.
json from_text(const Text& t) {
    if (!t) return nullptr;
    return std::vector<unsigned>(reinterpret_cast<const unsigned char*>(t->data()),
                                 reinterpret_cast<const unsigned char*>(t->data()) + t->size());
}

Text to_text(const json& j) {
    if (j.is_null()) return std::nullopt;
    std::string out;
    for (const auto& n : j) out.push_back(static_cast<char>(n.get<unsigned>()));
    return out;
}

json from_observed(const Observed& o) {
    return json::array({static_cast<unsigned>(o.what), o.operations, static_cast<unsigned>(o.side), o.transmits,
                        static_cast<unsigned>(o.counter), static_cast<unsigned>(o.limit), o.also});
}

json from_because(const Because& b) {
    const Evidence& e = b.evidence;
    return {{"c", static_cast<unsigned>(b.clause)},
            {"s", b.supporting},
            {"f", static_cast<unsigned>(e.field)},
            {"r", static_cast<unsigned>(e.relation)},
            {"w", e.expected},
            {"wf", static_cast<unsigned>(e.expected_field)},
            {"a", e.actual},
            {"wt", from_text(e.expected_text)},
            {"at", from_text(e.actual_text)},
            {"n", from_text(e.note)},
            {"o", e.offer},
            {"x", static_cast<unsigned>(e.crash)},
            {"l", from_observed(e.observed)}};
}

Observed to_observed(const json& j) {
    Observed o;
    o.what = static_cast<Observable>(j.at(0).get<unsigned>());
    o.operations = j.at(1).get<std::vector<int>>();
    o.side = static_cast<Side>(j.at(2).get<unsigned>());
    o.transmits = j.at(3).get<bool>();
    o.counter = static_cast<CounterKind>(j.at(4).get<unsigned>());
    o.limit = static_cast<Field>(j.at(5).get<unsigned>());
    o.also = j.at(6).get<std::vector<std::uint64_t>>();
    return o;
}

Because to_because(const json& j) {
    Because b;
    const auto clause = j.at("c").get<unsigned>();
    if (clause >= kClauseCount) throw std::out_of_range("clause");
    b.clause = static_cast<Clause>(clause);
    b.supporting = j.at("s").get<bool>();
    b.evidence.field = static_cast<Field>(j.at("f").get<unsigned>());
    b.evidence.relation = static_cast<Relation>(j.at("r").get<unsigned>());
    b.evidence.expected = j.at("w").get<std::uint64_t>();
    b.evidence.expected_field = static_cast<Field>(j.at("wf").get<unsigned>());
    b.evidence.actual = j.at("a").get<std::uint64_t>();
    b.evidence.expected_text = to_text(j.at("wt"));
    b.evidence.actual_text = to_text(j.at("at"));
    b.evidence.note = to_text(j.at("n")).value_or("");
    b.evidence.offer = j.at("o").get<int>();
    b.evidence.crash = static_cast<Crash>(j.at("x").get<unsigned>());
    b.evidence.observed = to_observed(j.at("l"));
    return b;
}

}  // namespace

std::string pack(const Found& found) {
    json j;
    for (const auto& b : found.because) j["because"].push_back(from_because(b));
    j["case"] = from_text(print_case(found.shown_by));
    j["seen"] = found.seen;
    if (found.intermittent) j["tries"] = {found.intermittent->shown, found.intermittent->of};
    return j.dump();
}

std::optional<Found> unpack(std::string_view record) {
    try {
        const auto j = json::parse(record);
        Found found;
        for (const auto& b : j.at("because")) found.because.push_back(to_because(b));
        found.seen = j.at("seen").get<std::uint64_t>();
        if (j.contains("tries"))
            found.intermittent = {j["tries"].at(0).get<std::uint64_t>(), j["tries"].at(1).get<std::uint64_t>()};
        CaseFile file;
        CaseError error;
        if (!parse_case(to_text(j.at("case")).value_or(""), file, error)) return std::nullopt;
        found.shown_by = file.shown;
        if (found.because.empty()) return std::nullopt;
        return found;
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

}  // namespace selvage::conformance
