// See av_set.h.
#include "impl/av/av_set.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

namespace selvage::impl {
namespace {

// What fi_av_set_addr returns: a number that is no address of a vector and no other set's.
constexpr fi_addr_t kSetAddress = fi_addr_t{1} << 62;
std::atomic<uint64_t> last_set{0};

// Both, in an order that is the same for all threads.
class BothLocks {
public:
    BothLocks(AvSet& a, AvSet& b) : first_(&a < &b ? a : b), second_(&a < &b ? b : a) {
        first_.lock.lock();
        if (&first_ != &second_) second_.lock.lock();
    }
    ~BothLocks() {
        if (&first_ != &second_) second_.lock.unlock();
        first_.lock.unlock();
    }
    BothLocks(const BothLocks&) = delete;
    BothLocks& operator=(const BothLocks&) = delete;

private:
    AvSet& first_;
    AvSet& second_;
};

// Calls with both sets, of one vector, locked.
template <typename Change>
int with_both(fid_av_set* to, const fid_av_set* from, Change change) {
    if (!to || !from) return -FI_EINVAL;
    AvSet& target = *AvSet::of(to);
    AvSet& source = *AvSet::of(const_cast<fid_av_set*>(from));
    if (target.av != source.av) return -FI_EINVAL;
    BothLocks locks(target, source);
    return change(target, source);
}

// Those stay that the source has, or has not.
int filter(AvSet& target, const AvSet& source, bool stays) {
    fi_addr_t* end = std::remove_if(target.members, target.members + target.count,
                                    [&](fi_addr_t member) { return source.has(member) != stays; });
    target.count = static_cast<size_t>(end - target.members);
    return 0;
}

int unite(fid_av_set* to, const fid_av_set* from) {
    return with_both(to, from, [](AvSet& target, const AvSet& source) {
        for (size_t i = 0; i < source.count; ++i) {
            const int error = target.has(source.members[i]) ? 0 : target.append(source.members[i]);
            if (error) return error;
        }
        return 0;
    });
}
int intersect(fid_av_set* to, const fid_av_set* from) {
    return with_both(to, from, [](AvSet& target, const AvSet& source) { return filter(target, source, true); });
}
int subtract(fid_av_set* to, const fid_av_set* from) {
    return with_both(to, from, [](AvSet& target, const AvSet& source) { return filter(target, source, false); });
}

bool is_in_vector(AddressVector& av, fi_addr_t address) {
    AvLock guard(av.store);
    return av.store.holds(address);
}

int insert(fid_av_set* descriptor, fi_addr_t member) {
    AvSet& set = *AvSet::of(descriptor);
    if (!is_in_vector(*set.av, member)) return -FI_EINVAL;
    LockGuard guard(set.lock);
    return set.has(member) ? -FI_EINVAL : set.append(member);
}

int remove(fid_av_set* descriptor, fi_addr_t member) {
    AvSet& set = *AvSet::of(descriptor);
    LockGuard guard(set.lock);
    fi_addr_t* end = set.members + set.count;
    if (std::remove(set.members, end, member) == end) return -FI_EINVAL;
    --set.count;
    return 0;
}

int get_address(fid_av_set* descriptor, fi_addr_t* address) {
    if (!address) return -FI_EINVAL;
    *address = AvSet::of(descriptor)->address;
    return 0;
}

int close_set(fid* descriptor) {
    auto* set = object_of<AvSet>(descriptor);
    set->av->uses.release();
    destroy(set);
    return 0;
}

constexpr fi_ops kFidOps = make_fid_ops(close_set);
constexpr fi_ops_av_set kSetOps = {
    .size = sizeof(fi_ops_av_set),
    .set_union = unite,
    .intersect = intersect,
    .diff = subtract,
    .insert = insert,
    .remove = remove,
    .addr = get_address,
};

// Which addresses the set begins with: all, a range of them, or none.
int check_attributes(const AddressVector& av, const fi_av_set_attr& attr) {
    if (attr.flags & ~(FI_UNIVERSE | kCollectiveSets)) return -FI_EBADFLAGS;
    if (attr.comm_key_size && !attr.comm_key) return -FI_EINVAL;
    const bool none = attr.start_addr == FI_ADDR_NOTAVAIL && attr.end_addr == FI_ADDR_NOTAVAIL;
    if (none || attr.flags & FI_UNIVERSE) return 0;
    if (attr.start_addr == FI_ADDR_NOTAVAIL || attr.end_addr == FI_ADDR_NOTAVAIL) return -FI_EINVAL;
    if (av.type != FI_AV_TABLE || attr.comm_key_size) return -FI_EINVAL;
    if (!attr.stride || attr.end_addr < attr.start_addr) return -FI_EINVAL;
    const uint64_t covered = (attr.end_addr - attr.start_addr) / attr.stride + 1;
    return attr.count && covered > attr.count ? -FI_EINVAL : 0;
}

int fill(AvSet& set, const fi_av_set_attr& attr) {
    AddressVector& av = *set.av;
    const bool all = attr.flags & FI_UNIVERSE;
    if (!all && attr.start_addr == FI_ADDR_NOTAVAIL) return 0;
    AvLock guard(av.store);
    const uint64_t extent = av.store.extent();
    if (!extent) return 0;
    const uint64_t last = all ? extent - 1 : std::min<uint64_t>(attr.end_addr, extent - 1);
    const uint64_t stride = all ? 1 : attr.stride;
    for (uint64_t i = all ? 0 : attr.start_addr; i <= last; i += stride) {
        const int error = av.store.holds(i) ? set.append(i) : 0;
        if (error || last - i < stride) return error;
    }
    return 0;
}

uint64_t digest_of(const uint8_t* key, size_t size) {
    uint64_t digest = 0;
    for (size_t i = 0; i < size; ++i) digest = (digest ^ key[i]) * 1099511628211ULL + 1;
    return digest;
}

}  // namespace

bool AvSet::has(fi_addr_t member) const { return std::find(members, members + count, member) != members + count; }

int AvSet::append(fi_addr_t member) {
    if (count == capacity) {
        const size_t grown = capacity ? 2 * capacity : 16;
        auto* larger = static_cast<fi_addr_t*>(realloc(members, grown * sizeof *members));
        if (!larger) return -FI_ENOMEM;
        members = larger;
        capacity = grown;
    }
    members[count++] = member;
    return 0;
}

int open_av_set(fid_av* descriptor, fi_av_set_attr* attr, fid_av_set** result, void* context) {
    if (!descriptor || !attr || !result) return -FI_EINVAL;
    *result = nullptr;
    auto* av = AddressVector::of(descriptor);
    if (!(av->domain->caps & FI_COLLECTIVE)) return -FI_ENOSYS;
    int error = check_attributes(*av, *attr);
    if (error) return error;
    Use use(av->uses);
    if (!use) return -FI_EINVAL;
    auto* set = create<AvSet>();
    if (!set) return -FI_ENOMEM;
    set->av = av;
    set->supported = attr->flags & kCollectiveSets ? attr->flags & kCollectiveSets : kCollectiveSets;
    set->key_digest = digest_of(attr->comm_key, attr->comm_key_size);
    set->address = kSetAddress + last_set.fetch_add(1, std::memory_order_relaxed);
    error = fill(*set, *attr);
    if (error) {
        destroy(set);
        return error;
    }
    init_fid(set->descriptor.fid, FI_CLASS_AV_SET, context, kFidOps);
    set->descriptor.ops = const_cast<fi_ops_av_set*>(&kSetOps);
    use.keep();
    *result = &set->descriptor;
    return 0;
}

}  // namespace selvage::impl
