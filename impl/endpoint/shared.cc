// See shared.h: the shared transmit context.
#include "impl/endpoint/shared.h"

#include "impl/base/layout.h"
#include "impl/catalog/capabilities.h"
#include "impl/endpoint/endpoint_ops.h"

namespace selvage::impl {
namespace {

// A shared context is usable as it is opened.
int control_transmit(fid*, int command, void*) { return command == FI_ENABLE ? 0 : without_command(command); }

constexpr fi_ops kTransmitFidOps =
    make_fid_ops(close_context<SharedTransmit>, kMissing<decltype(fi_ops::bind)>, control_transmit);

}  // namespace

int domain_open_shared_transmit(fid_domain* descriptor, fi_tx_attr* attr, fid_stx** result, void* context) {
    if (!descriptor || !result) return -FI_EINVAL;
    *result = nullptr;
    if (attr && (attr->caps & ~kKnownCaps)) return -FI_EINVAL;
    auto* domain = Domain::of(descriptor);
    Use use(domain->uses);
    if (!use) return -FI_EINVAL;
    auto* shared = create<SharedTransmit>();
    if (!shared) return -FI_ENOMEM;
    if (attr) memcpy(&shared->attr, attr, sizes_of(layout_of_version(domain->version())).tx);
    shared->domain = domain;
    init_fid(shared->descriptor.fid, FI_CLASS_STX_CTX, context, kTransmitFidOps);
    shared->descriptor.ops = const_cast<fi_ops_ep*>(&kMissingEp);
    use.keep();
    *result = &shared->descriptor;
    return 0;
}

}  // namespace selvage::impl
