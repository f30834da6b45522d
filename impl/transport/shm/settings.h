// The parameters of the shared-memory transport (FI_SHM_...): one function per row, read when it is asked.
#pragma once

namespace selvage::impl::shm {

// Long transfers may be read out of a peer's memory by the kernel, where that was measured to be faster.
bool may_pull();
// Their senders may copy a part of them into this process, and this one into others (shared_pull.h).
bool may_share();

}  // namespace selvage::impl::shm
