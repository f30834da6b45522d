#include "conformance/runtime/runtime.h"

static ssize_t copy_from(void* dest, size_t size, enum fi_hmem_iface iface, uint64_t device, const struct iovec* iov,
                         size_t count, uint64_t offset) {
    (void)dest, (void)iface, (void)device, (void)iov, (void)count, (void)offset;
    return (ssize_t)size;
}

static ssize_t copy_to(enum fi_hmem_iface iface, uint64_t device, const struct iovec* iov, size_t count,
                       uint64_t offset, const void* src, size_t size) {
    (void)iface, (void)device, (void)iov, (void)count, (void)offset, (void)src;
    return (ssize_t)size;
}

void* override_ops(int which) {
    static struct fi_hmem_override_ops all[] = {
        {.size = sizeof *all, .copy_from_hmem_iov = copy_from, .copy_to_hmem_iov = copy_to},
        {.size = sizeof *all},
        {.size = sizeof(size_t)},
    };

    return &all[which];
}
