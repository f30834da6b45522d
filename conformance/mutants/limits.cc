// Sizes and counts: every hint of the kind "at least this much" breaks in the same ways, so the mutants are generated.
//   refuse-FIELD  refuses what it offers
//   short-FIELD   answers with less than was asked for
//   beyond-FIELD  grants more than it has
#include <string>

#include "conformance/mutants/mutant.h"

namespace selvage::mutants {
namespace {

struct Limit {
    std::string_view path;
    std::string_view fits;     // the clause that says which offers fit
    std::string_view granted;  // and the one on what an answer reports
    bool beyond;               // the declared profile has a limit that a query can exceed
};

constexpr Limit kLimits[] = {
    {"tx_attr.inject_size", "endpoint.inject-size.granted", "endpoint.inject-size.returned", true},
    {"tx_attr.size", "endpoint.tx-size.granted", "endpoint.tx-size.returned", false},
    {"tx_attr.iov_limit", "endpoint.tx-iov-limit.granted", "endpoint.tx-iov-limit.returned", true},
    {"tx_attr.rma_iov_limit", "endpoint.rma-iov-limit.granted", "endpoint.rma-iov-limit.returned", true},
    {"rx_attr.size", "endpoint.rx-size.granted", "endpoint.rx-size.returned", false},
    {"rx_attr.iov_limit", "endpoint.rx-iov-limit.granted", "endpoint.rx-iov-limit.returned", true},
    {"ep_attr.max_msg_size", "endpoint.max-msg-size.granted", "endpoint.max-msg-size.returned", false},
    {"ep_attr.max_order_raw_size", "endpoint.order-size.granted", "endpoint.order-size.returned", false},
    {"ep_attr.max_order_war_size", "endpoint.order-size.granted", "endpoint.order-size.returned", false},
    {"ep_attr.max_order_waw_size", "endpoint.order-size.granted", "endpoint.order-size.returned", false},
    {"ep_attr.protocol_version", "endpoint.protocol-version.granted", "endpoint.protocol-version.returned", true},
    {"ep_attr.tx_ctx_cnt", "endpoint.tx-count.granted", "endpoint.tx-count.returned", true},
    {"ep_attr.rx_ctx_cnt", "endpoint.rx-count.granted", "endpoint.rx-count.returned", true},
    {"domain_attr.mr_key_size", "domain.mr-key-size.fits", "domain.mr-key-size.granted", false},
    {"domain_attr.cq_data_size", "domain.cq-data-size.fits", "domain.cq-data-size.granted", true},
    {"domain_attr.cq_cnt", "domain.cq-cnt.fits", "domain.cq-cnt.granted", true},
    {"domain_attr.ep_cnt", "domain.ep-cnt.fits", "domain.ep-cnt.granted", true},
    {"domain_attr.tx_ctx_cnt", "domain.tx-ctx-cnt.fits", "domain.tx-ctx-cnt.granted", true},
    {"domain_attr.rx_ctx_cnt", "domain.rx-ctx-cnt.fits", "domain.rx-ctx-cnt.granted", true},
    {"domain_attr.max_ep_tx_ctx", "domain.max-ep-tx-ctx.fits", "domain.max-ep-tx-ctx.granted", true},
    {"domain_attr.max_ep_rx_ctx", "domain.max-ep-rx-ctx.fits", "domain.max-ep-rx-ctx.granted", true},
    {"domain_attr.max_ep_stx_ctx", "domain.max-ep-stx-ctx.fits", "domain.max-ep-stx-ctx.granted", true},
    {"domain_attr.max_ep_srx_ctx", "domain.max-ep-srx-ctx.fits", "domain.max-ep-srx-ctx.granted", true},
    {"domain_attr.cntr_cnt", "domain.cntr-cnt.fits", "domain.cntr-cnt.granted", true},
    {"domain_attr.mr_iov_limit", "domain.mr-iov-limit.fits", "domain.mr-iov-limit.granted", true},
    {"domain_attr.max_err_data", "domain.max-err-data.fits", "domain.max-err-data.granted", true},
    {"domain_attr.mr_cnt", "", "domain.mr-cnt.granted", false},
    {"fabric_attr.prov_version", "fabric.prov-version.fits", "fabric.prov-version.granted", true},
};

void add(Table& table, const Limit& limit) {
    const std::string path(limit.path);
    const Slot* where = &slot(limit.path);
    const auto requests = [where](const Call& c) { return c.hints != nullptr && get(*c.hints, *where) != 0; };
    if (!limit.fits.empty()) {
        refuses(table, "refuse-" + path, "refuses hints with " + path + ", whatever it is", {std::string(limit.fits)},
                requests);
    }
    edits(table, "short-" + path, "reports one less than was asked for in " + path, {std::string(limit.granted)},
          [where](fi_info& entry, const Call& c) {
              const auto expected = c.hints != nullptr ? get(*c.hints, *where) : 0;
              if (expected != 0) set(entry, *where, expected - 1);
          });
    if (!limit.beyond) return;
    alters(
        table, "beyond-" + path, "grants any " + path + ", more than it has too", {std::string(limit.fits)},
        [where](Hints& hints, Call&) { hints.put(*where, 0); },
        [where](fi_info& entry, const Call& c) {
            const auto expected = c.hints != nullptr ? get(*c.hints, *where) : 0;
            if (expected > get(entry, *where)) set(entry, *where, expected);
        })
        .declare();
}

}  // namespace

void add_limits(Table& table) {
    for (const Limit& limit : kLimits) add(table, limit);
    edits(table, "cq-data-size-of-two", "reports remote completion data of two bytes", {"domain.cq-data-size.minimum"},
          [](fi_info& entry, const Call& c) {
              if (c.requested("domain_attr.cq_data_size") == 0) entry.domain_attr->cq_data_size = 2;
          });
    edits(table, "limits-not-filled", "leaves limits that were not asked for at zero", {"getinfo.hints.default-filled"},
          [](fi_info& entry, const Call& c) {
              if (c.requested("tx_attr.size") == 0) entry.tx_attr->size = 0;
          });
    refuses(table, "refuse-buffered-recv", "refuses a large total_buffered_recv", {"endpoint.buffered-recv.hint"},
            [](const Call& c) { return c.requested("rx_attr.total_buffered_recv") > 64; });
}

}  // namespace selvage::mutants
