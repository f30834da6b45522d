// addr_format, source and destination addresses.
//
// Internet offers speak sockaddr structures (of their own family, or family-neutral) and the text form; shm speaks text
// only; datagrams of a device their own form only, as no node and service stand for a queue pair. The source must be
// the offer's own interface. The destination must be reachable from it: of the same family, on this machine if the
// interface is loopback, and on the same link if the address is link-local.
#include "impl/discovery/match.h"

namespace selvage::impl {
namespace {

bool speaks(const Offer& offer, uint32_t format) {
    if (format == FI_FORMAT_UNSPEC) return true;
    if (format == FI_ADDR_STR) return offer.kind != AddressKind::IbUd;
    if (offer.kind == AddressKind::Shm) return false;
    if (offer.kind == AddressKind::IbUd) return format == FI_ADDR_IB_UD;
    return format == FI_SOCKADDR || format == offer.set.info.addr_format;
}

bool names_family(const Offer& offer, const AddressSpec& spec) {
    if (spec.format == FI_SOCKADDR_IN) return offer.kind == AddressKind::Inet;
    if (spec.format == FI_SOCKADDR_IN6) return offer.kind == AddressKind::Inet6;
    return true;
}

void put_text(const char* text, char (&bytes)[kAddressBytesMax], void** address, size_t* length) {
    *length = strlen(text) + 1;
    memcpy(bytes, text, *length);
    *address = bytes;
}

void put_socket(const SocketAddress& value, uint32_t format, char (&bytes)[kAddressBytesMax], void** address,
                size_t* length) {
    if (format == FI_ADDR_STR) {
        *length = write_text_address(value, FI_SOCKADDR_IN, bytes, sizeof bytes);
    } else {
        *length = value.length();
        memcpy(bytes, value.bytes(), *length);
    }
    *address = bytes;
}

bool link_local(const SocketAddress& address) {
    return address.kind == AddressKind::Inet6 && IN6_IS_ADDR_LINKLOCAL(&address.v6.sin6_addr);
}

bool reaches(const Match& match, const SocketAddress& target) {
    const Offer& offer = match.offer;
    if (target.kind != offer.kind) return false;
    if (target.kind == AddressKind::IbUd) return target.names_endpoint();
    if (offer.reaches_own_only && match.table.is_local(target)) return match.table.owner(target, offer.provider);
    // A link-local address is of its link, and loopback is none.
    if (match.table.is_local(target)) return !(offer.loopback && link_local(target));
    if (offer.loopback) return false;
    if (link_local(target)) {
        const uint32_t scope = target.v6.sin6_scope_id;
        return link_local(offer.source) && (!scope || scope == offer.interface);
    }
    return true;
}

// No host is named: every address of the machine, where the provider can listen at them all, else the interface's own.
void choose_wildcard(const Offer& offer, uint16_t port, SocketAddress* out) {
    if (offer.provider->binds_wildcard) *out = SocketAddress::wildcard(offer.kind, port);
    out->set_port(port);
}

// The source: the wildcard, or the interface's own address, with the port that was asked for.
bool choose_source(const Match& match, SocketAddress* out) {
    const AddressSpec& spec = match.query.source;
    *out = match.offer.source;
    if (!spec.given) return true;
    if (!spec.has_socket || !names_family(match.offer, spec)) return false;
    if (spec.any_host) {
        choose_wildcard(match.offer, spec.port, out);
        return true;
    }
    for (size_t i = 0; i < spec.count; ++i) {
        const SocketAddress& wanted = spec.list[i];
        if (wanted.is_wildcard() && wanted.kind == match.offer.kind) {
            choose_wildcard(match.offer, wanted.port(), out);
            return true;
        }
        const bool by_host = match.offer.kind == AddressKind::IbUd && wanted.kind != AddressKind::IbUd;
        const SocketAddress& own = by_host ? match.offer.host : match.offer.source;
        if (wanted.kind != own.kind) continue;
        if (!wanted.same_host(own)) continue;
        out->set_port(wanted.port());
        return true;
    }
    return false;
}

bool choose_destination(const Match& match, SocketAddress* out) {
    const AddressSpec& spec = match.query.destination;
    if (!spec.has_socket || !names_family(match.offer, spec)) return false;
    if (spec.any_host) {
        if (match.offer.kind == AddressKind::IbUd) return false;
        // A service without a node is one of this machine, seen through this interface.
        *out = match.offer.source;
        out->set_port(spec.port);
        return true;
    }
    for (size_t i = 0; i < spec.count; ++i) {
        if (!reaches(match, spec.list[i])) continue;
        *out = spec.list[i];
        if (link_local(*out) && !out->v6.sin6_scope_id) {
            const Offer* owner = match.table.owner(*out);
            out->v6.sin6_scope_id = owner ? owner->interface : match.offer.interface;
        }
        return true;
    }
    return false;
}

bool match_socket(Match& match, uint32_t format) {
    fi_info& out = match.out.info;
    if (match.query.source.given || format == FI_ADDR_STR) {
        SocketAddress source;
        if (!choose_source(match, &source)) {
            return match.refuse_text("src_addr", "another address", match.offer.domain_name);
        }
        put_socket(source, format, match.source_bytes, &out.src_addr, &out.src_addrlen);
    }
    if (match.query.destination.given) {
        SocketAddress destination;
        if (!choose_destination(match, &destination)) {
            return match.refuse_text("dest_addr", "an address out of reach", match.offer.domain_name);
        }
        put_socket(destination, format, match.destination_bytes, &out.dest_addr, &out.dest_addrlen);
    }
    return true;
}

bool match_shm(Match& match) {
    fi_info& out = match.out.info;
    const AddressSpec& source = match.query.source;
    const AddressSpec& destination = match.query.destination;
    if (source.given) {
        if (!source.has_shm) return match.refuse_text("src_addr", "another kind of address", "fi_shm://");
        put_text(source.shm, match.source_bytes, &out.src_addr, &out.src_addrlen);
    }
    if (destination.given) {
        if (!destination.has_shm) return match.refuse_text("dest_addr", "an address out of reach", "fi_shm://");
        put_text(destination.shm, match.destination_bytes, &out.dest_addr, &out.dest_addrlen);
    }
    return true;
}

}  // namespace

bool match_addresses(Match& match) {
    const uint32_t format = match.hints().info.addr_format;
    if (!speaks(match.offer, format)) {
        return match.refuse("addr_format", format, match.offer.set.info.addr_format, FI_TYPE_ADDR_FORMAT);
    }
    if (format != FI_FORMAT_UNSPEC) match.out.info.addr_format = format;
    return match.offer.kind == AddressKind::Shm ? match_shm(match) : match_socket(match, format);
}

}  // namespace selvage::impl
