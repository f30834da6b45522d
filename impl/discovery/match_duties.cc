// Duties of the application (catalog/duties.h): modes and ways of registration that an offer requires. Only hints that
// accept them are granted; without hints an answer shows them all.
#include "impl/catalog/capabilities.h"
#include "impl/discovery/match.h"

namespace selvage::impl {
namespace {

constexpr uint64_t kReceiveAlone = FI_RX_CQ_DATA | FI_BUFFERED_RECV;
constexpr int kOldWords = FI_MR_BASIC | FI_MR_SCALABLE;
constexpr int kBasicBits = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;

bool accepts(Match& match, const char* field, uint64_t accepted, uint64_t required, int type = FI_TYPE_MODE) {
    match.why.is_duty = true;
    return !(required & ~accepted) || match.refuse(field, required & ~accepted, accepted, type);
}

// A context that names modes of its own accepts no others.
bool accepts_of_context(Match& match, const char* field, uint64_t accepted, uint64_t required) {
    return !accepted || accepts(match, field, accepted, required);
}

// How an application registers memory, in bits: since 1.5 the older words stand for bits, and FI_LOCAL_MR beside them
// for FI_MR_LOCAL. Who says nothing of the domain is shown what there is.
int accepted_registration(const Match& match) {
    const bool old = match.query.version < FI_VERSION(1, 5);
    if (!match.query.has_domain && !old) return ~0;
    const int requested = match.hints().domain.mr_mode;
    const bool by_word = old || (requested & kOldWords);
    int bits = requested & ~kOldWords;
    // Before 1.5 zero is either way.
    if ((requested & FI_MR_BASIC) || (by_word && !requested)) bits |= kBasicBits;
    const bool local = !match.query.has_hints || (match.hints().info.mode & FI_LOCAL_MR);
    if (by_word && local) bits |= FI_MR_LOCAL;
    return bits;
}

}  // namespace

bool match_mode(Match& match) {
    uint64_t required = match.offer.mode;
    if (!(match.out.info.caps & kMessageCaps)) required &= ~FI_MSG_PREFIX;
    if (!(match.out.info.caps & FI_MSG)) required &= ~FI_RX_CQ_DATA;
    // Datagrams lie in buffers of the application.
    const bool buffers = (match.out.info.caps & kMessageCaps) && (match.out.info.caps & FI_RECV);
    if (!buffers || match.out.ep.type == FI_EP_DGRAM) required &= ~FI_BUFFERED_RECV;
    if (!(required & FI_MSG_PREFIX)) match.out.ep.msg_prefix_size = 0;
    const InfoSet& hints = match.hints();
    uint64_t mode = required;
    if (match.query.has_hints) {
        // The one mode of a domain has two places in the hints.
        const uint64_t accepted = hints.info.mode | (hints.domain.mode & FI_RESTRICTED_COMP);
        if (!accepts(match, "mode", accepted, required) ||
            !accepts_of_context(match, "tx_attr.mode", hints.tx.mode, required & ~kReceiveAlone) ||
            !accepts_of_context(match, "rx_attr.mode", hints.rx.mode, required)) {
            return false;
        }
        mode &= hints.info.mode;
    }
    match.why.is_duty = false;
    match.out.info.mode = mode;
    match.out.tx.mode = mode & ~kReceiveAlone;
    match.out.rx.mode = mode;
    return true;
}

bool match_duties(Match& match) {
    const int required = match.offer.mr_mode;
    const auto bits = [](int mode) { return static_cast<uint64_t>(static_cast<unsigned>(mode)); };
    if (!accepts(match, "domain_attr.mr_mode", bits(accepted_registration(match)), bits(required), FI_TYPE_MR_MODE)) {
        return false;
    }
    const bool old = match.query.version < FI_VERSION(1, 5);
    const bool by_word = old || (match.hints().domain.mr_mode & kOldWords);
    int& out = match.out.domain.mr_mode;
    if (!by_word) {
        out |= required;
    } else if (required & FI_MR_LOCAL) {
        match.out.info.mode |= FI_LOCAL_MR;
    }
    if (old && (required & kBasicBits)) out = FI_MR_BASIC;
    match.why.is_duty = false;
    return true;
}

}  // namespace selvage::impl
