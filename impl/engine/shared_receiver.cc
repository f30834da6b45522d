// See shared_receiver.h.
#include "impl/engine/shared_receiver.h"

#include "impl/catalog/capabilities.h"
#include "impl/endpoint/atomic_types.h"
#include "impl/endpoint/endpoint_ops.h"

namespace selvage::impl {
namespace {

constexpr size_t kReceivesDefault = 1024;
constexpr fi_ops_rma kMissingMemory = answering_rma<-FI_ENOSYS>();
constexpr fi_ops_atomic kMissingAtomic = answering_atomic<-FI_ENOSYS>();

int control_receive(fid*, int command, void*) {
    // A shared receive context is usable as it is opened.
    return command == FI_ENABLE ? 0 : without_command(command);
}

constexpr fi_ops kReceiveFidOps =
    make_fid_ops(close_context<SharedReceiver>, kMissing<decltype(fi_ops::bind)>, control_receive);

}  // namespace

int domain_open_shared_receive(fid_domain* descriptor, fi_rx_attr* attr, fid_ep** result, void* context) {
    if (!descriptor || !result) return -FI_EINVAL;
    *result = nullptr;
    if (attr && (attr->caps & ~kKnownCaps)) return -FI_EINVAL;
    auto* domain = Domain::of(descriptor);
    Use use(domain->uses);
    if (!use) return -FI_EINVAL;
    auto* shared = create<SharedReceiver>();
    if (!shared) return -FI_ENOMEM;
    if (attr) shared->attr = *attr;
    if (!shared->attr.size) shared->attr.size = kReceivesDefault;
    if (!shared->attr.iov_limit) shared->attr.iov_limit = kRangesMax;
    shared->domain = domain;
    shared->min_multi_recv = kMinMultiRecv;
    shared->context.set_size(shared->attr.size);
    if (Endpoint::buffers(shared->attr)) shared->context.buffer_receives();
    shared->context.directed = shared->attr.caps & FI_DIRECTED_RECV;
    fid_ep& ep = shared->descriptor;
    init_fid(ep.fid, FI_CLASS_SRX_CTX, context, kReceiveFidOps);
    ep.ops = const_cast<fi_ops_ep*>(&kSharedReceiveEp);
    ep.cm = const_cast<fi_ops_cm*>(&kMissingCm);
    ep.msg = const_cast<fi_ops_msg*>(&kSharedReceiveMsg);
    ep.rma = const_cast<fi_ops_rma*>(&kMissingMemory);
    ep.tagged = const_cast<fi_ops_tagged*>(&kSharedReceiveTagged);
    ep.atomic = const_cast<fi_ops_atomic*>(&kMissingAtomic);
    ep.collective = const_cast<fi_ops_collective*>(&kMissingCollective);
    use.keep();
    *result = &shared->descriptor;
    return 0;
}

}  // namespace selvage::impl
