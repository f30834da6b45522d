// See av.h: opening, closing, looking up, removing.
#include "impl/av/av.h"
#include "impl/av/av_set.h"
#include "impl/base/abi_2x.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "impl/events/eq.h"

namespace selvage::impl {
namespace {

// More than there are contexts: programs that count the bits of the number take one more.
constexpr int kContextBitsMax = 16;

uint64_t open_flags(const Domain& domain) {
    constexpr uint64_t kAlways = FI_EVENT | FI_READ | FI_SYMMETRIC;
    return domain.version() >= kVersionOfGrownStructures ? kAlways | FI_AV_USER_ID : kAlways;
}

int close_av(fid* descriptor) {
    auto* av = object_of<AddressVector>(descriptor);
    if (!av->uses.close()) return -FI_EBUSY;
    if (av->eq) av->eq->uses.release();
    av->domain->uses.release();
    destroy(av);
    return 0;
}

int bind_av(fid* descriptor, fid* other, uint64_t flags) {
    auto* av = object_of<AddressVector>(descriptor);
    if (!other || other->fclass != FI_CLASS_EQ) return -FI_EINVAL;
    if (flags) return -FI_EBADFLAGS;
    auto* eq = object_of<EventQueue>(other);
    if (eq->fabric != av->domain->fabric) return -FI_EINVAL;
    LockGuard guard(av->domain->lock);
    if (av->eq) return -FI_EBUSY;
    if (!eq->uses.acquire()) return -FI_EINVAL;
    av->eq = eq;
    return 0;
}

// The page wants texts by pointer (char **). Programs written for the shared-memory providers of old pass the text
// itself, or several, each with its NUL, one behind the other. The two cannot be taken for each other: the top byte of
// a pointer is zero, and none of the first eight of "fi_shm://" is.
bool holds_texts(const void* addresses) {
    return memcmp(addresses, "fi_", 3) == 0 && !memchr(addresses, 0, sizeof(char*));
}

// An array of addresses in the domain's format: texts by pointer, structures side by side.
class ArraySource final : public AvSource {
public:
    ArraySource(const AddressVector& av, const void* addresses, size_t count)
        : av_(av),
          addresses_(addresses),
          texts_(count && av.domain->addr_format == FI_ADDR_STR && holds_texts(addresses)) {}

    void fetch(size_t index, AvEntry* out) override {
        ParsedAddress parsed;
        const uint32_t format = av_.domain->addr_format;
        bool valid;
        if (format == FI_ADDR_STR) {
            const char* text = texts_ ? text_at(index) : static_cast<const char* const*>(addresses_)[index];
            valid = text && read_address(format, text, strlen(text) + 1, &parsed);
        } else {
            const size_t size = av_.domain->source.length();
            valid = read_address(format, static_cast<const char*>(addresses_) + index * size, size, &parsed);
        }
        if (valid) {
            take_parsed(av_, parsed, out);
        } else {
            out->error = FI_EINVAL;
        }
    }

private:
    const char* text_at(size_t index) const {
        const char* text = static_cast<const char*>(addresses_);
        while (index--) text += strlen(text) + 1;
        return text;
    }

    const AddressVector& av_;
    const void* addresses_;
    bool texts_;
};

int insert_array(fid_av* descriptor, const void* addresses, size_t count, fi_addr_t* assigned, uint64_t flags,
                 void* context) {
    auto* av = AddressVector::of(descriptor);
    if (count && !addresses) return -FI_EINVAL;
    ArraySource source(*av, addresses, count);
    return insert_addresses(*av, source, {.count = count, .addresses = assigned, .flags = flags, .context = context});
}

int remove_addresses(fid_av* descriptor, fi_addr_t* addresses, size_t count, uint64_t flags) {
    auto* av = AddressVector::of(descriptor);
    if (flags) return -FI_EBADFLAGS;
    if (count && !addresses) return -FI_EINVAL;
    if (av->store.read_only()) return -FI_EACCES;
    AvLock guard(av->store);
    for (size_t i = 0; i < count; ++i) {
        if (!av->store.holds(addresses[i])) return -FI_EINVAL;
    }
    for (size_t i = 0; i < count; ++i) {
        if (av->store.holds(addresses[i])) av->remove(addresses[i]);
    }
    return 0;
}

// fi_av(3) of 1.20. No address of a vector stands for an authorization key, so there is no flag.
int set_user_id(fid_av* descriptor, fi_addr_t address, fi_addr_t user_id, uint64_t flags) {
    auto* av = AddressVector::of(descriptor);
    if (flags) return -FI_EBADFLAGS;
    if (!av->user_ids) return -FI_EINVAL;
    AvLock guard(av->store);
    if (!av->store.holds(address)) return -FI_EINVAL;
    av->store.set_user_id(address, user_id);
    return 0;
}

size_t export_entry(const AddressVector& av, const AvEntry& entry, char (&out)[kAddressBytesMax]) {
    if (av.holds_text()) {
        const size_t length = strlen(entry.text);
        memcpy(out, entry.text, length + 1);
        return length + 1;
    }
    const SocketAddress& address = entry.socket;
    if (av.domain->addr_format == FI_ADDR_STR) return write_text_address(address, FI_SOCKADDR_IN, out, sizeof out);
    memcpy(out, address.bytes(), address.length());
    return address.length();
}

// Most look-ups of IPv6: in full, what is missing for that look_up_entry() sees to.
bool look_up_inet6(const AddressVector& av, fi_addr_t index, void* address, size_t* length) {
    if (av.context_bits || av.domain->addr_format == FI_ADDR_STR || av.domain->kind != AddressKind::Inet6) return false;
    if (*length < sizeof(sockaddr_in6)) return false;
    if (!av.store.copy_unlocked<sizeof(sockaddr_in6)>(index, offsetof(SocketAddress, v6), address)) return false;
    *length = sizeof(sockaddr_in6);
    return true;
}

// Any other look-up. Apart, as its entry on the stack costs the short way registers.
[[gnu::noinline]] int look_up_entry(AddressVector& av, fi_addr_t index, void* address, size_t* length) {
    char bytes[kAddressBytesMax];
    AvEntry entry;
    if (!av.find_address(index, &entry)) return -FI_EINVAL;
    const size_t needed = export_entry(av, entry, bytes);
    memcpy(address, bytes, std::min(*length, needed));
    *length = needed;
    return 0;
}

int look_up(fid_av* descriptor, fi_addr_t index, void* address, size_t* length) {
    auto* av = AddressVector::of(descriptor);
    if (!length || (*length && !address)) return -FI_EINVAL;
    if (look_up_inet6(*av, index, address, length)) return 0;
    return look_up_entry(*av, index, address, length);
}

// Of a private vector of IPv4 whose numbers name no context: family, port and host are the word of an entry. Of a
// million, what counts is how few instructions wait for a line of memory: the fewer, the more calls overlap.
int look_up_inet(fid_av* descriptor, fi_addr_t index, void* address, size_t* length) {
    static_assert(offsetof(SocketAddress, v4) == AvStore::kWordAt &&
                  offsetof(sockaddr_in, sin_zero) == sizeof(uint64_t));
    if (!length || *length < sizeof(sockaddr_in) || !address) return look_up(descriptor, index, address, length);
    const uint64_t word = AddressVector::of(descriptor)->store.word_unlocked(index);
    if (!word) return look_up(descriptor, index, address, length);
    constexpr uint64_t kZero = 0;
    memcpy(address, &word, sizeof word);
    memcpy(static_cast<char*>(address) + sizeof word, &kZero, sizeof kZero);
    *length = sizeof(sockaddr_in);
    return 0;
}

const char* to_text(fid_av* descriptor, const void* address, char* buffer, size_t* length) {
    const auto* av = AddressVector::of(descriptor);
    if (!address || !length) return nullptr;
    char text[kAddressBytesMax] = "";
    ParsedAddress parsed;
    const uint32_t format = av->domain->addr_format;
    // Texts are given as they are; the reader stops at the terminating zero.
    const size_t size = format == FI_ADDR_STR ? strnlen(static_cast<const char*>(address), kAddressBytesMax)
                                              : av->domain->source.length();
    if (read_address(format, address, size, &parsed)) {
        if (parsed.kind == AddressKind::Shm) {
            memcpy(text, parsed.shm, sizeof parsed.shm);
        } else {
            write_text_address(parsed.socket, FI_SOCKADDR_IN, text, sizeof text);
        }
    }
    if (buffer && *length) snprintf(buffer, *length, "%s", text);
    *length = strlen(text) + 1;
    return buffer;
}

constexpr fi_ops kFidOps = make_fid_ops(close_av, bind_av);

constexpr AvOperations make_av_ops(decltype(fi_ops_av::lookup) lookup) {
    return {
        {
            .size = sizeof(AvOperations),
            .insert = insert_array,
            .insertsvc = insert_service,
            .insertsym = insert_symmetric,
            .remove = remove_addresses,
            .lookup = lookup,
            .straddr = to_text,
            .av_set = open_av_set,
        },
        kMissing<decltype(AvOperations::insert_auth_key)>,
        kMissing<decltype(AvOperations::lookup_auth_key)>,
        set_user_id,
    };
}
constexpr AvOperations kAvOps = make_av_ops(look_up);
constexpr AvOperations kInetAvOps = make_av_ops(look_up_inet);

const AvOperations& ops_of(const AddressVector& av) {
    const Domain& domain = *av.domain;
    const bool plain = domain.kind == AddressKind::Inet && domain.addr_format != FI_ADDR_STR;
    return plain && !av.context_bits && !av.store.shared() ? kInetAvOps : kAvOps;
}

int choose_type(const Domain& domain, fi_av_type requested, fi_av_type* out) {
    if (requested != FI_AV_UNSPEC && requested != FI_AV_MAP && requested != FI_AV_TABLE) return -FI_EINVAL;
    const fi_av_type fixed = domain.attr.av_type;
    if (requested != FI_AV_UNSPEC && fixed != FI_AV_UNSPEC && requested != fixed) return -FI_EINVAL;
    *out = requested != FI_AV_UNSPEC ? requested : fixed != FI_AV_UNSPEC ? fixed : FI_AV_TABLE;
    return 0;
}

// One file per user, domain and name. The domain is part of it by a hash, since its name may hold any character.
bool file_name(const Domain& domain, const char* name, char (&out)[kAvFileNameMax]) {
    if (!*name || strchr(name, '/')) return false;
    uint64_t hash = 14695981039346656037ULL;
    for (const char* part : {domain.fabric->provider->name, static_cast<const char*>(domain.fabric->name),
                             static_cast<const char*>(domain.name)}) {
        for (const char* c = part;; ++c) {
            hash = (hash ^ static_cast<unsigned char>(*c)) * 1099511628211ULL;
            if (!*c) break;
        }
    }
    const int length =
        snprintf(out, sizeof out, "/selvage-av-%u-%016lx-%s", geteuid(), static_cast<unsigned long>(hash), name);
    return length > 0 && static_cast<size_t>(length) < sizeof out;
}

int open_private_store(AddressVector* av, size_t expected) {
    const int error = av->store.open_private(av->entry_size(), expected);
    return error || !av->user_ids ? error : av->store.keep_user_ids();
}

int open_store(AddressVector* av, const fi_av_attr& requested) {
    const bool read_only = requested.flags & FI_READ;
    if (!requested.name) return read_only ? -FI_EINVAL : open_private_store(av, requested.count);
    char file[kAvFileNameMax];
    if (!file_name(*av->domain, requested.name, file)) return -FI_EINVAL;
    const auto access = read_only ? AvStore::Access::ReadOnly : AvStore::Access::Create;
    return av->store.open_shared(file, av->entry_size(), requested.count, access);
}

}  // namespace

int domain_open_av(fid_domain* descriptor, fi_av_attr* attr, fid_av** result, void* context) {
    if (!descriptor || !attr || !result) return -FI_EINVAL;
    *result = nullptr;
    auto* domain = Domain::of(descriptor);
    if (attr->flags & ~open_flags(*domain)) return -FI_EBADFLAGS;
    // An identifier is of one process; the vector of several.
    if ((attr->flags & FI_AV_USER_ID) && attr->name) return -FI_EBADFLAGS;
    if (attr->rx_ctx_bits < 0 || attr->rx_ctx_bits > (domain->fabric->provider->scales ? kContextBitsMax : 0)) {
        return -FI_EINVAL;
    }
    fi_av_type type;
    int error = choose_type(*domain, attr->type, &type);
    if (error) return error;
    Use use(domain->uses);
    if (!use) return -FI_EINVAL;
    auto* av = create<AddressVector>();
    if (!av) return -FI_ENOMEM;
    av->domain = domain;
    av->type = type;
    av->async = attr->flags & FI_EVENT;
    av->user_ids = attr->flags & FI_AV_USER_ID;
    av->context_bits = static_cast<unsigned>(attr->rx_ctx_bits);
    av->index.set_text(av->holds_text());
    error = open_store(av, *attr);
    if (error) {
        destroy(av);
        return error;
    }
    init_fid(av->descriptor.fid, FI_CLASS_AV, context, kFidOps);
    av->descriptor.ops = const_cast<AvOperations*>(&ops_of(*av));
    attr->type = type;
    // Indices mean the same in every process, wherever the file is mapped. Programs take the i-th address of a vector
    // that another process filled from map_addr[i].
    if (attr->name && !attr->map_addr) attr->map_addr = const_cast<fi_addr_t*>(av->store.map());
    use.keep();
    *result = &av->descriptor;
    return 0;
}

}  // namespace selvage::impl
