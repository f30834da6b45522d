// Two endpoints of one library that know each other, or are connected, and the memory that each brings along.
//
// Only for child processes: the library may do anything.  One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "conformance/base/library.h"
#include "conformance/case/case.h"
#include "conformance/drive/endpoint/agent_link.h"
#include "conformance/drive/endpoint/opened_domain.h"

namespace selvage::conformance {

class Pair {
public:
    /// Asks the case's call and opens what its exchange says.  @return nullptr with the return value and the name of
    /// the call that failed; ret 0 if the answer has no such entry.
    /// @param agent where side B is opened; nullptr: in this process, by the domain of side A
    static std::unique_ptr<Pair> open(const Entries& entries, const Case& c, std::int64_t& ret, std::string& failed,
                                      AgentLink* agent = nullptr);
    ~Pair();
    Pair(const Pair&) = delete;
    Pair& operator=(const Pair&) = delete;

    [[nodiscard]] const fi_info& info() const { return *domain_->info(); }
    /// The entry as it was answered, before the exchange's flags were added.
    [[nodiscard]] const model::Info& answered() const { return domain_->answered(); }
    [[nodiscard]] bool is_in_one_process() const { return in_one_process_; }
    Endpoint& end(model::Side side) { return *ends_[static_cast<std::size_t>(side)]; }
    /// Puts an endpoint around that of a side, in its place.
    using Around = std::function<std::unique_ptr<Endpoint>(std::unique_ptr<Endpoint>)>;
    void wrap(model::Side side, const Around& around) {
        auto& end = ends_[static_cast<std::size_t>(side)];
        end = around(std::move(end));
    }
    /// The peer's region of a side, for these accesses.
    RemoteRegion region_of_peer(model::Side side, std::uint64_t access) { return end(peer_of(side)).region(access); }

private:
    Pair() = default;
    Outcome open_ends();
    Outcome await_connection();

    Mapping memory_[2] = {Mapping(Mapping::Sharing::Private), Mapping(Mapping::Sharing::Private)};
    std::shared_ptr<OpenedDomain> domain_;
    bool in_one_process_ = true;
    std::unique_ptr<Endpoint> ends_[2];
};

}  // namespace selvage::conformance
