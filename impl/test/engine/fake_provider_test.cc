// The engine over the fake transport, compiled once for all tests.
#include "impl/engine/engine.h"
#include "impl/test/engine/node.h"

namespace selvage::impl::test {

const Provider& fake_provider(bool pulls) {
    static const Provider providers[2] = {
        {.name = "fake",
         .version = kProviderVersion,
         .layered_name = nullptr,
         .discover = nullptr,
         .endpoint_types = 0,
         .discover_follows_interfaces = false,
         .start = start_engine<FakeTransport<false>>},
        {.name = "fake",
         .version = kProviderVersion,
         .layered_name = nullptr,
         .discover = nullptr,
         .endpoint_types = 0,
         .discover_follows_interfaces = false,
         .start = start_engine<FakeTransport<true>>},
    };
    return providers[pulls];
}

}  // namespace selvage::impl::test
