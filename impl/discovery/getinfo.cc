// See getinfo.h. The steps: refuse what no provider could answer, read the query, compare it with every offer,
// copy those that match, best first.
#include "impl/discovery/getinfo.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>

#include "impl/catalog/capabilities.h"
#include "impl/discovery/explain.h"
#include "impl/discovery/match.h"
#include "impl/discovery/resolve.h"

namespace selvage::impl {
namespace {

constexpr uint64_t kFlags = FI_NUMERICHOST | FI_PROV_ATTR_ONLY | FI_SOURCE;

// A list under construction. Frees what it holds unless it is handed over.
class InfoList {
public:
    ~InfoList() { free_info_list(head_, kNewestLayout); }
    void push_back(fi_info* info) {
        *tail_ = info;
        tail_ = &info->next;
    }
    // Moves the elements whose source has the same host as `source` to the front, keeping the order otherwise.
    void prefer(const SocketAddress& source);
    bool empty() const { return !head_; }
    fi_info* release() {
        fi_info* list = head_;
        head_ = nullptr;
        tail_ = &head_;
        return list;
    }

private:
    fi_info* head_ = nullptr;
    fi_info** tail_ = &head_;
};

bool comes_from(const fi_info& info, const SocketAddress& source) {
    ParsedAddress parsed;
    return read_address(info.addr_format, info.src_addr, info.src_addrlen, &parsed) && parsed.socket.same_host(source);
}

void InfoList::prefer(const SocketAddress& source) {
    InfoList preferred, others;
    while (head_) {
        fi_info* info = head_;
        head_ = info->next;
        info->next = nullptr;
        (comes_from(*info, source) ? preferred : others).push_back(info);
    }
    tail_ = &head_;
    for (fi_info* list : {preferred.release(), others.release()}) {
        while (list) {
            fi_info* info = list;
            list = info->next;
            info->next = nullptr;
            push_back(info);
        }
    }
}

// Bits that are no capability at all, whatever a provider can do.
bool has_invalid_bits(const InfoSet& hints) {
    return (hints.info.caps | hints.tx.caps | hints.rx.caps | hints.domain.caps) & ~kKnownCaps;
}

// The same layer over another provider has been listed already.
bool is_repeated_layer(const Provider& provider) {
    for (const Provider* earlier : all_providers()) {
        if (earlier == &provider) return false;
        if (!is_registered(earlier->name) || !earlier->layered_name) continue;
        if (strcmp(earlier->layered_name, provider.layered_name) == 0) return true;
    }
    return false;
}

int list_name(const Query& query, const char* name, uint32_t provider_version, InfoList& list) {
    InfoSet set;
    set.fabric.prov_name = const_cast<char*>(name);
    set.fabric.prov_version = provider_version;
    set.fabric.api_version = query.version;
    fi_info* info = duplicate_info(set.info, kNewestLayout);
    if (!info) return -FI_ENOMEM;
    list.push_back(info);
    return 0;
}

// FI_PROV_ATTR_ONLY: one entry per provider, usable or not, with names and versions only; then the layers.
int list_providers(const Query& query, InfoList& list) {
    if (const char* requested = query.provider_name()) {
        // "ofi_rxm" goes over more than one, and is named once.
        for (const Provider* provider : all_providers()) {
            if (!is_registered(provider->name) || !query.provider.admits(*provider)) continue;
            return list_name(query, requested, provider->version, list);
        }
        return -FI_ENODATA;
    }
    for (const Provider* provider : all_providers()) {
        if (!is_registered(provider->name)) continue;
        if (const int error = list_name(query, provider->name, provider->version, list)) return error;
    }
    for (const Provider* provider : all_providers()) {
        if (!is_registered(provider->name) || !provider->layered_name) continue;
        if (!is_layer_registered(provider->layered_name) || is_repeated_layer(*provider)) continue;
        if (const int error = list_name(query, provider->layered_name, provider->version, list)) return error;
    }
    return list.empty() ? -FI_ENODATA : 0;
}

// The address that the kernel would send from, when more than one interface could reach the destination.
bool routed_source(const SocketAddress& destination, SocketAddress* source) {
    const int probe = socket(destination.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (probe < 0) return false;
    SocketAddress target = destination;
    if (target.port() == 0) target.set_port(1);  // any port: nothing is sent
    socklen_t length = sizeof source->v6;
    const bool known = connect(probe, &target.any, static_cast<socklen_t>(target.length())) == 0 &&
                       getsockname(probe, &source->any, &length) == 0;
    close(probe);
    source->kind = destination.kind;
    return known;
}

// The first answer is what most programs take. Where nothing says whom they want to reach, what reaches other machines
// comes before what does not, and layered names, which say nothing new, stay last.
bool comes_by_reach(const Query& query) {
    const bool says_whom = query.node || query.hints.info.src_addr || query.hints.info.dest_addr;
    return !query.provider_name() && !says_whom && !(query.hints.info.caps & FI_LOCAL_COMM);
}

constexpr unsigned kReaches = 4;
unsigned reach_of(const Offer& offer) { return (offer.layered ? 2U : 0U) + (offer.reaches_others() ? 0U : 1U); }

// The offers of one reach, or of any, in order of preference.
int match_all(const Query& query, const Table& table, bool hmem, std::optional<unsigned> reach, InfoList& list,
              Refusals& refusals) {
    size_t internet_matches = 0;
    SocketAddress destination;
    for (const Offer& offer : table) {
        if (!match_provider(query, offer) || (reach && *reach != reach_of(offer))) continue;
        Match match(query, table, offer, hmem);
        if (!match_offer(match)) {
            refusals.note(offer, match.why);
            continue;
        }
        fi_info* info = duplicate_info(match.out.info, kNewestLayout);
        if (!info) return -FI_ENOMEM;
        list.push_back(info);
        if (offer.kind != AddressKind::Shm && offer.kind != AddressKind::IbUd && query.destination.count) {
            ++internet_matches;
            destination = query.destination.list[0];
        }
    }
    SocketAddress source;
    if (internet_matches > 1 && routed_source(destination, &source)) list.prefer(source);
    return 0;
}

int match_all(const Query& query, const Table& table, InfoList& list) {
    Refusals refusals;
    int result = 0;
    const auto match_all_with = [&](bool hmem) {
        if (!comes_by_reach(query)) {
            result = match_all(query, table, hmem, std::nullopt, list, refusals);
            return;
        }
        for (unsigned reach = 0; reach < kReaches && !result; ++reach) {
            result = match_all(query, table, hmem, reach, list, refusals);
        }
    };
    if (query.hmem != Query::Hmem::Only) match_all_with(false);
    if (query.hmem != Query::Hmem::No && !result) match_all_with(true);
    if (result || !list.empty()) return result;
    refusals.tell();
    return -FI_ENODATA;
}

// Shared memory does not change with the interfaces, unless a node has to be recognised as local.
bool depends_on_interfaces(const Query& query) {
    return query.node || !query.provider.provider || query.provider.provider->discover_follows_interfaces;
}

// An endpoint type that none of the providers asked for ever offers: no interface can change that, so none is looked
// at. Whoever reads the log gets what is offered instead, and that takes the table.
bool requests_a_type_nobody_has(const Query& query) {
    const fi_ep_type type = query.hints.ep.type;
    if (!query.has_hints || type == FI_EP_UNSPEC || query.node || query.service || Refusals::are_wanted()) return false;
    for (const Provider* provider : all_providers()) {
        const bool admitted = !query.provider_name() || query.provider.admits(*provider);
        if (admitted && is_registered(provider->name) && provider->offers(type)) return false;
    }
    return true;
}

int answer(Query& query, InfoList& list) {
    if (query.provider_name()) {
        query.provider = parse_provider_name(query.provider_name());
        if (!query.provider.valid) {
            explain_unknown_provider(query.provider_name());
            return -FI_ENODATA;
        }
    }
    if (query.flags & FI_PROV_ATTR_ONLY) return list_providers(query, list);
    if (has_invalid_bits(query.hints)) return -FI_EBADFLAGS;
    if (requests_a_type_nobody_has(query)) return -FI_ENODATA;
    TableRef table;
    int result = current_table(depends_on_interfaces(query), &table);
    if (result) return result;
    result = resolve_addresses(query, *table);
    if (result) {
        explain_unresolved(query.node, query.service);
        return result;
    }
    return match_all(query, *table, list);
}

// FI_HMEM is for who says that such memory will be registered (FI_MR_HMEM): granted to who asks for it, and shown to
// who asks for whatever there is. Shown to all, it would double what most programs pay for discovery and never use.
Query::Hmem hmem_of(const Query& query) {
    if (query.version < FI_VERSION(1, 9)) return Query::Hmem::No;
    const InfoSet& hints = query.hints;
    const uint64_t asked = hints.info.caps ? hints.info.caps : hints.tx.caps | hints.rx.caps;
    if (asked & FI_HMEM) return Query::Hmem::Only;
    return !hints.info.caps && hints.domain.mr_mode & FI_MR_HMEM ? Query::Hmem::Too : Query::Hmem::No;
}

inline int check_arguments(Layout layout, uint32_t version, const char* node, const char* service, uint64_t flags) {
    note_symbol(layout);
    if (version > (layout > Layout::V1_3 ? kNewestVersion : kApiVersion)) return -FI_ENOSYS;
    // Interfaces are looked for again whenever the kernel says that they changed: that asks for nothing more.
    const uint64_t known = kFlags | (version >= FI_VERSION(2, 0) ? kFlagRescan : 0);
    if (flags & ~known) return -FI_EBADFLAGS;
    return (flags & FI_SOURCE) && !node && !service ? -FI_ENODATA : 0;
}

}  // namespace

int check_call(Layout layout, uint32_t version, const char* node, const char* service, uint64_t flags) {
    return check_arguments(layout, version, node, service, flags);
}

int get_info(Layout layout, uint32_t version, const char* node, const char* service, uint64_t flags,
             const fi_info* hints, fi_info** info) {
    if (!info) return -FI_EINVAL;
    *info = nullptr;
    if (const int error = check_arguments(layout, version, node, service, flags)) return error;
    Query query;
    query.version = version;
    query.flags = flags & kFlags;
    query.node = node;
    query.service = service;
    query.has_hints = hints != nullptr;
    query.has_domain = hints && hints->domain_attr;
    query.nic_known = older(layout, layout_of_version(version)) >= Layout::V1_2;
    if (hints) query.hints.widen_from(*hints, older(layout, layout_of_version(version)));
    query.hmem = hmem_of(query);
    InfoList list;
    const int result = answer(query, list);
    if (!result) *info = list.release();
    return result;
}

}  // namespace selvage::impl
