// A device for datagrams inside one process, strict about what a transport may do: memory must be registered, queues
// must not overflow, queue pairs change their states in order, and an address handle stays until the requests that name
// it have completed.
//
// A request is carried out when it is posted; its completion comes at once, or when release() is called (`holds`). What
// breaks a rule fails the test in the end. One at a time; not for several threads.
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "impl/net/address.h"
#include "impl/transport/verbs/verbs_domain.h"

namespace selvage::impl::test {

using Gid = std::array<uint8_t, 16>;

class FakeDatagrams {
public:
    FakeDatagrams();
    ~FakeDatagrams();
    FakeDatagrams(const FakeDatagrams&) = delete;
    FakeDatagrams& operator=(const FakeDatagrams&) = delete;

    // What the transport is given.
    verbs::RdmaLibrary library;
    verbs::VerbsDomain domain;
    std::vector<Gid> gids;  // of the port

    // What tests set.
    uint32_t inline_max = 256;
    int handle_error = 0;                        // errno of the next handles
    bool holds = false;                          // completions of sends wait for release()
    bool starts_again = true;                    // queue pairs that failed can be used again
    bool tells_late = false;                     // of receives that a pair had before it started again
    ibv_wc_status next_status = IBV_WC_SUCCESS;  // of the next send
    std::string (*route)(const Gid& from, const Gid& to) = nullptr;  // what stands before a datagram
    void release();
    void remove();  // the device is taken away
    // A datagram from elsewhere, or something that claims to be one.
    void inject(uint32_t queue_pair, const std::string& route, const std::string& bytes, uint32_t from);

    // What tests look at.
    std::vector<std::string> broken_rules;
    size_t inlined = 0;
    size_t dropped = 0;  // found no receive, or nobody
    size_t handles_made = 0;
    size_t starts = 0;  // of queue pairs
    Gid last_to{};      // where the last datagram went
    size_t handles_open() const { return handles_.size(); }
    size_t regions_open() const { return regions_.size(); }
    size_t receives_posted(uint32_t queue_pair) const;
    // The ids of those.
    template <typename Visit>
    void receives_of(uint32_t queue_pair, Visit visit) const {
        for (const auto& [id, piece] : pairs_.at(queue_pair)->receives) visit(id);
    }

private:
    friend struct DatagramCalls;
    struct Queue {
        ibv_cq base{};
        std::deque<ibv_wc> entries;
        bool armed = false;
    };
    struct Pair {
        ibv_qp base{};
        Queue* completions = nullptr;
        ibv_qp_cap cap{};
        ibv_qp_state state = IBV_QPS_RESET;
        uint32_t key = 0;
        Gid gid{};
        std::deque<std::pair<uint64_t, ibv_sge>> receives;
        std::deque<std::pair<uint64_t, ibv_ah*>> sent;  // not completed
        std::optional<uint64_t> first_id;               // of a receive
        std::optional<uint64_t> told_late;
    };
    struct Handle {
        ibv_ah base{};
        Gid to{};
        Gid from{};
    };
    void rule(bool kept, const std::string& what);
    void complete(Pair& pair, const ibv_wc& entry);
    void complete_sends(Pair& pair);
    int post(Pair& pair, const ibv_send_wr& request);
    void fail(Pair& pair, uint64_t id, ibv_wc_status status);
    bool covered(const ibv_sge& piece) const;

    ibv_context context_{};
    rdma_cm_id holder_{};
    std::map<uint32_t, std::unique_ptr<ibv_mr>> regions_;
    std::map<uint32_t, std::unique_ptr<Pair>> pairs_;
    std::set<Handle*> handles_;
    std::set<rdma_cm_id*> ids_;
    std::mutex removal_;  // a device may be removed by another thread than the one that uses it: guards events_
    std::deque<rdma_cm_event> events_;
    uint32_t next_number_ = 0x100;
    std::atomic<bool> removed_{false};  // likewise; a flag alone, so any order will do
};

// "::ffff:a.b.c.d" of 10.77.0.N.
Gid gid_of_host(uint8_t number);
// As RoCE over IPv4 has it: the header of that, at the end.
std::string ipv4_route(const Gid& from, const Gid& to);

}  // namespace selvage::impl::test
