/* Preloaded into Open MPI: takes FI_REMOTE_COMM and FI_LOCAL_COMM out of every query. Open MPI always asks for the
 * first, and a provider that reaches this machine only must refuse it; the shm provider of libfabric 1.17 does not know
 * the second. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

typedef int (*getinfo_function)(uint32_t, const char*, const char*, uint64_t, const struct fi_info*, struct fi_info**);

/* Open MPI's components load the library for themselves alone: it is not among what comes next. */
static getinfo_function library(void) {
    static getinfo_function found;
    void* handle;
    if (found) return found;
    handle = dlopen("libfabric.so.1", RTLD_NOW);
    if (handle) found = (getinfo_function)dlvsym(handle, "fi_getinfo", "FABRIC_1.3");
    return found;
}

int fi_getinfo(uint32_t version, const char* node, const char* service, uint64_t flags, const struct fi_info* hints,
               struct fi_info** info) {
    const getinfo_function getinfo = library();
    struct fi_info* copy;
    int result;
    if (!getinfo) return -FI_ENOSYS;
    if (!hints) return getinfo(version, node, service, flags, hints, info);
    copy = fi_dupinfo(hints);
    if (!copy) return -FI_ENOMEM;
    copy->caps &= ~(FI_LOCAL_COMM | FI_REMOTE_COMM);
    if (copy->domain_attr) copy->domain_attr->caps &= ~(FI_LOCAL_COMM | FI_REMOTE_COMM);
    result = getinfo(version, node, service, flags, copy, info);
    fi_freeinfo(copy);
    return result;
}
