// What the library requires of applications beyond what it needs: FI_SELVAGE_INSIST, a list of words, for testing
// applications and for teaching. Without it there are no duties, and nothing here costs more than a look at an offer.
//
// A duty is a bit that the application has to set in its hints (mode, domain_attr.mr_mode) and a rule that it keeps
// from then on, or limits as small as the pages allow. Offers take the duties on when they are made (offer.h);
// discovery refuses who does not accept them (discovery/match_duties.cc); what is done in spite of them is found by
// insist/ and domain/mr.cc. Read once per process; any thread.
#pragma once

#include "impl/base/rdma.h"

namespace selvage::impl {

struct Offer;

struct Duties {
    uint64_t mode = 0;
    int mr_mode = 0;
    bool small = false;  // limits

    bool any() const { return mode || mr_mode || small; }
    // The calls that move data are looked at.
    bool on_calls() const;
};

const Duties& duties();

// The words of a list, separated by commas; each that is unknown is a warning that names those that are known.
Duties parse_duties(const char* list);

// The space in front of a message with FI_MSG_PREFIX.
inline constexpr size_t kMessagePrefix = 24;
// The bytes of a key with FI_MR_RAW.
inline constexpr size_t kRawKeyBytes = 32;

// From now on the offer requires them.
void take_on(const Duties& duties, Offer& offer);

// One line in the log, at level warn: which call did not keep which duty, and where the page has it.
void log_breach(const char* call, const char* duty, const char* page, const char* what);

}  // namespace selvage::impl
