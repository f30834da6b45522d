// The judgement of fi_getinfo: what the text lets a library answer, and whether it did.
//
// judge() is a relation, not a golden answer: expectations are a union of allowed refusals and allowed grants, so that
// the order in which a library checks things is never over-specified.  Stateless but for the counters the caller owns;
// any thread, one Tally per thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/judge/cases.h"
#include "model/judge/ruling.h"

namespace selvage::model {

/// What the text demands of the answer to a call, for one provider.
struct Verdict {
    enum class Kind : std::uint8_t {
        Granted,      ///< at least one of `granting` must be offered
        MustRefuse,   ///< nothing may be offered
        MayRefuse,    ///< offering and refusing are both fine
        Unspecified,  ///< nothing is known of the provider
    } kind = Kind::Unspecified;
    std::vector<std::size_t> granting;  ///< indices of the profile's entries that fit
    std::vector<int> errnos;            ///< refusals that the text names; empty: any
    std::vector<Because> because;       ///< why not granted: the clauses that refuse or leave it open
};

/// As the examples of clauses say it: granted, refused, may-be-refused or unspecified.
std::string_view name(Verdict::Kind kind);

/// How often each clause was looked at, and found to apply, and found broken.
struct Tally {
    std::array<std::uint64_t, kClauseCount> applied{};
    std::array<std::uint64_t, kClauseCount> broken{};
    void note(Clause c, Outcome o) {
        if (o == Outcome::NotApplicable) return;
        ++applied[static_cast<std::size_t>(c)];
        if (o == Outcome::Broken) ++broken[static_cast<std::size_t>(c)];
    }
    void add(const Tally& other);
};

/// What the text demands of one provider's answer to a call.  `tally` counts the call and match rules that applied.
Verdict expect(const Query& query, const World& world, const Profile& profile, Tally* tally = nullptr);

/// How one entry of a profile stands to a call: every match clause that was asked, with its choice.
struct Matching {
    Choice choice = Choice::Fits;      ///< the least favourable of all
    std::vector<Because> refuses;      ///< the clauses that said No
    std::vector<Because> leaves_open;  ///< the clauses that said May
};
Matching match(const Query& query, const World& world, const Profile& profile, const Entry& entry,
               Tally* tally = nullptr);

/// Judges an answer.  `profile` may be nullptr (nothing known); then only what any library must keep is judged.  With a
/// profile, the offers of its provider are judged; those of others where another was named, or none.
/// @param broken receives a link for each broken promise, first the call rules, then match, answer and offer clauses.
void judge(const Query& query, const World& world, const Answer& answer, const Profile* profile, Tally& tally,
           std::vector<Because>& broken);

/// Judges two related calls by the pair clauses.
void judge(const PairCase& pair, Tally& tally, std::vector<Because>& broken);
/// Judges what was seen around a call by the side_effects clauses.
void judge(const SideEffects& side_effects, Tally& tally, std::vector<Because>& broken);
/// Judges a string by the text clauses.
void judge(const TextCase& text, Tally& tally, std::vector<Because>& broken);
/// Judges a step in the life of objects by the life clauses.
void judge(const Step& step, Tally& tally, std::vector<Because>& broken);
/// Judges what went between two endpoints by the traffic clauses.
void judge_traffic(const TrafficCase& traffic, Tally& tally, std::vector<Because>& broken);
/// Judges what a few endpoints did together by the group clauses.
void judge_group(const GroupCase& group, Tally& tally, std::vector<Because>& broken);

/// The offers of an answer that belong to a provider.  Name filters are matched as fi_fabric(3) says: "tcp" names the
/// core provider and what is layered over it only where the layers are named too.
bool offer_is_of(const Info& offer, std::string_view provider);

/// The hints ask for the provider by its name, so that it alone answers.
bool names(const Query& query, std::string_view provider);

}  // namespace selvage::model
