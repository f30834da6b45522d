// See settings.h.
#include "impl/transport/shm/settings.h"

#include "impl/config/param.h"

namespace selvage::impl::shm {
namespace {

const Param<bool> kPullRow{"shm", "pull", true,
                           "Read long transfers out of the peer's memory (process_vm_readv) where that is faster"};

}  // namespace

bool may_pull() { return kPullRow.get(); }

}  // namespace selvage::impl::shm
