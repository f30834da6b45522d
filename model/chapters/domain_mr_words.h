// What registration modes say, old words and bits alike.  Shared by domain_mr.cc and domain_mr_bits.cc alone.
//
// Up to 1.4 the field is one of three words.  From 1.5 on it is a set of bits: in hints those that the application is
// ready to keep, in an offer those that the provider needs.  The old words then stand for sets of bits.
#pragma once

#include "model/chapters/rules.h"

namespace selvage::model::rules::mr {

inline constexpr std::uint64_t kBasic = FI_MR_BASIC;
inline constexpr std::uint64_t kScalable = FI_MR_SCALABLE;
inline constexpr std::uint64_t kOldWords = kBasic | kScalable;
/// What FI_MR_BASIC stands for from 1.5 on.
inline constexpr std::uint64_t kBasicBits = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;

/// A mode as bits: FI_MR_BASIC is its three bits, FI_MR_SCALABLE is none.
inline constexpr std::uint64_t bits(std::uint64_t mode) {
    return (mode & ~kOldWords) | ((mode & kBasic) != 0 ? kBasicBits : 0);
}

/// True where the hints say anything of registration: a domain structure is there, zero or not.
inline bool says(const Query& q) { return q.hints && q.hints->has(Part::Domain); }

/// The mode of the hints.
inline std::uint64_t expected(const Query& q) { return requested(q, Field::domain_mr_mode); }

/// FI_LOCAL_MR in the mode stands for FI_MR_LOCAL, but beside an old word only.
inline std::uint64_t local_of_old(const Query& q) {
    return (expected(q) & kOldWords) != 0 && (requested(q, Field::mode) & FI_LOCAL_MR) != 0 ? FI_MR_LOCAL : 0;
}

/// The bits that the application is ready to keep (1.5 and later).
inline std::uint64_t ready(const Query& q) { return bits(expected(q)) | local_of_old(q); }

/// Capabilities that the entry did not show may bring needs of their own with them.
inline bool requests_unseen_caps(const MatchCase& c) {
    return c.profile.origin == Origin::Inferred && (requested(c.query, Field::caps) & ~c.entry.offer.caps) != 0;
}

/// match, 1.5 and later: do the hints cover what the entry needs?  Seen bits that are covered fit.  Of a declared entry
/// we know the bits that it cannot do without; of an inferred one we know only that it wants something.
inline Fit fit_ready(const MatchCase& c) {
    const auto have = ready(c.query);
    const auto shown = bits(c.entry.offer.domain.mr_mode);
    if ((shown & ~have) == 0 && !requests_unseen_caps(c)) return Fit::fits();
    const auto needed = bits(c.entry.needed_mr_mode);
    const auto evidence = [&](std::uint64_t bits_needed, const char* note) {
        return number(Field::domain_mr_mode, Relation::Within, expected(c.query), bits_needed, note);
    };
    if (c.profile.origin == Origin::Inferred) {
        // It was asked with no bits and with all, so what was needed then is known as a whole.
        if (needed != 0 && have == 0) return Fit::no(evidence(needed, "never offered without"));
        return Fit::may(evidence(shown, "may need these"));
    }
    if ((needed & ~have) == 0) return Fit::fits();
    return Fit::no(evidence(needed, "the provider needs these"));
}

}  // namespace selvage::model::rules::mr
