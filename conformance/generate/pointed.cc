// See pointed.h.
#include "conformance/generate/pointed.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

#include <cstring>

#include "conformance/generate/queries.h"
#include "conformance/generate/values.h"

namespace selvage::conformance {
namespace {

using namespace model;

// A host by its name and by its number, where only numbers are to be looked up.
void add_numeric_hosts(const Profile& profile, std::vector<Query>& out) {
    for (const char* node : {"localhost", "127.0.0.1", "::1"}) {
        Query q = base_call(profile);
        q.node = node;
        q.flags = FI_NUMERICHOST;
        out.push_back(q);
        q.flags |= FI_SOURCE;
        out.push_back(std::move(q));
    }
}

// Each primary capability alone, and with each of its modifiers alone.
void add_one_way_capabilities(const Profile& profile, std::vector<Query>& out) {
    const auto issue = [&](std::uint64_t caps) {
        Query q = base_call(profile);
        q.hints->caps = caps;
        out.push_back(std::move(q));
    };
    for (const auto& primary : words(Family::caps)) {
        if (primary.word_class != WordClass::Primary || primary.alias || primary.since > profile.version) continue;
        issue(primary.value);
        for (const auto& w : words(Family::caps)) {
            if (w.word_class == WordClass::Modifier && !w.alias && (w.modifies & primary.value) != 0)
                issue(primary.value | w.value);
        }
    }
}

std::string ipv4(const char* host, std::uint16_t port) {
    sockaddr_in s{};
    s.sin_family = AF_INET;
    s.sin_port = htons(port);
    inet_pton(AF_INET, host, &s.sin_addr);
    return {reinterpret_cast<const char*>(&s), sizeof s};
}

std::string ipv6(const char* host, std::uint16_t port) {
    sockaddr_in6 s{};
    s.sin6_family = AF_INET6;
    s.sin6_port = htons(port);
    inet_pton(AF_INET6, host, &s.sin6_addr);
    return {reinterpret_cast<const char*>(&s), sizeof s};
}

// Hosts that nobody has, from the networks for documentation (RFC 5737, RFC 3849), and this one: as node, and in the
// hints; with the two words that say how far an endpoint must reach, each alone.
void add_far_and_near(const Profile& profile, std::vector<Query>& out) {
    struct Place {
        const char* host;
        std::string address;
    };
    for (const Place& p :
         {Place{"192.0.2.77", ipv4("192.0.2.77", 7471)}, Place{"2001:db8::77", ipv6("2001:db8::77", 7471)},
          Place{"127.0.0.1", ipv4("127.0.0.1", 7471)}, Place{"::1", ipv6("::1", 7471)}}) {
        for (const std::uint64_t caps :
             {std::uint64_t{0}, std::uint64_t{FI_LOCAL_COMM}, std::uint64_t{FI_REMOTE_COMM}}) {
            Query q = base_call(profile);
            q.hints->caps = caps;
            for (const Field field : {Field::src_addr, Field::dest_addr}) {
                Query hinted = q;
                request(*hinted.hints, field, p.address);
                out.push_back(std::move(hinted));
            }
            q.node = p.host;
            q.service = "7471";
            for (const std::uint64_t flags : {std::uint64_t{0}, std::uint64_t{FI_NUMERICHOST}, std::uint64_t{FI_SOURCE},
                                              std::uint64_t{FI_SOURCE | FI_NUMERICHOST}}) {
                q.flags = flags;
                out.push_back(q);
            }
        }
    }
}

// Numbers that are no ports, and odd ways to spell some that are.
void add_services(const Profile& profile, std::vector<Query>& out) {
    for (const char* service : {"65536", "70000", "73007", "4294967295", "4294974767", "18446744073709551616", "-1",
                                "-7471", "+7471", " 7471", "7471 ", "0x1d2f", "007471"}) {
        for (const std::uint64_t flags : {std::uint64_t{0}, std::uint64_t{FI_SOURCE}}) {
            Query q = base_call(profile);
            q.service = service;
            q.flags = flags;
            out.push_back(q);
            q.node = "127.0.0.1";
            out.push_back(std::move(q));
        }
    }
}

// Layers that are known, unknown, in other orders, doubled, or too many.
void add_provider_names(const Profile& profile, std::vector<Query>& out) {
    const std::string& own = profile.provider;
    const std::string core = own.substr(0, own.find(';'));
    std::vector<std::string> names = {own + ";" + own,
                                      own + ";;",
                                      ";;",
                                      core + ";nonsense",
                                      "nonsense;" + core,
                                      "ofi_rxm;ofi_rxd;" + core,
                                      "ofi_rxm;" + core + ";ofi_rxd"};
    for (const char* layer : {"ofi_rxm", "ofi_rxd", "ofi_mrail", "ofi_hook_perf", "ofi_hook_noop", "ofi_hook_trace",
                              "ofi_hook_debug", "ofi_hook_hmem", "off_coll"}) {
        names.emplace_back(layer);
        names.push_back(core + ";" + layer);
        names.push_back(std::string(layer) + ";" + core);
    }
    for (const auto& name : names) {
        Query q = base_call(profile);
        request(*q.hints, Field::fabric_prov_name, name);
        out.push_back(std::move(q));
    }
}

// Names around the lengths at which buffers end: FI_NAME_MAX is 64.
void add_long_names(const Profile& profile, std::vector<Query>& out) {
    for (const std::size_t length : {63U, 64U, 65U, 127U, 128U, 255U, 256U, 1023U, 1024U, 4096U}) {
        for (const Field field : {Field::domain_name, Field::fabric_name, Field::fabric_prov_name}) {
            Query q = base_call(profile);
            request(*q.hints, field, std::string(length, 'n'));
            out.push_back(std::move(q));
        }
        Query q = base_call(profile);
        q.service = std::string(length, '7');
        out.push_back(q);
        q.node = std::string(length, '1');
        q.flags = FI_NUMERICHOST;
        out.push_back(std::move(q));
    }
}

// Every combination of the three flags with node, service and hints given or not.
void add_flag_combinations(const Profile& profile, std::vector<Query>& out) {
    for (unsigned i = 0; i < 64; ++i) {
        Query q = base_call(profile);
        q.flags = ((i & 1U) != 0 ? FI_NUMERICHOST : 0) | ((i & 2U) != 0 ? FI_SOURCE : 0) |
                  ((i & 4U) != 0 ? FI_PROV_ATTR_ONLY : 0);
        if ((i & 8U) != 0) q.node = "127.0.0.1";
        if ((i & 16U) != 0) q.service = "7471";
        if ((i & 32U) != 0) q.hints.reset();
        out.push_back(std::move(q));
    }
}

// Versions that never were, around those that a library may take for its own.
void add_versions(const Profile& profile, std::vector<Query>& out) {
    for (const std::uint32_t raw : {Version(1, 19).packed, Version(1, 20).packed, Version(1, 255).packed,
                                    Version(1, 256).packed, Version(2, 0).packed, Version(2, 6).packed,
                                    Version(3, 0).packed, Version(0x7FFF, 0).packed, 0x80010012U, 0xFFFFFFFFU}) {
        Query q = base_call(profile);
        q.version = Version(raw);
        out.push_back(std::move(q));
    }
}

// FI_AV_USER_ID beside what each entry has.
void add_user_ids(const Profile& profile, std::vector<Query>& out) {
    for (const auto& e : profile.entries) {
        Query q = base_call(profile);
        q.hints->caps = e.offer.caps | FI_AV_USER_ID;
        request(*q.hints, Field::ep_type, e.offer.ep.type);
        out.push_back(std::move(q));
    }
}

// One structure of zeros beside the provider's name: it asks for nothing.
void add_lone_structures(const Profile& profile, std::vector<Query>& out) {
    for (const Part part : {Part::Tx, Part::Rx, Part::Ep, Part::Domain}) {
        Query q = base_call(profile);
        Info hints;
        hints.add(part);
        hints.add(Part::Fabric);
        hints.fabric.prov_name = q.hints->fabric.prov_name;
        q.hints = std::move(hints);
        out.push_back(std::move(q));
    }
}

}  // namespace

std::vector<Query> pointed_queries(const Profile& profile) {
    std::vector<Query> out = pointed_queries_of_each_version(profile);
    Query names = base_call(profile);
    names.hints.reset();
    names.flags = FI_PROV_ATTR_ONLY;
    out.push_back(std::move(names));
    add_numeric_hosts(profile, out);
    add_one_way_capabilities(profile, out);
    add_far_and_near(profile, out);
    add_services(profile, out);
    add_provider_names(profile, out);
    add_long_names(profile, out);
    add_flag_combinations(profile, out);
    add_versions(profile, out);
    add_user_ids(profile, out);
    add_lone_structures(profile, out);
    return out;
}

// The two old registration modes, with the duty that counts beside them and without; a capability whose needs
// changed; names alone.
std::vector<Query> pointed_queries_of_each_version(const Profile& profile) {
    std::vector<Query> out;
    for (const std::uint64_t mr_mode : {std::uint64_t{FI_MR_BASIC}, std::uint64_t{FI_MR_SCALABLE}}) {
        Query q = base_call(profile);
        request(*q.hints, Field::domain_mr_mode, mr_mode);
        out.push_back(q);
        q.hints->mode &= ~std::uint64_t{FI_LOCAL_MR};
        out.push_back(std::move(q));
    }
    out.push_back(base_call(profile));
    out.back().hints->caps = FI_MULTICAST;
    out.push_back(base_call(profile));
    out.back().flags = FI_PROV_ATTR_ONLY;
    return out;
}

}  // namespace selvage::conformance
