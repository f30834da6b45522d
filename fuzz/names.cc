// Names are resolved once: getaddrinfo and freeaddrinfo of the fuzz target stand before libc's.
//
// A query that names a node or a service takes a dozen system calls to resolve it, for an answer that stays the same
// as long as the target runs.  So each is kept, and given to the library again; it reads the list and gives it back.
// What is kept is nobody's allocation: it is not counted as the library's.  Any thread.
#include <dlfcn.h>
#include <netdb.h>

#include <cerrno>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_set>

#include "conformance/harness/alloc_hooks.h"

namespace {

using Resolve = int (*)(const char*, const char*, const addrinfo*, addrinfo**);
using Release = void (*)(addrinfo*);

// What a look-up depends on.  A name that is not there differs from an empty one.
using Key = std::tuple<bool, std::string, bool, std::string, int, int, int, int>;

Key key_of(const char* node, const char* service, const addrinfo* hints) {
    const addrinfo none = {};
    const addrinfo& h = hints != nullptr ? *hints : none;
    return {node != nullptr,    node != nullptr ? node : "",
            service != nullptr, service != nullptr ? service : "",
            h.ai_flags,         h.ai_family,
            h.ai_socktype,      h.ai_protocol};
}

struct Result {
    int ret = 0;
    addrinfo* list = nullptr;
};

class Names {
public:
    int resolve(const char* node, const char* service, const addrinfo* hints, addrinfo** list) {
        const selvage::conformance::InsideSubject outside(nullptr);
        const std::lock_guard guard(lock_);
        Key key = key_of(node, service, hints);
        auto found = kept_.find(key);
        if (found == kept_.end()) {
            Result fresh;
            fresh.ret = resolve_(node, service, hints, &fresh.list);
            if (kept_.size() == kMost || fresh.ret == EAI_SYSTEM || fresh.ret == EAI_MEMORY) {
                *list = fresh.list;
                return fresh.ret;
            }
            if (fresh.ret == 0) lists_.insert(fresh.list);
            found = kept_.emplace(std::move(key), fresh).first;
        }
        if (found->second.ret == 0) *list = found->second.list;
        return found->second.ret;
    }

    void release(addrinfo* list) {
        {
            const std::lock_guard guard(lock_);
            if (lists_.contains(list)) return;
        }
        release_(list);
    }

private:
    static constexpr std::size_t kMost = 4096;

    Resolve resolve_ = reinterpret_cast<Resolve>(dlsym(RTLD_NEXT, "getaddrinfo"));
    Release release_ = reinterpret_cast<Release>(dlsym(RTLD_NEXT, "freeaddrinfo"));
    std::mutex lock_;
    std::map<Key, Result> kept_;
    std::unordered_set<const addrinfo*> lists_;
};

Names& names() {
    static auto* const all = new Names;  // libraries may still ask while the process ends
    return *all;
}

}  // namespace

extern "C" int getaddrinfo(const char* node, const char* service, const addrinfo* hints, addrinfo** list) {
    return names().resolve(node, service, hints, list);
}

extern "C" void freeaddrinfo(addrinfo* list) noexcept { names().release(list); }
