// Memory that the library must not touch: what tests of FI_HMEM allocate, and how they look into it.
//
// Override: pages that nobody may access, and the same pages mapped a second time for the functions that the domain is
// given (FI_SET_OPS_HMEM_OVERRIDE). Whoever reads or writes them in another way is stopped by the kernel.
// Cuda: memory of a device, of which the library finds out by itself.
#pragma once

#include <rdma/fi_domain.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace selvage::test {

enum class MemoryKind { Host, Override, Cuda };

// What the override's functions did, in this process.
struct OverrideCalls {
    uint64_t from = 0;  // bytes
    uint64_t to = 0;
    int fail_from = 0;  // an errno: what they answer
    int fail_to = 0;
    uint64_t device = 0;  // that they were last given
};
extern OverrideCalls override_calls;

// nullptr, or why there is none of that kind here.
const char* missing(MemoryKind kind);
// Of a domain that registers such memory.
int prepare_domain(fid_domain* domain, MemoryKind kind);
fi_hmem_iface iface_of(MemoryKind kind);

// A buffer, filled with zeros.
class Buffer {
public:
    Buffer(MemoryKind kind, size_t size);
    ~Buffer();
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    MemoryKind kind() const { return kind_; }
    std::byte* at(size_t offset = 0) const { return address_ + offset; }
    size_t size() const { return size_; }
    void write(const void* bytes, size_t size, size_t offset = 0);
    std::vector<std::byte> read(size_t size, size_t offset = 0) const;

private:
    MemoryKind kind_;
    size_t size_;
    std::byte* address_ = nullptr;
};

}  // namespace selvage::test
