// See opened.h.
#include "impl/fabric/opened.h"

#include <atomic>

#include "impl/base/lock.h"
#include "impl/fabric/domain_core.h"
#include "impl/fabric/fabric.h"

namespace selvage::impl {
namespace {

// A list in the order of opening, through Object::next_opened.
template <typename Object>
class OpenedList {
public:
    void add(Object* object) {
        object->next_opened = nullptr;
        Object** end = &first_;
        while (*end) end = &(*end)->next_opened;
        *end = object;
    }
    void remove(Object* object) {
        Object** link = &first_;
        while (*link && *link != object) link = &(*link)->next_opened;
        if (*link) *link = object->next_opened;
    }
    Object* first() const { return first_; }
    Object* find(const void* descriptor) const {
        for (Object* object = first_; object; object = object->next_opened) {
            if (static_cast<const void*>(object) == descriptor) return object;
        }
        return nullptr;
    }

private:
    Object* first_ = nullptr;
};

struct Opened {
    Mutex lock;
    std::atomic<size_t> count{0};  // of all lists; lets the usual query, with nothing open, skip the lock
    OpenedList<Fabric> fabrics;
    OpenedList<DomainCore> domains;
    OpenedList<OpenedPassive> passives;
};

constinit Opened opened;

template <typename Object>
void add(OpenedList<Object>& list, Object* object) {
    LockGuard guard(opened.lock);
    list.add(object);
    opened.count.fetch_add(1, std::memory_order_release);
}

template <typename Object>
void remove(OpenedList<Object>& list, Object* object) {
    LockGuard guard(opened.lock);
    list.remove(object);
    opened.count.fetch_sub(1, std::memory_order_release);
}

bool is_for(const Fabric& fabric, const Provider& provider, const char* name) {
    return fabric.provider == &provider && strcmp(fabric.name, name) == 0;
}

bool is_for(const DomainCore& domain, const Provider& provider, const char* fabric, const char* name) {
    return is_for(*domain.fabric, provider, fabric) && strcmp(domain.name, name) == 0;
}

}  // namespace

void note_opened(Fabric* fabric) { add(opened.fabrics, fabric); }
void note_opened(DomainCore* domain) { add(opened.domains, domain); }
void note_opened(OpenedPassive* endpoint) { add(opened.passives, endpoint); }
void note_closed(Fabric* fabric) { remove(opened.fabrics, fabric); }
void note_closed(DomainCore* domain) { remove(opened.domains, domain); }
void note_closed(OpenedPassive* endpoint) { remove(opened.passives, endpoint); }

bool find_opened(const Provider& provider, const char* fabric_name, const char* domain_name, fid_fabric* want_fabric,
                 fid_domain* want_domain, fid_fabric** fabric, fid_domain** domain) {
    *fabric = nullptr;
    *domain = nullptr;
    if (!want_fabric && !want_domain && opened.count.load(std::memory_order_acquire) == 0) return true;
    LockGuard guard(opened.lock);
    Fabric* chosen = nullptr;
    if (want_fabric) {
        chosen = opened.fabrics.find(want_fabric);
        if (!chosen || !is_for(*chosen, provider, fabric_name)) return false;
    }
    for (DomainCore* each = opened.domains.first(); each && !*domain; each = each->next_opened) {
        if (want_domain && &each->descriptor != want_domain) continue;
        if (chosen && each->fabric != chosen) continue;
        if (is_for(*each, provider, fabric_name, domain_name)) *domain = &each->descriptor;
    }
    if (want_domain && !*domain) return false;
    if (want_domain && !chosen) chosen = DomainCore::of(*domain)->fabric;
    for (Fabric* each = opened.fabrics.first(); each && !chosen; each = each->next_opened) {
        if (is_for(*each, provider, fabric_name)) chosen = each;
    }
    if (chosen) *fabric = &chosen->descriptor;
    return true;
}

bool is_opened(const fid_fabric* fabric, const fid_domain* domain) {
    if ((!fabric && !domain) || opened.count.load(std::memory_order_acquire) == 0) return false;
    LockGuard guard(opened.lock);
    return (fabric && opened.fabrics.find(fabric)) || (domain && opened.domains.find(domain));
}

bool is_open_passive(const fid* handle) {
    if (!handle || opened.count.load(std::memory_order_acquire) == 0) return false;
    LockGuard guard(opened.lock);
    return opened.passives.find(handle) != nullptr;
}

}  // namespace selvage::impl
