// The parameters of the shared-memory transport (FI_SHM_...): one function per row, read when it is asked.
#pragma once

namespace selvage::impl::shm {

// Long transfers may be read out of a peer's memory by the kernel, where that was measured to be faster.
bool may_pull();

}  // namespace selvage::impl::shm
