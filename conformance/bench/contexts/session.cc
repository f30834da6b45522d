// See session.h.
//
// A turn is a message of 8 B on each lane.  The far process has receives posted on all of them, and counts in the
// shared page the turns whose messages have come and whose receives are posted again: both ways of having lanes pay for
// that alike.
#include "conformance/bench/contexts/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "conformance/bench/contexts/lanes.h"
#include "conformance/bench/subject.h"
#include "conformance/bench/transfer/blocks.h"
#include "conformance/bench/transfer/link.h"

namespace selvage::conformance::bench::contexts {
namespace {

using transfer::Link;

constexpr std::size_t kMessage = 8;
constexpr unsigned kGlance = 4096;  // polls between looks at the peer

bool of_one_endpoint(const Workload& w) { return w.place.operation == "contexts"; }
/// "shm.contexts.64"
std::size_t lanes_of(const Workload& w) { return std::stoul(w.name.substr(w.name.rfind('.') + 1)); }

void exchange(Lanes& lanes, Link& link) {
    const auto own = lanes.addresses();
    std::vector<Address> peers;
    for (const auto& address : own) {
        transfer::send_value(link, address);
        peers.push_back(transfer::receive_value<Address>(link));
    }
    lanes.know(peers);
}

/// Serves one row.
void far_side(const std::string& library, const Workload& row, Link& link, const Setting& setting) {
    const auto opened = open_for_measuring(library);
    Lanes lanes(opened->entries(), row.place.provider, lanes_of(row), of_one_endpoint(row), false);
    exchange(lanes, link);
    for (std::size_t l = 0; l < lanes.count(); ++l) lanes.receive(l);
    transfer::send_value(link, true);
    transfer::hurry(setting, true);
    auto& page = link.page();
    for (std::uint64_t turn = 1; page.ended.load(std::memory_order_relaxed) == 0; ++turn) {
        for (std::size_t l = 0; l < lanes.count(); ++l) {
            while (lanes.done(l) < turn && page.ended.load(std::memory_order_relaxed) == 0) continue;
            if (page.ended.load(std::memory_order_relaxed) == 0) lanes.receive(l);
        }
        page.pong.store(turn, std::memory_order_release);
    }
    transfer::hurry(setting, false);
}

std::vector<double> measure(const std::string& library, const Workload& row, Link& link, const Setting& setting) {
    const auto opened = open_for_measuring(library);
    Lanes lanes(opened->entries(), row.place.provider, lanes_of(row), of_one_endpoint(row), true);
    exchange(lanes, link);
    transfer::receive_value<bool>(link);
    auto& page = link.page();
    std::uint64_t turn = 0;
    const auto since = transfer::Clock::now();
    const auto one = [&] {
        ++turn;
        for (std::size_t l = 0; l < lanes.count(); ++l) lanes.send(l);
        unsigned polls = 0;
        for (std::size_t l = 0; l < lanes.count(); ++l) {
            while (lanes.done(l) < turn) {
                if (++polls % kGlance == 0) link.look(since);
            }
        }
        for (std::size_t l = 0; page.pong.load(std::memory_order_acquire) < turn; l = (l + 1) % lanes.count()) {
            lanes.done(l);  // a library may need calls to finish what it began
            if (++polls % kGlance == 0) link.look(since);
        }
    };
    transfer::hurry(setting, true);
    one();
    const auto tried = transfer::time_blocks({3, 64}, one);
    const auto blocks = transfer::blocks_for(*std::min_element(tried.begin(), tried.end()), setting.effort);
    auto samples = transfer::in_helpings(
        blocks, setting.effort, [&](const transfer::Blocks& helping) { return transfer::time_blocks(helping, one); });
    transfer::hurry(setting, false);
    page.ended.store(1, std::memory_order_relaxed);
    for (double& s : samples) s = static_cast<double>(lanes.count()) * 1e9 / s;
    return samples;
}

Workload row(const char* provider, const char* operation, int count) {
    Workload w;
    w.name = fmt::format("{}.{}.{}", provider, operation, count);
    w.title = fmt::format("{} {}, 8 B", count, operation);
    w.quantity = Quantity::Messages;
    w.place = {provider, operation, "rate", kMessage};
    return w;
}

}  // namespace

std::vector<Workload> context_workloads() {
    std::vector<Workload> out;
    for (const char* provider : {"shm", "tcp"}) {
        for (const int count : {1, 8, static_cast<int>(kMost)}) {
            out.push_back(row(provider, "endpoints", count));
            out.push_back(row(provider, "contexts", count));
            out.back().beside = out[out.size() - 2].name;
            out.back().goal.beside = 0.95;  // as endpoints do, within what differs from run to run
        }
    }
    return out;
}

void context_session(const std::string& library, Rows rows, const Setting& setting, const Tell& tell) {
    for (const auto* row : rows) {
        tell.begin(*row);
        try {
            transfer::TwoProcesses both(setting, [&](Link& link) { far_side(library, *row, link, setting); });
            tell.samples(*row, measure(library, *row, both.link(), setting));
        } catch (const CannotMeasure& e) {
            tell.cannot(*row, e.what());
        }
    }
}

}  // namespace selvage::conformance::bench::contexts
