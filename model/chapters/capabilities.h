// Sets of capabilities: the classes of fi_getinfo(3), and what a set implies.
//
// The sets come from the vocabulary; nothing is typed twice.  FI_AV_USER_ID stands in no list of classes: the
// vocabulary has it as a secondary one, and a clause of its own judges it (getinfo.caps.av-user-id-class).  Only
// chapters include this file.
#pragma once

#include "model/chapters/rules.h"

namespace selvage::model::rules {

inline std::uint64_t caps_of(WordClass expected) {
    std::uint64_t set = 0;
    for (const Word& w : words(Family::caps)) {
        if (w.word_class == expected) set |= w.value;
    }
    return set;
}

inline std::uint64_t bits_of(Family family) {
    std::uint64_t set = 0;
    for (const Word& w : words(family)) set |= w.value;
    return set;
}

// Made on first use: the vocabulary may not be there yet when globals are made.
inline std::uint64_t primary_caps() {
    static const std::uint64_t set = caps_of(WordClass::Primary);
    return set;
}
inline std::uint64_t modifier_caps() {
    static const std::uint64_t set = caps_of(WordClass::Modifier);
    return set;
}
inline std::uint64_t secondary_caps() {
    static const std::uint64_t set = caps_of(WordClass::Secondary) & ~std::uint64_t{FI_AV_USER_ID};
    return set;
}
inline std::uint64_t known_caps() {
    static const std::uint64_t set = bits_of(Family::caps);
    return set;
}
inline std::uint64_t known_modes() {
    static const std::uint64_t set = bits_of(Family::mode);
    return set;
}

inline constexpr std::uint64_t kMessageWays = FI_SEND | FI_RECV;
inline constexpr std::uint64_t kRemoteWays = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
inline constexpr std::uint64_t kMessages = FI_MSG | FI_TAGGED | FI_MULTICAST;
inline constexpr std::uint64_t kRemote = FI_RMA | FI_ATOMIC;

/// A capability without any of its modifiers has all of them.
inline std::uint64_t with_implied(std::uint64_t caps) {
    if ((caps & kMessages) != 0 && (caps & kMessageWays) == 0) caps |= kMessageWays;
    if ((caps & kRemote) != 0 && (caps & kRemoteWays) == 0) caps |= kRemoteWays;
    return caps;
}

/// A set that holds no capability without one that it needs.
inline bool well_formed(std::uint64_t caps) {
    const auto all = with_implied(caps);
    for (const Word& w : words(Family::caps)) {
        if ((caps & w.value) != 0 && w.needs != 0 && (all & w.needs) == 0) return false;
    }
    return true;
}

/// The capabilities that the hints ask for; none where the call only asks which providers exist.
inline std::uint64_t requested_caps(const Query& q) { return names_only(q) ? 0 : requested(q, Field::caps); }

/// The application says that it registers memory of devices: "FI_MR_HMEM is associated with the FI_HMEM capability"
/// (fi_mr(3)), and both came with 1.9.
inline bool registers_hmem(const Query& q) {
    return q.version >= Version(1, 9) && (requested(q, Field::domain_mr_mode) & FI_MR_HMEM) != 0;
}
/// FI_HMEM is all that is amiss, and may be: a provider may keep it for who registers such memory.
inline bool may_lack_hmem(const Query& q, std::uint64_t missing) {
    return (missing & FI_HMEM) != 0 && !registers_hmem(q);
}

/// match: some capabilities that are asked for, against all that the entry has.
inline Fit fit_caps(const MatchCase& c, std::uint64_t expected) {
    if (expected == 0) return Fit::not_requested();
    const auto shown = with_implied(c.entry.offer.caps);
    if ((expected & ~shown) == 0) return Fit::fits();
    Evidence lacks = number(Field::caps, Relation::Contains, expected, c.entry.offer.caps);
    const bool declared = c.profile.origin == Origin::Declared;
    if (declared && (expected & ~(shown | c.entry.also_caps)) == 0) {
        if (!may_lack_hmem(c.query, expected & ~shown)) return Fit::fits();
        lacks.note = "for who registers such memory";
        return Fit::may(std::move(lacks));
    }
    if (declared) return Fit::no(std::move(lacks));
    lacks.note = "not seen offered together";
    return Fit::may(std::move(lacks));
}

}  // namespace selvage::model::rules
