// The transfer of a piece of work: taken from a call, and posted when its time has come.
#pragma once

#include "impl/domain/work.h"
#include "impl/endpoint/ep.h"
#include "impl/endpoint/triggered.h"

namespace selvage::impl {

// What is there for an endpoint from its first work on.
struct EndpointWork {
    // By this alias deferred work is posted: nothing is reported of it unless it is asked for, and every operation has
    // FI_TRIGGER (triggered.h).
    Endpoint silent;
    uint64_t blocked_in[2] =
        {};  // the last run of the queue in which transmits, receives were answered with -FI_EAGAIN
};
EndpointWork* create_endpoint_work(Endpoint& base);

// FI_INJECT asks for a copy at the call, and buffers are not read before the operation begins. A hint of more to follow
// is worth nothing later.
inline constexpr uint64_t kTransmitFlags = FI_COMPLETION | FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE |
                                           FI_TRANSMIT_COMPLETE | FI_INJECT_COMPLETE | FI_FENCE | FI_REMOTE_CQ_DATA |
                                           FI_MORE;

// Checks what does not depend on the time, and copies the vectors. 0 or a negative fabric errno.
int take_transfer(LongWork* work, const Endpoint& endpoint, const TransferCall& call);
// As the call that was put off would have, apart from its reports if it is deferred.
ssize_t post_transfer(Work& work);
// The operation failed before it began, or was cancelled.
void report_failure(Work& work, int error);

}  // namespace selvage::impl
