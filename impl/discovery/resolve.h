// Turns node, service and the addresses of hints into AddressSpecs, as fi_getinfo(3) says which of them count.
#pragma once

#include "impl/discovery/query.h"

namespace selvage::impl {

// Fills query.source and query.destination. Returns 0, -FI_ENODATA when no provider could use what is given, or
// -FI_ENOMEM. Asks the resolver only when node or service is a name.
int resolve_addresses(Query& query, const Table& table);
// Node and service alone, for callers that have no Query (address vectors).
int resolve_node(const char* node, const char* service, uint64_t flags, const Table* table, AddressSpec* out);

}  // namespace selvage::impl
