// Runs one exchange on a pair and notes everything that came of it.
//
// Only for child processes.  One thread.
#pragma once

#include <atomic>

#include "conformance/drive/transfer/charge.h"
#include "conformance/drive/transfer/never_came.h"
#include "conformance/drive/transfer/pair.h"
#include "model/traffic/traffic.h"

namespace selvage::conformance {

/// How long the runner waits.
struct Patience {
    unsigned quiet_micros = 150;    ///< without news once everything expected has come
    unsigned missing_millis = 300;  ///< without news while something expected is missing
    unsigned total_millis = 4000;   ///< for one exchange in all
    /// More, for what nothing proves not to come; of available time (available_time.h), times patience_factor().
    unsigned late_millis = 700;
    Charge* charge = nullptr;  ///< if set: kept up to date
    std::atomic<unsigned>* beat =
        nullptr;                     ///< if set: counts calls that came back; relaxed, the reader looks for change
    unsigned lost = 0;               ///< barriers that never came through so far; counted on
    unsigned vain_rests = 0;         ///< times without a call in which nothing came so far; counted on
    KnownAbsences* known = nullptr;  ///< if set: those that are waited for no longer while it hurries; added to
    bool hurries = false;    ///< waits that are known to be in vain are short: what is seen then is looked at again
    bool hasty = false;      ///< out: something was given up for that reason
    bool at_length = false;  ///< out: what is charged stood for late_millis more
    bool spent = false;      ///< out: something expected was waited for in vain
    bool timed = false;      ///< out: a time alone says that what never came never comes; nothing proves it
    bool starved = false;    ///< out: the provider had too little time to tell: what did not come is not missing
};

/// Runs it.  `out.operations`, `entries`, `counted`, `drained` are filled.
/// @return true if the pair is as it was before: it can be used again.
bool run_sequence(Pair& pair, const TransferSequence& sequence, Patience& patience, model::Traffic& out);

}  // namespace selvage::conformance
