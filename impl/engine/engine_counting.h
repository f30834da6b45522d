// Engine: what it counts of itself and of its peers for others to see (stat/stat_file.h).
//
// Nothing is counted where a message goes its shortest way. A peer has a record from its first operation that could not
// be done at once, its first unexpected message or its first loss. When it goes down the record is kept, for the case
// that it comes again: the last of them (lost_peers.h). Its counters of what is kept are zero then; the messages that
// are still here are the endpoint's.
#pragma once

#include "impl/config/log.h"
#include "impl/engine/engine_base.h"
#include "impl/engine/lost_peers.h"
#include "impl/engine/stat_text.h"
#include "impl/stat/stat_file.h"

namespace selvage::impl {

template <Transport T, bool Locked>
class EngineCounting : public EngineBase<T, Locked> {
    using Base = EngineBase<T, Locked>;

protected:
    using typename Base::Peer;
    // From EngineBase and Receiver.
    using Base::count_stat, Base::endpoint_, Base::over_budget_, Base::raw_address_of, Base::stat_, Base::state_in,
        Base::states_;

    // Before the transport is opened, which counts, too.
    void open_stat() {
        stat_ = acquire_stat_record(StatType::Endpoint, next_endpoint_number(),
                                    endpoint_->domain->fabric->provider->name, "");
        endpoint_->stat = stat_;
    }

    // The address may have been chosen by the transport.
    void name_stat() {
        char name[kStatNameMax];
        write_stat_name(*endpoint_, name);
        rename_stat_record(stat_, name);
    }

    void close_stat() {
        lost_.release_all();
        release_stat_record(stat_);
        stat_ = endpoint_->stat = nullptr;
    }

    void log_stat() {
        const char* provider = endpoint_->domain->fabric->provider->name;
        if (!stat_ || !log_enabled_for(provider, FI_LOG_INFO, FI_LOG_EP_CTRL)) return;
        log_endpoint_stat(provider, *stat_);
        for (const PeerState* state = states_.first(); state; state = state->next) log_peer_stat(provider, state->stat);
        for (const StatRecord* record : lost_) log_peer_stat(provider, record);
    }

    void name_peer(Peer& peer, char (&name)[kStatNameMax]) {
        AvEntry entry;
        write_stat_name(*endpoint_->domain, raw_address_of(peer, &entry) ? &entry : nullptr, name);
    }

    // The one that it had before it went down, or a new one. nullptr when memory is short.
    StatRecord* record_of(Peer& peer) {
        char name[kStatNameMax];
        name_peer(peer, name);
        if (StatRecord* record = lost_.take(name)) return record;
        return acquire_stat_record(StatType::Peer, stat_ ? stat_->endpoint : 0,
                                   endpoint_->domain->fabric->provider->name, name);
    }

    // Once for each peer, until it is down: what else of it is under way may fail, too.
    void count_drop(Peer& peer, PeerState* state, int error) {
        const bool over_budget = over_budget_ || error == FI_ENOBUFS;
        over_budget_ = false;
        if (state && state->dropped) return;
        if (state) state->dropped = true;
        count_stat(peer, over_budget ? Stat::OverBudget : error == FI_ENOMEM ? Stat::NoMemory : Stat::BadFrames);
    }

    // Its peer state, if it has one, is dropped next.
    void count_loss(Peer& peer, int error) {
        PeerState* state = state_in(peer);
        StatRecord* record = state ? state->stat : record_of(peer);
        add_stat(stat_, Stat::Lost);
        add_stat(record, Stat::Lost);
        for (const Stat now :
             {Stat::KeptMessages, Stat::KeptBytes, Stat::Announcements, Stat::Answers, Stat::AnswerBytes}) {
            if (record) record->at(now).store(0, std::memory_order_relaxed);
        }
        set_peer_life(record, PeerLife::Down, error);
        lost_.keep(record);
        if (state) state->stat = nullptr;
    }

    void count_return(StatRecord* record) {
        if (!record || record->life != PeerLife::Down) return;
        set_peer_life(record, PeerLife::Active, 0);
        add_stat(stat_, Stat::Reconnects);
        add_stat(record, Stat::Reconnects);
    }

    // An answer that waited is sent, or given up.
    void count_answered(const PeerState& state, const Response& response) {
        for (StatRecord* record : {stat_, state.stat}) {
            subtract_stat(record, Stat::Answers);
            if (response.copied()) subtract_stat(record, Stat::AnswerBytes, response.copied());
        }
    }

    LostPeers lost_;
};

}  // namespace selvage::impl
