#include "conformance/drive/probe.h"

#include <rdma/fabric.h>

#include <algorithm>

#include "conformance/generate/relate.h"

namespace selvage::conformance {

using namespace model;

namespace {

// A list that can't be followed to its end.  What was read of it says nothing: no other clause is judged by it.
void judge_broken_list(const char* how, Tally& tally, std::vector<Because>& broken) {
    Evidence e;
    e.field = Field::call_list;
    e.relation = Relation::Happens;
    e.note = how;
    e.observed.what = Observable::ListEnd;
    tally.note(Clause::getinfo_call_list_ends, Outcome::Broken);
    broken.push_back({.clause = Clause::getinfo_call_list_ends, .evidence = std::move(e)});
}

}  // namespace

void note_ending(SideEffects& side_effects, const Ending& ending) {
    side_effects.crashed_signal = ending.kind == Ending::Kind::Crashed ? ending.signal : 0;
    side_effects.hung = ending.kind == Ending::Kind::Hung;
    side_effects.exited = ending.kind == Ending::Kind::Exited;
}

void judge_issued(TestContext& context, const Query& query, const Issued& issued, Tally& tally,
                  std::vector<Because>& broken) {
    if (issued.broken == nullptr) {
        judge(query, context.world(), issued.answer, &context.profile(query.version), tally, broken);
    } else {
        judge_broken_list(issued.broken, tally, broken);
    }
    SideEffects side_effects;
    side_effects.act = SideEffects::Act::GetInfo;
    side_effects.world = &context.world();
    side_effects.query = &query;
    side_effects.answer = &issued.answer;
    side_effects.ret = issued.answer.ret;
    side_effects.hints_written = issued.hints_written;
    side_effects.written_field = issued.written_field;
    side_effects.copy_shares = issued.shares_hints;
    judge(side_effects, tally, broken);
}

namespace {

// Pairs compare what one provider says; another's offers in the same list are none of its business.
Answer own_part(const TestContext& context, Answer answer) {
    std::erase_if(answer.offers,
                  [&](const Info& o) { return !context.provider().empty() && !offer_is_of(o, context.provider()); });
    return answer;
}

// Where offer `i` of the whole answer stands in own_part() of it.
int place_among_own(const TestContext& context, const Answer& answer, std::size_t i) {
    if (context.provider().empty()) return static_cast<int>(i);
    const auto end = answer.offers.begin() + static_cast<std::ptrdiff_t>(i);
    return static_cast<int>(
        std::count_if(answer.offers.begin(), end, [&](const Info& o) { return offer_is_of(o, context.provider()); }));
}

}  // namespace

void probe_call(TestContext& context, const Case& c, Tally& tally, std::vector<Because>& broken) {
    judge_issued(context, c.first, context.single().issue(c.first), tally, broken);
}

void probe_pair(TestContext& context, const Case& c, Tally& tally, std::vector<Because>& broken) {
    const Issued first = context.single().issue(c.first);
    Query second = c.second;
    int fed_back = c.fed_back;
    if (c.metamorphic == MetamorphicRelation::FedBack) {
        const auto i = static_cast<std::size_t>(c.fed_back);
        // A shrunk first call may have another provider's offer in this place.
        if (c.fed_back < 0 || i >= first.answer.offers.size()) return;
        if (!context.provider().empty() && !offer_is_of(first.answer.offers[i], context.provider())) return;
        fed_back = place_among_own(context, first.answer, i);
        second = feed_back(c.first, first.answer.offers[i]);
    }
    const Issued again = context.single().issue(second);
    if (first.broken != nullptr || again.broken != nullptr) return;
    // Lists of names are compared with whole answers: a layered provider's may be listed layer by layer.  What a plain
    // call found of others is none of the provider's business.
    const auto lists_names = [](const Query& q) { return (q.flags & FI_PROV_ATTR_ONLY) != 0; };
    const bool names = lists_names(c.first) || lists_names(second);
    const Answer own_first = lists_names(c.first) ? first.answer : own_part(context, first.answer);
    const Answer own_second = lists_names(second) ? again.answer : own_part(context, again.answer);
    judge(
        PairCase{c.metamorphic, context.world(), c.first, own_first, second, own_second, names ? c.fed_back : fed_back},
        tally, broken);
}

void probe(TestContext& context, const Case& c, Tally& tally, std::vector<Because>& broken) {
    switch (c.kind) {
        case Case::Kind::Call:
            return probe_call(context, c, tally, broken);
        case Case::Kind::Pair:
            return probe_pair(context, c, tally, broken);
        case Case::Kind::SideEffects:
            return probe_side_effects(context, c, tally, broken);
        case Case::Kind::Lifecycle:
            return probe_life(context, c, tally, broken);
        case Case::Kind::Text:
            return probe_text(context, c, tally, broken);
        case Case::Kind::Traffic:
            return probe_traffic(context, c, tally, broken);
        case Case::Kind::Group:
            return probe_group(context, c, tally, broken);
    }
}

}  // namespace selvage::conformance
