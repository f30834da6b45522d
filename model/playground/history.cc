// See history.h.
#include "model/playground/history.h"

#include <rdma/fi_errno.h>

#include <algorithm>
#include <optional>
#include <set>

#include "model/lifecycle/results.h"
#include "model/playground/case_step.h"
#include "model/playground/moves.h"
#include "model/spec/clause.h"
#include "model/text/call_text.h"
#include "model/text/profile_text.h"

namespace selvage::model::playground {
namespace {

// Each step is judged once for each errno: no page needs more of them.
constexpr std::size_t kMostSteps = 100;

// An entry as its readers tell it apart: "FI_EP_MSG FI_SOCKADDR_IN lo".
std::string entry_name(const Entry& e) {
    std::string out = print_field(e.offer, Field::ep_type) + " " + print_field(e.offer, Field::addr_format);
    if (e.offer.domain.name && !e.any_domain) out += " " + *e.offer.domain.name;
    return out;
}

// A call that the entry is the first answer to, on a machine that has it.
Query call_for(const Entry& e, const std::string& provider) {
    Query q;
    q.version = Version(1, 17);
    Info& h = q.hints.emplace();
    h.present = kAllParts;
    h.mode = e.offer.mode;
    h.addr_format = e.offer.addr_format;
    h.ep.type = e.offer.ep.type;
    h.domain.mr_mode = e.offer.domain.mr_mode;
    if (!e.any_domain) h.domain.name = e.offer.domain.name;
    h.fabric.prov_name = provider;
    return q;
}

bool is_open(const Results& r) { return r.success && (r.any_error || !r.errors.empty()); }

std::string_view verdict(const Results& r) {
    if (is_open(r)) return "open";
    return r.success ? "succeeds" : "fails";
}

// "must" if one of the clauses that decide says so.
std::string_view level(const Results& r) {
    if (r.because.empty()) return {};
    const bool must = std::any_of(r.because.begin(), r.because.end(),
                                  [](const Because& b) { return clause_text(b.clause).level == Level::Must; });
    return name(must ? Level::Must : Level::Should);
}

std::vector<std::string> clause_ids(const Results& r) {
    std::vector<std::string> out;
    for (const auto& b : r.because) out.emplace_back(clause_text(b.clause).id);
    return out;
}

// "must fail with FI_EBUSY".
std::string in_words(const Results& r) {
    if (is_open(r)) return "no lifecycle clause decides it";
    std::string out = std::string(level(r)) + (r.success ? " succeed" : " fail");
    for (std::size_t i = 0; i < r.errors.size(); ++i)
        out += std::string(i == 0 ? " with " : " or ") + print_error(r.errors[i]);
    return out;
}

// The result that a step is taken to have.
int assumed(const Step& step, const Results& r, bool fails) {
    if (r.success && !fails) return 0;
    if (!r.any_error && !r.errors.empty()) return -r.errors.front();
    return step.verb == Verb::Close ? -FI_EBUSY : -FI_EINVAL;
}

// Follows the steps of one request.
class History {
public:
    /// @param call to which the offer is the first answer.
    History(const std::string& provider, const Query& call, const Info& offer) : offer_(offer) {
        case_ = "selvage-case 1\nkind = lifecycle\nprovider = \"" + provider + "\"\ncall = " + print_call(call) + "\n";
    }

    /// Takes a step.  @return false if it is none of the moves, or cannot fail as it says.
    bool take(std::string line, std::string& error) {
        const bool fails = line.starts_with("!");
        if (fails) line.erase(0, 1);
        std::string why;
        const auto move = find_move(line, why);
        if (!move) {
            error = "\"" + line + "\" is nothing that can be done here: " + why;
            return false;
        }
        const Results r = allowed_results(move->step);
        if (fails && !is_open(r)) {
            error = "the result of \"" + line + "\" is not open: it " + in_words(r);
            return false;
        }
        const int ret = assumed(move->step, r, fails);
        Json step = described(*move, r);
        step["ret"] = ret == 0 ? "0" : "-" + print_error(ret);
        steps_.push_back(std::move(step));
        case_ += "# " + in_words(r) + (fails ? ", taken to fail" : "") + "\n" + line + "\n";
        Lifetime after = life_;
        after.apply(with_result(move->step, ret));
        life_ = std::move(after);
        return true;
    }

    Json json() {
        Json next = Json::array();
        for (const Move& m : moves(life_, offer_)) {
            Json move = described(m, allowed_results(m.step));
            move["on"] = m.on;
            next.push_back(std::move(move));
        }
        const Object* refused = life_.first_refused();
        return {{"steps", steps_},
                {"objects", objects()},
                {"refused", refused != nullptr ? Json(object_name(*refused)) : Json(nullptr)},
                {"moves", std::move(next)},
                {"case", case_},
                {"clauses", clauses()}};
    }

private:
    // One that is listed, else one that a case file may have.
    std::optional<Move> find_move(const std::string& line, std::string& why) const {
        for (Move& m : moves(life_, offer_))
            if (m.line == line) return std::move(m);
        return read_step(line, life_, offer_, why);
    }

    Json described(const Move& m, const Results& r) {
        for (const auto& b : r.because) named_.insert(b.clause);
        return {{"step", m.line},
                {"call", m.call},
                {"verdict", verdict(r)},
                {"words", in_words(r)},
                {"clauses", clause_ids(r)}};
    }

    Json objects() const {
        Json out = Json::array();
        for (const Object& o : life_.objects()) {
            Json bound = Json::array();
            for (const int eq : o.bound_eqs) bound.push_back(name_of(eq));
            for (const Binding& b : o.bindings) bound.push_back(name_of(b.number));
            out.push_back({{"number", o.number},
                           {"name", object_name(o)},
                           {"parent", o.parent},
                           {"state", state(o)},
                           {"enabled", o.enabled},
                           {"bound", std::move(bound)}});
        }
        return out;
    }

    std::string name_of(int number) const { return object_name(*life_.find(static_cast<std::uint64_t>(number))); }

    static std::string_view state(const Object& o) {
        switch (o.state) {
            case Object::State::Failed:
                return "failed";
            case Object::State::Open:
                return "open";
            case Object::State::Closed:
                return "closed";
            case Object::State::Lost:
                return "lost";
        }
        return {};
    }

    Json clauses() const {
        Json out = Json::object();
        for (const Clause c : named_) {
            const ClauseText& text = clause_text(c);
            Json source = Json::array();
            for (const auto s : text.source) source.push_back(s);
            out[std::string(text.id)] = {{"title", text.title},
                                         {"promise", text.promise},
                                         {"level", name(text.level)},
                                         {"source", std::move(source)}};
        }
        return out;
    }

    const Info& offer_;
    Lifetime life_;
    Json steps_ = Json::array();
    std::string case_;
    std::set<Clause> named_;
};

}  // namespace

Json answer_history(const Json& request) {
    const Json& steps = request["steps"];
    const auto text = request.find("profile");
    const Json index = request.value("entry", Json(0U));
    if (text == request.end() || !text->is_string()) return could_not_read("request", "needs \"profile\", a text");
    if (!steps.is_array() || steps.size() > kMostSteps)
        return could_not_read("request", "\"steps\" is a list of at most " + std::to_string(kMostSteps));
    Profile profile;
    std::string error;
    if (!parse_profile(text->get_ref<const std::string&>(), Version(1, 17), profile, error))
        return could_not_read("profile 0", error);
    if (!index.is_number_unsigned() || index.get<std::uint64_t>() >= profile.entries.size())
        return could_not_read("request", "the profile has no such entry");
    const Entry& entry = profile.entries[index.get<std::size_t>()];
    const Query call = call_for(entry, profile.provider);
    Json entries = Json::array();
    for (const Entry& e : profile.entries) entries.push_back(entry_name(e));
    name_what_is_open(profile);
    History history(profile.provider, call, entry.offer);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        if (!steps[i].is_string() || !history.take(steps[i].get<std::string>(), error))
            return could_not_read("step " + std::to_string(i + 1), error.empty() ? "a step is a text" : error);
    }
    Json out = {{"provider", profile.provider}, {"entries", std::move(entries)}};
    out.update(history.json());
    return out;
}

}  // namespace selvage::model::playground
