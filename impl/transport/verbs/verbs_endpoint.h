// What the table of the verbs provider (verbs.cc) names of its data path.
#pragma once

#include "impl/domain/mr.h"
#include "impl/endpoint/connect.h"

namespace selvage::impl {

int start_verbs_endpoint(Endpoint& endpoint);
extern const ConnectionOps kVerbsConnections;
extern const MemoryOps kVerbsMemory;

}  // namespace selvage::impl
