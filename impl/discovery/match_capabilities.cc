// fi_info::caps. Primary capabilities are granted only when asked for; modifiers limit them; secondary ones are added
// unasked only where they cost nothing and open nothing.
#include "impl/catalog/capabilities.h"
#include "impl/discovery/match.h"

namespace selvage::impl {
namespace {

constexpr int kType = FI_TYPE_CAPS;

// What a capability needs beside it. Asking for one without the other asks for something that does not exist.
bool has_companions(Match& match, uint64_t asked, uint64_t granted) {
    if ((asked & kMemoryModifiers) && !(asked & kMemoryCaps)) {
        return match.refuse("caps", asked, asked & ~kMemoryModifiers, kType);
    }
    if ((asked & FI_SOURCE_ERR) && !(asked & FI_SOURCE)) {
        return match.refuse("caps", asked, asked & ~FI_SOURCE_ERR, kType);
    }
    if ((asked & FI_RMA_EVENT) && !(granted & (FI_REMOTE_READ | FI_REMOTE_WRITE))) {
        return match.refuse("caps", asked, asked & ~FI_RMA_EVENT, kType);
    }
    return true;
}

// Multi-receive buffers, where messages are received, cost nothing until one is posted. Local and remote reach are told
// only when neither was asked for: an application that asked for one must not be opened to the other.
uint64_t free_extras(uint64_t asked, uint64_t granted, uint64_t offered) {
    uint64_t extras = granted & FI_RECV ? FI_MULTI_RECV : 0;
    if (!(asked & (FI_LOCAL_COMM | FI_REMOTE_COMM))) extras |= FI_LOCAL_COMM | FI_REMOTE_COMM;
    return extras & offered;
}

}  // namespace

bool match_capabilities(Match& match) {
    const uint64_t asked = match.hints().info.caps;
    const uint64_t offered = match.offer.set.info.caps;
    if (asked == 0) return true;
    if (!match.subset("caps", asked, offered, kType)) return false;
    const uint64_t granted = with_implied_modifiers(asked);
    if (!has_companions(match, asked, granted)) return false;
    match.out.info.caps = granted | free_extras(asked, granted, offered);
    return true;
}

}  // namespace selvage::impl
