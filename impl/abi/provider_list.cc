// The providers that the library is built with, best first (registry.h). Adding a transport is its directory and its
// line here.
#include <iterator>

#include "impl/catalog/registry.h"
#ifdef SELVAGE_LOOPBACK
#include "impl/transport/loopback/loopback.h"
#endif
#include "impl/transport/shm/shm.h"
#include "impl/transport/tcp/tcp.h"
#include "impl/transport/udp/udp.h"
#include "impl/transport/verbs/verbs.h"

namespace selvage::impl {
namespace {

constexpr const Provider* kProviders[] = {
    &kVerbsProvider,    &kShmProvider, &kTcpProvider, &kUdpProvider,
#ifdef SELVAGE_LOOPBACK
    &kLoopbackProvider,
#endif
};
static_assert(std::size(kProviders) <= kProvidersMax);

}  // namespace

std::span<const Provider* const> all_providers() { return kProviders; }

}  // namespace selvage::impl
