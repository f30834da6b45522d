#include "model/judge/judge.h"

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <algorithm>

#include "model/group/group.h"
#include "model/traffic/account.h"
#include "model_gen/predicates.h"

namespace selvage::model {
namespace {

template <typename P>
bool holds_for(const P& predicate, Version v) {
    // There never was a version before 1.0: a call that names one is judged as one of 1.0.
    const Version at = std::max(v, Version(1, 0));
    return predicate.since <= at && at <= predicate.until;
}

void count(Tally* tally, Clause c) {
    if (tally != nullptr) ++tally->applied[static_cast<std::size_t>(c)];
}

void break_it(Tally& tally, std::vector<Because>& broken, Clause c, Evidence evidence) {
    ++tally.broken[static_cast<std::size_t>(c)];
    broken.push_back({.clause = c, .evidence = std::move(evidence)});
}

// Runs one predicate over one case.  What is broken, or nullptr.
template <typename Case>
Because* judge_by(const Predicate<Ruling, Case>& p, const Case& c, Tally& tally, std::vector<Because>& broken) {
    Ruling r = p.judge(c);
    tally.note(p.clause, r.outcome());
    if (!r.is_broken()) return nullptr;
    broken.push_back({.clause = p.clause, .evidence = r.take_evidence()});
    return &broken.back();
}

// Runs a table of predicates over one case.
template <typename Case>
void judge_all(std::span<const Predicate<Ruling, Case>> table, const Case& c, Version v, Tally& tally,
               std::vector<Because>& broken) {
    for (const auto& p : table)
        if (holds_for(p, v)) judge_by(p, c, tally, broken);
}

std::size_t offers_of(const Answer& answer, const Profile* profile) {
    if (profile == nullptr) return answer.offers.size();
    return static_cast<std::size_t>(std::count_if(answer.offers.begin(), answer.offers.end(),
                                                  [&](const Info& o) { return offer_is_of(o, profile->provider); }));
}

// Call rules demand refusal, and the call was granted: each of them is broken.
void judge_granted(Clause c, const Demand& d, Tally& tally, std::vector<Because>& broken) {
    Evidence e = *d.evidence;
    e.note += (e.note.empty() ? "" : "; ") + std::string("must be refused, was granted");
    e.observed.what = Observable::Refusal;
    e.observed.operations = {0};
    break_it(tally, broken, c, std::move(e));
}

// Refused as demanded, but with an errno that none of the rules names.  Which rule a library checks first is its own
// business, so the errnos of all rules are allowed.
void judge_errno(Clause c, const Demand& d, const std::vector<int>& allowed, const Answer& answer, Tally& tally,
                 std::vector<Because>& broken) {
    if (allowed.empty() || std::find(allowed.begin(), allowed.end(), -answer.ret) != allowed.end()) return;
    Evidence e;
    e.field = Field::call_return;
    e.relation = Relation::Equals;
    e.expected = static_cast<std::uint64_t>(-static_cast<std::int64_t>(d.errnos.front()));
    e.actual = static_cast<std::uint64_t>(static_cast<std::int64_t>(answer.ret));
    e.note = d.evidence->note;
    e.observed.what = Observable::Refusal;
    e.observed.operations = {0};
    for (const int error : allowed)
        e.observed.also.push_back(static_cast<std::uint64_t>(-static_cast<std::int64_t>(error)));
    break_it(tally, broken, c, std::move(e));
}

// What the call rules that apply say together.
struct Demands {
    std::vector<std::pair<Clause, Demand>> rules;  // that demand or allow a refusal, in their order
    std::vector<int> errnos;                       // allowed by any that demands one
    bool refused = false;                          // some rule demands a refusal
    bool any_errno = false;                        // some rule leaves the errno open
    bool open = false;                             // some rule leaves refusing open
};

Demands gather_demands(const QueryCase& c, Tally* tally) {
    Demands out;
    for (const auto& p : query_predicates()) {
        if (!holds_for(p, c.query.version)) continue;
        Demand d = p.judge(c);
        if (d.kind == Demand::Kind::NotRequested) continue;
        count(tally, p.clause);
        if (d.kind == Demand::Kind::Nothing) continue;
        if (d.kind == Demand::Kind::MayRefuse) {
            out.open = out.any_errno = true;
        } else {
            out.refused = true;
            out.any_errno = out.any_errno || d.errnos.empty();
            out.errnos.insert(out.errnos.end(), d.errnos.begin(), d.errnos.end());
        }
        out.rules.emplace_back(p.clause, std::move(d));
    }
    return out;
}

// What an answer is to the provider that is judged.
struct Share {
    bool granted;   // the call was granted, and the provider has a part in that
    bool answered;  // what the call returned is the provider's doing
};

// A call that names the provider is answered by it alone.  To others several providers answer, and each is judged by
// its own entries: where there are none it granted nothing, and an error of a call that names nobody is no one's.
Share share_of(const Query& query, const Answer& answer, const Profile* profile) {
    if (profile == nullptr || names(query, profile->provider)) return {.granted = answer.ret == 0, .answered = true};
    const bool names_another = query.hints && query.hints->fabric.prov_name;
    return {.granted = answer.ret == 0 && offers_of(answer, profile) > 0, .answered = answer.ret != 0 && names_another};
}

void judge_demands(const Demands& demands, const Answer& answer, Share share, Tally& tally,
                   std::vector<Because>& broken) {
    for (const auto& [clause, demand] : demands.rules) {
        if (demand.kind != Demand::Kind::MustRefuse) continue;
        if (share.granted) {
            judge_granted(clause, demand, tally, broken);
        } else if (answer.ret != 0 && share.answered && !demands.any_errno) {
            judge_errno(clause, demand, demands.errnos, answer, tally, broken);
        }
    }
}

bool is_of_the_name(Clause c) { return c == Clause::fabric_prov_name_fits || c == Clause::fabric_prov_name_layered; }

// An entry fits, yet nothing was offered.  The clause that is broken is the one whose field was asked for; where
// several were, the first link is the general promise and the fields follow, until shrinking leaves one.  The name of
// the provider stands beside it in every query that shows it.
void judge_refusal(const Query& query, const World& world, const Answer& answer, const Profile& profile,
                   const Verdict& verdict, Tally& tally, std::vector<Because>& broken) {
    Evidence refused;
    if (answer.ret != 0) {
        refused.field = Field::call_return;
        refused.relation = Relation::Equals;
        refused.actual = static_cast<std::uint64_t>(static_cast<std::int64_t>(answer.ret));
    } else {
        refused.field = Field::call_count;
        refused.relation = Relation::AtLeast;
        refused.expected = 1;
    }
    const Entry& entry = profile.entries[verdict.granting.front()];
    std::vector<Clause> requested;
    const MatchCase c{query, world, profile, entry};
    for (const auto& p : match_predicates()) {
        if (holds_for(p, query.version) && p.judge(c).choice() == Choice::Fits) requested.push_back(p.clause);
    }
    if (requested.size() > 1) std::erase_if(requested, is_of_the_name);
    refused.note = "refused, though what the provider offers to wider queries fits: " + profile.provider;
    if (requested.size() == 1) {
        break_it(tally, broken, requested.front(), std::move(refused));
        return;
    }
    break_it(tally, broken, Clause::getinfo_call_matching_returned, std::move(refused));
    for (const Clause a : requested) {
        Evidence fits;
        fits.field = Field::call_hints;
        fits.note = "asked for, and fits";
        broken.push_back({.clause = a, .evidence = std::move(fits), .supporting = true});
    }
}

// Match clauses that say of an offer as such, whatever else its provider has, that it must not have been given.
bool judges_grants(Clause c) {
    switch (c) {
        case Clause::getinfo_addresses_src_hint_fits:
        case Clause::getinfo_addresses_dest_hint_fits:
        case Clause::getinfo_call_node_resolved:
        case Clause::getinfo_call_node_unresolvable:
        case Clause::getinfo_caps_av_user_id_class:
        case Clause::getinfo_flags_numeric_node_resolved:
        case Clause::getinfo_flags_numeric_name_excluded:
        case Clause::getinfo_flags_source_fits:
            return true;
        default:
            return false;
    }
}

// What these clauses look at.  Most calls have nothing of it.
bool may_grant_wrongly(const Query& q) {
    if ((q.flags & FI_PROV_ATTR_ONLY) != 0) return false;
    return q.node || (q.hints && (q.hints->src_addr || q.hints->dest_addr || (q.hints->caps & FI_AV_USER_ID) != 0));
}

// An offer that was given, held against the clauses that need no profile to say that it must not be there.
void judge_given(const OfferCase& c, Tally& tally, std::vector<Because>& broken) {
    static const Profile nobody;
    const Profile& profile = c.profile != nullptr ? *c.profile : nobody;
    Entry entry;
    entry.offer = c.offer;
    const MatchCase given{c.query, c.world, profile, entry, &c.offer};
    for (const auto& p : match_predicates()) {
        if (!judges_grants(p.clause) || !holds_for(p, c.query.version)) continue;
        Fit fit = p.judge(given);
        if (fit.choice() == Choice::NotRequested || fit.choice() == Choice::May) continue;
        count(&tally, p.clause);
        // One offer is enough; and a declared profile may have said it of the call already.
        const bool told =
            std::any_of(broken.begin(), broken.end(), [&](const Because& b) { return b.clause == p.clause; });
        if (fit.choice() != Choice::No || told) continue;
        Evidence e = fit.take_evidence();
        e.offer = c.index;
        if (!is_number(e.field) && !is_text(e.field)) e.observed.what = Observable::Offers;
        break_it(tally, broken, p.clause, std::move(e));
    }
}

// The provider is charged with what the clause says of any offer in the answer, whosever name the offer has: it was
// asked for by name and another's name came back; or an offer has no name at all.
bool judges_every_offer(Clause c, const Query& query, std::string_view provider) {
    if (c == Clause::fabric_prov_name_present) return true;
    return (c == Clause::fabric_prov_name_granted || c == Clause::fabric_prov_name_layered_granted) &&
           names(query, provider);
}

void judge_offer(const OfferCase& c, Tally& tally, std::vector<Because>& broken) {
    const bool own = c.profile == nullptr || offer_is_of(c.offer, c.profile->provider);
    if (own && may_grant_wrongly(c.query)) judge_given(c, tally, broken);
    for (const auto& p : offer_predicates()) {
        if (!holds_for(p, c.query.version)) continue;
        if (!own && !judges_every_offer(p.clause, c.query, c.profile->provider)) continue;
        Because* link = judge_by(p, c, tally, broken);
        if (link != nullptr && !own) link->evidence.observed.what = Observable::AnyonesEntry;
    }
}

// The whole answer, as far as it is the provider's.
void judge_answer(const Query& query, const World& world, const Answer& answer, const Profile* profile, Share share,
                  Tally& tally, std::vector<Because>& broken) {
    const bool requests_all = !query.node && !query.service && query.flags == 0 && !query.hints;
    const bool empty = answer.ret == 0 && answer.offers.empty();
    if (share.answered || empty || (requests_all && answer.ret == 0 && !share.granted))
        return judge_all(answer_predicates(), AnswerCase{query, world, answer, profile}, query.version, tally, broken);
    if (!share.granted) return;
    Answer own = answer;
    std::erase_if(own.offers, [&](const Info& o) { return !offer_is_of(o, profile->provider); });
    judge_all(answer_predicates(), AnswerCase{query, world, own, profile}, query.version, tally, broken);
}

// Nothing that the provider declares fits, yet it offered something.
void judge_grant(const Verdict& verdict, Tally& tally, std::vector<Because>& broken) {
    if (verdict.because.empty()) return;
    Evidence e = verdict.because.front().evidence;
    e.note += (e.note.empty() ? "" : "; ") + std::string("offered, though nothing that the provider declares fits");
    e.observed.what = Observable::Offers;
    break_it(tally, broken, verdict.because.front().clause, std::move(e));
}

}  // namespace

void Tally::add(const Tally& other) {
    for (std::size_t i = 0; i < kClauseCount; ++i) {
        applied[i] += other.applied[i];
        broken[i] += other.broken[i];
    }
}

bool offer_is_of(const Info& offer, std::string_view provider) {
    if (!offer.fabric.prov_name) return false;
    const std::string_view own = *offer.fabric.prov_name;
    if (own == provider) return true;
    // Layered names are the same in either order.
    const auto cut = own.find(';');
    if (cut == std::string_view::npos || own.size() != provider.size()) return false;
    const auto rest = own.size() - cut - 1;
    return provider.substr(0, rest) == own.substr(cut + 1) && provider[rest] == ';' &&
           provider.substr(rest + 1) == own.substr(0, cut);
}

bool names(const Query& query, std::string_view provider) { return query.hints && offer_is_of(*query.hints, provider); }

namespace {

// Whether the hints count in a call that only asks who is there is not said; a name that is asked for does.
bool refuses_names(Clause c) { return c == Clause::fabric_prov_name_excludes || c == Clause::fabric_prov_name_layered; }

}  // namespace

Matching match(const Query& query, const World& world, const Profile& profile, const Entry& entry, Tally* tally) {
    Matching out;
    const MatchCase c{query, world, profile, entry};
    const bool names_only = (query.flags & FI_PROV_ATTR_ONLY) != 0;
    for (const auto& p : match_predicates()) {
        if (!holds_for(p, query.version)) continue;
        Fit fit = p.judge(c);
        if (fit.choice() == Choice::NotRequested) continue;
        if (names_only && fit.choice() == Choice::No && !refuses_names(p.clause)) continue;
        count(tally, p.clause);
        if (fit.choice() == Choice::No) {
            out.choice = Choice::No;
            out.refuses.push_back({.clause = p.clause, .evidence = fit.take_evidence()});
        } else if (fit.choice() == Choice::May) {
            if (out.choice == Choice::Fits) out.choice = Choice::May;
            out.leaves_open.push_back({.clause = p.clause, .evidence = fit.take_evidence()});
        }
    }
    return out;
}

namespace {

// The second half of expect(): what the entries of the profile make of a call of which the call rules said `v`.
Verdict expect_of_entries(Verdict v, bool refused, bool open, const Query& query, const World& world,
                          const Profile& profile, Tally* tally) {
    std::vector<Because> refuses;
    bool some_may = false;  // an entry leaves it open; that hides no other entry that fits
    for (std::size_t i = 0; i < profile.entries.size(); ++i) {
        Matching m = match(query, world, profile, profile.entries[i], tally);
        if (m.choice == Choice::Fits) v.granting.push_back(i);
        some_may = some_may || m.choice == Choice::May;
        auto& from = m.choice == Choice::May ? m.leaves_open : m.refuses;
        std::move(from.begin(), from.end(), std::back_inserter(refuses));
    }
    if (refused) {
        v.kind = Verdict::Kind::MustRefuse;
        v.granting.clear();
        return v;
    }
    if (!v.granting.empty() && !open) {
        v.kind = Verdict::Kind::Granted;
        return v;
    }
    if (v.granting.empty()) std::move(refuses.begin(), refuses.end(), std::back_inserter(v.because));
    if (some_may || !v.granting.empty()) {
        v.kind = Verdict::Kind::MayRefuse;
    } else if (profile.origin == Origin::Declared) {
        v.kind = Verdict::Kind::MustRefuse;
        if (!open) v.errnos = {FI_ENODATA};
    } else {
        v.kind = profile.entries.empty() ? Verdict::Kind::Unspecified : Verdict::Kind::MayRefuse;
    }
    return v;
}

}  // namespace

std::string_view name(Verdict::Kind kind) {
    switch (kind) {
        case Verdict::Kind::Granted:
            return "granted";
        case Verdict::Kind::MustRefuse:
            return "refused";
        case Verdict::Kind::MayRefuse:
            return "may-be-refused";
        default:
            return "unspecified";
    }
}

Verdict expect(const Query& query, const World& world, const Profile& profile, Tally* tally) {
    Demands demands = gather_demands(QueryCase{query, world}, tally);
    Verdict v;
    v.errnos = std::move(demands.errnos);
    for (auto& [clause, demand] : demands.rules) {
        v.because.push_back({.clause = clause, .evidence = std::move(*demand.evidence)});
    }
    return expect_of_entries(std::move(v), demands.refused, demands.open, query, world, profile, tally);
}

void judge(const Query& query, const World& world, const Answer& answer, const Profile* profile, Tally& tally,
           std::vector<Because>& broken) {
    const Demands demands = gather_demands(QueryCase{query, world}, &tally);
    const Share share = share_of(query, answer, profile);
    judge_demands(demands, answer, share, tally, broken);
    if (profile != nullptr && !demands.refused && !demands.open) {
        const Verdict v = expect_of_entries({}, false, false, query, world, *profile, &tally);
        const auto offered = offers_of(answer, profile);
        if (v.kind == Verdict::Kind::Granted) count(&tally, Clause::getinfo_call_matching_returned);
        if (v.kind == Verdict::Kind::Granted && offered == 0) {
            judge_refusal(query, world, answer, *profile, v, tally, broken);
        } else if (v.kind == Verdict::Kind::MustRefuse && offered > 0) {
            judge_grant(v, tally, broken);
        }
    }
    judge_answer(query, world, answer, profile, share, tally, broken);
    for (std::size_t i = 0; i < answer.offers.size(); ++i) {
        judge_offer(OfferCase{query, world, answer.offers[i], static_cast<int>(i), profile}, tally, broken);
    }
}

void judge(const PairCase& pair, Tally& tally, std::vector<Because>& broken) {
    judge_all(pair_predicates(), pair, pair.first.version, tally, broken);
}

void judge(const SideEffects& side_effects, Tally& tally, std::vector<Because>& broken) {
    const Version v = side_effects.query != nullptr ? side_effects.query->version : kNewest;
    judge_all(side_effects_predicates(), side_effects, v, tally, broken);
}

void judge(const TextCase& text, Tally& tally, std::vector<Because>& broken) {
    judge_all(text_predicates(), text, kNewest, tally, broken);
}

void judge(const Step& step, Tally& tally, std::vector<Because>& broken) {
    judge_all(lifecycle_predicates(), step, kNewest, tally, broken);
}

void judge_traffic(const TrafficCase& traffic, Tally& tally, std::vector<Because>& broken) {
    const Account account = account_of(traffic.traffic);
    judge_all(traffic_predicates(), TrafficCase{traffic.traffic, &account}, traffic.traffic.version, tally, broken);
}

void judge_group(const GroupCase& group, Tally& tally, std::vector<Because>& broken) {
    judge_all(group_predicates(), group, group.version, tally, broken);
}

}  // namespace selvage::model
