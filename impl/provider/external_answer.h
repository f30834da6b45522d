// What an external provider returns from getinfo, taken over into memory of this library's own.
#pragma once

#include "impl/base/rdma.h"
#include "impl/provider/external.h"

namespace selvage::impl {

struct AnswerTerms {
    uint32_t version;            // of the call
    const char* requested_name;  // the provider's name as the hints spell it, or nullptr
    bool nic_known;              // fi_info::nic belongs to the caller's layout
};

// Appends a copy of each entry at *tail, which it moves on, and releases the provider's list. An entry that cannot be
// used is left out, and the log says why. A nic is not copied but handed over: it is the provider's object.
// Returns 0, or -FI_ENOMEM with as much appended as there was memory for.
int take_over_answers(const ExternalProvider& provider, fi_info* list, const AnswerTerms& terms, fi_info*** tail);

}  // namespace selvage::impl
