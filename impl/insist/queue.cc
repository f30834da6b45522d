// Completion queues of endpoints with checks (insist.h): each entry is read by itself, in the largest format, and
// looked at before the application sees it.
#include "impl/catalog/duties.h"
#include "impl/events/cq.h"
#include "impl/insist/insist.h"

namespace selvage::impl {
namespace {

const fi_ops_cq& plain() { return kCqOps[FI_CQ_FORMAT_TAGGED]; }

constexpr size_t kEntrySizes[] = {sizeof(fi_cq_entry), sizeof(fi_cq_entry), sizeof(fi_cq_msg_entry),
                                  sizeof(fi_cq_data_entry), sizeof(fi_cq_tagged_entry)};
static_assert(FI_CQ_FORMAT_CONTEXT == 1 && FI_CQ_FORMAT_TAGGED == 4);

// What FI_NOTIFY_FLAGS_ONLY leaves of the flags (fi_cq(3)).
constexpr uint64_t kNotifyFlags = FI_REMOTE_READ | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA | FI_MULTI_RECV;

// False: the operation has failed instead, and the queue has an error entry of it.
bool look_at(CompletionQueue& cq, fi_cq_tagged_entry* entry) {
    if (!complete_operation(cq, *entry, false)) {
        cq.write_error(failure_of(entry->flags, entry->op_context, entry->tag, FI_EINVAL));
        return false;
    }
    if ((duties().mode & FI_MSG_PREFIX) && (entry->flags & FI_RECV)) entry->len += kMessagePrefix;
    if (duties().mode & FI_NOTIFY_FLAGS_ONLY) entry->flags &= kNotifyFlags;
    return true;
}

// Entries behind the `taken` that are in the buffer already.
ssize_t read_more(CompletionQueue& cq, void* buffer, size_t count, fi_addr_t* sources, size_t taken) {
    const size_t size = kEntrySizes[cq.format];
    while (taken < count) {
        fi_cq_tagged_entry entry;
        const ssize_t result = sources ? plain().readfrom(&cq.descriptor, &entry, 1, sources + taken)
                                       : plain().read(&cq.descriptor, &entry, 1);
        if (result != 1) return taken ? static_cast<ssize_t>(taken) : result;
        if (!look_at(cq, &entry)) continue;
        memcpy(static_cast<char*>(buffer) + taken * size, &entry, size);
        ++taken;
    }
    return static_cast<ssize_t>(taken);
}

ssize_t readfrom(fid_cq* descriptor, void* buffer, size_t count, fi_addr_t* sources) {
    auto& cq = *CompletionQueue::of(descriptor);
    look_at_vectors(cq);
    if (!count || !buffer) return plain().readfrom(descriptor, buffer, count, sources);
    return read_more(cq, buffer, count, sources, 0);
}

ssize_t read(fid_cq* descriptor, void* buffer, size_t count) { return readfrom(descriptor, buffer, count, nullptr); }

ssize_t sreadfrom(fid_cq* descriptor, void* buffer, size_t count, fi_addr_t* sources, const void* condition,
                  int timeout) {
    auto& cq = *CompletionQueue::of(descriptor);
    look_at_vectors(cq);
    if (!count || !buffer) return plain().sreadfrom(descriptor, buffer, count, sources, condition, timeout);
    fi_cq_tagged_entry entry;
    const ssize_t result = sources ? plain().sreadfrom(descriptor, &entry, 1, sources, condition, timeout)
                                   : plain().sread(descriptor, &entry, 1, condition, timeout);
    if (result != 1) return result;
    if (!look_at(cq, &entry)) return read_more(cq, buffer, count, sources, 0);
    memcpy(buffer, &entry, kEntrySizes[cq.format]);
    return read_more(cq, buffer, count, sources, 1);
}

ssize_t sread(fid_cq* descriptor, void* buffer, size_t count, const void* condition, int timeout) {
    return sreadfrom(descriptor, buffer, count, nullptr, condition, timeout);
}

ssize_t readerr(fid_cq* descriptor, fi_cq_err_entry* error, uint64_t flags) {
    auto& cq = *CompletionQueue::of(descriptor);
    const ssize_t result = plain().readerr(descriptor, error, flags);
    if (result != 1) return result;
    const fi_cq_tagged_entry entry{.op_context = error->op_context,
                                   .flags = error->flags,
                                   .len = error->len,
                                   .buf = nullptr,
                                   .data = 0,
                                   .tag = error->tag};
    complete_operation(cq, entry, true);
    if ((duties().mode & FI_MSG_PREFIX) && (error->flags & FI_RECV)) error->len += kMessagePrefix;
    return result;
}

int signal(fid_cq* descriptor) { return plain().signal(descriptor); }

const char* strerror(fid_cq* descriptor, int error, const void* data, char* buffer, size_t length) {
    return plain().strerror(descriptor, error, data, buffer, length);
}

}  // namespace

constinit const fi_ops_cq kCheckedCqOps = {
    .size = sizeof(fi_ops_cq),
    .read = read,
    .readfrom = readfrom,
    .readerr = readerr,
    .sread = sread,
    .sreadfrom = sreadfrom,
    .signal = signal,
    .strerror = strerror,
};

}  // namespace selvage::impl
