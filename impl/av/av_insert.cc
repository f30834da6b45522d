// Insertion into address vectors: the common course of it, and addresses from node and service names (fi_av(3)).
#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "impl/av/av.h"
#include "impl/discovery/resolve.h"
#include "impl/events/eq.h"

namespace selvage::impl {

void take_parsed(const AddressVector& av, const ParsedAddress& parsed, AvEntry* out) {
    out->error = FI_EINVAL;
    if (parsed.kind != av.domain->kind) return;
    if (parsed.kind == AddressKind::Shm) {
        // An empty name is no peer.
        if (strlen(parsed.shm) == kShmScheme.size()) return;
        memcpy(out->text, parsed.shm, sizeof parsed.shm);
    } else {
        if (!parsed.socket.names_endpoint()) return;
        out->socket = parsed.socket;
    }
    out->error = 0;
}

namespace {

constexpr uint64_t kInsertFlags = FI_MORE | FI_SYNC_ERR | FI_AV_USER_ID;

int check(const AddressVector& av, const AvRequest& request) {
    if (request.flags & ~kInsertFlags) return -FI_EBADFLAGS;
    const bool by_user = request.flags & FI_AV_USER_ID;
    // An identifier is of one process; the vector of several. Where fi_av_set_user_id gives them, insertions do not.
    if (by_user && (av.store.shared() || av.user_ids)) return -FI_EBADFLAGS;
    if (by_user && request.count && !request.addresses) return -FI_EINVAL;
    if ((request.flags & FI_SYNC_ERR) && (av.async || (request.count && !request.context))) return -FI_EINVAL;
    if (av.type == FI_AV_MAP && request.count && !request.addresses) return -FI_EINVAL;
    return av.store.read_only() ? -FI_EACCES : 0;
}

// With room reserved: puts one entry in its place and its number, or FI_ADDR_NOTAVAIL, into the caller's array. True
// when it is in the vector.
bool place(AddressVector& av, const AvEntry& entry, const AvRequest& request, size_t index) {
    fi_addr_t* assigned = request.addresses ? &request.addresses[index] : nullptr;
    fi_addr_t given = FI_ADDR_NOTAVAIL;
    if (!entry.error) {
        given = av.insert(entry, request.flags & FI_AV_USER_ID ? *assigned : FI_ADDR_NOTAVAIL);
    }
    if (assigned) *assigned = given;
    return given != FI_ADDR_NOTAVAIL;
}

int insert_now(AddressVector& av, AvSource& source, const AvRequest& request) {
    int inserted = 0;
    auto* errors = request.flags & FI_SYNC_ERR ? static_cast<int*>(request.context) : nullptr;
    for (size_t i = 0; i < request.count; ++i) {
        AvEntry entry;
        source.fetch(i, &entry);
        AvLock guard(av.store);
        if (!entry.error && av.reserve(1)) entry.error = FI_ENOMEM;
        if (!place(av, entry, request, i) && !entry.error) entry.error = FI_ENOMEM;
        if (errors) errors[i] = entry.error;
        inserted += entry.error == 0;
    }
    return inserted;
}

void free_events(Event* list) {
    while (list) {
        Event* next = list->next;
        free(list);
        list = next;
    }
}

// Takes every address from its source, once: a name that is resolved twice may be answered differently. Returns how
// many can go in.
size_t fetch_all(AvSource& source, size_t count, AvEntry* entries) {
    size_t good = 0;
    for (size_t i = 0; i < count; ++i) {
        source.fetch(i, new (&entries[i]) AvEntry);
        good += entries[i].error == 0;
    }
    return good;
}

// An event for each address that cannot go in, in order. False when memory is short; `list` is the caller's to free.
bool make_errors(AddressVector& av, const AvRequest& request, const AvEntry* entries, Event** list) {
    for (size_t i = 0; i < request.count; ++i) {
        if (!entries[i].error) continue;
        *list = make_error(&av.descriptor.fid, request.context, i, entries[i].error);
        if (!*list) return false;
        list = &(*list)->next;
    }
    return true;
}

// `done` reports how many there are.
bool place_all(AddressVector& av, const AvRequest& request, const AvEntry* entries, size_t good, Event* done) {
    AvLock guard(av.store);
    if (av.reserve(good)) return false;
    uint64_t placed = 0;
    for (size_t i = 0; i < request.count; ++i) placed += place(av, entries[i], request, i);
    memcpy(done->payload() + offsetof(fi_eq_entry, data), &placed, sizeof placed);
    return true;
}

// Every event is made before the first address goes in, so the call either does all of it or nothing.
int insert_async(AddressVector& av, AvSource& source, const AvRequest& request, EventQueue* eq) {
    auto* entries = static_cast<AvEntry*>(calloc(std::max<size_t>(request.count, 1), sizeof(AvEntry)));
    if (!entries) return -FI_ENOMEM;
    const size_t good = fetch_all(source, request.count, entries);
    Event* errors = nullptr;
    const bool told = make_errors(av, request, entries, &errors);
    Event* done = make_completion(FI_AV_COMPLETE, &av.descriptor.fid, request.context, good);
    const bool placed = told && done && place_all(av, request, entries, good, done);
    free(entries);
    if (!placed) {
        free_events(errors);
        free(done);
        return -FI_ENOMEM;
    }
    while (errors) {
        Event* next = errors->next;
        eq->push(errors);
        errors = next;
    }
    eq->push(done);
    return 0;
}

EventQueue* queue_of(AddressVector& av) {
    LockGuard guard(av.domain->lock);
    return av.eq ? av.eq : av.domain->eq;
}

}  // namespace

int insert_addresses(AddressVector& av, AvSource& source, const AvRequest& request) {
    const int invalid = check(av, request);
    if (invalid) return invalid;
    if (request.flags & FI_AV_USER_ID) {
        AvLock guard(av.store);
        if (av.store.keep_user_ids()) return -FI_ENOMEM;
    }
    if (!av.async) return insert_now(av, source, request);
    EventQueue* eq = queue_of(av);
    return eq ? insert_async(av, source, request, eq) : -FI_ENOEQ;
}

namespace {

void take_resolved(const AddressVector& av, const char* node, const char* service, AvEntry* out) {
    AddressSpec spec;
    const int error = resolve_node(node, service, 0, nullptr, &spec);
    out->error = error ? -error : FI_EADDRNOTAVAIL;
    if (error) return;
    ParsedAddress parsed;
    if (av.holds_text()) {
        if (!spec.has_shm) return;
        parsed.kind = AddressKind::Shm;
        memcpy(parsed.shm, spec.shm, sizeof spec.shm);
        take_parsed(av, parsed, out);
        return;
    }
    // No name stands for a queue pair.
    if (av.domain->kind == AddressKind::IbUd) return;
    if (spec.any_host) {
        parsed.socket = av.domain->source;
        parsed.socket.set_port(spec.port);
        parsed.kind = parsed.socket.kind;
        take_parsed(av, parsed, out);
        return;
    }
    for (size_t i = 0; i < spec.count; ++i) {
        if (spec.list[i].kind != av.domain->kind) continue;
        parsed.socket = spec.list[i];
        parsed.kind = parsed.socket.kind;
        take_parsed(av, parsed, out);
        return;
    }
}

class ServiceSource final : public AvSource {
public:
    ServiceSource(const AddressVector& av, const char* node, const char* service)
        : av_(av), node_(node), service_(service) {}
    void fetch(size_t, AvEntry* out) override { take_resolved(av_, node_, service_, out); }

private:
    const AddressVector& av_;
    const char* node_;
    const char* service_;
};

// Adds to an address as to one big number.
template <size_t kBytes>
void add_to(uint8_t (&bytes)[kBytes], uint64_t amount) {
    for (size_t i = kBytes; i-- > 0 && amount;) {
        amount += bytes[i];
        bytes[i] = static_cast<uint8_t>(amount);
        amount >>= 8;
    }
}

// The node `offset` places after `node`: a numeric address counts up as a number, a host name in its numeric suffix.
bool later_node(const char* node, uint64_t offset, char (&out)[256]) {
    const int length = snprintf(out, sizeof out, "%s", node);
    if (length < 0 || static_cast<size_t>(length) >= sizeof out) return false;
    if (!offset) return true;
    uint8_t v4[4], v6[16];
    if (inet_pton(AF_INET, node, v4) == 1) {
        add_to(v4, offset);
        return inet_ntop(AF_INET, v4, out, sizeof out);
    }
    if (inet_pton(AF_INET6, node, v6) == 1) {
        add_to(v6, offset);
        return inet_ntop(AF_INET6, v6, out, sizeof out);
    }
    size_t start = static_cast<size_t>(length);
    while (start > 0 && node[start - 1] >= '0' && node[start - 1] <= '9') --start;
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(node + start, node + length, number);
    if (error != std::errc() || end != node + length) return false;
    const int width = length - static_cast<int>(start);  // host09 is followed by host10, not host010
    snprintf(out + start, sizeof out - start, "%0*lu", width, static_cast<unsigned long>(number + offset));
    return true;
}

class SymmetricSource final : public AvSource {
public:
    SymmetricSource(const AddressVector& av, const char* node, uint64_t first_service, size_t service_count)
        : av_(av), node_(node), first_service_(first_service), service_count_(service_count) {}

    void fetch(size_t index, AvEntry* out) override {
        char node[256], service[24];
        snprintf(service, sizeof service, "%lu", static_cast<unsigned long>(first_service_ + index % service_count_));
        if (later_node(node_, index / service_count_, node)) {
            take_resolved(av_, node, service, out);
        } else {
            out->error = FI_EINVAL;
        }
    }

private:
    const AddressVector& av_;
    const char* node_;
    uint64_t first_service_;
    size_t service_count_;
};

}  // namespace

int insert_service(fid_av* descriptor, const char* node, const char* service, fi_addr_t* assigned, uint64_t flags,
                   void* context) {
    auto* av = AddressVector::of(descriptor);
    if (!node && !service) return -FI_EINVAL;
    ServiceSource source(*av, node, service);
    return insert_addresses(*av, source, {.count = 1, .addresses = assigned, .flags = flags, .context = context});
}

int insert_symmetric(fid_av* descriptor, const char* node, size_t node_count, const char* service, size_t service_count,
                     fi_addr_t* assigned, uint64_t flags, void* context) {
    auto* av = AddressVector::of(descriptor);
    if (!node || !service) return -FI_EINVAL;
    uint64_t first = 0;
    const char* end_of_text = service + strlen(service);
    const auto [end, error] = std::from_chars(service, end_of_text, first);
    if (error != std::errc() || end != end_of_text) return -FI_EINVAL;
    size_t count;
    if (__builtin_mul_overflow(node_count, service_count, &count) || count > INT32_MAX) return -FI_EINVAL;
    SymmetricSource source(*av, node, first, service_count ? service_count : 1);
    return insert_addresses(*av, source, {.count = count, .addresses = assigned, .flags = flags, .context = context});
}

}  // namespace selvage::impl
