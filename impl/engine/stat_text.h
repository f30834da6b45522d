// What the counters of an endpoint and of its peers are called: names for records, and lines for the log.
#pragma once

#include "impl/av/av.h"
#include "impl/endpoint/ep.h"
#include "impl/stat/stat_file.h"

namespace selvage::impl {

// The endpoint's own address as text.
void write_stat_name(const Endpoint& endpoint, char (&out)[kStatNameMax]);
// That of a peer; nothing if it is not known.
void write_stat_name(const Domain& domain, const AvEntry* entry, char (&out)[kStatNameMax]);

// One line at FI_LOG_INFO with all that an endpoint counted, when it is closed.
void log_endpoint_stat(const char* provider, const StatRecord& record);
// The same for a peer, with what is not zero. No line if all is.
void log_peer_stat(const char* provider, const StatRecord* record);

}  // namespace selvage::impl
