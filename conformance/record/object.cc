#include "conformance/record/object.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <unordered_map>

#include "conformance/record/tables.h"

namespace selvage::record {
namespace {

constexpr std::size_t kShards = 64;
constexpr std::size_t kMostTableBytes = 4096;

// By address, in shards. Never destroyed: other libraries' destructors may still use their objects.
template <class Value>
class Shards {
public:
    Value get(const void* key) {
        Shard& s = shard(key);
        const std::shared_lock lock(s.mutex);
        const auto found = s.values.find(key);
        return found != s.values.end() ? found->second : Value{};
    }
    bool put(const void* key, Value value) {
        Shard& s = shard(key);
        const std::unique_lock lock(s.mutex);
        try {
            s.values[key] = value;
        } catch (const std::bad_alloc&) {
            return false;
        }
        return true;
    }
    Value take(const void* key) {
        Shard& s = shard(key);
        const std::unique_lock lock(s.mutex);
        const auto found = s.values.find(key);
        if (found == s.values.end()) return {};
        const Value value = found->second;
        s.values.erase(found);
        return value;
    }

private:
    struct alignas(64) Shard {
        std::shared_mutex mutex;
        std::unordered_map<const void*, Value> values;
    };
    Shard& shard(const void* key) {
        return shards_[(reinterpret_cast<std::uintptr_t>(key) * 0x9e3779b97f4a7c15U) >> 58];
    }
    std::array<Shard, kShards> shards_;
};

Shards<Object*>& objects() {
    static auto* shards = new Shards<Object*>;
    return *shards;
}
Shards<std::uint64_t>& regions() {
    static auto* shards = new Shards<std::uint64_t>;
    return *shards;
}
std::atomic<std::uint64_t> last_number{0};

void forget_table(Object::Table& table) {
    std::free(table.stand_in);
    std::free(table.snapshot);
    table.stand_in = nullptr;
    table.snapshot = nullptr;
    table.original = nullptr;
}

char* table_in(char* stand_in) { return stand_in + sizeof(Object*); }

// Makes the stand-in of the table that the object has now.
void stand_in_for(Object& object, Object::Table& table) {
    void* const now = *table.at;
    std::size_t size = 0;
    if (now != nullptr) std::memcpy(&size, now, sizeof size);
    if (now == nullptr || size <= sizeof size || size > kMostTableBytes) return;
    table.stand_in = static_cast<char*>(std::malloc(sizeof(Object*) + size));
    table.snapshot = static_cast<char*>(std::malloc(size));
    if (table.stand_in == nullptr || table.snapshot == nullptr) return forget_table(table);
    *reinterpret_cast<const Object**>(table.stand_in) = &object;
    std::memcpy(table.snapshot, now, size);
    std::memcpy(table_in(table.stand_in), now, size);
    table.replace(table_in(table.stand_in), size);
    table.original = now;
    table.size = size;
    *table.at = table_in(table.stand_in);
}

void add_table(Object& object, Slot slot, void* at, void (*replace)(void*, std::size_t)) {
    Object::Table& table = object.tables[static_cast<std::size_t>(slot)];
    table.at = static_cast<void**>(at);
    table.replace = replace;
    stand_in_for(object, table);
}

Object* make(fid* pointer, const Origin& origin) {
    if (pointer == nullptr || find(pointer) != nullptr) return nullptr;
    auto* object = new (std::nothrow) Object;
    if (object == nullptr) return nullptr;
    object->pointer = pointer;
    object->number = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
    object->layout = origin.layout;
    object->format = origin.format;
    if (origin.parent != nullptr) {
        object->layout = origin.parent->layout;
        object->readable = origin.parent->readable;
        object->addr_format = origin.parent->addr_format;
    }
    if (origin.info != nullptr) {
        object->readable = (origin.info->caps & FI_HMEM) == 0;
        object->addr_format = origin.info->addr_format;
        if (origin.info->rx_attr != nullptr) object->receive_flags = origin.info->rx_attr->op_flags;
    }
    if (!objects().put(pointer, object)) {
        delete object;
        return nullptr;
    }
    add_table(*object, Slot::Fid, &pointer->ops, replace_members<fi_ops>);
    return object;
}

template <class T, class Ops>
void adopt_simple(T* pointer, Ops** at, const Origin& origin) {
    if (Object* object = make(&pointer->fid, origin)) add_table(*object, Slot::Own, at, replace_members<Ops>);
}

}  // namespace

void adopt(fid_fabric* f, const Origin& origin) {
    if (f != nullptr) adopt_simple(f, &f->ops, origin);
}
void adopt(fid_stx* s, const Origin& origin) {
    if (s != nullptr) adopt_simple(s, &s->ops, origin);
}
void adopt(fid_av* a, const Origin& origin) {
    if (a != nullptr) adopt_simple(a, &a->ops, origin);
}
void adopt(fid_av_set* s, const Origin& origin) {
    if (s != nullptr) adopt_simple(s, &s->ops, origin);
}
void adopt(fid_eq* e, const Origin& origin) {
    if (e != nullptr) adopt_simple(e, &e->ops, origin);
}
void adopt(fid_cq* c, const Origin& origin) {
    if (c != nullptr) adopt_simple(c, &c->ops, origin);
}
void adopt(fid_cntr* c, const Origin& origin) {
    if (c != nullptr) adopt_simple(c, &c->ops, origin);
}
void adopt(fid_wait* w, const Origin& origin) {
    if (w != nullptr) adopt_simple(w, &w->ops, origin);
}
void adopt(fid_poll* p, const Origin& origin) {
    if (p != nullptr) adopt_simple(p, &p->ops, origin);
}
void adopt(fid* f, const Origin& origin) { make(f, origin); }
void adopt_handle(fid* handle) {
    // Its tables, if it has any, are not the program's to call.
    if (handle == nullptr || find(handle) != nullptr) return;
    auto* object = new (std::nothrow) Object;
    if (object == nullptr) return;
    object->pointer = handle;
    object->number = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
    if (!objects().put(handle, object)) delete object;
}
void adopt(fid_mc* m, const Origin& origin) {
    if (m != nullptr) make(&m->fid, origin);
}

void adopt(fid_domain* d, const Origin& origin) {
    if (d == nullptr) return;
    Object* object = make(&d->fid, origin);
    if (object == nullptr) return;
    add_table(*object, Slot::Own, &d->ops, replace_members<fi_ops_domain>);
    add_table(*object, Slot::Mr, &d->mr, replace_members<fi_ops_mr>);
}

void adopt(fid_pep* p, const Origin& origin) {
    if (p == nullptr) return;
    Object* object = make(&p->fid, origin);
    if (object == nullptr) return;
    add_table(*object, Slot::Own, &p->ops, replace_members<fi_ops_ep>);
    add_table(*object, Slot::Cm, &p->cm, replace_members<fi_ops_cm>);
}

void adopt(fid_ep* e, const Origin& origin) {
    if (e == nullptr) return;
    Object* object = make(&e->fid, origin);
    if (object == nullptr) return;
    object->is_endpoint = true;
    add_table(*object, Slot::Own, &e->ops, replace_members<fi_ops_ep>);
    add_table(*object, Slot::Cm, &e->cm, replace_members<fi_ops_cm>);
    add_table(*object, Slot::Msg, &e->msg, replace_members<fi_ops_msg>);
    add_table(*object, Slot::Rma, &e->rma, replace_members<fi_ops_rma>);
    add_table(*object, Slot::Tagged, &e->tagged, replace_members<fi_ops_tagged>);
    add_table(*object, Slot::Atomic, &e->atomic, replace_members<fi_ops_atomic>);
    add_table(*object, Slot::Collective, &e->collective, replace_members<fi_ops_collective>);
}

void adopt(fid_mr* m, const Origin& origin) {
    if (m == nullptr) return;
    Object* object = make(&m->fid, origin);
    if (object == nullptr || m->mem_desc == nullptr) return;
    object->descriptor = m->mem_desc;
    regions().put(m->mem_desc, object->number);
}

Object* find(const void* pointer) { return objects().get(pointer); }

Object* owner_of(const void* stand_in) { return static_cast<Object* const*>(stand_in)[-1]; }

void copy_originals(const Object& object, fid_ep* copy) {
    const auto* source = reinterpret_cast<const char*>(object.pointer);
    for (const Object::Table& table : object.tables) {
        if (table.stand_in == nullptr) continue;
        auto* at = reinterpret_cast<void**>(reinterpret_cast<char*>(copy) +
                                            (reinterpret_cast<const char*>(table.at) - source));
        if (*at == table_in(table.stand_in)) *at = table.original;
    }
}

void refresh(Object& object) {
    for (Object::Table& table : object.tables) {
        if (table.at == nullptr) continue;
        void* const now = *table.at;
        const bool ours = table.stand_in != nullptr && now == table_in(table.stand_in);
        if (ours && std::memcmp(table.original, table.snapshot, table.size) == 0) continue;
        if (ours) *table.at = table.original;
        // The old stand-in may be in use by the call that led here, and is never freed: a provider exchanges tables
        // once.
        Object::Table before = table;
        table.stand_in = nullptr;
        table.snapshot = nullptr;
        stand_in_for(object, table);
        if (table.stand_in == nullptr) {
            table = before;
            if (ours) *table.at = table_in(table.stand_in);
            continue;
        }
        std::free(before.snapshot);
    }
}

Object* release(fid* pointer) {
    Object* object = objects().take(pointer);
    if (object == nullptr) return nullptr;
    if (object->descriptor != nullptr) regions().take(object->descriptor);
    for (Object::Table& table : object->tables)
        if (table.stand_in != nullptr && *table.at == table_in(table.stand_in)) *table.at = table.original;
    return object;
}

void restore(Object* object) {
    for (Object::Table& table : object->tables)
        if (table.stand_in != nullptr && *table.at == table.original) *table.at = table_in(table.stand_in);
    if (object->descriptor != nullptr) regions().put(object->descriptor, object->number);
    objects().put(object->pointer, object);
}

void discard(Object* object) {
    for (Object::Table& table : object->tables) forget_table(table);
    delete object;
}

std::uint64_t number_of(const void* pointer) {
    const Object* object = find(pointer);
    return object != nullptr ? object->number : 0;
}

std::uint64_t region_of(void* descriptor) { return regions().get(descriptor); }

}  // namespace selvage::record
