// See suites.h.
#include "conformance/bench/suites.h"

#include "conformance/bench/collective/session.h"
#include "conformance/bench/contexts/session.h"
#include "conformance/bench/getinfo.h"
#include "conformance/bench/many/connect_floor.h"
#include "conformance/bench/many/session.h"
#include "conformance/bench/transfer/floor.h"
#include "conformance/bench/transfer/plan.h"
#include "conformance/bench/transfer/session.h"

namespace selvage::conformance::bench {
namespace {

constexpr Suite kSuites[] = {
    {"getinfo", "what discovery costs: fi_getinfo and what goes with it", getinfo_workloads},
    {"transfer",
     "what messages cost: latency, bandwidth and rate over shm, tcp and verbs, beside what the machine allows",
     transfer::transfer_workloads, transfer::transfer_session, transfer::transfer_floors, transfer::floor_session},
    {"collective", "what collective operations cost among two, four and eight processes, over shm and tcp",
     collective::collective_workloads, collective::collective_session},
    {"contexts", "what contexts of one scalable endpoint cost beside as many endpoints, over shm and tcp",
     contexts::context_workloads, contexts::context_session},
    {"many",
     "what many peers cost: processes that all send to all, endpoints that send to one, addresses, first messages",
     many::many_workloads, many::many_session, many::many_floors, many::connect_floor_session},
};

}  // namespace

std::span<const Suite> suites() { return kSuites; }

const Suite* find_suite(std::string_view name) {
    for (const auto& s : kSuites) {
        if (name == s.name) return &s;
    }
    return nullptr;
}

}  // namespace selvage::conformance::bench
