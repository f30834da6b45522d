// How a provider starts the data path of an endpoint: `.start = start_engine<ItsTransport>` in its Provider.
#pragma once

#include "impl/catalog/capabilities.h"
#include "impl/endpoint/collective_calls.h"
#include "impl/engine/engine_calls.h"
#include "impl/engine/memory_calls.h"

namespace selvage::impl {

template <Transport T, bool Locked>
void install_tables(Endpoint& endpoint) {
    const uint64_t transmit = endpoint.tx.caps;
    const bool sends = transmit & FI_SEND;
    const bool receives = endpoint.rx.caps & FI_RECV;
    const bool reads = transmit & FI_READ;
    const bool writes = transmit & FI_WRITE;
    const auto has = [&](uint64_t caps, bool with) { return (transmit & caps) && with; };
    const auto takes = [&](uint64_t caps) { return (endpoint.rx.caps & caps) && receives; };
    using Messages = MessageCalls<T, Locked>;
    using Memory = MemoryCalls<T, Locked>;
    fid_ep& ep = endpoint.descriptor;
    ep.msg = const_cast<fi_ops_msg*>(&Messages::kMessageTables[has(FI_MSG, sends)][takes(FI_MSG)]);
    ep.tagged = const_cast<fi_ops_tagged*>(&Messages::kTaggedTables[has(FI_TAGGED, sends)][takes(FI_TAGGED)]);
    ep.rma = const_cast<fi_ops_rma*>(&Memory::kRmaTables[has(FI_RMA, reads)][has(FI_RMA, writes)]);
    ep.collective =
        const_cast<fi_ops_collective*>(endpoint.caps & FI_COLLECTIVE ? &kCollectiveOps : &kMissingCollective);
    ep.atomic = const_cast<fi_ops_atomic*>(&Memory::kAtomicTables[has(FI_ATOMIC, reads)][has(FI_ATOMIC, writes)]);
}

template <Transport T, bool Locked>
int launch_engine(Endpoint& endpoint) {
    static_assert(DeviceSink<Engine<T, Locked>, typename T::Peer>);
    static_assert(!T::kPulls || KnowsOffers<Engine<T, Locked>, typename T::Peer>);
    auto* engine = create<Engine<T, Locked>>();
    if (!engine) return -FI_ENOMEM;
    int error = engine->open(endpoint);
    if (error) {
        destroy(engine);
        return error;
    }
    error = engine->attach();
    if (error) {
        engine->close_unattached();
        return error;
    }
    endpoint.path = engine;
    install_tables<T, Locked>(endpoint);
    return 0;
}

// Called while the endpoint is enabled, with its control lock.
template <Transport T>
int start_engine(Endpoint& endpoint) {
    // A shared receive context serves endpoints whose queues are read by different threads, or by event queues.
    const bool alone = endpoint.domain->serialised() && !endpoint.srx && !is_driven_by_events(endpoint) &&
                       !meets_closing_regions(endpoint);
    if (endpoint.caps & FI_HMEM) return launch_engine<Staged<T>, true>(endpoint);
    return alone ? launch_engine<T, false>(endpoint) : launch_engine<T, true>(endpoint);
}

}  // namespace selvage::impl
