// See cq.h.
#include "impl/core/cq.h"

#include <cstdio>

#include "impl/core/domain.h"

namespace selvage::impl {

// Nothing completes without a data path.
bool CompletionQueue::pending() { return false; }

namespace {

constexpr size_t kDefaultSize = 1024;
constexpr size_t kMaxSize = size_t{1} << 22;

ssize_t read_cq(fid_cq*, void*, size_t) { return -FI_EAGAIN; }

ssize_t readfrom_cq(fid_cq* cq, void* buffer, size_t count, fi_addr_t*) { return read_cq(cq, buffer, count); }

ssize_t read_cq_error(fid_cq*, fi_cq_err_entry* buffer, uint64_t flags) {
    if (!buffer) return -FI_EINVAL;
    return flags ? -FI_EBADFLAGS : -FI_EAGAIN;
}

// Blocks until a completion, a signal of fi_cq_signal, an interruption or the deadline.
ssize_t sread_cq(fid_cq* descriptor, void* buffer, size_t count, const void*, int timeout) {
    auto* cq = CompletionQueue::of(descriptor);
    if (!cq->wait.blocks()) return -FI_EINVAL;
    const Deadline deadline(timeout);
    const uint32_t wakeups = cq->wakeups.load();
    for (;;) {
        const uint32_t seen = cq->wait.generation();
        const ssize_t result = read_cq(descriptor, buffer, count);
        if (result != -FI_EAGAIN) return result;
        if (cq->wakeups.load() != wakeups) return -FI_EAGAIN;
        if (cq->wait.wait(seen, deadline) != WaitObject::Woken::kSignal) return -FI_EAGAIN;
    }
}

ssize_t sreadfrom_cq(fid_cq* cq, void* buffer, size_t count, fi_addr_t*, const void* condition, int timeout) {
    return sread_cq(cq, buffer, count, condition, timeout);
}

int signal_cq(fid_cq* descriptor) {
    auto* cq = CompletionQueue::of(descriptor);
    if (cq->wait.kind() == FI_WAIT_NONE) return -FI_EINVAL;
    cq->wakeups.fetch_add(1);
    cq->wait.signal();
    return 0;
}

const char* strerror_cq(fid_cq*, int provider_errno, const void*, char* buffer, size_t length) {
    const char* text = fi_strerror(provider_errno);
    if (!buffer || !length) return text;
    snprintf(buffer, length, "%s", text);
    return buffer;
}

int close_cq(fid* descriptor) {
    auto* cq = object_of<CompletionQueue>(descriptor);
    if (!cq->uses.close()) return -FI_EBUSY;
    cq->wait.close();
    cq->domain->uses.release();
    destroy(cq);
    return 0;
}

int control_cq(fid* descriptor, int command, void* argument) {
    return object_of<CompletionQueue>(descriptor)->wait.control(command, argument);
}

constexpr fi_ops kFidOps = make_fid_ops(close_cq, kMissing<decltype(fi_ops::bind)>, control_cq);
constexpr fi_ops_cq kCqOps = {
    .size = sizeof(fi_ops_cq),
    .read = read_cq,
    .readfrom = readfrom_cq,
    .readerr = read_cq_error,
    .sread = sread_cq,
    .sreadfrom = sreadfrom_cq,
    .signal = signal_cq,
    .strerror = strerror_cq,
};

int check(const fi_cq_attr& asked) {
    if (asked.flags & ~FI_AFFINITY) return asked.flags & FI_PEER ? -FI_ENOSYS : -FI_EBADFLAGS;
    if (asked.format < FI_CQ_FORMAT_UNSPEC || asked.format > FI_CQ_FORMAT_TAGGED) return -FI_EINVAL;
    if (asked.wait_obj != FI_WAIT_NONE && asked.wait_cond != FI_CQ_COND_NONE &&
        asked.wait_cond != FI_CQ_COND_THRESHOLD) {
        return -FI_EINVAL;
    }
    return asked.size > kMaxSize ? -FI_EINVAL : 0;
}

}  // namespace

int domain_open_cq(fid_domain* descriptor, fi_cq_attr* attr, fid_cq** result, void* context) {
    if (!descriptor || !result) return -FI_EINVAL;
    *result = nullptr;
    const fi_cq_attr asked = attr ? *attr : fi_cq_attr{};
    int error = check(asked);
    if (error) return error;
    auto* domain = Domain::of(descriptor);
    Use use(domain->uses);
    if (!use) return -FI_EINVAL;
    auto* cq = create<CompletionQueue>();
    if (!cq) return -FI_ENOMEM;
    cq->member.object = cq;
    cq->member.pending = [](void* object) { return static_cast<CompletionQueue*>(object)->pending(); };
    error = cq->wait.open(asked.wait_obj, asked.wait_set, domain->fabric, &cq->member);
    if (error) {
        destroy(cq);
        return error;
    }
    cq->domain = domain;
    cq->format = asked.format ? asked.format : FI_CQ_FORMAT_CONTEXT;
    cq->size = asked.size ? asked.size : kDefaultSize;
    cq->condition = asked.wait_cond;
    init_fid(cq->descriptor.fid, FI_CLASS_CQ, context, kFidOps);
    cq->descriptor.ops = const_cast<fi_ops_cq*>(&kCqOps);
    use.keep();
    *result = &cq->descriptor;
    return 0;
}

}  // namespace selvage::impl
