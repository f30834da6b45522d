// See all_providers.h. Answers of external providers come behind those of this library, in the order of the table.
#include "impl/provider/all_providers.h"

#include "impl/catalog/info_memory.h"
#include "impl/config/log.h"
#include "impl/fabric/opened.h"
#include "impl/provider/external_answer.h"

namespace selvage::impl {
namespace {

// One call of fi_getinfo as external providers are to see it.
struct Call {
    uint32_t version;
    const char* node;
    const char* service;
    uint64_t flags;
    const fi_info* hints;  // the caller's, or nullptr
    Layout hints_layout;
    const ExternalProvider* named;  // the one that the hints name, or nullptr
    const char* name_in_hints;      // with `named`
};

const char* name_in(const fi_info* hints) {
    const char* name = hints && hints->fabric_attr ? hints->fabric_attr->prov_name : nullptr;
    return name && *name ? name : nullptr;
}

// An object of this library is none that an external provider could know, or look into.
bool names_own_objects(const fi_info* hints) {
    return hints && (is_opened(hints->fabric_attr ? hints->fabric_attr->fabric : nullptr,
                               hints->domain_attr ? hints->domain_attr->domain : nullptr) ||
                     is_open_passive(hints->handle));
}

// FI_PROV_ATTR_ONLY: name and version alone.
int list_name(const Call& call, const ExternalProvider& provider, fi_info*** tail) {
    InfoSet set;
    set.fabric.prov_name = const_cast<char*>(call.named ? call.name_in_hints : provider.name);
    set.fabric.prov_version = provider.version;
    set.fabric.api_version = call.version;
    fi_info* info = duplicate_info(set.info, kNewestLayout);
    if (!info) return -FI_ENOMEM;
    **tail = info;
    *tail = &info->next;
    return 0;
}

// Hints have the newest, full size for every provider; what the caller does not own is zero. Each provider gets them
// anew, so that what one writes into them is not seen by the next.
int query(const Call& call, const ExternalProvider& provider, fi_info*** tail) {
    if (call.version > provider.fi_version) {
        log_for(provider.name, FI_LOG_INFO, FI_LOG_CORE, "%s was built for interface %u.%u and is not asked for %u.%u",
                provider.name, FI_MAJOR(provider.fi_version), FI_MINOR(provider.fi_version), FI_MAJOR(call.version),
                FI_MINOR(call.version));
        return 0;
    }
    InfoSet hints;
    if (call.hints) {
        hints.widen_from(*call.hints, call.hints_layout);
        hints.info.next = nullptr;
        hints.fabric.prov_name = call.named ? const_cast<char*>(provider.name) : nullptr;
    }
    fi_info* list = nullptr;
    const int result =
        provider.getinfo(call.version, call.node, call.service, call.flags, call.hints ? &hints.info : nullptr, &list);
    if (result || !list) {
        if (result != -FI_ENODATA) {
            log_for(provider.name, FI_LOG_INFO, FI_LOG_CORE, "fi_getinfo of %s returned %d and %s", provider.name,
                    result, list ? "a list that is passed over" : "no answer");
        }
        return 0;
    }
    const AnswerTerms terms{.version = call.version,
                            .requested_name = call.named ? call.name_in_hints : nullptr,
                            .nic_known = call.hints_layout >= Layout::V1_2};
    return take_over_answers(provider, list, terms, tail);
}

int query_all(const Call& call, fi_info** tail) {
    int result = 0;
    for (const ExternalProvider& provider : external_providers()) {
        if (call.named && call.named != &provider) continue;
        result = call.flags & FI_PROV_ATTR_ONLY ? list_name(call, provider, &tail) : query(call, provider, &tail);
        if (result) break;
    }
    return result;
}

}  // namespace

int external_detail::get_merged_info(Layout layout, uint32_t version, const char* node, const char* service,
                                     uint64_t flags, const fi_info* hints, fi_info** info) {
    if (!info) return -FI_EINVAL;
    *info = nullptr;
    if (const int error = check_call(layout, version, node, service, flags)) return error;
    const char* const name = name_in(hints);
    const Call call{.version = version,
                    .node = node,
                    .service = service,
                    .flags = flags,
                    .hints = hints,
                    .hints_layout = older(layout, layout_of_version(version)),
                    .named = name ? find_external_provider(name) : nullptr,
                    .name_in_hints = name};
    if (!call.named) {
        const int result = get_info(layout, version, node, service, flags, hints, info);
        if (name || (result && result != -FI_ENODATA)) return result;
    }
    if (names_own_objects(hints)) return *info ? 0 : -FI_ENODATA;
    fi_info** tail = info;
    while (*tail) tail = &(*tail)->next;
    const int result = query_all(call, tail);
    if (result) {
        free_info_list(*info, kNewestLayout);
        *info = nullptr;
        return result;
    }
    return *info ? 0 : -FI_ENODATA;
}

int external_detail::open_fabric_of(const ExternalProvider& provider, Layout layout, const fi_fabric_attr& attr,
                                    fid_fabric** fabric, void* context) {
    if (!fabric || !attr.name) return -FI_EINVAL;
    *fabric = nullptr;
    fi_fabric_attr own{};
    memcpy(&own, &attr, sizes_of(layout).fabric);
    if (layout == Layout::V1_0) own.api_version = FI_VERSION(1, 0);
    own.prov_name = const_cast<char*>(provider.name);
    if (own.api_version > newest_version() || own.api_version > provider.fi_version) return -FI_ENOSYS;
    const int result = provider.fabric(&own, fabric, context);
    if (result) {
        *fabric = nullptr;
        return result;
    }
    if (!*fabric) {
        log_for(provider.name, FI_LOG_WARN, FI_LOG_CORE, "%s opened a fabric and returned none", provider.name);
        return -FI_EOTHER;
    }
    // Providers leave it to their host to say which version the application asked for.
    (*fabric)->api_version = own.api_version;
    return 0;
}

}  // namespace selvage::impl
