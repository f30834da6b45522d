// See session.h.
#include "conformance/bench/transfer/session.h"

#include <algorithm>
#include <memory>
#include <optional>

#include "conformance/bench/subject.h"
#include "conformance/bench/transfer/crowd.h"
#include "conformance/bench/transfer/operate.h"
#include "conformance/bench/transfer/plan.h"

namespace selvage::conformance::bench::transfer {
namespace {

/// Rows that one pair of endpoints serves: those that an application would open for one purpose.
struct Family {
    Request request;
    bool crowd = false;  ///< leaves peers behind; alone, therefore
    std::vector<Item> items;
};

bool is_crowd(Kind kind) { return kind != Kind::Latency && kind != Kind::Bandwidth && kind != Kind::Rate; }

std::vector<Family> families_of(Rows rows) {
    std::vector<Family> out;
    for (const auto* row : rows) {
        const Item item = item_of(*row);
        const std::uint64_t caps = caps_of(item.operation);
        const bool crowd = is_crowd(item.kind);
        auto found = std::find_if(out.begin(), out.end(),
                                  [&](const Family& f) { return !crowd && !f.crowd && f.request.caps == caps; });
        if (found == out.end())
            found = out.insert(
                out.end(), {{item.provider->provider, item.provider->type, caps, item.provider->registers}, crowd, {}});
        found->items.push_back(item);
    }
    return out;
}

/// The ground, if it opens on both sides.  Both call it.  @return why not; empty if it does.
std::string open_ground(const Entries& entries, const Request& request, Link& link, std::optional<Ground>& out) {
    std::string own;
    try {
        out.emplace(entries, request);
    } catch (const CannotMeasure& e) {
        own = e.what();
    }
    link.send(own);
    const std::string other = link.receive();
    return own.empty() ? other : own;
}

/// Tells the same of all.
void cannot(const Family& family, const Tell& tell, const std::string& why) {
    for (const auto& item : family.items) tell.cannot(*item.row, why);
}

void measure_family(const Family& family, Port& port, const Setting& setting, const Tell& tell) {
    for (const auto& item : family.items) {
        tell.begin(*item.row);
        hurry(setting, true);
        const auto samples =
            family.crowd ? measure_crowd(port, item, setting.effort) : measure(port, item, setting.effort);
        give(port, {Order::What::Rest});
        hurry(setting, false);
        tell.samples(*item.row, samples);
    }
    send_value(port.link(), Order{});
    as_value<bool>(port.link().receive_during([&] { port.reap(); }));
}

void near_side(const std::string& library, const std::vector<Family>& families, Link& link, const Setting& setting,
               const Tell& tell) {
    const auto opened = open_for_measuring(library);
    for (const auto& family : families) {
        std::optional<Ground> ground;
        const std::string why = open_ground(opened->entries(), family.request, link, ground);
        if (!why.empty()) {
            cannot(family, tell, why);
            continue;
        }
        Port port(*ground, link);
        try {
            meet(port, true);
        } catch (const CannotMeasure& e) {
            cannot(family, tell, e.what());
            throw;  // the far process may be anywhere: others are measured by a new session
        }
        measure_family(family, port, setting, tell);
    }
}

void serve_family(Port& port, const Card& near, const Setting& setting) {
    Crowd crowd(port, near);
    while (true) {
        const auto order = as_value<Order>(port.link().receive_during([&] { port.reap(); }));
        hurry(setting, order.what != Order::What::Rest && order.what != Order::What::End);
        switch (order.what) {
            case Order::What::Rest:
                send_value(port.link(), true);
                break;
            case Order::What::End:
                return send_value(port.link(), true);
            case Order::What::Crowd:
            case Order::What::Greet:
            case Order::What::Flood:
                crowd.serve(order);
                break;
            default:
                serve(port, order);
        }
    }
}

void far_side(const std::string& library, const std::vector<Family>& families, Link& link, const Setting& setting) {
    const auto opened = open_for_measuring(library);
    for (const auto& family : families) {
        std::optional<Ground> ground;
        if (!open_ground(opened->entries(), family.request, link, ground).empty()) continue;
        Port port(*ground, link);
        serve_family(port, meet(port, false), setting);
    }
}

}  // namespace

Card meet(Port& port, bool near) {
    const bool connected = port.ground().info->ep_attr->type == FI_EP_MSG;
    if (!connected) port.open_unconnected();
    if (connected) near ? port.connect() : port.accept();
    Link& link = port.link();
    send_value(link, port.card());
    const auto other = receive_value<Card>(link);
    if (connected) port.know_memory(other);
    if (!connected) port.know(other);
    return other;
}

void transfer_session(const std::string& library, Rows rows, const Setting& setting, const Tell& tell) {
    const auto families = families_of(rows);
    TwoProcesses both(setting, [&](Link& link) { far_side(library, families, link, setting); });
    near_side(library, families, both.link(), setting, tell);
}

}  // namespace selvage::conformance::bench::transfer
