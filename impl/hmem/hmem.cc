// See hmem.h.
#include "impl/hmem/hmem.h"

#include "impl/hmem/cuda.h"

namespace selvage::impl {
namespace {

// What a copy returned: bytes, or a negative errno. One that copies less than all has failed, whatever it calls that;
// so has one that would like to be tried again.
int result_of(ssize_t copied, size_t size) {
    if (copied >= 0) return static_cast<size_t>(copied) == size ? 0 : FI_EIO;
    return copied < -4095 || copied == -FI_EAGAIN ? FI_EIO : static_cast<int>(-copied);
}

iovec range_at(const void* at, size_t size) { return {.iov_base = const_cast<void*>(at), .iov_len = size}; }

}  // namespace

int copy_from_hmem(const Hmem& memory, const void* at, void* to, size_t size) {
    if (!size) return 0;
    const iovec range = range_at(at, size);
    return result_of(memory.ops->copy_from_hmem_iov(to, size, memory.iface, memory.device, &range, 1, 0), size);
}

int copy_to_hmem(const Hmem& memory, void* at, const void* from, size_t size) {
    if (!size) return 0;
    const iovec range = range_at(at, size);
    return result_of(memory.ops->copy_to_hmem_iov(memory.iface, memory.device, &range, 1, 0, from, size), size);
}

const HmemInterface* find_hmem_interface(fi_hmem_iface iface) { return iface == FI_HMEM_CUDA ? find_cuda() : nullptr; }

}  // namespace selvage::impl
