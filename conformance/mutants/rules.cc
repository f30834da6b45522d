// What hints mean in general, and authorization keys.
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include "conformance/mutants/mutant.h"

namespace selvage::mutants {
namespace {

bool is_empty(const fi_info& hints) {
    return hints.caps == 0 && hints.addr_format == 0 && hints.src_addr == nullptr && hints.dest_addr == nullptr &&
           hints.tx_attr == nullptr && hints.rx_attr == nullptr && hints.ep_attr == nullptr &&
           hints.domain_attr == nullptr && hints.fabric_attr == nullptr;
}

}  // namespace

void add_rules(Table& table) {
    refuses(
        table, "refuse-wildcards", "refuses hints that ask for nothing", {"getinfo.hints.zero-is-wildcard"},
        [](const Call& c) { return c.hints != nullptr && (is_empty(*c.hints) || c.requested("tx_attr.size") != 0); });
    refuses(table, "old-auth-key-refused", "looks at the key of callers before 1.5", {"endpoint.auth-key.before-1-5"},
            [](const Call& c) { return !c.since(5) && c.requested("ep_attr.auth_key_size") != 0; })
        .on("classes", "tcp", 24000);
    alters(table, "auth-key-forgotten", "grants an authorization key and does not return it",
           {"endpoint.auth-key.returned"}, [](Hints& hints, Call&) {
               hints.ep.auth_key = nullptr;
               hints.ep.auth_key_size = 0;
           });
    edits(table, "auth-key-size-alone", "reports the size of a key that it does not have",
          {"endpoint.auth-key.size-with-key", "domain.auth.none"}, [](fi_info& entry, const Call& c) {
              if (c.requested("ep_attr.auth_key_size") == 0) entry.ep_attr->auth_key_size = 16;
          });
    refuses(table, "old-domain-key-refused", "looks at the domain key of callers before 1.5",
            {"domain.auth.ignored-before"},
            [](const Call& c) { return !c.since(5) && c.requested("domain_attr.auth_key_size") != 0; })
        .on("pairs", "tcp", 20000);
    alters(table, "domain-key-forgotten", "grants a domain key and does not return it", {"domain.auth.granted"},
           [](Hints& hints, Call&) {
               hints.domain.auth_key = nullptr;
               hints.domain.auth_key_size = 0;
           });
    alters(table, "domain-key-ignored", "grants keys of a size that it does not support", {"domain.auth.size-fits"},
           [](Hints& hints, Call&) {
               hints.domain.auth_key = nullptr;
               hints.domain.auth_key_size = 0;
           })
        .declare();
    alters(table, "endpoint-key-ignored", "grants keys to endpoints that have none", {"endpoint.auth-key.granted"},
           [](Hints& hints, Call&) {
               hints.ep.auth_key = nullptr;
               hints.ep.auth_key_size = 0;
           })
        .declare();
}

}  // namespace selvage::mutants
