// See learnt.h.
#include "conformance/run/learnt.h"

#include <algorithm>
#include <cstddef>

#include "conformance/case/names.h"

namespace selvage::conformance {
namespace {

using Verb = Action::Verb;

bool binds(const Action& a) { return a.verb == Verb::BindEq || a.verb == Verb::BindEp; }

// Whether the rest of one sequence is found in the rest of another.
class Match {
public:
    Match(const std::vector<Action>& acts, const std::vector<Action>& part) : acts_(acts), part_(part) {}

    // @param number, of the object that the next opening among `acts` makes
    bool from(std::size_t act, std::size_t expected, int number) {
        if (expected == part_.size()) return true;
        for (; act < acts_.size(); ++act) {
            const bool opening = opens(acts_[act]);
            if (same(acts_[act], part_[expected])) {
                if (opening) objects_.push_back(number);
                if (from(act + 1, expected + 1, number + (opening ? 1 : 0))) return true;
                if (opening) objects_.pop_back();
            }
            number += opening ? 1 : 0;
        }
        return false;
    }

private:
    // The number among `acts` of an object of `part`.
    [[nodiscard]] int object(int number) const {
        const auto n = static_cast<std::size_t>(number);
        return number > 0 && n <= objects_.size() ? objects_[n - 1] : number;
    }
    [[nodiscard]] bool same(const Action& a, const Action& expected) const {
        if (a.verb != expected.verb || a.flags != expected.flags || a.name != expected.name) return false;
        if (a.object != object(expected.object)) return false;
        if (binds(a)) return a.argument == object(expected.argument);
        // Of a fabric it is the offer, of what stands on one an offer of its own, or 0.
        return a.verb == Verb::OpenFabric || (a.argument == 0) == (expected.argument == 0);
    }

    const std::vector<Action>& acts_;
    const std::vector<Action>& part_;
    std::vector<int> objects_;  // by number in `part`, less one
};

}  // namespace

bool holds(const std::vector<Action>& acts, const std::vector<Action>& part) { return Match(acts, part).from(0, 0, 1); }

Learnt::Learnt(TestContext& context) : context_(context) {
    for (const Case& c : context.plan().crashes) crashes_.push_back({c.actions, ep_type_of(c)});
}

std::optional<std::uint64_t> Learnt::ep_type_of(const Case& c) {
    const auto first = std::find_if(c.actions.begin(), c.actions.end(),
                                    [](const Action& a) { return a.verb == Verb::OpenFabric && a.argument >= 0; });
    if (first == c.actions.end()) return std::nullopt;
    const auto answer = context_.single().issue(c.first).answer;
    const auto offer = static_cast<std::size_t>(first->argument);
    if (offer >= answer.offers.size()) return std::nullopt;
    return answer.offers[offer].ep.type;
}

bool Learnt::knows(const Case& c) {
    if (c.kind != Case::Kind::Lifecycle) return false;
    std::vector<std::uint64_t> types;  // of endpoints on which it would end the process
    for (const KnownCrash& d : crashes_)
        if (d.ep_type && holds(c.actions, d.acts)) types.push_back(*d.ep_type);
    if (types.empty()) return false;
    const auto own = ep_type_of(c);
    return own && std::find(types.begin(), types.end(), *own) != types.end();
}

}  // namespace selvage::conformance
