// Says in the log why a query was refused: per provider and endpoint type the first field that did not match, what was
// requested and what is offered. Where FI_LOG_LEVEL is set to warn that is one line, at level info a line for each.
// Costs one check per query when nobody listens.
#pragma once

#include "impl/discovery/match.h"

namespace selvage::impl {

// Remembers the first mismatch of every provider and endpoint type, to be reported if nothing matches at all.
class Refusals {
public:
    Refusals();
    void note(const Offer& offer, const Mismatch& why);
    void tell() const;
    // Whether somebody listens.
    static bool are_wanted();

private:
    struct Entry {
        const Offer* offer;
        Mismatch why;
    };
    static constexpr size_t kMax = 8;  // providers times endpoint types
    bool wanted_;                      // somebody listens
    size_t count_ = 0;
    Entry entries_[kMax];
};

void explain_unknown_provider(const char* name);
void explain_unresolved(const char* node, const char* service);

}  // namespace selvage::impl
