// A device and its connection manager inside one process, strict about what the verbs transport may do: memory must be
// registered for what is done with it, queues must not overflow, and a message must find a receive.
//
// Every request is carried out when it is posted, unless `holds` keeps it; what breaks a rule is counted and fails the
// test in the end. One at a time; not for several threads.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "impl/transport/verbs/verbs_domain.h"

namespace selvage::impl::test {

struct FakeQueue {  // of completions
    ibv_cq base{};
    std::deque<ibv_wc> entries;
    bool armed = false;
};

struct FakePair {
    ibv_qp base{};
    FakeQueue* completions = nullptr;
    FakePair* other = nullptr;
    ibv_qp_cap cap{};
    bool failed = false;
    bool joined = false;  // created without an identifier
    ibv_qp_state state = IBV_QPS_RESET;
    std::deque<ibv_recv_wr> receives;
    std::deque<ibv_sge> places;                  // of the receives
    std::deque<std::pair<uint64_t, bool>> sent;  // places taken in the send queue: id, and whether it is signalled
};

struct FakeId {
    rdma_cm_id base{};
    FakeId* other = nullptr;
    bool listens = false;
    bool connected = false;
};

struct FakeChannel {
    rdma_event_channel base{};
    struct Entry {
        rdma_cm_event event;
        std::vector<uint8_t> data;
    };
    std::deque<Entry> entries;
    Entry current;  // handed out and not acknowledged
};

class FakeDevice {
public:
    FakeDevice();
    ~FakeDevice();
    FakeDevice(const FakeDevice&) = delete;
    FakeDevice& operator=(const FakeDevice&) = delete;

    static FakeDevice*& current();

    // What the transport is given.
    verbs::RdmaLibrary library;
    verbs::VerbsDomain domain;

    // What tests set.
    uint32_t inline_max = 220;
    bool registers = true;                 // registrations made from now on succeed
    size_t regions_max = SIZE_MAX;         // that can be open at once
    std::function<void()> on_register;     // called in the middle of a registration
    size_t pairs_max = SIZE_MAX;           // without an identifier that can be open at once
    bool connects_pairs = true;            // without an identifier
    bool answers_calls = true;             // otherwise connection requests get no answer
    void fail_pair(ibv_wc_status status);  // the next request fails with it
    void remove();                         // the device is taken away

    // What tests look at.
    std::vector<std::string> broken_rules;
    size_t posts = 0;     // calls of ibv_post_send
    size_t requests = 0;  // requests in them
    size_t signalled = 0;
    size_t inlined = 0;
    size_t bytes_sent = 0;  // of messages
    size_t fenced = 0;
    size_t accesses = 0;  // reads, writes, atomics
    size_t registrations = 0;
    int longest_queue = 0;  // of completions, as was asked for
    size_t regions_open() const { return regions_.size(); }
    size_t pairs_open() const { return pairs_.size(); }
    // The receives that are posted at the end that called last.
    template <typename Visit>
    void receives_of_last_caller(Visit visit) const {
        for (size_t i = 0; i < last_caller_->receives.size(); ++i) {
            visit(last_caller_->receives[i], last_caller_->places[i]);
        }
    }
    size_t ids_open() const { return ids_.size(); }

private:
    friend struct FakeCalls;
    void rule(bool kept, const char* what);
    void notify(FakeChannel* channel, rdma_cm_event_type type, FakeId* id, FakeId* listener, int status,
                const void* data, size_t size);
    FakeId* listener_at(const sockaddr& address);
    void complete(FakePair& pair, uint64_t id, ibv_wc_opcode opcode, ibv_wc_status status, uint32_t length,
                  const uint32_t* immediate);
    int post_one(FakePair& pair, const ibv_send_wr& request);
    bool carry_out(FakePair& pair, const ibv_send_wr& request, const std::string& bytes);
    ibv_wc_status deliver(FakePair& pair, const ibv_send_wr& request, const std::string& bytes);
    ibv_wc_status reach(const ibv_send_wr& request, const std::string& bytes, std::string* back);
    void fail(FakePair& pair);
    ibv_mr* region_of(uint32_t key, uint64_t address, size_t size, int access);

    ibv_context context_{};
    struct Region {
        ibv_mr base{};
        uint64_t iova = 0;
        int access = 0;
    };
    std::map<uint32_t, std::unique_ptr<Region>> regions_;
    std::set<FakeId*> ids_;
    std::map<uint32_t, FakePair*> pairs_;  // without an identifier
    uint32_t next_pair_ = 100;
    uint32_t next_key_ = 0x1000;
    uint16_t next_port_ = 20000;
    ibv_wc_status next_status_ = IBV_WC_SUCCESS;
    bool removed_ = false;
    FakePair* last_caller_ = nullptr;
};

}  // namespace selvage::impl::test
