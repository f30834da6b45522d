// See pair.h.
#include "conformance/drive/transfer/pair.h"

#include <rdma/fi_errno.h>

#include <chrono>
#include <thread>

#include "conformance/drive/endpoint/local_endpoint.h"
#include "conformance/drive/endpoint/remote_endpoint.h"

namespace selvage::conformance {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kConnectTime = 10s;
constexpr std::size_t kCoveredAtFirst = std::size_t{1} << 19;

}  // namespace

std::unique_ptr<Pair> Pair::open(const Entries& entries, const Case& c, std::int64_t& ret, std::string& failed,
                                 AgentLink* agent) {
    std::unique_ptr<Pair> pair(new Pair);
    Outcome outcome;
    pair->domain_ = OpenedDomain::open(entries, c, outcome);
    if (pair->domain_) {
        pair->in_one_process_ = agent == nullptr;
        const auto make_local = [&](int side) {
            return std::make_unique<LocalEndpoint>(pair->domain_, pair->memory_[side].data());
        };
        pair->ends_[0] = make_local(0);
        if (agent != nullptr)
            pair->ends_[1] = std::make_unique<RemoteEndpoint>(*agent, c);
        else
            pair->ends_[1] = make_local(1);
        outcome = pair->open_ends();
    }
    ret = outcome.ret;
    failed = outcome.failed;
    return outcome.ok() ? std::move(pair) : nullptr;
}

Outcome Pair::open_ends() {
    Endpoint& a = *ends_[0];
    Endpoint& b = *ends_[1];
    Outcome outcome = a.open(false);
    if (outcome.ok()) outcome = b.open(true);
    if (outcome.ok()) outcome = a.connect(b.address());
    if (outcome.ok()) outcome = b.connect(a.address());
    if (outcome.ok() && domain_->connected()) outcome = await_connection();
    for (const auto& end : ends_)
        if (outcome.ok()) outcome = end->cover(kCoveredAtFirst);
    return outcome;
}

// By turns: some providers connect only when the queues of both sides are read.
Outcome Pair::await_connection() {
    const auto until = Clock::now() + kConnectTime;
    for (;;) {
        const Outcome b = ends_[1]->poll_connection();
        const Outcome a = ends_[0]->poll_connection();
        if (a.ok() && b.ok()) return {};
        for (const Outcome& o : {b, a})
            if (!o.ok() && o.ret != -FI_EAGAIN) return o;
        if (Clock::now() > until) return {-FI_ETIMEDOUT, b.ok() ? a.failed : b.failed};
        std::this_thread::sleep_for(20us);
    }
}

Pair::~Pair() {
    for (const auto& end : ends_)
        if (end != nullptr) end->close();
}

}  // namespace selvage::conformance
