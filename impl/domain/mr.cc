// See mr.h.
#include "impl/domain/mr.h"

#include <cstdlib>

#include "impl/domain/domain.h"
#include "impl/domain/mr_duties.h"
#include "impl/domain/mr_keys.h"
#include "impl/domain/persistent_memory.h"
#include "impl/events/cntr.h"
#include "impl/events/eq.h"

namespace selvage::impl {
namespace {

constexpr uint64_t kAccess = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_COLLECTIVE;
constexpr uint64_t kFlags = FI_RMA_EVENT | FI_RMA_PMEM;
// In a domain with FI_HMEM.
constexpr uint64_t kHmemFlags = FI_HMEM_DEVICE_ONLY | FI_HMEM_HOST_ALLOC;

// What the three calls have in common. Only as many fields of an fi_mr_attr are taken as the caller's version has.
struct Request {
    const iovec* ranges;
    size_t count;
    uint64_t access;
    uint64_t offset;
    uint64_t key;
    uint64_t flags;
    void* context;
    const uint8_t* auth_key;
    size_t auth_key_size;
    Hmem hmem = {};
};

bool peers_use_addresses(const Domain& domain) {
    return domain.basic_registration() || (domain.attr.mr_mode & FI_MR_VIRT_ADDR);
}

int total_length(const Request& request, size_t* total) {
    *total = 0;
    for (size_t i = 0; i < request.count; ++i) {
        const iovec& range = request.ranges[i];
        const auto start = reinterpret_cast<uintptr_t>(range.iov_base);
        if (start + range.iov_len < start || *total + range.iov_len < *total) return -FI_EINVAL;
        *total += range.iov_len;
    }
    return 0;
}

int check(const Domain& domain, const Request& request) {
    const uint64_t known = domain.caps & FI_HMEM ? kFlags | kHmemFlags : kFlags;
    if (request.flags & ~known) return -FI_EBADFLAGS;
    if (request.access & ~kAccess) return -FI_EINVAL;
    if (request.offset || !request.count || !request.ranges) return -FI_EINVAL;
    if (request.count > domain.attr.mr_iov_limit) return -FI_EINVAL;
    if (request.auth_key_size > sizeof MemoryRegion{}.auth_key) return -FI_EINVAL;
    if (request.auth_key_size && !request.auth_key) return -FI_EINVAL;
    const size_t key_bytes = is_raw(domain) ? 0 : domain.attr.mr_key_size;
    const bool too_wide = key_bytes && key_bytes < sizeof request.key && request.key >> (key_bytes * 8);
    if (too_wide && !domain.chooses_keys()) return -FI_EKEYREJECTED;
    int error = 0;
    for (size_t i = 0; i < request.count && !error && (request.flags & FI_RMA_PMEM); ++i) {
        error = check_persistent_memory(request.ranges[i]);
    }
    return error;
}

const MemoryOps* memory_ops(const Domain& domain) { return domain.fabric->provider->memory; }

int close_region(fid* descriptor) {
    auto* region = object_of<MemoryRegion>(descriptor);
    if (!region->uses.close()) return -FI_EBUSY;
    if (!region->awaits) {
        LockGuard guard(region->domain->lock);
        region->domain->regions.remove(region);
    }
    const uint64_t access = region->access | region->hmem_access;
    if (access & (FI_REMOTE_READ | FI_REMOTE_WRITE)) region->domain->region_users.revoke(*region);
    if (const MemoryOps* memory = memory_ops(*region->domain)) memory->remove(*region->domain, *region);
    if (Counter* counter = region->write_counter) {
        region->domain->region_counters.remove_counter(counter);
        counter->uses.release();
    }
    region->domain->uses.release();
    free(region->ranges);
    destroy(region);
    return 0;
}

int set_counter(MemoryRegion* region, Counter* counter) {
    LockGuard guard(region->domain->lock);
    if (region->write_counter) return -FI_EBUSY;
    region->write_counter = counter;
    return 0;
}

// With FI_THREAD_COMPLETION, queues of endpoints that are read by different threads have no locks: a counter that is
// bound to none of them cannot make their progress.
bool makes_progress(const Domain& domain) { return domain.attr.threading != FI_THREAD_COMPLETION; }

// Attached without the domain's lock, which comes after those of endpoints.
int bind_counter(MemoryRegion* region, Counter* counter, uint64_t flags) {
    if (flags != FI_REMOTE_WRITE) return -FI_EBADFLAGS;
    Domain& domain = *region->domain;
    if (counter->domain != &domain) return -FI_EDOMAIN;
    Use use(counter->uses);
    if (!use) return -FI_EINVAL;
    // Who writes to the region may do so by an endpoint that an event queue drives.
    if (domain.serialised()) counter->share();
    int error = makes_progress(domain) ? domain.region_counters.add_counter(counter) : 0;
    if (error) return error;
    error = set_counter(region, counter);
    if (error) {
        domain.region_counters.remove_counter(counter);
    } else {
        use.keep();
    }
    return error;
}

int bind_region(fid* descriptor, fid* other, uint64_t flags) {
    auto* region = object_of<MemoryRegion>(descriptor);
    if (!other) return -FI_EINVAL;
    if (region->domain->duties) {
        const int error = check_binding(*region, *other);
        if (error) return error;
    }
    if (other->fclass == FI_CLASS_CNTR) return bind_counter(region, object_of<Counter>(other), flags);
    if (!is_active_endpoint(*other)) return -FI_EINVAL;
    if (flags) return -FI_EBADFLAGS;
    return bind_region_to(other, region);
}

int control_region(fid* descriptor, int command, void* argument) {
    auto* region = object_of<MemoryRegion>(descriptor);
    switch (command) {
        case FI_GET_RAW_MR:
            return get_raw_key(*region, static_cast<struct fi_mr_raw_attr*>(argument));
        case FI_ENABLE:
            return enable_region(region);
        case FI_REFRESH:  // nothing of the pages is remembered
            return argument ? call_came(region, kAwaitsRefresh) : -FI_EINVAL;
        default:
            return without_command(command);
    }
}

constexpr fi_ops kFidOps = make_fid_ops(close_region, bind_region, control_region);

int fill(const Domain& domain, const Request& request, MemoryRegion* region) {
    const int invalid = total_length(request, &region->length);
    if (invalid) return invalid;
    region->ranges = static_cast<iovec*>(malloc(request.count * sizeof(iovec)));
    if (!region->ranges) return -FI_ENOMEM;
    memcpy(region->ranges, request.ranges, request.count * sizeof(iovec));
    region->range_count = request.count;
    region->hmem = request.hmem;
    (request.hmem.ops ? region->hmem_access : region->access) = request.access;
    region->flags = request.flags;
    region->key = request.key;
    region->awaits = awaited_calls(domain, request.flags);
    region->descriptor.key = domain.chooses_keys() || is_raw(domain) ? FI_KEY_NOTAVAIL : request.key;
    if (peers_use_addresses(domain)) region->base = reinterpret_cast<uintptr_t>(region->ranges[0].iov_base);
    region->auth_key_size = request.auth_key_size;
    if (request.auth_key_size) memcpy(region->auth_key, request.auth_key, request.auth_key_size);
    return 0;
}

int make_region(Domain& domain, const Request& request, MemoryRegion** result) {
    auto* region = create<MemoryRegion>();
    if (!region) return -FI_ENOMEM;
    int error = fill(domain, request, region);
    if (!error) {
        region->domain = &domain;
        init_fid(region->descriptor.fid, FI_CLASS_MR, request.context, kFidOps);
        region->descriptor.mem_desc = region;
        const MemoryOps* memory = memory_ops(domain);
        if (memory) memory->add(domain, *region);
        if (!region->awaits) error = publish_key(domain, region);
        if (error && memory) memory->remove(domain, *region);
    }
    if (error) {
        free(region->ranges);
        destroy(region);
        return error;
    }
    *result = region;
    return 0;
}

EventQueue* async_queue(Domain& domain) {
    LockGuard guard(domain.lock);
    return domain.register_async ? domain.eq : nullptr;
}

int register_region(fid* descriptor, const Request& request, fid_mr** result) {
    if (!descriptor || !result || descriptor->fclass != FI_CLASS_DOMAIN) return -FI_EINVAL;
    auto* domain = object_of<Domain>(descriptor);
    int error = check(*domain, request);
    if (!error && (domain->duties & FI_MR_ALLOCATED)) error = check_allocated(request.ranges, request.count);
    if (error) return error;
    Use use(domain->uses);
    if (!use) return -FI_EINVAL;
    EventQueue* eq = async_queue(*domain);
    Event* event = eq ? make_completion(FI_MR_COMPLETE, nullptr, request.context, 0) : nullptr;
    if (eq && !event) return -FI_ENOMEM;
    MemoryRegion* region = nullptr;
    error = make_region(*domain, request, &region);
    if (error) {
        free(event);
        return error;
    }
    use.keep();
    *result = &region->descriptor;  // before the event, which another thread may read at once
    if (event) {
        fid* self = &region->descriptor.fid;
        memcpy(event->payload() + offsetof(fi_eq_entry, fid), &self, sizeof self);
        eq->push(event);
    }
    return 0;
}

int register_vector(fid* domain, const iovec* ranges, size_t count, uint64_t access, uint64_t offset, uint64_t key,
                    uint64_t flags, fid_mr** result, void* context) {
    const Request request{.ranges = ranges,
                          .count = count,
                          .access = access,
                          .offset = offset,
                          .key = key,
                          .flags = flags,
                          .context = context,
                          .auth_key = nullptr,
                          .auth_key_size = 0};
    return register_region(domain, request, result);
}

int register_one(fid* domain, const void* buffer, size_t length, uint64_t access, uint64_t offset, uint64_t key,
                 uint64_t flags, fid_mr** result, void* context) {
    const iovec range{.iov_base = const_cast<void*>(buffer), .iov_len = length};
    return register_vector(domain, &range, 1, access, offset, key, flags, result, context);
}

// The field is an int where the interface numbers its devices; what lies behind it is not the caller's to fill.
uint64_t device_of(const fi_mr_attr& attr, uint64_t flags) {
    if (flags & FI_HMEM_HOST_ALLOC) return 0;
    return attr.iface == FI_HMEM_ROCR ? attr.device.reserved : static_cast<uint32_t>(attr.device.cuda);
}

// Where the memory is; the interface is read where the application has asked for FI_HMEM (fi_mr(3)).
int find_hmem(Domain& domain, const fi_mr_attr& attr, uint64_t flags, Hmem* hmem) {
    if (!(domain.caps & FI_HMEM) || attr.iface == FI_HMEM_SYSTEM) return 0;
    if (static_cast<unsigned>(attr.iface) > FI_HMEM_SYNAPSEAI) return -FI_EINVAL;
    hmem->iface = attr.iface;
    hmem->device = device_of(attr, flags);
    {
        LockGuard guard(domain.lock);
        if (domain.hmem.size) hmem->ops = &domain.hmem;
    }
    if (hmem->ops) return 0;
    const HmemInterface* interface = find_hmem_interface(attr.iface);
    if (!interface) return -FI_ENOSYS;
    for (size_t i = 0; attr.mr_iov && i < attr.iov_count && i < domain.attr.mr_iov_limit; ++i) {
        if (attr.mr_iov[i].iov_len && !interface->knows(attr.mr_iov[i].iov_base)) return -FI_EINVAL;
    }
    hmem->ops = &interface->ops;
    return 0;
}

int register_attributes(fid* descriptor, const fi_mr_attr* attr, uint64_t flags, fid_mr** result) {
    if (!descriptor || descriptor->fclass != FI_CLASS_DOMAIN || !attr) return -FI_EINVAL;
    Request request{.ranges = attr->mr_iov,
                    .count = attr->iov_count,
                    .access = attr->access,
                    .offset = attr->offset,
                    .key = attr->requested_key,
                    .flags = flags,
                    .context = attr->context,
                    .auth_key = nullptr,
                    .auth_key_size = 0};
    auto* domain = object_of<Domain>(descriptor);
    if (domain->version() >= FI_VERSION(1, 5)) {
        request.auth_key = attr->auth_key;
        request.auth_key_size = attr->auth_key_size;
    }
    // Its fields begin with 1.9, as does the capability that makes them count.
    const int error = find_hmem(*domain, *attr, flags, &request.hmem);
    if (error) return error;
    return register_region(descriptor, request, result);
}

}  // namespace

const fi_ops_mr kMrOps = {
    .size = sizeof(fi_ops_mr),
    .reg = register_one,
    .regv = register_vector,
    .regattr = register_attributes,
};

int domain_control(fid* descriptor, int command, void* argument) {
    auto* domain = object_of<Domain>(descriptor);
    switch (command) {
        case FI_QUEUE_WORK:
            return domain->work.queue(*domain, static_cast<fi_deferred_work*>(argument));
        case FI_CANCEL_WORK:
            return domain->work.cancel(static_cast<fi_deferred_work*>(argument));
        case FI_FLUSH_WORK:
            return domain->work.flush(static_cast<fid_cntr*>(argument));
        case FI_MAP_RAW_MR:
            return map_key(*domain, static_cast<struct fi_mr_map_raw*>(argument));
        case FI_UNMAP_KEY:
            return argument ? 0 : -FI_EINVAL;
        default:
            return without_command(command);
    }
}

}  // namespace selvage::impl
