// What the table of the verbs provider (verbs.cc) names of its data path.
#ifndef SELVAGE_IMPL_TRANSPORT_VERBS_VERBS_ENDPOINT_H
#define SELVAGE_IMPL_TRANSPORT_VERBS_VERBS_ENDPOINT_H

#include "impl/domain/mr.h"
#include "impl/endpoint/connect.h"

namespace selvage::impl {

int start_verbs_endpoint(Endpoint& endpoint);
extern const ConnectionOps kVerbsConnections;
extern const MemoryOps kVerbsMemory;

}  // namespace selvage::impl

#endif
