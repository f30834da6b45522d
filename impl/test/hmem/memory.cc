// See memory.h.
#include "impl/test/hmem/memory.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

namespace selvage::test {

OverrideCalls override_calls;

namespace {

#define MUST(condition)                                                          \
    do {                                                                         \
        if (!(condition)) {                                                      \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            std::abort();                                                        \
        }                                                                        \
    } while (false)

// Of each buffer of pages without access: where it begins, how long it is, and where the same pages are accessible.
struct Hidden {
    size_t size;
    std::byte* seen;
};
std::map<std::byte*, Hidden>& hidden() {
    static std::map<std::byte*, Hidden> all;
    return all;
}

// nullptr: the range is not within a buffer.
std::byte* seen_at(const void* address, size_t size) {
    auto* at = static_cast<std::byte*>(const_cast<void*>(address));
    auto next = hidden().upper_bound(at);
    if (next == hidden().begin()) return nullptr;
    const auto& [begin, where] = *--next;
    const auto offset = static_cast<size_t>(at - begin);
    return offset + size <= where.size ? where.seen + offset : nullptr;
}

// Copies between bytes of the host and the part at `offset` of some ranges.
template <typename Copy>
ssize_t copy_ranges(const iovec* ranges, size_t count, uint64_t offset, size_t size, Copy copy) {
    size_t done = 0;
    for (size_t i = 0; i < count && done < size; ++i) {
        if (offset >= ranges[i].iov_len) {
            offset -= ranges[i].iov_len;
            continue;
        }
        const size_t part = std::min<size_t>(ranges[i].iov_len - offset, size - done);
        std::byte* seen = seen_at(static_cast<std::byte*>(ranges[i].iov_base) + offset, part);
        if (!seen) return -FI_EFAULT;
        copy(seen, done, part);
        done += part;
        offset = 0;
    }
    return static_cast<ssize_t>(done);
}

ssize_t copy_from(void* to, size_t size, fi_hmem_iface iface, uint64_t device, const iovec* ranges, size_t count,
                  uint64_t offset) {
    MUST(iface == iface_of(MemoryKind::Override));
    override_calls.device = device;
    if (override_calls.fail_from) return -override_calls.fail_from;
    override_calls.from += size;
    return copy_ranges(ranges, count, offset, size, [to](const std::byte* seen, size_t done, size_t part) {
        memcpy(static_cast<std::byte*>(to) + done, seen, part);
    });
}

ssize_t copy_to(fi_hmem_iface iface, uint64_t device, const iovec* ranges, size_t count, uint64_t offset,
                const void* from, size_t size) {
    MUST(iface == iface_of(MemoryKind::Override));
    override_calls.device = device;
    if (override_calls.fail_to) return -override_calls.fail_to;
    override_calls.to += size;
    return copy_ranges(ranges, count, offset, size, [from](std::byte* seen, size_t done, size_t part) {
        memcpy(seen, static_cast<const std::byte*>(from) + done, part);
    });
}

std::byte* map_hidden(size_t size) {
    const size_t pages = (size + 4095) & ~size_t{4095};
    const int file = memfd_create("selvage-hmem", MFD_CLOEXEC);
    MUST(file >= 0 && ftruncate(file, static_cast<off_t>(pages)) == 0);
    void* seen = mmap(nullptr, pages, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    void* address = mmap(nullptr, pages, PROT_NONE, MAP_SHARED, file, 0);
    MUST(seen != MAP_FAILED && address != MAP_FAILED);
    close(file);
    hidden()[static_cast<std::byte*>(address)] = {pages, static_cast<std::byte*>(seen)};
    return static_cast<std::byte*>(address);
}

void unmap_hidden(std::byte* address) {
    const Hidden where = hidden().at(address);
    munmap(where.seen, where.size);
    munmap(address, where.size);
    hidden().erase(address);
}

// The driver, by the functions that an application allocates with.
struct Cuda {
    using Pointer = unsigned long long;
    int (*init)(unsigned);
    int (*count)(int*);
    int (*device)(int*, int);
    int (*retain)(void**, int);
    int (*use)(void*);
    int (*allocate)(Pointer*, size_t);
    int (*release)(Pointer);
    int (*clear)(Pointer, unsigned char, size_t);
    int (*in)(Pointer, const void*, size_t);
    int (*out)(void*, Pointer, size_t);
    int (*wait)();
    const char* missing = nullptr;

    Cuda() { missing = start(); }
    const char* start() {
        void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        if (!library) return "no device: libcuda.so.1 is not there";
        const auto find = [library](const char* name, auto* function) {
            *reinterpret_cast<void**>(function) = dlsym(library, name);
            return *function != nullptr;
        };
        if (!(find("cuInit", &init) && find("cuDeviceGetCount", &count) && find("cuDeviceGet", &device) &&
              find("cuDevicePrimaryCtxRetain", &retain) && find("cuCtxSetCurrent", &use) &&
              find("cuMemAlloc_v2", &allocate) && find("cuMemFree_v2", &release) && find("cuMemsetD8_v2", &clear) &&
              find("cuMemcpyHtoD_v2", &in) && find("cuMemcpyDtoH_v2", &out) && find("cuCtxSynchronize", &wait))) {
            return "no device: libcuda.so.1 lacks functions";
        }
        int devices = 0, first = 0;
        if (init(0) || count(&devices) || devices < 1) return "no device: the driver has none";
        void* context = nullptr;
        MUST(device(&first, 0) == 0 && retain(&context, first) == 0 && use(context) == 0);
        return nullptr;
    }
};
Cuda& cuda() {
    static Cuda driver;
    return driver;
}
Cuda::Pointer pointer(const std::byte* address) { return reinterpret_cast<uintptr_t>(address); }

}  // namespace

const char* missing(MemoryKind kind) { return kind == MemoryKind::Cuda ? cuda().missing : nullptr; }

// An interface that this library has nothing of its own for.
fi_hmem_iface iface_of(MemoryKind kind) {
    return kind == MemoryKind::Cuda ? FI_HMEM_CUDA : kind == MemoryKind::Override ? FI_HMEM_ZE : FI_HMEM_SYSTEM;
}

int prepare_domain(fid_domain* domain, MemoryKind kind) {
    if (kind != MemoryKind::Override) return 0;
    fi_hmem_override_ops ops{.size = sizeof ops, .copy_from_hmem_iov = copy_from, .copy_to_hmem_iov = copy_to};
    return fi_set_ops(&domain->fid, FI_SET_OPS_HMEM_OVERRIDE, 0, &ops, nullptr);
}

Buffer::Buffer(MemoryKind kind, size_t size) : kind_(kind), size_(size) {
    const size_t room = size ? size : 1;
    if (kind == MemoryKind::Cuda) {
        Cuda::Pointer allocated = 0;
        MUST(cuda().allocate(&allocated, room) == 0 && cuda().clear(allocated, 0, room) == 0 && cuda().wait() == 0);
        address_ = reinterpret_cast<std::byte*>(static_cast<uintptr_t>(allocated));
    } else if (kind == MemoryKind::Override) {
        address_ = map_hidden(room);
    } else {
        address_ = static_cast<std::byte*>(calloc(1, room));
        MUST(address_);
    }
}

Buffer::~Buffer() {
    if (kind_ == MemoryKind::Cuda) {
        (void)cuda().release(pointer(address_));
    } else if (kind_ == MemoryKind::Override) {
        unmap_hidden(address_);
    } else {
        free(address_);
    }
}

void Buffer::write(const void* bytes, size_t size, size_t offset) {
    MUST(offset + size <= size_);
    if (!size) return;
    if (kind_ == MemoryKind::Cuda) {
        MUST(cuda().in(pointer(at(offset)), bytes, size) == 0 && cuda().wait() == 0);
    } else {
        memcpy(kind_ == MemoryKind::Override ? seen_at(at(offset), size) : at(offset), bytes, size);
    }
}

std::vector<std::byte> Buffer::read(size_t size, size_t offset) const {
    MUST(offset + size <= size_);
    std::vector<std::byte> bytes(size);
    if (!size) return bytes;
    if (kind_ == MemoryKind::Cuda) {
        MUST(cuda().out(bytes.data(), pointer(at(offset)), size) == 0);
    } else {
        memcpy(bytes.data(), kind_ == MemoryKind::Override ? seen_at(at(offset), size) : at(offset), size);
    }
    return bytes;
}

}  // namespace selvage::test
