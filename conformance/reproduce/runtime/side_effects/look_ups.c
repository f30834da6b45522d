#include <arpa/inet.h>
#include <dlfcn.h>
#include <netdb.h>

#ifndef RTLD_NEXT
#define RTLD_NEXT ((void*)-1L)
#endif

static int look_ups;

/* The program's own resolver stands before the system's, and counts names: addresses are none. */
int getaddrinfo(const char* node, const char* service, const struct addrinfo* how, struct addrinfo** res) {
    int (*real)(const char*, const char*, const struct addrinfo*, struct addrinfo**);
    struct in6_addr v6;

    *(void**)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    if (node && !(how && how->ai_flags & AI_NUMERICHOST) && inet_addr(node) == INADDR_NONE &&
        inet_pton(AF_INET6, node, &v6) != 1) {
        printf("the resolver is asked for '%s'\n", node);
        look_ups++;
    }
    return real(node, service, how, res);
}
