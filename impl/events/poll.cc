// The poll set: which completion queues and counters of a domain have news.
#include <cstdlib>

#include "impl/base/lock.h"
#include "impl/events/cntr.h"
#include "impl/events/cq.h"
#include "impl/fabric/domain_core.h"

namespace selvage::impl {
namespace {

struct PollItem {
    PollItem* next;
    fid* member;
};

struct PollSet {
    fid_poll descriptor{};
    UseCount uses;
    DomainCore* domain = nullptr;
    Mutex lock;  // protects the list
    PollItem* first = nullptr;
};

UseCount* uses_of(fid* member, const DomainCore* domain) {
    if (member->fclass == FI_CLASS_CQ) {
        auto* cq = object_of<CompletionQueue>(member);
        return cq->domain == domain ? &cq->uses : nullptr;
    }
    if (member->fclass == FI_CLASS_CNTR) {
        auto* counter = object_of<Counter>(member);
        return counter->domain == domain ? &counter->uses : nullptr;
    }
    return nullptr;
}

bool has_news(fid* member) {
    if (member->fclass == FI_CLASS_CQ) return object_of<CompletionQueue>(member)->pending();
    return object_of<Counter>(member)->poll_news();
}

void advance(fid* member) {
    if (member->fclass == FI_CLASS_CQ) {
        object_of<CompletionQueue>(member)->progress.advance();
    } else {
        object_of<Counter>(member)->progress.advance();
    }
}

PollItem** find(PollSet* set, const fid* member) {
    PollItem** link = &set->first;
    while (*link && (*link)->member != member) link = &(*link)->next;
    return link;
}

int poll_set(fid_poll* descriptor, void** contexts, int count) {
    auto* set = object_of<PollSet>(descriptor);
    if (count < 0 || (count && !contexts)) return -FI_EINVAL;
    LockGuard guard(set->lock);
    for (const PollItem* item = set->first; item; item = item->next) advance(item->member);
    int found = 0;
    for (PollItem* item = set->first; item && found < count; item = item->next) {
        if (has_news(item->member)) contexts[found++] = item->member->context;
    }
    return found;
}

int add_to_set(fid_poll* descriptor, fid* member, uint64_t flags) {
    auto* set = object_of<PollSet>(descriptor);
    if (!member) return -FI_EINVAL;
    if (flags) return -FI_EBADFLAGS;
    UseCount* uses = uses_of(member, set->domain);
    if (!uses) return -FI_EINVAL;
    LockGuard guard(set->lock);
    PollItem** link = find(set, member);
    if (*link) return 0;
    auto* item = static_cast<PollItem*>(malloc(sizeof(PollItem)));
    if (!item) return -FI_ENOMEM;
    if (!uses->acquire()) {
        free(item);
        return -FI_EINVAL;
    }
    *item = {.next = nullptr, .member = member};
    *link = item;
    return 0;
}

int remove_from_set(fid_poll* descriptor, fid* member, uint64_t flags) {
    auto* set = object_of<PollSet>(descriptor);
    if (!member) return -FI_EINVAL;
    if (flags) return -FI_EBADFLAGS;
    LockGuard guard(set->lock);
    PollItem** link = find(set, member);
    PollItem* item = *link;
    if (!item) return -FI_EINVAL;
    *link = item->next;
    uses_of(member, set->domain)->release();
    free(item);
    return 0;
}

int close_poll_set(fid* descriptor) {
    auto* set = object_of<PollSet>(descriptor);
    // Members are to be removed first: the set is associated with them.
    {
        LockGuard guard(set->lock);
        if (set->first) return -FI_EBUSY;
    }
    if (!set->uses.close()) return -FI_EBUSY;
    set->domain->uses.release();
    destroy(set);
    return 0;
}

constexpr fi_ops kFidOps = make_fid_ops(close_poll_set);
constexpr fi_ops_poll kPollOps = {
    .size = sizeof(fi_ops_poll),
    .poll = poll_set,
    .poll_add = add_to_set,
    .poll_del = remove_from_set,
};

}  // namespace

int domain_open_poll(fid_domain* descriptor, fi_poll_attr* attr, fid_poll** result) {
    if (!descriptor || !result) return -FI_EINVAL;
    *result = nullptr;
    if (attr && attr->flags) return -FI_EBADFLAGS;
    auto* domain = DomainCore::of(descriptor);
    Use use(domain->uses);
    if (!use) return -FI_EINVAL;
    auto* set = create<PollSet>();
    if (!set) return -FI_ENOMEM;
    set->domain = domain;
    init_fid(set->descriptor.fid, FI_CLASS_POLL, nullptr, kFidOps);
    set->descriptor.ops = const_cast<fi_ops_poll*>(&kPollOps);
    use.keep();
    *result = &set->descriptor;
    return 0;
}

}  // namespace selvage::impl
