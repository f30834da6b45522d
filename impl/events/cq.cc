// See cq.h: opening, closing, and what the engine attaches.
#include "impl/events/cq.h"

#include "impl/fabric/domain_core.h"

namespace selvage::impl {

bool CompletionQueue::reserve(size_t operations) {
    lock();
    const bool fits = ring.grow_to(size + reserved + operations);
    if (fits) reserved += operations;
    unlock();
    return fits;
}

void CompletionQueue::unreserve(size_t operations) {
    lock();
    reserved -= operations;
    unlock();
}

// With automatic progress one thread looks for arrivals; who sleeps here is woken by what it writes.
int CompletionQueue::attach(Progressive* path) { return attach_to(*domain, progress, path); }

void CompletionQueue::detach(Progressive* path) { detach_from(*domain, progress, path); }

namespace {

constexpr size_t kDefaultSize = 1024;
constexpr size_t kMaxSize = size_t{1} << 22;

int close_cq(fid* descriptor) {
    auto* cq = object_of<CompletionQueue>(descriptor);
    if (!cq->uses.close()) return -FI_EBUSY;
    cq->progress.disarm_native();
    cq->wait.close();
    cq->domain->uses.release();
    destroy(cq);
    return 0;
}

int control_cq(fid* descriptor, int command, void* argument) {
    return object_of<CompletionQueue>(descriptor)->wait.control(command, argument);
}

constexpr fi_ops kFidOps = make_fid_ops(close_cq, kMissing<decltype(fi_ops::bind)>, control_cq);

int check(const fi_cq_attr& requested) {
    if (requested.flags & ~FI_AFFINITY) return requested.flags & FI_PEER ? -FI_ENOSYS : -FI_EBADFLAGS;
    if (requested.format < FI_CQ_FORMAT_UNSPEC || requested.format > FI_CQ_FORMAT_TAGGED) return -FI_EINVAL;
    if (requested.wait_obj != FI_WAIT_NONE && requested.wait_cond != FI_CQ_COND_NONE &&
        requested.wait_cond != FI_CQ_COND_THRESHOLD) {
        return -FI_EINVAL;
    }
    return requested.size > kMaxSize ? -FI_EINVAL : 0;
}

}  // namespace

int domain_open_cq(fid_domain* descriptor, fi_cq_attr* attr, fid_cq** result, void* context) {
    if (!descriptor || !result) return -FI_EINVAL;
    *result = nullptr;
    const fi_cq_attr requested = attr ? *attr : fi_cq_attr{};
    int error = check(requested);
    if (error) return error;
    auto* domain = DomainCore::of(descriptor);
    Use use(domain->uses);
    if (!use) return -FI_EINVAL;
    auto* cq = create<CompletionQueue>();
    if (!cq) return -FI_ENOMEM;
    cq->member.object = cq;
    cq->member.pending = [](void* object) { return static_cast<CompletionQueue*>(object)->pending(); };
    cq->member.progress = &cq->progress;
    cq->format = requested.format ? requested.format : FI_CQ_FORMAT_CONTEXT;
    cq->size = requested.size ? requested.size : kDefaultSize;
    cq->condition = requested.wait_cond;
    cq->domain = domain;
    cq->serialised = domain->serialised();
    cq->at_hand = cq->serialised ? cq->size : 0;
    prepare(*domain, cq->progress);
    error = cq->ring.grow_to(cq->size) ? 0 : -FI_ENOMEM;
    if (!error) error = cq->wait.open(requested.wait_obj, requested.wait_set, domain->fabric, &cq->member);
    if (error) {
        destroy(cq);
        return error;
    }
    init_fid(cq->descriptor.fid, FI_CLASS_CQ, context, kFidOps);
    cq->descriptor.ops = const_cast<fi_ops_cq*>(&kCqOps[cq->format]);
    use.keep();
    *result = &cq->descriptor;
    return 0;
}

}  // namespace selvage::impl
