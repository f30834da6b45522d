#include "conformance/runtime/runtime.h"

int register_vectors(struct fid_domain* domain, char* memory, size_t count, int by_attributes, uint64_t access,
                     uint64_t key, struct fid_mr** mr) {
    struct iovec vectors[64];
    struct fi_mr_attr attr = {.mr_iov = vectors, .iov_count = count, .access = access, .requested_key = key};
    size_t i;

    for (i = 0; i < count; i++) {
        vectors[i].iov_base = memory + i * 64;
        vectors[i].iov_len = 64;
    }
    if (by_attributes) return fi_mr_regattr(domain, &attr, 0, mr);
    return fi_mr_regv(domain, vectors, count, access, 0, key, 0, mr, NULL);
}
