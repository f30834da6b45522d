// See external_answer.h. The list was made by other people's code: nothing in it is followed before it was checked as
// far as that can be done.
#include "impl/provider/external_answer.h"

#include <cstdlib>

#include "impl/base/layout.h"
#include "impl/catalog/info_memory.h"
#include "impl/config/log.h"

namespace selvage::impl {
namespace {

// More than any name, address or key has; what is longer was never set, or is not terminated.
constexpr size_t kNameMax = 1024;
constexpr size_t kBytesMax = 4096;

// A list whose end is its own beginning. Floyd's: one pointer goes twice as fast, and meets the other if there is no
// end.
bool is_endless(const fi_info* list) {
    const fi_info* fast = list;
    for (const fi_info* slow = list; fast && fast->next; slow = slow->next) {
        fast = fast->next->next;
        if (fast && fast == slow->next) return true;
    }
    return false;
}

bool is_usable_name(const char* name) { return name && strnlen(name, kNameMax) < kNameMax; }

bool is_too_long(const void* bytes, size_t length) { return bytes && length > kBytesMax; }

// What keeps an entry from being used, or nullptr.
const char* fault_of(const fi_info& info, Layout layout) {
    if (!info.tx_attr || !info.rx_attr || !info.ep_attr || !info.domain_attr || !info.fabric_attr) {
        return "an attribute structure is missing";
    }
    if (!is_usable_name(info.fabric_attr->name)) return "fabric_attr.name is missing or has no end";
    if (!is_usable_name(info.domain_attr->name)) return "domain_attr.name is missing or has no end";
    if (is_too_long(info.src_addr, info.src_addrlen)) return "src_addrlen is out of range";
    if (is_too_long(info.dest_addr, info.dest_addrlen)) return "dest_addrlen is out of range";
    if (layout >= Layout::V1_1 && (is_too_long(info.ep_attr->auth_key, info.ep_attr->auth_key_size) ||
                                   is_too_long(info.domain_attr->auth_key, info.domain_attr->auth_key_size))) {
        return "auth_key_size is out of range";
    }
    return nullptr;
}

// The nic of an entry while the rest is copied: it goes to the copy, or back.
class NicInTransit {
public:
    NicInTransit(fi_info& source, Layout layout) : source_(source), exists_(layout >= Layout::V1_2) {
        if (!exists_) return;
        nic_ = source.nic;
        source.nic = nullptr;
    }
    ~NicInTransit() {
        if (exists_) source_.nic = nic_;
    }
    NicInTransit(const NicInTransit&) = delete;
    NicInTransit& operator=(const NicInTransit&) = delete;
    // Only what can be released again.
    void hand_over(fi_info& target) {
        if (!nic_ || !has_operations(*nic_)) return;
        target.nic = nic_;
        nic_ = nullptr;
    }

private:
    fi_info& source_;
    fid_nic* nic_ = nullptr;
    const bool exists_;
};

fi_info* take_over(const ExternalProvider& provider, fi_info& source, Layout layout, const AnswerTerms& terms) {
    NicInTransit nic(source, layout);
    // The library adds the name; what the provider put there is not the name that it is found by.
    char* const own_name = source.fabric_attr->prov_name;
    source.fabric_attr->prov_name = const_cast<char*>(terms.requested_name ? terms.requested_name : provider.name);
    fi_info* copy = duplicate_info(source, layout);
    source.fabric_attr->prov_name = own_name;
    if (!copy) return nullptr;
    copy->fabric_attr->prov_version = provider.version;
    copy->fabric_attr->api_version = terms.version;
    if (terms.nic_known) nic.hand_over(*copy);
    return copy;
}

}  // namespace

int take_over_answers(const ExternalProvider& provider, fi_info* list, const AnswerTerms& terms, fi_info*** tail) {
    if (is_endless(list)) {
        // Nor can it be released.
        log_for(provider.name, FI_LOG_WARN, FI_LOG_CORE, "the answers of %s are left out: its list has no end",
                provider.name);
        return 0;
    }
    const Layout layout = layout_of_version(provider.fi_version);
    int result = 0;
    for (fi_info* each = list; each && !result; each = each->next) {
        if (const char* fault = fault_of(*each, layout)) {
            log_for(provider.name, FI_LOG_WARN, FI_LOG_CORE, "an answer of %s is left out: %s", provider.name, fault);
            continue;
        }
        fi_info* copy = take_over(provider, *each, layout, terms);
        if (!copy) {
            result = -FI_ENOMEM;
            break;
        }
        **tail = copy;
        *tail = &copy->next;
    }
    free_info_list(list, layout);
    return result;
}

}  // namespace selvage::impl
