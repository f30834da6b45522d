// See settings.h.
#include "impl/transport/tcp/settings.h"

#include "impl/core/param.h"

namespace selvage::impl::tcp {
namespace {

const Param<int> connect_row{"tcp", "connect_timeout", 10000,
                             "Milliseconds until a connection that could not be set up is reported as failed"};
const Param<int> peer_row{"tcp", "peer_timeout", 60000,
                          "Milliseconds after which a peer that takes no data is reported as gone, 0 for the system's"};

}  // namespace

int connect_timeout() {
    const int value = connect_row.get();
    return value > 0 ? value : connect_row.standard();
}

int peer_timeout() {
    const int value = peer_row.get();
    return value >= 0 ? value : peer_row.standard();
}

}  // namespace selvage::impl::tcp
