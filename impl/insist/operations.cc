// See operations.h.
#include "impl/insist/operations.h"

#include <cstdio>

#include "impl/base/create.h"
#include "impl/base/lock.h"
#include "impl/catalog/duties.h"
#include "impl/endpoint/ep.h"
#include "impl/endpoint/structured_calls.h"

namespace selvage::impl {

struct InsistedOperation {
    InsistedOperation* next = nullptr;
    BegunCall call{};
    bool marked = false;   // its context has been written to
    bool broken = false;   // a rule has been broken meanwhile
    bool watched = false;  // its vector is to be read again
    iovec ranges[kPartsMax];
    void* regions[kPartsMax];
};

namespace {

using Operation = InsistedOperation;

constexpr uint64_t kMark = 0x5e1f'a6e0'c0de'0001;
constexpr int kReturned = 0xdb;  // of a context that is the application's again

struct {
    Mutex lock;
    Operation* buckets[1024] = {};
} table;

Operation** bucket_of(const void* context) {
    const uint64_t mixed = reinterpret_cast<uintptr_t>(context) * 0x9e3779b97f4a7c15ULL;
    return &table.buckets[mixed >> 54];
}

size_t context_size() {
    if (duties().mode & FI_CONTEXT2) return sizeof(fi_context2);
    return duties().mode & FI_CONTEXT ? sizeof(fi_context) : 0;
}

// Each word tells another context, so that a copied one is found.
void mark(void* context) {
    auto* words = static_cast<uint64_t*>(context);
    for (size_t i = 0; i < context_size() / sizeof *words; ++i)
        words[i] = kMark ^ reinterpret_cast<uintptr_t>(&words[i]);
}

bool is_marked(const void* context) {
    const auto* words = static_cast<const uint64_t*>(context);
    for (size_t i = 0; i < context_size() / sizeof *words; ++i) {
        if (words[i] != (kMark ^ reinterpret_cast<uintptr_t>(&words[i]))) return false;
    }
    return true;
}

const char* context_bit() { return duties().mode & FI_CONTEXT2 ? "FI_CONTEXT2" : "FI_CONTEXT"; }

void log_context(const char* call, const void* context, const char* what) {
    char line[256];
    snprintf(line, sizeof line, "the context %p %s", context, what);
    log_breach(call, context_bit(), "fi_getinfo(3)", line);
}

void insert(Operation* operation) {
    Operation** link = bucket_of(operation->call.context);
    while (*link) link = &(*link)->next;
    *link = operation;
}

Operation* find(const void* context) {
    Operation* each = *bucket_of(context);
    while (each && each->call.context != context) each = each->next;
    return each;
}

void unlink(Operation* operation) {
    Operation** link = bucket_of(operation->call.context);
    while (*link && *link != operation) link = &(*link)->next;
    if (*link) *link = operation->next;
}

// An operation with a context that is somebody else's is none.
int check_context(const BegunCall& call) {
    if (!call.context || reinterpret_cast<uintptr_t>(call.context) % alignof(fi_context)) {
        log_context(call.name, call.context, "is no struct fi_context");
        return -FI_EINVAL;
    }
    const char* other = nullptr;
    {
        LockGuard guard(table.lock);
        const Operation* known = find(call.context);
        if (known) other = known->call.name;
    }
    if (!other) return 0;
    char what[128];
    snprintf(what, sizeof what, "is that of an operation under way (%s)", other);
    log_context(call.name, call.context, what);
    return -FI_EINVAL;
}

void watch_vector(Operation* operation) {
    const BegunCall& call = operation->call;
    operation->watched = true;
    memcpy(operation->ranges, call.ranges, call.count * sizeof *call.ranges);
    if (call.regions) memcpy(operation->regions, call.regions, call.count * sizeof *call.regions);
}

bool vector_is_unchanged(const Operation& operation) {
    const BegunCall& call = operation.call;
    if (memcmp(operation.ranges, call.ranges, call.count * sizeof *call.ranges) != 0) return false;
    return !call.regions || memcmp(operation.regions, call.regions, call.count * sizeof *call.regions) == 0;
}

}  // namespace

int begin_operation(const BegunCall& call, Operation** result) {
    *result = nullptr;
    if (context_size()) {
        const int error = check_context(call);
        if (error) return error;
    }
    auto* operation = create<Operation>();
    if (!operation) return -FI_ENOMEM;
    operation->call = call;
    const bool has_vector = call.ranges && call.count > 1 && call.count <= kPartsMax;
    if (has_vector && (duties().mode & FI_ASYNC_IOV)) watch_vector(operation);
    if (context_size()) {
        operation->marked = true;
        mark(call.context);
    }
    LockGuard guard(table.lock);
    insert(operation);
    *result = operation;
    return 0;
}

void take_back(Operation* operation) {
    if (!operation) return;
    {
        LockGuard guard(table.lock);
        unlink(operation);
    }
    destroy(operation);
}

bool complete_operation(const CompletionQueue& queue, const fi_cq_tagged_entry& entry, bool failed) {
    Operation* operation;
    {
        LockGuard guard(table.lock);
        operation = find(entry.op_context);
        if (!operation || operation->call.queue != &queue) return true;
        if (operation->call.many && !failed && !(entry.flags & FI_MULTI_RECV)) return true;
        unlink(operation);
    }
    if (operation->marked && !is_marked(operation->call.context)) {
        log_context(operation->call.name, operation->call.context, "was written to before the operation completed");
        operation->broken = true;
    }
    if (operation->marked) memset(operation->call.context, kReturned, context_size());
    const bool kept = !operation->broken;
    destroy(operation);
    return kept;
}

void look_at_vectors(const CompletionQueue& queue) {
    if (!(duties().mode & FI_ASYNC_IOV)) return;
    LockGuard guard(table.lock);
    for (Operation* each : table.buckets) {
        for (; each; each = each->next) {
            if (!each->watched || each->call.queue != &queue) continue;
            each->watched = false;
            if (vector_is_unchanged(*each)) continue;
            each->broken = true;
            log_breach(each->call.name, "FI_ASYNC_IOV", "fi_getinfo(3)",
                       "the vector or its descriptors were changed before the operation completed");
        }
    }
}

void forget_operations(const Endpoint& endpoint) {
    LockGuard guard(table.lock);
    for (Operation*& bucket : table.buckets) {
        for (Operation** link = &bucket; *link;) {
            Operation* each = *link;
            if (each->call.endpoint != &endpoint) {
                link = &each->next;
                continue;
            }
            *link = each->next;
            destroy(each);
        }
    }
}

}  // namespace selvage::impl
