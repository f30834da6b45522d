// A driver of a device that is not there, under the name of CUDA's (libcuda.so.1), for machines without one: its memory
// are pages that nobody may access, its copies go through a second mapping of them, and it insists on what the real one
// insists on: an initialised driver, a context that is current in the thread, a stream of its own.
//
//   FAKE_CUDA_DEVICES=N    how many devices it has, 1 if it is not set
//   FAKE_CUDA_FAILS=NAME   that function answers CUDA_ERROR_UNKNOWN
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace {

using Result = int;
using Pointer = unsigned long long;

constexpr Result kInvalidValue = 1, kNotInitialised = 3, kInvalidContext = 201, kInvalidHandle = 400, kUnknown = 999;

struct Allocation {
    size_t size;
    char* seen;
};

std::mutex lock;
std::map<Pointer, Allocation> allocations;
bool initialised = false;
int context, stream;  // their addresses are the handles
thread_local void* current[16];
thread_local int depth = 0;

bool fails(const char* name) {
    const char* failing = std::getenv("FAKE_CUDA_FAILS");
    return failing && std::strcmp(failing, name) == 0;
}

char* seen_at(Pointer address, size_t size) {
    const std::lock_guard guard(lock);
    auto next = allocations.upper_bound(address);
    if (next == allocations.begin()) return nullptr;
    const auto& [begin, allocation] = *--next;
    return address - begin + size <= allocation.size ? allocation.seen + (address - begin) : nullptr;
}

bool has_context() { return depth && current[depth - 1]; }

Result copy_in(Pointer to, const void* from, size_t size) {
    if (!has_context()) return kInvalidContext;
    char* seen = seen_at(to, size);
    if (!seen) return kInvalidValue;
    std::memcpy(seen, from, size);
    return 0;
}
Result copy_out(void* to, Pointer from, size_t size) {
    if (!has_context()) return kInvalidContext;
    const char* seen = seen_at(from, size);
    if (!seen) return kInvalidValue;
    std::memcpy(to, seen, size);
    return 0;
}

}  // namespace

extern "C" {

#define FAILS(name) \
    if (fails(name)) return kUnknown

int fake_cuda;  // by which tests know it

Result cuInit(unsigned flags) {
    FAILS("cuInit");
    initialised = true;
    return flags ? kInvalidValue : 0;
}
Result cuDeviceGetCount(int* count) {
    FAILS("cuDeviceGetCount");
    if (!initialised) return kNotInitialised;
    const char* devices = std::getenv("FAKE_CUDA_DEVICES");
    *count = devices ? std::atoi(devices) : 1;
    return 0;
}
Result cuDeviceGet(int* device, int ordinal) {
    FAILS("cuDeviceGet");
    *device = ordinal;
    return ordinal ? kInvalidValue : 0;
}
Result cuDevicePrimaryCtxRetain(void** out, int device) {
    FAILS("cuDevicePrimaryCtxRetain");
    *out = &context;
    return device ? kInvalidValue : 0;
}
Result cuCtxSetCurrent(void* set) {
    if (!depth) depth = 1;
    current[depth - 1] = set;
    return 0;
}
Result cuCtxPushCurrent_v2(void* pushed) {
    FAILS("cuCtxPushCurrent_v2");
    if (pushed != &context || depth == 16) return kInvalidContext;
    current[depth++] = pushed;
    return 0;
}
Result cuCtxPopCurrent_v2(void** popped) {
    if (!depth) return kInvalidContext;
    *popped = current[--depth];
    return 0;
}
Result cuCtxSynchronize() { return has_context() ? 0 : kInvalidContext; }
Result cuStreamCreate(void** out, unsigned) {
    FAILS("cuStreamCreate");
    if (!has_context()) return kInvalidContext;
    *out = &stream;
    return 0;
}
Result cuStreamSynchronize(void* waited) {
    FAILS("cuStreamSynchronize");
    return waited == &stream ? 0 : kInvalidHandle;
}
Result cuMemAlloc_v2(Pointer* out, size_t size) {
    if (!has_context()) return kInvalidContext;
    const size_t pages = (size + 4095) & ~size_t{4095};
    const int file = memfd_create("fake-cuda", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(pages))) return kUnknown;
    void* seen = mmap(nullptr, pages, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    void* address = mmap(nullptr, pages, PROT_NONE, MAP_SHARED, file, 0);
    close(file);
    if (seen == MAP_FAILED || address == MAP_FAILED) return kUnknown;
    *out = reinterpret_cast<uintptr_t>(address);
    const std::lock_guard guard(lock);
    allocations[*out] = {pages, static_cast<char*>(seen)};
    return 0;
}
Result cuMemFree_v2(Pointer address) {
    const std::lock_guard guard(lock);
    const auto found = allocations.find(address);
    if (found == allocations.end()) return kInvalidValue;
    munmap(found->second.seen, found->second.size);
    munmap(reinterpret_cast<void*>(static_cast<uintptr_t>(address)), found->second.size);
    allocations.erase(found);
    return 0;
}
Result cuMemsetD8_v2(Pointer address, unsigned char value, size_t size) {
    char* seen = seen_at(address, size);
    if (!seen) return kInvalidValue;
    std::memset(seen, value, size);
    return 0;
}
Result cuMemcpyHtoD_v2(Pointer to, const void* from, size_t size) { return copy_in(to, from, size); }
Result cuMemcpyDtoH_v2(void* to, Pointer from, size_t size) { return copy_out(to, from, size); }
Result cuMemcpyHtoDAsync_v2(Pointer to, const void* from, size_t size, void* on) {
    FAILS("cuMemcpyHtoDAsync_v2");
    return on == &stream ? copy_in(to, from, size) : kInvalidHandle;
}
Result cuMemcpyDtoHAsync_v2(void* to, Pointer from, size_t size, void* on) {
    FAILS("cuMemcpyDtoHAsync_v2");
    return on == &stream ? copy_out(to, from, size) : kInvalidHandle;
}
Result cuPointerGetAttribute(void* value, int attribute, Pointer address) {
    FAILS("cuPointerGetAttribute");
    if (!seen_at(address, 0)) return kInvalidValue;
    const int known = attribute == 2 ? 2 : 0;  // the type of memory: a device's; the ordinal: the first
    if (attribute != 2 && attribute != 9) return kInvalidValue;
    std::memcpy(value, &known, sizeof known);
    return 0;
}
Result cuGetErrorString(Result, const char** text) {
    *text = "as it was told to";
    return 0;
}
}
