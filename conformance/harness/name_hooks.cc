// Counts the names that a library hands to the resolver to be looked up.
//
// The executable's own getaddrinfo and gethostbyname stand before glibc's, as its malloc does: see alloc_hooks.h.  They
// count only while the calling thread is inside the subject, and pass every call on.  Linked as an object into an
// executable that exports its symbols.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>

#include "conformance/harness/alloc_hooks.h"

namespace {

// A number needs no look-up, however it is spelt.
bool is_number(const char* node) {
    in_addr v4;
    in6_addr v6;
    return inet_aton(node, &v4) != 0 || inet_pton(AF_INET6, node, &v6) == 1;
}

void count_lookup(const char* node) {
    auto* const seen = selvage::conformance::subject_allocations();
    if (seen != nullptr && node != nullptr && !is_number(node)) ++seen->lookups;
}

template <typename Function>
Function next(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

int getaddrinfo(const char* node, const char* service, const addrinfo* hints, addrinfo** out) {
    if (hints == nullptr || (hints->ai_flags & AI_NUMERICHOST) == 0) count_lookup(node);
    static const auto real = next<int (*)(const char*, const char*, const addrinfo*, addrinfo**)>("getaddrinfo");
    return real(node, service, hints, out);
}

hostent* gethostbyname(const char* name) {
    count_lookup(name);
    static const auto real = next<hostent* (*)(const char*)>("gethostbyname");
    return real(name);
}

}  // extern "C"
