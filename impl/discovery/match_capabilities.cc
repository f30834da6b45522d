// fi_info::caps. Primary capabilities are granted only when asked for; modifiers limit them; secondary ones are added
// unasked only where they cost nothing and open nothing.
#include "impl/catalog/capabilities.h"
#include "impl/discovery/match.h"

namespace selvage::impl {
namespace {

constexpr int kType = FI_TYPE_CAPS;

// What a capability needs beside it. Asking for one without the other asks for something that does not exist.
bool has_companions(Match& match, uint64_t requested, uint64_t granted) {
    if ((requested & kMemoryModifiers) && !(requested & kMemoryCaps)) {
        return match.refuse("caps", requested, requested & ~kMemoryModifiers, kType);
    }
    if ((requested & FI_SOURCE_ERR) && !(requested & FI_SOURCE)) {
        return match.refuse("caps", requested, requested & ~FI_SOURCE_ERR, kType);
    }
    // Before 1.7 the page has it that any transfer, or a direction alone, is enough.
    constexpr uint64_t kTransfers = kMessageCaps | kMemoryCaps | kModifiers;
    const uint64_t companion = match.query.version < FI_VERSION(1, 7) ? kTransfers : FI_MSG;
    if ((requested & FI_MULTICAST) && !(requested & companion)) {
        return match.refuse("caps", requested, requested & ~FI_MULTICAST, kType);
    }
    if ((requested & FI_VARIABLE_MSG) && !(requested & kMessageCaps)) {
        return match.refuse("caps", requested, requested & ~FI_VARIABLE_MSG, kType);
    }
    if ((requested & FI_RMA_PMEM) && !(requested & FI_RMA)) {
        return match.refuse("caps", requested, requested & ~FI_RMA_PMEM, kType);
    }
    if ((requested & FI_RMA_EVENT) && !(granted & (FI_REMOTE_READ | FI_REMOTE_WRITE))) {
        return match.refuse("caps", requested, requested & ~FI_RMA_EVENT, kType);
    }
    return true;
}

// Multi-receive buffers, where messages are received, cost nothing until one is posted. Local and remote reach are
// reported only when neither was asked for: an application that asked for one must not be opened to the other.
uint64_t free_extras(uint64_t requested, uint64_t granted, uint64_t offered) {
    uint64_t extras = granted & FI_RECV ? FI_MULTI_RECV : 0;
    if (!(requested & (FI_LOCAL_COMM | FI_REMOTE_COMM))) extras |= FI_LOCAL_COMM | FI_REMOTE_COMM;
    return extras & offered;
}

}  // namespace

bool match_capabilities(Match& match) {
    const uint64_t requested = match.hints().info.caps;
    const uint64_t offered = match.offer.set.info.caps | (match.hmem && match.offer.hmem ? FI_HMEM : 0);
    if (requested == 0) {
        match.out.info.caps = offered | (match.hints().rx.caps & match.offer.by_name);
        return !match.hmem || match.offer.hmem;
    }
    if (!match.subset("caps", requested, offered | match.offer.by_name, kType)) return false;
    const uint64_t granted = with_implied_modifiers(requested);
    if (!has_companions(match, requested, granted)) return false;
    match.out.info.caps = granted | free_extras(requested, granted, offered);
    return true;
}

}  // namespace selvage::impl
