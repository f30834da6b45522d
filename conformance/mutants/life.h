// Puts mutations between an application and the objects that it opens.
#pragma once

#include <rdma/fabric.h>

#include "conformance/mutants/mutant.h"

namespace selvage::mutants {

/// A fabric that the base opened, or failed to: hands it to the hooks and wraps its operations.
int fabric_opened(const LifeHooks& hooks, int ret, fid_fabric** fabric);

/// The format of the completion queue that is being opened, or was opened last.
std::uint64_t last_cq_format();

}  // namespace selvage::mutants
