// An endpoint that is opened in this process: see endpoint.h.
//
// What closing returns is not looked at.
#pragma once

#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <map>
#include <memory>

#include "conformance/drive/endpoint/opened_domain.h"
#include "conformance/drive/endpoint/post.h"

namespace selvage::conformance {

class LocalEndpoint : public Endpoint {
public:
    /// @param setup how its queues, counters and defaults are set up
    /// @param memory of kMemoryLength, which outlives it
    LocalEndpoint(std::shared_ptr<OpenedDomain> domain, const TransferSequence& setup, unsigned char* memory);
    ~LocalEndpoint() override;

    Outcome open(bool listens) override;
    Outcome connect(const std::string& peer) override;
    Outcome poll_connection() override;
    Outcome cover(std::size_t used) override;
    RemoteRegion region(std::uint64_t access) override;
    std::int64_t post(const PostedCall& call) override;
    std::uint64_t valid_count(const model::Operation& o) override;
    std::string read(bool transmit, std::vector<QueueEntry>& out) override;
    CounterValues counters() override;
    void close() override;

private:
    bool ok(std::int64_t ret, const char* call);
    bool listen();
    bool open_endpoint(fi_info* info);
    bool bind_counters();
    bool insert(const std::string& address, fi_addr_t& as);
    bool accept(fi_info* request);
    bool take_event(fid_eq* eq, std::uint32_t expected, fi_eq_cm_entry& entry);
    fid_mr* registered(unsigned char* at, std::size_t length, std::uint64_t access);
    std::string read_error(fid_cq* cq, std::vector<QueueEntry>& out);

    std::shared_ptr<OpenedDomain> domain_;
    const TransferSequence setup_;
    Outcome outcome_;
    fid_ep* ep_ = nullptr;
    fid_cq* queue_[2] = {};  // FI_RECV, FI_TRANSMIT
    fid_av* av_ = nullptr;
    fid_cntr* counter_[kCounters] = {};
    fi_addr_t peer_ = FI_ADDR_UNSPEC;
    fi_addr_t self_ = FI_ADDR_UNSPEC;
    fid_eq* eq_ = nullptr;
    fid_eq* listening_ = nullptr;
    fid_pep* pep_ = nullptr;
    fi_info* request_ = nullptr;
    bool connected_ = false;
    fid_mr* local_ = nullptr;  // of the arena's first part
    std::size_t local_length_ = 0;
    struct Region {
        fid_mr* mr = nullptr;
        RemoteRegion named;
    };
    std::map<std::uint64_t, Region> regions_;       // of the target's memory, by remote access
    std::map<std::uint64_t, Arguments> arguments_;  // by context: kept as long as it, for providers that look again
};

}  // namespace selvage::conformance
