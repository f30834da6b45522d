// An endpoint that is opened in this process, by the C code of conformance/runtime: see endpoint.h.
#pragma once

#include <map>
#include <memory>

#include "conformance/drive/endpoint/opened_domain.h"

namespace selvage::conformance {

class LocalEndpoint : public Endpoint {
public:
    /// @param memory of kMemoryLength, which outlives it
    LocalEndpoint(std::shared_ptr<OpenedDomain> domain, unsigned char* memory);
    ~LocalEndpoint() override;

    Outcome open(bool listens) override;
    Outcome connect(const std::string& peer) override;
    Outcome poll_connection() override;
    Outcome cover(std::size_t used) override;
    RemoteRegion region(std::uint64_t access) override;
    std::int64_t post(const PostedCall& call) override;
    std::uint64_t valid_count(const model::Operation& o) override;
    void read(unsigned looks, Arrivals& out) override;
    CounterValues counters() override;
    void close() override;

private:
    std::string read_one(int queue, std::vector<QueueEntry>& out);

    std::shared_ptr<OpenedDomain> domain_;
    side side_{};
    std::map<std::uint64_t, std::unique_ptr<arguments>> arguments_;  // by context: kept as long as it
};

}  // namespace selvage::conformance
