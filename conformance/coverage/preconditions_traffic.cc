// See preconditions_traffic.h.
#include "conformance/coverage/preconditions_traffic.h"

#include <fmt/format.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <algorithm>
#include <array>

#include "model/spec/clause.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

using namespace model;
using C = Clause;

bool some_offer(const Facts& facts, const auto& holds) {
    return std::any_of(facts.profiles.begin(), facts.profiles.end(),
                       [&](const Profile& p) { return std::any_of(p.entries.begin(), p.entries.end(), holds); });
}

std::uint64_t applied(const Facts& facts, Clause c) { return facts.result.tally.applied[static_cast<std::size_t>(c)]; }
std::uint64_t broken(const Facts& facts, Clause c) { return facts.result.tally.broken[static_cast<std::size_t>(c)]; }

// Capabilities that a clause speaks of, by the beginning or the end of its id.
struct ByName {
    std::string_view begin, end;
    std::uint64_t caps;
};
constexpr auto kByName = std::to_array<ByName>({
    {"msg.", "", FI_MSG},
    {"tagged.", "", FI_TAGGED},
    {"rma.", "", FI_RMA},
    {"atomic.", "", FI_ATOMIC},
    {"cq.flags.tagged", "", FI_TAGGED},
    {"cq.tag.", "", FI_TAGGED},
    {"cq.level.match", "", FI_TAGGED},
    {"cq.flags.rma", "", FI_RMA},
    {"cq.flags.read", "", FI_RMA},
    {"cq.flags.write", "", FI_RMA},
    {"cq.flags.remote-write", "", FI_RMA},
    {"cq.level.delivery-write", "", FI_RMA},
    {"cq.flags.atomic", "", FI_ATOMIC},
    {"cq.flags.fetching-atomic", "", FI_ATOMIC},
    {"msg.multi-recv.", "", FI_MULTI_RECV},
    {"cq.buf.multi-recv", "", FI_MULTI_RECV},
    {"cq.flags.multi-recv", "", FI_MULTI_RECV},
    {"", ".fence.order", FI_FENCE},
    {"", ".match.source", FI_DIRECTED_RECV},
    {"cq.source.told", "", FI_SOURCE},
    {"cntr.count.remote-", "", FI_RMA_EVENT},
    {"getinfo.caps.msg-operations", "", FI_MSG},
    {"getinfo.caps.tagged-operations", "", FI_TAGGED},
    {"getinfo.caps.rma-operations", "", FI_RMA},
    {"getinfo.caps.atomic-operations", "", FI_ATOMIC},
    {"getinfo.caps.source-data", "", FI_SOURCE},
    {"getinfo.caps.directed-recv-matches", "", FI_DIRECTED_RECV},
    {"getinfo.caps.fence-orders", "", FI_FENCE},
    {"getinfo.caps.multi-recv-flag", "", FI_MULTI_RECV},
    {"getinfo.caps.read-initiates", "", FI_RMA | FI_ATOMIC},
    {"getinfo.caps.write-initiates", "", FI_RMA | FI_ATOMIC},
    {"getinfo.caps.remote-read-serves", "", FI_RMA | FI_ATOMIC},
    {"getinfo.caps.remote-write-serves", "", FI_RMA | FI_ATOMIC},
    {"getinfo.caps.rma-event-completes", "", FI_RMA_EVENT},
    {"domain.rm.rma-", "", FI_RMA | FI_ATOMIC},
    {"domain.mr.scalable-offsets", "", FI_RMA},
    {"domain.caps.loopback", "", FI_LOCAL_COMM},
});

std::string no_capability(std::string_view id, const Facts& facts) {
    for (const ByName& n : kByName) {
        if (!id.starts_with(n.begin) || !id.ends_with(n.end)) continue;
        if (!some_offer(facts, [&](const Entry& e) { return ((e.offer.caps | e.also_caps) & n.caps) != 0; }))
            return fmt::format("no offer has {} in caps", print_value(Family::caps, n.caps));
    }
    return {};
}

// Clauses of messages between endpoints that know each other by address.
std::string only_connected(std::string_view id, const Facts& facts) {
    if (!id.starts_with("cq.source.") && !id.ends_with(".match.source") && id != "getinfo.caps.source-data" &&
        id != "getinfo.caps.directed-recv-matches")
        return {};
    if (some_offer(facts, [](const Entry& e) { return e.offer.ep.type != FI_EP_MSG; })) return {};
    return "no offer is of an endpoint without connections";
}

std::string no_counters(std::string_view id, const Facts& facts) {
    const bool of_counters = id.starts_with("cntr.") || id == "getinfo.caps.rma-event-completes";
    if (!of_counters || some_offer(facts, [](const Entry& e) { return e.offer.domain.cntr_cnt != 0; })) return {};
    return "no offer has counters: domain_attr.cntr_cnt is 0";
}

// A number of the domain's attributes that the clause speaks of, and no offer has.
struct ByAttribute {
    Clause clause;
    Field field;
    std::uint64_t value;
};
constexpr auto kByAttribute = std::to_array<ByAttribute>({
    {C::domain_progress_auto, Field::domain_data_progress, FI_PROGRESS_AUTO},
    {C::domain_progress_manual, Field::domain_data_progress, FI_PROGRESS_MANUAL},
    {C::domain_rm_enabled_protects, Field::domain_resource_mgmt, FI_RM_ENABLED},
    {C::domain_rm_context_full_enabled, Field::domain_resource_mgmt, FI_RM_ENABLED},
    {C::domain_rm_queue_full_enabled, Field::domain_resource_mgmt, FI_RM_ENABLED},
    {C::domain_rm_target_reliable_enabled, Field::domain_resource_mgmt, FI_RM_ENABLED},
    {C::domain_rm_target_datagram, Field::ep_type, FI_EP_DGRAM},
    {C::domain_rm_overrun_datagram, Field::ep_type, FI_EP_DGRAM},
});

std::string no_attribute(Clause c, const Facts& facts) {
    for (const ByAttribute& a : kByAttribute) {
        if (a.clause != c || some_offer(facts, [&](const Entry& e) { return get(e.offer, a.field) == a.value; }))
            continue;
        return fmt::format("no offer has {} as {}", print_value(row(a.field).family, a.value), row(a.field).path);
    }
    return {};
}

// Modes that the application promises, and the offers need or do without.
std::string other_mode(Clause c, const Facts& facts) {
    constexpr std::uint64_t kContext = FI_CONTEXT | FI_CONTEXT2;
    const auto mode = [](const Entry& e) { return e.offer.mode | e.offer.tx.mode | e.offer.rx.mode; };
    if (c == C::getinfo_mode_context_size &&
        !some_offer(facts, [&](const Entry& e) { return (mode(e) & kContext) != 0; }))
        return "no offer has FI_CONTEXT or FI_CONTEXT2 in mode";
    if (c == C::getinfo_mode_context && !some_offer(facts, [&](const Entry& e) { return (mode(e) & kContext) == 0; }))
        return "every offer has FI_CONTEXT or FI_CONTEXT2 in mode";
    if (c == C::getinfo_mode_rx_cq_data && applied(facts, C::cq_flags_remote_write) == 0)
        return "no entry told of an RMA write that carries data";
    if (c == C::domain_mr_local_registration &&
        !some_offer(facts, [](const Entry& e) { return (e.offer.domain.mr_mode & FI_MR_LOCAL) == 0; }))
        return "every offer has FI_MR_LOCAL in domain_attr.mr_mode";
    return {};
}

// What is promised of all that was sent, where any of it may be lost.
std::string only_datagrams(const Facts& facts) {
    if (some_offer(facts, [](const Entry& e) { return e.offer.ep.type != FI_EP_DGRAM; })) return {};
    return "no offer is of a reliable endpoint: of datagrams no more is judged than of those that come";
}

std::string no_order(Clause c, const Facts& facts) {
    const bool transmit = c == C::cq_order_transmit;
    if (!transmit && c != C::cq_order_receive) return {};
    if (some_offer(facts, [&](const Entry& e) {
            return ((transmit ? e.offer.tx.comp_order : e.offer.rx.comp_order) & FI_ORDER_STRICT) != 0;
        }))
        return {};
    return fmt::format("no offer has FI_ORDER_STRICT in {}_attr.comp_order", transmit ? "tx" : "rx");
}

// Looks at messages need not be taken; claims follow a look that found something.
std::string no_looks(std::string_view id, const Facts& facts) {
    if (!id.starts_with("tagged.peek.") && !id.starts_with("tagged.claim.") && !id.starts_with("tagged.discard."))
        return {};
    if (applied(facts, C::tagged_call_accepted) == 0) return {};
    if (broken(facts, C::tagged_peek_told) != 0)
        return "hidden behind a promise that is broken: " + std::string(clause_text(C::tagged_peek_told).id);
    if (applied(facts, C::tagged_peek_told) == 0) return "no call with FI_PEEK was accepted";
    if (id.starts_with("tagged.peek.") || applied(facts, C::tagged_peek_found) == 0) return {};
    return "no call with FI_CLAIM or FI_DISCARD was accepted";
}

// These look at nothing but what makes the reason.
std::string nothing_of_the_kind(Clause c, std::string_view id, const Facts& facts) {
    if (id.ends_with(".call.errno") && applied(facts, C::endpoint_open_each_answer) != 0) return "no call was refused";
    if ((c == C::msg_call_again || c == C::domain_rm_context_full_enabled) && applied(facts, C::msg_call_accepted) != 0)
        return "no call was answered with -FI_EAGAIN";
    if (c == C::atomic_valid_count && applied(facts, C::atomic_call_accepted) != 0)
        return "every call for many values was within what the valid calls say";
    if (c == C::atomic_valid_unsupported && applied(facts, C::atomic_call_accepted) != 0)
        return "the valid calls say that all is supported";
    if (c == C::domain_limits_error_data && applied(facts, C::endpoint_open_each_answer) != 0)
        return "no operation failed";
    if ((c == C::domain_rm_overrun_datagram || c == C::domain_rm_overrun_reliable) &&
        applied(facts, C::cq_len_received) != 0)
        return "no receive of a message that is too long for it was told";
    if (c == C::domain_rm_target_datagram && applied(facts, C::cq_len_received) != 0)
        return "no datagram was told that found no buffer";
    if ((c == C::cq_olen_discarded || c == C::cq_overrun_told) && applied(facts, C::cq_len_received) != 0)
        return "no message that was cut off was told as such";
    return {};
}

std::string pairs_do_not_open(const Facts& facts) {
    if (applied(facts, C::endpoint_open_each_answer) != 0) return {};
    return some_offer(facts, [](const Entry&) { return true; }) ? "no pair of endpoints could be opened"
                                                                : "there is no offer";
}

}  // namespace

std::string lacking_for_transfers(Clause clause, const Facts& facts) {
    const auto& text = clause_text(clause);
    if (text.judges != Judges::Traffic) return {};
    for (const std::string& reason :
         {no_capability(text.id, facts), only_connected(text.id, facts), no_order(clause, facts),
          no_counters(text.id, facts), no_attribute(clause, facts), other_mode(clause, facts), pairs_do_not_open(facts),
          no_looks(text.id, facts), nothing_of_the_kind(clause, text.id, facts), only_datagrams(facts)})
        if (!reason.empty()) return reason;
    const auto noted = [&](std::string_view what) {
        return std::any_of(facts.result.notes.begin(), facts.result.notes.end(), [&](const std::string& n) {
            return n.starts_with("traffic: ") && n.find(what) != std::string::npos;
        });
    };
    if (noted("were not run")) return "the library died or lost something too often for all exchanges to be run";
    if (noted("were passed over"))
        return "what would show it was passed over: it holds what ended the process or was lost";
    return "";
}

}  // namespace selvage::conformance
