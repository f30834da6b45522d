// The interface headers of the distribution, included in one place.
//
// The library is built with hidden visibility. The headers' declarations say nothing of visibility, so they are
// included here as "default": the entry points are what the version script (libfabric.map) lets out, and nothing else.
// Every file of impl/ includes this header instead of rdma/*.h.
#pragma once

#include <poll.h>
#include <pthread.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#pragma GCC visibility push(default)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wshadow"
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/fi_trigger.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>
#pragma GCC diagnostic pop
#pragma GCC visibility pop

namespace selvage::impl {

// The release of the interface that this library speaks, and the version its providers report for themselves.
inline constexpr uint32_t kApiVersion = FI_VERSION(1, 18);
// The newest that programs which are bound to newer symbols may ask for (layout.h).
inline constexpr uint32_t kNewestVersion = FI_VERSION(2, 6);
inline constexpr uint32_t kProviderVersion = FI_VERSION(118, 0);

}  // namespace selvage::impl
