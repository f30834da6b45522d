// What an endpoint was opened with, as the engine needs it: read once when the endpoint is enabled, and not changed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace selvage::impl {

struct Endpoint;

struct EngineOptions {
    bool connected = false;             // one peer, and no address vector
    bool may_receive = false;           // messages
    bool strict = false;                // completions in the order of posting
    bool ordered_writes = false;        // writes after reads
    bool ordered_after_writes = false;  // anything after writes
    bool ordered_accesses = false;      // one access after another
    bool direct = false;                // a device may access memory, as far as order goes
    bool rma_events = false;            // FI_RMA_EVENT
    bool commits = false;               // FI_RMA_PMEM
    bool data_takes_receive = false;    // FI_RX_CQ_DATA is insisted on (catalog/duties.h)
    bool names_regions = false;         // FI_MR_LOCAL
    bool bounded = false;               // FI_RM_ENABLED: the queue may not be overrun
    bool domain_locked = true;          // regions may come and go in other threads
    size_t inject_max = 0;
    size_t message_max = 0;
    size_t iov_max = 0;
    size_t receive_iov_max = 0;
    size_t rma_iov_max = 0;
    uint64_t access_caps = 0;  // FI_REMOTE_READ, FI_REMOTE_WRITE: what peers may do
};

EngineOptions engine_options(const Endpoint& endpoint);

}  // namespace selvage::impl
