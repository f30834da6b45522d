// See preconditions.h.
#include "conformance/coverage/preconditions.h"

#include <fmt/format.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <algorithm>

#include "model/spec/clause.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

using namespace model;

constexpr std::uint64_t kAny = ~std::uint64_t{0};

template <typename Holds>
bool some_entry(const ClauseText& clause, const Facts& facts, Holds&& holds) {
    for (const auto& p : facts.profiles) {
        if (p.version < clause.since || clause.until < p.version) continue;
        if (std::any_of(p.entries.begin(), p.entries.end(), holds)) return true;
    }
    return false;
}

// All that an entry was seen to have of a field: as offered, and as granted when asked for.
std::uint64_t most(const Entry& e, Field f) {
    const auto offered = get(e.offer, f);
    if (row(f).form == Form::Bits) return offered | get(e.most, f) | (f == Field::caps ? e.also_caps : 0);
    return std::max(offered, get(e.most, f));
}

std::uint64_t insisted(const Entry& e, Field f) {
    if (f == Field::mode) return e.needed_mode;
    // A caller before 1.5 says FI_LOCAL_MR where later ones say FI_MR_LOCAL.
    const bool local = (e.needed_mode & FI_LOCAL_MR) != 0;
    return e.needed_mr_mode | (local ? std::uint64_t{FI_MR_LOCAL} : 0);
}

bool is_socket(std::uint64_t format) {
    return format == FI_SOCKADDR || format == FI_SOCKADDR_IN || format == FI_SOCKADDR_IN6;
}

bool is_layered(const Facts& facts) { return facts.result.provider.find(';') != std::string::npos; }
std::uint64_t applied(const Facts& facts, Clause c) { return facts.result.tally.applied[static_cast<std::size_t>(c)]; }
std::uint64_t broken(const Facts& facts, Clause c) { return facts.result.tally.broken[static_cast<std::size_t>(c)]; }

std::string_view opening_call(ObjectClass c) {
    switch (c) {
        case ObjectClass::Eq:
            return "fi_eq_open";
        case ObjectClass::Cq:
            return "fi_cq_open";
        case ObjectClass::Cntr:
            return "fi_cntr_open";
        case ObjectClass::Av:
            return "fi_av_open";
        case ObjectClass::Mr:
            return "fi_mr_reg";
        case ObjectClass::Ep:
            return "fi_endpoint";
        case ObjectClass::Srx:
            return "fi_srx_context";
        case ObjectClass::Pep:
            return "fi_passive_ep";
        default:
            return "opening it";
    }
}

// "-FI_ENOSYS"
std::string returned(int ret) {
    const auto name = print_error(ret);
    return ret < 0 && !name.starts_with('-') ? "-" + name : name;
}

// True if an entry has what a need asks of entries; nothing for other needs.
std::optional<bool> entry_has(const Need& n, const Entry& e) {
    switch (n.kind) {
        case NeedKind::Above:
            return most(e, n.field) > n.value;
        case NeedKind::Has:
            return (most(e, n.field) & n.value) != 0;
        case NeedKind::Lacks:
            return (get(e.offer, n.field) & n.value) == 0;
        case NeedKind::Is:
            return get(e.offer, n.field) == n.value;
        case NeedKind::Insists:
            return (insisted(e, n.field) & n.value) != 0;
        case NeedKind::Nic:
            return e.offer.has(Part::Nic);
        case NeedKind::Connectionless:
            return e.offer.ep.type == FI_EP_RDM || e.offer.ep.type == FI_EP_DGRAM;
        case NeedKind::Connected:
            return e.offer.ep.type == FI_EP_MSG;
        case NeedKind::Sockets:
            return is_socket(e.offer.addr_format);
        default:
            return {};
    }
}

// Why no entry has it.
std::string no_entry(const Need& n) {
    const auto path = row(n.field).path;
    const auto words = n.value == kAny ? "a bit" : print_value(row(n.field).family, n.value);
    switch (n.kind) {
        case NeedKind::Above:
            return n.value == 0 ? fmt::format("{} is 0 in every offer", path)
                                : fmt::format("{} is at most {} in every offer", path, n.value);
        case NeedKind::Has:
            return n.value == kAny ? fmt::format("{} is empty in every offer", path)
                                   : fmt::format("no offer has {} in {}", words, path);
        case NeedKind::Lacks:
            return fmt::format("every offer has {} in {}", words, path);
        case NeedKind::Is:
            return fmt::format("no offer has {} as {}", words, path);
        case NeedKind::Insists:
            return fmt::format("no offer insists on {} {} {}", words, n.value == kAny ? "of" : "in", path);
        case NeedKind::Nic:
            return "no offer has a nic";
        case NeedKind::Connectionless:
            return "no offer is of an endpoint without connections";
        case NeedKind::Connected:
            return "no offer is of an endpoint with connections";
        case NeedKind::Sockets:
            return "no offer has addresses of IPv4 or IPv6";
        default:
            return {};
    }
}

// What the provider as such lacks.
std::string provider_lacks(const ClauseText& clause, const Need& n, const Facts& facts) {
    if (entry_has(n, {})) {
        return some_entry(clause, facts, [&](const Entry& e) { return *entry_has(n, e); }) ? "" : no_entry(n);
    }
    switch (n.kind) {
        case NeedKind::Layered:
            return is_layered(facts) ? "" : "the provider is not one layered over another";
        case NeedKind::NamesItself:
            if (!is_layered(facts) || applied(facts, Clause::getinfo_flags_attr_only_once_each) == 0) return {};
            return "an answer to FI_PROV_ATTR_ONLY names the layers, not the provider made of them";
        case NeedKind::Opens: {
            const auto refused = facts.refused.find(n.object);
            if (refused == facts.refused.end()) return {};
            return fmt::format("{} gives {} on every offer", opening_call(n.object), returned(refused->second));
        }
        case NeedKind::Override:
            if (!facts.override_refused) return {};
            return fmt::format("fi_set_ops gives {} for the memory override", returned(*facts.override_refused));
        case NeedKind::Shortage:
            return facts.shortage ? "" : "this build of the tool cannot make allocations fail";
        default:
            return {};
    }
}

// What did not come about in the run.
std::string run_lacks(const Need& n, const Facts& facts) {
    switch (n.kind) {
        case NeedKind::Kept:
            if (broken(facts, n.other) == 0) return {};
            return fmt::format("hidden behind a promise that is broken: {}", clause_text(n.other).id);
        case NeedKind::Granted:
            if (applied(facts, n.other) == 0) return {};
            return fmt::format("what {} speaks of was asked for, and never granted", clause_text(n.other).id);
        case NeedKind::Until:
            return std::string(applied(facts, n.other) == 0 ? n.text : "");
        case NeedKind::Once:
            return std::string(applied(facts, n.other) != 0 ? n.text : "");
        default:
            return {};
    }
}

std::string pairs_do_not_open(const Facts& facts) {
    if (applied(facts, Clause::endpoint_open_each_answer) != 0) return {};
    const bool offers =
        std::any_of(facts.profiles.begin(), facts.profiles.end(), [](const Profile& p) { return !p.entries.empty(); });
    return offers ? "no pair of endpoints could be opened" : "there is no offer";
}

// Why transfers as such did not show what a clause speaks of.
std::string transfers_lack(const ClauseText& clause, const Facts& facts) {
    if (!some_entry(clause, facts, [](const Entry& e) { return e.offer.ep.type != FI_EP_DGRAM; }))
        return "no offer is of a reliable endpoint: of datagrams no more is judged than of those that come";
    const auto noted = [&](std::string_view what) {
        return std::any_of(facts.result.notes.begin(), facts.result.notes.end(), [&](const std::string& n) {
            return n.starts_with("traffic: ") && n.find(what) != std::string::npos;
        });
    };
    if (noted("were not run")) return "the library died or lost something too often for all exchanges to be run";
    if (noted("were passed over"))
        return "what would show it was passed over: it holds what ended the process or was lost";
    return {};
}

}  // namespace

std::string lacking(Clause c, const Facts& facts) {
    const auto& clause = clause_text(c);
    const bool transfers = clause.judges == Judges::Traffic;
    std::string reason;
    for (const Need& n : clause.needs) {
        if (reason.empty()) reason = provider_lacks(clause, n, facts);
    }
    if (reason.empty() && transfers) reason = pairs_do_not_open(facts);
    for (const Need& n : clause.needs) {
        if (reason.empty()) reason = run_lacks(n, facts);
    }
    if (reason.empty() && transfers) reason = transfers_lack(clause, facts);
    return reason;
}

}  // namespace selvage::conformance
