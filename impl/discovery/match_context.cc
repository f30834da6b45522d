// fi_tx_attr and fi_rx_attr.
#include <algorithm>

#include "impl/catalog/capabilities.h"
#include "impl/discovery/match.h"

namespace selvage::impl {
namespace {

// Capabilities of a context: a subset of the endpoint's. Programs copy info.caps into both contexts; what belongs to
// the other side counts for nothing, unless there is nothing else.
bool context_subset(Match& match, const char* field, uint64_t requested, uint64_t applicable) {
    const uint64_t granted = match.out.info.caps;
    return match.subset(field, requested, requested & applicable ? granted : granted & applicable, FI_TYPE_CAPS);
}

// What the context can do of what was asked: named bits and the modifiers they imply, as far as the endpoint has them.
uint64_t grant_context(const Match& match, uint64_t requested, uint64_t applicable) {
    if (requested == 0) return context_caps(match.out.info.caps, applicable);
    requested &= applicable;
    return requested | (with_implied_modifiers(requested) & match.out.info.caps & applicable);
}

// An order of zero asks for the default, which is all of it; any other is granted as asked, so that what was not asked
// for may be relaxed.
uint64_t grant_order(uint64_t requested, uint64_t offered) { return requested ? requested : offered; }

size_t grant_size(size_t requested, size_t standard) { return requested ? requested : standard; }

// The labels, or a DSCP value: wishes without a duty. Memory, which has no classes, takes them too.
bool valid_tclass(uint32_t tclass) {
    if (tclass >= FI_TC_LABEL && tclass <= FI_TC_NETWORK_CTRL) return true;
    return (tclass & ~0x3fu) == FI_TC_DSCP;
}

}  // namespace

bool match_tclass(Match& match, const char* field, uint32_t requested) {
    if (requested == FI_TC_UNSPEC) return true;
    return valid_tclass(requested) || match.refuse(field, requested, FI_TC_UNSPEC);
}

bool match_transmit(Match& match) {
    const fi_tx_attr& requested = match.hints().tx;
    const fi_tx_attr& offered = match.offer.set.tx;
    fi_tx_attr& out = match.out.tx;
    const bool granted =
        context_subset(match, "tx_attr.caps", requested.caps, kTransmitCaps) &&
        match.subset("tx_attr.op_flags", requested.op_flags, offered.op_flags, FI_TYPE_OP_FLAGS) &&
        match.subset("tx_attr.msg_order", requested.msg_order, offered.msg_order, FI_TYPE_MSG_ORDER) &&
        match.subset("tx_attr.comp_order", requested.comp_order, offered.comp_order, FI_TYPE_MSG_ORDER) &&
        match.at_most("tx_attr.inject_size", requested.inject_size, offered.inject_size) &&
        match.at_most("tx_attr.size", requested.size, match.offer.tx_size_max) &&
        match.at_most("tx_attr.iov_limit", requested.iov_limit, offered.iov_limit) &&
        match.at_most("tx_attr.rma_iov_limit", requested.rma_iov_limit, offered.rma_iov_limit) &&
        match_tclass(match, "tx_attr.tclass", requested.tclass);
    if (!granted) return false;
    out.caps = grant_context(match, requested.caps, kTransmitCaps);
    out.op_flags = requested.op_flags;
    out.msg_order = grant_order(requested.msg_order, offered.msg_order);
    out.comp_order = requested.comp_order;
    out.size = grant_size(requested.size, offered.size);
    out.tclass = requested.tclass;
    return true;
}

bool match_receive(Match& match) {
    const fi_rx_attr& requested = match.hints().rx;
    const fi_rx_attr& offered = match.offer.set.rx;
    fi_rx_attr& out = match.out.rx;
    const bool granted =
        context_subset(match, "rx_attr.caps", requested.caps, kReceiveCaps) &&
        match.subset("rx_attr.op_flags", requested.op_flags, offered.op_flags, FI_TYPE_OP_FLAGS) &&
        match.subset("rx_attr.msg_order", requested.msg_order, offered.msg_order, FI_TYPE_MSG_ORDER) &&
        match.subset("rx_attr.comp_order", requested.comp_order, offered.comp_order, FI_TYPE_MSG_ORDER) &&
        match.at_most("rx_attr.size", requested.size, match.offer.rx_size_max) &&
        match.at_most("rx_attr.iov_limit", requested.iov_limit, offered.iov_limit);
    if (!granted) return false;
    // Multi-receive buffers, if the endpoint has them, are there whether its receive side is spelled out or not.
    out.caps = grant_context(match, requested.caps, kReceiveCaps) | (match.out.info.caps & FI_MULTI_RECV);
    out.op_flags = requested.op_flags;
    out.msg_order = grant_order(requested.msg_order, offered.msg_order);
    out.comp_order = requested.comp_order;
    // Only a hint of how much may arrive unexpectedly; buffering grows with need.
    out.total_buffered_recv = requested.total_buffered_recv;
    out.size = grant_size(requested.size, offered.size);
    return true;
}

}  // namespace selvage::impl
