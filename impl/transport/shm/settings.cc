// See settings.h.
#include "impl/transport/shm/settings.h"

#include "impl/config/param.h"

namespace selvage::impl::shm {
namespace {

const Param<bool> kPullRow{"shm", "pull", true,
                           "Read long transfers out of the peer's memory (process_vm_readv) where that is faster"};

const Param<bool> kShareRow{"shm", "pull_shared", true,
                            "Let both processes copy long transfers (process_vm_writev) that one of them would read"};

}  // namespace

bool may_pull() { return kPullRow.get(); }
bool may_share() { return kShareRow.get(); }

}  // namespace selvage::impl::shm
