// See preconditions.h.
#include "conformance/coverage/preconditions.h"

#include <fmt/format.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <algorithm>
#include <array>

#include "conformance/coverage/preconditions_traffic.h"
#include "model/spec/clause.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

using namespace model;

enum class Kind : std::uint8_t {
    Above,     // some offer's number is above a value
    Bits,      // some offer has one of these bits
    Is,        // some offer has this value
    Insists,   // some offer is not made without one of these bits of mode or mr_mode
    Nic,       // some offer has a nic
    Layered,   // the provider is one layered over another
    Unlinked,  // some offer is of an endpoint without connections
    Linked,    // some offer is of an endpoint with connections
    Sockets,   // some offer has IPv4 or IPv6 addresses
    Opens,     // an object of a class can be opened
    Override,  // the memory override is supported
    Kept,      // another promise is not broken
    Granted,   // a hint that another clause speaks of was granted
    Named,     // an answer of names alone, which was seen, names the provider as such and not its layers
    Badflags,  // -FI_EBADFLAGS is what unknown flags are refused with
    Shortage,  // the tool can make memory run short
};

struct Need {
    Clause clause;
    Kind kind;
    Field field = Field::subject;
    std::uint64_t value = 0;
    Clause other{};
    ObjectClass opens = ObjectClass::None;
};

constexpr Need above(Clause c, Field f, std::uint64_t value = 0) {
    return {.clause = c, .kind = Kind::Above, .field = f, .value = value};
}
constexpr Need bits(Clause c, Field f, std::uint64_t value) {
    return {.clause = c, .kind = Kind::Bits, .field = f, .value = value};
}
constexpr Need is(Clause c, Field f, std::uint64_t value) {
    return {.clause = c, .kind = Kind::Is, .field = f, .value = value};
}
constexpr Need insists(Clause c, Field f, std::uint64_t value) {
    return {.clause = c, .kind = Kind::Insists, .field = f, .value = value};
}
constexpr Need plain(Clause c, Kind kind) { return {.clause = c, .kind = kind}; }
constexpr Need kept(Clause c, Clause other) { return {.clause = c, .kind = Kind::Kept, .other = other}; }
constexpr Need granted(Clause c, Clause asked) { return {.clause = c, .kind = Kind::Granted, .other = asked}; }
constexpr Need opens(Clause c, ObjectClass what) { return {.clause = c, .kind = Kind::Opens, .opens = what}; }

using F = Field;
using C = Clause;
constexpr std::uint64_t kAny = ~std::uint64_t{0};

// A clause may stand in several rows: each must be met.
constexpr auto kNeeds = std::to_array<Need>({
    // Limits: a hint of 1 or more is granted only by an offer that has some.
    above(C::domain_mr_key_size_granted, F::domain_mr_key_size),
    above(C::domain_cq_data_size_granted, F::domain_cq_data_size),
    above(C::domain_cq_data_size_minimum, F::domain_cq_data_size),
    above(C::domain_cq_cnt_granted, F::domain_cq_cnt),
    above(C::domain_ep_cnt_granted, F::domain_ep_cnt),
    above(C::domain_tx_ctx_cnt_granted, F::domain_tx_ctx_cnt),
    above(C::domain_rx_ctx_cnt_granted, F::domain_rx_ctx_cnt),
    above(C::domain_max_ep_tx_ctx_granted, F::domain_max_ep_tx_ctx),
    above(C::domain_max_ep_rx_ctx_granted, F::domain_max_ep_rx_ctx),
    above(C::domain_max_ep_stx_ctx_granted, F::domain_max_ep_stx_ctx),
    above(C::domain_max_ep_srx_ctx_granted, F::domain_max_ep_srx_ctx),
    above(C::domain_cntr_cnt_granted, F::domain_cntr_cnt),
    above(C::domain_mr_iov_limit_granted, F::domain_mr_iov_limit),
    above(C::domain_max_err_data_granted, F::domain_max_err_data),
    above(C::domain_mr_cnt_granted, F::domain_mr_cnt),
    above(C::endpoint_protocol_version_returned, F::ep_protocol_version),
    above(C::endpoint_max_msg_size_returned, F::ep_max_msg_size),
    above(C::endpoint_tag_format_returned, F::ep_mem_tag_format),
    above(C::endpoint_prefix_size_multiple_of_8, F::ep_msg_prefix_size),
    above(C::endpoint_inject_size_returned, F::tx_inject_size),
    above(C::endpoint_tx_size_returned, F::tx_size),
    above(C::endpoint_rx_size_returned, F::rx_size),
    above(C::endpoint_tx_iov_limit_returned, F::tx_iov_limit),
    above(C::endpoint_rx_iov_limit_returned, F::rx_iov_limit),
    above(C::endpoint_rma_iov_limit_returned, F::tx_rma_iov_limit),
    bits(C::endpoint_order_size_returned, F::caps, FI_RMA | FI_ATOMIC),
    // Flags and orders of contexts.
    bits(C::endpoint_tx_op_flags_returned, F::tx_op_flags, kAny),
    bits(C::endpoint_rx_op_flags_returned, F::rx_op_flags, kAny),
    bits(C::endpoint_tx_op_flags_only_applicable, F::tx_op_flags, kAny),
    bits(C::endpoint_rx_op_flags_only_applicable, F::rx_op_flags, kAny),
    bits(C::endpoint_tx_msg_order_returned, F::tx_msg_order, kAny),
    bits(C::endpoint_rx_msg_order_returned, F::rx_msg_order, kAny),
    bits(C::endpoint_tx_comp_order_returned, F::tx_comp_order, kAny),
    bits(C::endpoint_rx_comp_order_returned, F::rx_comp_order, kAny),
    bits(C::endpoint_tx_mode_within_info, F::tx_mode, kAny),
    bits(C::endpoint_rx_mode_within_info, F::rx_mode, kAny),
    bits(C::endpoint_tx_mode_only_transmit, F::tx_mode, kAny),
    // Capabilities.
    bits(C::domain_caps_local_consistent, F::caps, FI_LOCAL_COMM),
    bits(C::domain_caps_remote_consistent, F::caps, FI_REMOTE_COMM),
    bits(C::domain_caps_shared_av_consistent, F::caps, FI_SHARED_AV),
    bits(C::domain_caps_granted, F::domain_caps, kAny),
    bits(C::getinfo_caps_msg_both_ways, F::caps, FI_MSG),
    bits(C::getinfo_caps_tagged_both_ways, F::caps, FI_TAGGED),
    bits(C::endpoint_tag_format_tagged_has_bits, F::caps, FI_TAGGED),
    bits(C::getinfo_caps_rma_all_directions, F::caps, FI_RMA),
    bits(C::getinfo_caps_atomic_all_directions, F::caps, FI_ATOMIC),
    plain(C::getinfo_caps_source_connectionless_granted, Kind::Linked),
    plain(C::getinfo_caps_source_connectionless_fits, Kind::Linked),
    // Modes.
    insists(C::getinfo_mode_zero_means_none, F::mode, kAny),
    insists(C::getinfo_mode_local_mr_counts, F::domain_mr_mode, FI_MR_LOCAL),
    bits(C::domain_mode_fits, F::domain_mode, FI_RESTRICTED_COMP),
    bits(C::getinfo_mode_prefix_nonzero_with, F::mode, FI_MSG_PREFIX),
    bits(C::getinfo_mode_prefix_scope, F::mode, FI_MSG_PREFIX),
    bits(C::getinfo_mode_buffered_recv_scope, F::mode, FI_BUFFERED_RECV),
    insists(C::domain_mr_bit_allocated, F::domain_mr_mode, FI_MR_ALLOCATED),
    insists(C::domain_mr_bit_collective, F::domain_mr_mode, FI_MR_COLLECTIVE),
    insists(C::domain_mr_bit_endpoint, F::domain_mr_mode, FI_MR_ENDPOINT),
    insists(C::domain_mr_bit_local, F::domain_mr_mode, FI_MR_LOCAL),
    insists(C::domain_mr_bit_mmu_notify, F::domain_mr_mode, FI_MR_MMU_NOTIFY),
    insists(C::domain_mr_bit_prov_key, F::domain_mr_mode, FI_MR_PROV_KEY),
    insists(C::domain_mr_bit_raw, F::domain_mr_mode, FI_MR_RAW),
    insists(C::domain_mr_bit_rma_event, F::domain_mr_mode, FI_MR_RMA_EVENT),
    insists(C::domain_mr_bit_virt_addr, F::domain_mr_mode, FI_MR_VIRT_ADDR),
    above(C::domain_mr_key_size_raw, F::domain_mr_key_size, 8),
    bits(C::domain_mr_provider_key, F::domain_mr_mode, FI_MR_PROV_KEY),
    // Keys, progress, traffic classes.
    above(C::endpoint_auth_key_returned, F::ep_auth_key_size),
    above(C::domain_auth_granted, F::domain_auth_key_size),
    is(C::domain_control_progress_auto_granted, F::domain_control_progress, FI_PROGRESS_AUTO),
    is(C::domain_data_progress_auto_granted, F::domain_data_progress, FI_PROGRESS_AUTO),
    is(C::domain_rm_enabled_granted, F::domain_resource_mgmt, FI_RM_ENABLED),
    // Address vectors.
    plain(C::domain_av_map_fits, Kind::Unlinked),
    plain(C::domain_av_table_fits, Kind::Unlinked),
    plain(C::domain_av_granted, Kind::Unlinked),
    plain(C::domain_av_connected, Kind::Linked),
    plain(C::domain_av_opens_granted, Kind::Unlinked),
    plain(C::domain_close_busy_av, Kind::Unlinked),
    // Addresses.
    is(C::getinfo_formats_in_shape, F::addr_format, FI_SOCKADDR_IN),
    is(C::getinfo_formats_in6_shape, F::addr_format, FI_SOCKADDR_IN6),
    is(C::getinfo_formats_ib_shape, F::addr_format, FI_SOCKADDR_IB),
    is(C::getinfo_formats_str_terminated, F::addr_format, FI_ADDR_STR),
    is(C::getinfo_formats_str_uri, F::addr_format, FI_ADDR_STR),
    plain(C::getinfo_formats_sockaddr_honoured, Kind::Sockets),
    plain(C::getinfo_formats_sockaddr_family, Kind::Sockets),
    plain(C::getinfo_addresses_dest_corresponds, Kind::Sockets),
    plain(C::getinfo_addresses_dest_hint_kept, Kind::Sockets),
    plain(C::getinfo_addresses_src_hint_kept, Kind::Sockets),
    plain(C::getinfo_addresses_src_corresponds, Kind::Sockets),
    plain(C::getinfo_call_service_kept, Kind::Sockets),
    plain(C::getinfo_flags_source_is_local, Kind::Sockets),
    plain(C::getinfo_flags_numeric_node_resolved, Kind::Sockets),
    plain(C::getinfo_addresses_pep_handle_kept, Kind::Linked),
    plain(C::getinfo_addresses_handle_null, Kind::Linked),
    plain(C::getinfo_memory_dup_nic, Kind::Nic),
    // Names.
    plain(C::fabric_prov_name_layered_order, Kind::Layered),
    plain(C::fabric_prov_name_layered_granted, Kind::Layered),
    plain(C::fabric_prov_name_layered_same_answers, Kind::Layered),
    plain(C::fabric_prov_name_one_layer, Kind::Layered),
    plain(C::fabric_prov_version_utility, Kind::Layered),
    plain(C::getinfo_flags_attr_only_default_members, Kind::Named),
    // Objects.
    opens(C::domain_close_busy_endpoint, ObjectClass::Ep),
    opens(C::domain_close_busy_mr, ObjectClass::Mr),
    opens(C::domain_mr_provider_key, ObjectClass::Mr),
    opens(C::domain_mr_application_key, ObjectClass::Mr),
    opens(C::domain_bind_mr_sync, ObjectClass::Mr),
    opens(C::domain_bind_mr_async, ObjectClass::Mr),
    opens(C::domain_close_busy_cq, ObjectClass::Cq),
    opens(C::domain_close_busy_counter, ObjectClass::Cntr),
    opens(C::cntr_close_releases, ObjectClass::Cntr),
    opens(C::domain_close_busy_av, ObjectClass::Av),
    plain(C::fabric_close_busy_pep, Kind::Linked),
    opens(C::fabric_close_busy_pep, ObjectClass::Pep),
    opens(C::fabric_close_busy_eq, ObjectClass::Eq),
    opens(C::domain_bind_eq, ObjectClass::Eq),
    plain(C::domain_set_ops_hmem_null, Kind::Override),
    plain(C::domain_set_ops_hmem_size, Kind::Override),
    plain(C::getinfo_errors_badflags_justified, Kind::Badflags),
    // Memory that runs short.
    plain(C::domain_open_failure_clean, Kind::Shortage),
    plain(C::fabric_open_failure_clean, Kind::Shortage),
    plain(C::getinfo_memory_alloc_fails_null, Kind::Shortage),
    plain(C::getinfo_memory_dup_fails_null, Kind::Shortage),
    plain(C::getinfo_memory_enomem, Kind::Shortage),
    plain(C::getinfo_memory_shortage_survived, Kind::Shortage),
    // Hints that were asked for and never granted.
    granted(C::domain_mr_basic_old_granted, C::domain_mr_basic_old),
    granted(C::domain_mr_scalable_old_granted, C::domain_mr_scalable_old),
    granted(C::domain_mr_basic_granted, C::domain_mr_basic),
    granted(C::domain_mr_scalable_granted, C::domain_mr_scalable),
    granted(C::endpoint_tx_comp_order_returned, C::endpoint_tx_comp_order_granted),
    granted(C::endpoint_rx_comp_order_returned, C::endpoint_rx_comp_order_granted),
    // What a broken promise hides.
    kept(C::domain_bind_close_order, C::domain_bind_eq),
    kept(C::domain_bind_mr_async, C::domain_bind_eq),
    kept(C::domain_open_failure_clean, C::domain_open_unknown_name),
    kept(C::fabric_instance_first, C::fabric_instance_reported),
    kept(C::fabric_instance_first, C::fabric_instance_reported_unnamed),
    kept(C::domain_instance_first, C::domain_instance_reported),
    kept(C::domain_instance_first, C::domain_instance_reported_unnamed),
    kept(C::domain_open_by_name, C::domain_instance_reported),
    kept(C::domain_open_by_name, C::domain_instance_reported_unnamed),
});

template <typename Holds>
bool some_entry(Clause c, const Facts& facts, Holds&& holds) {
    const auto& text = clause_text(c);
    for (const auto& p : facts.profiles) {
        if (p.version < text.since || text.until < p.version) continue;
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

std::string words_of(Field f, std::uint64_t value) { return print_value(row(f).family, value); }

std::string no_offer_above(const Need& n, const Facts& facts) {
    if (some_entry(n.clause, facts, [&](const Entry& e) { return most(e, n.field) > n.value; })) return {};
    if (n.value == 0) return fmt::format("{} is 0 in every offer", row(n.field).path);
    return fmt::format("{} is at most {} in every offer", row(n.field).path, n.value);
}

std::string no_offer_with_bits(const Need& n, const Facts& facts) {
    if (some_entry(n.clause, facts, [&](const Entry& e) { return (most(e, n.field) & n.value) != 0; })) return {};
    if (n.value == kAny) return fmt::format("{} is empty in every offer", row(n.field).path);
    return fmt::format("no offer has {} in {}", words_of(n.field, n.value), row(n.field).path);
}

std::string no_offer_insists(const Need& n, const Facts& facts) {
    const auto insisted = [&](const Entry& e) {
        if (n.field == Field::mode) return e.needed_mode;
        // A caller before 1.5 says FI_LOCAL_MR where later ones say FI_MR_LOCAL.
        const bool local = (e.needed_mode & FI_LOCAL_MR) != 0;
        return e.needed_mr_mode | (local ? std::uint64_t{FI_MR_LOCAL} : 0);
    };
    if (some_entry(n.clause, facts, [&](const Entry& e) { return (insisted(e) & n.value) != 0; })) return {};
    if (n.value == kAny) return fmt::format("no offer insists on a bit of {}", row(n.field).path);
    return fmt::format("no offer insists on {} in {}", words_of(n.field, n.value), row(n.field).path);
}

bool is_socket(std::uint64_t format) {
    return format == FI_SOCKADDR || format == FI_SOCKADDR_IN || format == FI_SOCKADDR_IN6;
}

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

std::string lacks(const Need& n, const Facts& facts) {
    const auto type_is = [&](auto&& fits, const char* what) -> std::string {
        const bool some = some_entry(n.clause, facts, [&](const Entry& e) { return fits(e.offer.ep.type); });
        return some ? "" : fmt::format("no offer is of an endpoint {} connections", what);
    };
    switch (n.kind) {
        case Kind::Above:
            return no_offer_above(n, facts);
        case Kind::Bits:
            return no_offer_with_bits(n, facts);
        case Kind::Is:
            if (some_entry(n.clause, facts, [&](const Entry& e) { return get(e.offer, n.field) == n.value; }))
                return {};
            return fmt::format("no offer has {} as {}", words_of(n.field, n.value), row(n.field).path);
        case Kind::Insists:
            return no_offer_insists(n, facts);
        case Kind::Nic:
            if (some_entry(n.clause, facts, [](const Entry& e) { return e.offer.has(Part::Nic); })) return {};
            return "no offer has a nic";
        case Kind::Layered:
            return facts.result.provider.find(';') != std::string::npos
                       ? ""
                       : "the provider is not one layered over another";
        case Kind::Unlinked:
            return type_is([](std::uint64_t t) { return t == FI_EP_RDM || t == FI_EP_DGRAM; }, "without");
        case Kind::Linked:
            return type_is([](std::uint64_t t) { return t == FI_EP_MSG; }, "with");
        case Kind::Sockets:
            if (some_entry(n.clause, facts, [](const Entry& e) { return is_socket(e.offer.addr_format); })) return {};
            return "no offer has addresses of IPv4 or IPv6";
        case Kind::Opens: {
            const auto refused = facts.refused.find(n.opens);
            if (refused == facts.refused.end()) return {};
            return fmt::format("{} gives {} on every offer", opening_call(n.opens), returned(refused->second));
        }
        case Kind::Override:
            if (!facts.override_refused) return {};
            return fmt::format("fi_set_ops gives {} for the memory override", returned(*facts.override_refused));
        case Kind::Granted: {
            const auto asked = facts.result.tally.applied[static_cast<std::size_t>(n.other)];
            if (asked == 0) return {};
            return fmt::format("what {} speaks of was asked for, and never granted", clause_text(n.other).id);
        }
        case Kind::Named: {
            const auto seen =
                facts.result.tally.applied[static_cast<std::size_t>(C::getinfo_flags_attr_only_once_each)];
            if (seen == 0 || facts.result.provider.find(';') == std::string::npos) return {};
            return "an answer to FI_PROV_ATTR_ONLY names the layers, not the provider made of them";
        }
        case Kind::Badflags: {
            const auto asked = facts.result.tally.applied[static_cast<std::size_t>(C::getinfo_flags_unknown_refused)];
            if (asked == 0) return {};
            return "unknown flags are refused, never with -FI_EBADFLAGS";
        }
        case Kind::Shortage:
            return facts.shortage ? "" : "this build of the tool cannot make allocations fail";
        case Kind::Kept: {
            if (facts.result.tally.broken[static_cast<std::size_t>(n.other)] == 0) return {};
            return fmt::format("hidden behind a promise that is broken: {}", clause_text(n.other).id);
        }
    }
    return {};
}

}  // namespace

std::string lacking(Clause clause, const Facts& facts) {
    for (const Need& n : kNeeds) {
        if (n.clause != clause) continue;
        auto reason = lacks(n, facts);
        if (!reason.empty()) return reason;
    }
    return lacking_for_transfers(clause, facts);
}

}  // namespace selvage::conformance
