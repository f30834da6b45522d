// See mr_keys.h.
#include "impl/domain/mr_keys.h"

#include <sys/random.h>

#include <cstring>

#include "impl/catalog/duties.h"
#include "impl/domain/domain.h"
#include "impl/domain/mr.h"
#include "impl/domain/mr_duties.h"

namespace selvage::impl {
namespace {

bool random_key(uint64_t* key) {
    return getrandom(key, sizeof *key, 0) == static_cast<ssize_t>(sizeof *key) && *key != FI_KEY_NOTAVAIL;
}

// Keys that the library chooses cannot be guessed by a peer that was not given them.
int insert(Domain& domain, MemoryRegion* region) {
    LockGuard guard(domain.lock);
    if (!domain.chooses_keys()) return domain.regions.insert(region);
    int result;
    do {
        if (!random_key(&region->key)) return -FI_EAGAIN;
        region->key = (region->key & ~region->key_mask) | region->key_bits;
        result = domain.regions.insert(region);
    } while (result == -FI_ENOKEY);
    return result;
}

// A raw key: a mark, the key, the base address, and their sum. The key is not the first of it, so that a peer that
// takes the first bytes for one has none.
struct RawKey {
    uint64_t mark;
    uint64_t key;
    uint64_t base;
    uint64_t sum;
};
static_assert(sizeof(RawKey) == kRawKeyBytes);
constexpr uint64_t kRawMark = 0x7261'776b'6579'0001;

void pack_raw_key(const MemoryRegion& region, uint8_t* raw) {
    RawKey key{.mark = kRawMark, .key = region.key, .base = region.base, .sum = 0};
    key.sum = key.mark + key.key + key.base;
    memcpy(raw, &key, sizeof key);
}

int unpack_raw_key(const uint8_t* raw, uint64_t* key) {
    RawKey read;
    memcpy(&read, raw, sizeof read);
    if (read.mark != kRawMark || read.sum != read.mark + read.key + read.base) {
        log_breach("fi_mr_map_raw", "FI_MR_RAW", "fi_mr(3)", "this is no key of fi_mr_raw_attr");
        return -FI_EINVAL;
    }
    *key = read.key;
    return 0;
}

}  // namespace

bool is_raw(const Domain& domain) { return domain.duties & FI_MR_RAW; }

int publish_key(Domain& domain, MemoryRegion* region) {
    const int error = insert(domain, region);
    if (!error && !is_raw(domain)) region->descriptor.key = region->key;
    return error;
}

// One of the calls that the region waits for; the last lets peers use it.
int call_came(MemoryRegion* region, uint8_t call) {
    if (!(region->awaits & call)) return 0;
    if (region->awaits == call) {
        const int error = publish_key(*region->domain, region);
        if (error) return error;
    }
    region->awaits &= static_cast<uint8_t>(~call);
    return 0;
}

int enable_region(MemoryRegion* region) {
    const int error = region->awaits & kAwaitsEnable ? check_enabling(*region) : 0;
    return error ? error : call_came(region, kAwaitsEnable);
}

int get_raw_key(const MemoryRegion& region, struct fi_mr_raw_attr* raw) {
    if (!raw || !raw->key_size) return -FI_EINVAL;
    if (raw->flags) return -FI_EBADFLAGS;
    if (region.awaits && region.domain->chooses_keys()) return -FI_EOPBADSTATE;  // it has none yet
    const bool longer = is_raw(*region.domain);
    const size_t room = *raw->key_size;
    const size_t needed = longer ? kRawKeyBytes : sizeof region.key;
    *raw->key_size = needed;
    if (room < needed || !raw->raw_key) return -FI_ETOOSMALL;
    if (longer) {
        pack_raw_key(region, raw->raw_key);
    } else {
        memcpy(raw->raw_key, &region.key, sizeof region.key);
    }
    if (raw->base_addr) *raw->base_addr = region.base;
    return 0;
}

// Every key is the key itself: mapping copies it, and there is nothing to release.
int map_key(const Domain& domain, struct fi_mr_map_raw* map) {
    if (!map || !map->raw_key || !map->key) return -FI_EINVAL;
    if (map->flags) return -FI_EBADFLAGS;
    if (is_raw(domain)) {
        return map->key_size == kRawKeyBytes ? unpack_raw_key(map->raw_key, map->key) : -FI_EINVAL;
    }
    if (map->key_size != sizeof *map->key) return -FI_EINVAL;
    memcpy(map->key, map->raw_key, sizeof *map->key);
    return 0;
}

}  // namespace selvage::impl
