// See cuda.h. What is declared here is the driver's interface (cuda.h of its toolkit), as far as it is used.
//
// Copies go through a stream of this library for each device: they wait for no kernel of the application, which may
// itself wait for what is being received, and are over when the call returns.
#include "impl/hmem/cuda.h"

#include <dlfcn.h>

#include <cstdio>

#include "impl/base/lock.h"
#include "impl/config/log.h"

namespace selvage::impl {
namespace {

using CuResult = int;  // 0: CUDA_SUCCESS
using CuDevice = int;
using CuContext = void*;
using CuStream = void*;
using CuPointer = unsigned long long;

constexpr int kPointerMemoryType = 2;     // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
constexpr int kPointerDeviceOrdinal = 9;  // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
constexpr unsigned kStreamNonBlocking = 1;
constexpr int kDevicesMax = 64;

struct Driver {
    CuResult (*init)(unsigned flags);
    CuResult (*device_count)(int* count);
    CuResult (*device)(CuDevice* device, int ordinal);
    CuResult (*retain_context)(CuContext* context, CuDevice device);
    CuResult (*push_context)(CuContext context);
    CuResult (*pop_context)(CuContext* context);
    CuResult (*make_stream)(CuStream* stream, unsigned flags);
    CuResult (*await_stream)(CuStream stream);
    CuResult (*copy_to_device)(CuPointer to, const void* from, size_t size, CuStream stream);
    CuResult (*copy_from_device)(void* to, CuPointer from, size_t size, CuStream stream);
    CuResult (*pointer_attribute)(void* value, int attribute, CuPointer pointer);
    CuResult (*error_text)(CuResult error, const char** text);
};

struct Device {
    CuContext context = nullptr;
    CuStream stream = nullptr;
};

Mutex lock;  // protects what follows
bool looked_for = false;
bool found = false;
Driver driver;
Device devices[kDevicesMax];
uint64_t failure_logged = 0;  // log_turn()

int failed(const char* call, CuResult error) {
    const char* text = nullptr;
    if (driver.error_text(error, &text) || !text) text = "unknown error";
    if (log_turn(&failure_logged)) log(FI_LOG_WARN, FI_LOG_MR, "CUDA: %s: %s (%d)", call, text, error);
    return FI_EIO;
}

bool load() {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
    const auto find = [library](const char* name, auto* function) {
        *reinterpret_cast<void**>(function) = dlsym(library, name);
        return *function != nullptr;
    };
    return find("cuInit", &driver.init) && find("cuDeviceGetCount", &driver.device_count) &&
           find("cuDeviceGet", &driver.device) && find("cuDevicePrimaryCtxRetain", &driver.retain_context) &&
           find("cuCtxPushCurrent_v2", &driver.push_context) && find("cuCtxPopCurrent_v2", &driver.pop_context) &&
           find("cuStreamCreate", &driver.make_stream) && find("cuStreamSynchronize", &driver.await_stream) &&
           find("cuMemcpyHtoDAsync_v2", &driver.copy_to_device) &&
           find("cuMemcpyDtoHAsync_v2", &driver.copy_from_device) &&
           find("cuPointerGetAttribute", &driver.pointer_attribute) && find("cuGetErrorString", &driver.error_text);
}

bool start() {
    int count = 0;
    if (!load()) return false;
    if (driver.init(0) || driver.device_count(&count)) return false;
    return count > 0;
}

// The device's own context, current in this thread as long as the object lives.
class Current {
public:
    explicit Current(const Device& device) : error_(driver.push_context(device.context)) {}
    ~Current() {
        CuContext before;
        if (!error_) (void)driver.pop_context(&before);
    }
    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;
    CuResult error() const { return error_; }

private:
    CuResult error_;
};

// REQUIRES: the lock
int open_device(int ordinal, Device* device) {
    CuDevice handle;
    if (const CuResult error = driver.device(&handle, ordinal)) return failed("cuDeviceGet", error);
    CuContext context;
    if (const CuResult error = driver.retain_context(&context, handle)) {
        return failed("cuDevicePrimaryCtxRetain", error);
    }
    device->context = context;  // for as long as the process lives
    const Current current(*device);
    CuResult error = current.error();
    if (!error) error = driver.make_stream(&device->stream, kStreamNonBlocking);
    if (!error) return 0;
    device->stream = nullptr;
    return failed("cuStreamCreate", error);
}

// The device that an address belongs to, ready for copies. 0 or a positive errno.
int device_of(CuPointer address, Device* out) {
    int ordinal;
    if (const CuResult error = driver.pointer_attribute(&ordinal, kPointerDeviceOrdinal, address)) {
        return failed("cuPointerGetAttribute", error);
    }
    if (ordinal < 0 || ordinal >= kDevicesMax) return FI_EINVAL;
    LockGuard guard(lock);
    Device& device = devices[ordinal];
    const int error = device.stream ? 0 : open_device(ordinal, &device);
    *out = device;
    return error;
}

// copy(stream) begins a copy.
template <typename Copy>
ssize_t copied(const void* at, size_t size, const char* name, Copy copy) {
    Device device;
    if (const int error = device_of(reinterpret_cast<uintptr_t>(at), &device)) return -error;
    const Current current(device);
    if (current.error()) return -failed("cuCtxPushCurrent", current.error());
    if (const CuResult error = copy(device.stream)) return -failed(name, error);
    if (const CuResult error = driver.await_stream(device.stream)) return -failed("cuStreamSynchronize", error);
    return static_cast<ssize_t>(size);
}

// Calls visit(address, bytes done before, size) for each part of [offset, offset + size) of some ranges.
template <typename Visit>
ssize_t for_each_part(const iovec* ranges, size_t count, uint64_t offset, size_t size, Visit visit) {
    size_t done = 0;
    for (size_t i = 0; i < count && done < size; ++i) {
        if (offset >= ranges[i].iov_len) {
            offset -= ranges[i].iov_len;
            continue;
        }
        const size_t left = ranges[i].iov_len - offset;
        const size_t part = left < size - done ? left : size - done;
        const ssize_t result = visit(static_cast<std::byte*>(ranges[i].iov_base) + offset, done, part);
        if (result < 0) return result;
        done += part;
        offset = 0;
    }
    return static_cast<ssize_t>(done);
}

ssize_t copy_from(void* to, size_t size, fi_hmem_iface, uint64_t, const iovec* ranges, size_t count, uint64_t offset) {
    return for_each_part(ranges, count, offset, size, [to](const std::byte* at, size_t done, size_t part) {
        return copied(at, part, "cuMemcpyDtoHAsync", [&](CuStream stream) {
            return driver.copy_from_device(static_cast<std::byte*>(to) + done, reinterpret_cast<uintptr_t>(at), part,
                                           stream);
        });
    });
}

ssize_t copy_to(fi_hmem_iface, uint64_t, const iovec* ranges, size_t count, uint64_t offset, const void* from,
                size_t size) {
    return for_each_part(ranges, count, offset, size, [from](std::byte* at, size_t done, size_t part) {
        return copied(at, part, "cuMemcpyHtoDAsync", [&](CuStream stream) {
            return driver.copy_to_device(reinterpret_cast<uintptr_t>(at), static_cast<const std::byte*>(from) + done,
                                         part, stream);
        });
    });
}

// Any type of memory has one; addresses that the driver does not know have none.
bool knows(const void* address) {
    unsigned type = 0;
    return driver.pointer_attribute(&type, kPointerMemoryType, reinterpret_cast<uintptr_t>(address)) == 0 && type;
}

constexpr HmemInterface kCuda = {
    .ops = {.size = sizeof(fi_hmem_override_ops), .copy_from_hmem_iov = copy_from, .copy_to_hmem_iov = copy_to},
    .knows = knows,
};

}  // namespace

const HmemInterface* find_cuda() {
    LockGuard guard(lock);
    if (!looked_for) {
        looked_for = true;
        found = start();
        log(FI_LOG_INFO, FI_LOG_MR, "CUDA: %s", found ? "in use" : "no driver or no device");
    }
    return found ? &kCuda : nullptr;
}

}  // namespace selvage::impl
