// The fixed scripts.  Each shows one thing, since a life ends at the first broken step.  See lifecycles.h.
#include "conformance/generate/lifecycles.h"

#include <rdma/fi_domain.h>

#include <array>

#include "conformance/generate/lifecycle_builder.h"

namespace selvage::conformance {
namespace {

using Verb = Action::Verb;

constexpr std::uint64_t kKey = kMrvKey;  // asked for a region
constexpr const char* kUnknown = "no-such-name";

void everything_in_order(LifecycleBuilder& w) {
    const int fabric = w.fabric();
    const int eq = w.open(Verb::OpenEq, fabric);
    const int domain = w.domain(fabric);
    const int cq = w.open(Verb::OpenCq, domain);
    const int cntr = w.open(Verb::OpenCntr, domain);
    const int av = w.connected() ? 0 : w.open(Verb::OpenAv, domain);
    const int pep = w.connected() ? w.open(Verb::OpenPep, fabric) : 0;
    const int ep = w.open(Verb::OpenEp, domain);
    w.close(ep);
    if (av != 0) w.close(av);
    if (pep != 0) w.close(pep);
    w.close(cntr, cq, domain, eq, fabric);
}

void nothing_on_it(LifecycleBuilder& w) {
    const int fabric = w.fabric();
    w.close(fabric);
    const int again = w.fabric(kLifeNullContext);
    const int domain = w.domain(again, kLifeNullContext);
    w.close(domain, again);
}

void second_call(LifecycleBuilder& w) {
    const int fabric = w.fabric();
    const int domain = w.domain(fabric);
    w.close(domain);
    const int second = w.open(Verb::OpenDomain2, fabric);
    w.close(second, fabric);
}

void bound_queue(LifecycleBuilder& w) {
    const int fabric = w.fabric();
    const int eq = w.open(Verb::OpenEq, fabric);
    const int domain = w.domain(fabric);
    w.bind(domain, eq, 0);
    w.close(domain, eq, fabric);
}

void bound_registration(LifecycleBuilder& w) {
    const int fabric = w.fabric();
    const int eq = w.open(Verb::OpenEq, fabric);
    const int domain = w.domain(fabric);
    w.bind(domain, eq, FI_REG_MR);
    w.close(w.open(Verb::OpenMr, domain, kKey));
    w.close(domain, eq, fabric);
}

void bound_cq(LifecycleBuilder& w) {
    const int fabric = w.fabric();
    const int domain = w.domain(fabric);
    const int cq = w.open(Verb::OpenCq, domain);
    w.bind(domain, cq, 0);
    w.close(cq, domain, fabric);
}

void bound_fabric(LifecycleBuilder& w) {
    const int fabric = w.fabric();
    const int domain = w.domain(fabric);
    w.bind(domain, fabric, 0);
    w.close(domain, fabric);
}

void with_ops(LifecycleBuilder& w, Verb verb, const char* name, std::uint64_t flags) {
    const int fabric = w.fabric();
    const int domain = w.domain(fabric);
    w.ops(verb, domain, name, flags);
    w.close(domain, fabric);
}
void unknown_interface(LifecycleBuilder& w) { with_ops(w, Verb::OpenOps, kUnknown, 0); }
void unknown_override(LifecycleBuilder& w) { with_ops(w, Verb::SetOps, kUnknown, kLifeCompleteOps); }
void complete_override(LifecycleBuilder& w) { with_ops(w, Verb::SetOps, FI_SET_OPS_HMEM_OVERRIDE, kLifeCompleteOps); }
void null_override(LifecycleBuilder& w) { with_ops(w, Verb::SetOps, FI_SET_OPS_HMEM_OVERRIDE, 0); }
void small_override(LifecycleBuilder& w) { with_ops(w, Verb::SetOps, FI_SET_OPS_HMEM_OVERRIDE, kLifeTooSmallOps); }

// A domain is closed over a child, then used and closed as if nothing had been.
void busy_domain(LifecycleBuilder& w, Verb child) {
    const int fabric = w.fabric();
    const int domain = w.domain(fabric);
    const int busy = w.open(child, domain);
    w.close(domain);
    if (child == Verb::OpenCq || child == Verb::OpenCntr) w.close(w.open(child, domain));
    w.close(busy, domain, fabric);
}
void busy_cq(LifecycleBuilder& w) { busy_domain(w, Verb::OpenCq); }
void busy_cntr(LifecycleBuilder& w) { busy_domain(w, Verb::OpenCntr); }
void busy_mr(LifecycleBuilder& w) { busy_domain(w, Verb::OpenMr); }
void busy_ep(LifecycleBuilder& w) { busy_domain(w, Verb::OpenEp); }
void busy_srx(LifecycleBuilder& w) { busy_domain(w, Verb::OpenSrx); }
void busy_av(LifecycleBuilder& w) {
    if (!w.connected()) busy_domain(w, Verb::OpenAv);
}

void busy_fabric(LifecycleBuilder& w, Verb child) {
    const int fabric = w.fabric();
    const int busy = w.open(child, fabric);
    w.close(fabric);
    if (child == Verb::OpenEq) w.close(w.open(child, fabric));
    w.close(busy, fabric);
}
void fabric_with_domain(LifecycleBuilder& w) { busy_fabric(w, Verb::OpenDomain); }
void fabric_with_eq(LifecycleBuilder& w) { busy_fabric(w, Verb::OpenEq); }
void fabric_with_pep(LifecycleBuilder& w) {
    if (w.connected()) busy_fabric(w, Verb::OpenPep);
}

void unknown_fabric(LifecycleBuilder& w) { w.close(w.fabric(0, kUnknown)); }
void unknown_provider(LifecycleBuilder& w) { w.close(w.fabric(kLifeOtherProvider, kUnknown)); }
// One name of the list is known, the other one is not.
void partly_unknown_provider(LifecycleBuilder& w) {
    if (!w.provider().empty()) w.close(w.fabric(kLifeOtherProvider, std::string(kUnknown) + ';' + w.provider()));
}
// The layers that it names are the entry's, so that the fabric carries the entry's domain.
void reordered_provider(LifecycleBuilder& w) {
    const auto end = w.provider().find(';');
    if (end == std::string::npos) return;
    const int fabric = w.fabric(kLifeOtherProvider, w.provider().substr(end + 1) + ';' + w.provider().substr(0, end));
    const int domain = w.domain(fabric);
    w.close(domain, fabric);
}
void unknown_domain(LifecycleBuilder& w) {
    const int fabric = w.fabric();
    const int domain = w.domain(fabric, 0, kUnknown);
    w.close(domain, fabric);
}

void nothing_reported(LifecycleBuilder& w) { w.query(); }

void fabric_reported(LifecycleBuilder& w) {
    const int fabric = w.fabric();
    w.query();
    w.close(fabric);
    w.query();
}

void domain_reported(LifecycleBuilder& w) {
    const int fabric = w.fabric();
    const int domain = w.domain(fabric);
    w.query();
    w.close(domain);
    w.query();
    w.close(fabric);
    w.query();
}

void fabric_requested(LifecycleBuilder& w) {
    const int fabric = w.fabric();
    w.query(fabric);
    w.close(fabric);
}

void domain_requested(LifecycleBuilder& w) {
    const int fabric = w.fabric();
    const int domain = w.domain(fabric);
    w.query(domain);
    w.close(domain, fabric);
}

void pep_requested(LifecycleBuilder& w) {
    if (!w.connected()) return;
    const int fabric = w.fabric();
    const int pep = w.open(Verb::OpenPep, fabric);
    w.query(pep);
    w.close(pep, fabric);
}

void twin_fabrics(LifecycleBuilder& w) {
    const int first = w.fabric();
    const int second = w.fabric();
    w.query();
    w.close(first);
    w.query();
    w.close(second);
    w.query();
}

void twin_domains(LifecycleBuilder& w) {
    const int fabric = w.fabric();
    const int first = w.domain(fabric);
    const int second = w.domain(fabric);
    w.query();
    w.close(first);
    w.query();
    w.close(second, fabric);
}

void domains_of_twin_fabrics(LifecycleBuilder& w) {
    const int one = w.fabric();
    const int other = w.fabric();
    const int first = w.domain(one);
    const int second = w.domain(other);
    w.query();
    w.close(first, one);
    w.query();
    w.close(second, other);
    w.query();
}

void opened_again(LifecycleBuilder& w) {
    const int fabric = w.fabric();
    const int domain = w.domain(fabric);
    w.close(domain);
    const int again = w.domain(fabric);
    w.close(again, fabric);
    const int fresh = w.fabric();
    w.query();
    w.close(fresh);
}

// Two regions, then two that ask for one key.
void regions(LifecycleBuilder& w) {
    const int fabric = w.fabric();
    const int domain = w.domain(fabric);
    const int one = w.open(Verb::OpenMr, domain, kKey);
    const int other = w.open(Verb::OpenMr, domain, kKey + 1);
    w.close(w.open(Verb::OpenMr, domain, kKey));
    w.close(other, one, domain, fabric);
}

// As many vectors as a registration may have, or one more; a plain one has to work first.
void vectors(LifecycleBuilder& w, std::uint64_t beyond, std::uint64_t how) {
    const std::uint64_t count = w.mr_iov_limit() + beyond;
    if (w.mr_iov_limit() == 0 || count > kMostVectors) return;
    const int fabric = w.fabric();
    const int domain = w.domain(fabric);
    w.close(w.open(Verb::OpenMr, domain, kKey));
    const int region = w.open(Verb::OpenMrv, domain, count | how);
    w.close(region, domain, fabric);
}
void most_vectors(LifecycleBuilder& w) { vectors(w, 0, 0); }
void most_vectors_by_attributes(LifecycleBuilder& w) { vectors(w, 0, kMrvAttributes); }
void too_many_vectors(LifecycleBuilder& w) { vectors(w, 1, 0); }
void too_many_vectors_by_attributes(LifecycleBuilder& w) { vectors(w, 1, kMrvAttributes); }

void av_of(LifecycleBuilder& w, std::uint64_t type) {
    if (w.connected()) return;
    const int fabric = w.fabric();
    const int domain = w.domain(fabric);
    const int av = w.open(Verb::OpenAv, domain, type);
    w.close(av, domain, fabric);
}
void av_map(LifecycleBuilder& w) { av_of(w, FI_AV_MAP); }
void av_table(LifecycleBuilder& w) { av_of(w, FI_AV_TABLE); }

// An endpoint, and what it is to be bound to.
struct Endpoint {
    int fabric, eq, domain, cq, av, ep;
};

Endpoint endpoint(LifecycleBuilder& w) {
    Endpoint e = {};
    e.fabric = w.fabric();
    e.eq = w.connected() ? w.open(Verb::OpenEq, e.fabric) : 0;
    e.domain = w.domain(e.fabric);
    e.cq = w.open(Verb::OpenCq, e.domain);
    e.av = w.connected() ? 0 : w.open(Verb::OpenAv, e.domain);
    e.ep = w.open(Verb::OpenEp, e.domain);
    return e;
}

void give_peers(LifecycleBuilder& w, const Endpoint& e) { w.ep_bind(e.ep, w.connected() ? e.eq : e.av); }

void close_endpoint(LifecycleBuilder& w, const Endpoint& e) {
    w.close(e.ep, e.cq);
    if (e.av != 0) w.close(e.av);
    w.close(e.domain);
    if (e.eq != 0) w.close(e.eq);
    w.close(e.fabric);
}

void enabled_endpoint(LifecycleBuilder& w) {
    const Endpoint e = endpoint(w);
    w.ep_bind(e.ep, e.cq, FI_TRANSMIT | FI_RECV);
    give_peers(w, e);
    w.enable(e.ep);
    close_endpoint(w, e);
}

// One that goes one way needs a queue for that way alone.
void enabled_one_way(LifecycleBuilder& w) {
    if (w.direction() == 0) return;
    const Endpoint e = endpoint(w);
    w.ep_bind(e.ep, e.cq, w.direction());
    give_peers(w, e);
    w.enable(e.ep);
    close_endpoint(w, e);
}

void enabled_selective(LifecycleBuilder& w) {
    const Endpoint e = endpoint(w);
    const int other = w.open(Verb::OpenCq, e.domain);
    const int cntr = w.open(Verb::OpenCntr, e.domain);
    give_peers(w, e);
    w.ep_bind(e.ep, e.cq, FI_TRANSMIT | FI_SELECTIVE_COMPLETION);
    w.ep_bind(e.ep, other, FI_RECV);
    w.ep_bind(e.ep, cntr, FI_SEND | FI_RECV);
    w.enable(e.ep);
    w.close(e.ep, cntr, other);
    w.close(e.cq);
    if (e.av != 0) w.close(e.av);
    w.close(e.domain);
}

void enabled_without_queue(LifecycleBuilder& w) {
    const Endpoint e = endpoint(w);
    give_peers(w, e);
    w.enable(e.ep);
    close_endpoint(w, e);
}

void enabled_without_addresses(LifecycleBuilder& w) {
    if (w.connected()) return;
    const Endpoint e = endpoint(w);
    w.ep_bind(e.ep, e.cq, FI_TRANSMIT | FI_RECV);
    w.enable(e.ep);
    close_endpoint(w, e);
}

// Two of a kind, for the same operations: the second is refused.
void bound_twice(LifecycleBuilder& w, Verb verb, std::uint64_t flags) {
    const Endpoint e = endpoint(w);
    const int one = w.open(verb, e.domain);
    const int other = w.open(verb, e.domain);
    w.ep_bind(e.ep, one, flags);
    w.ep_bind(e.ep, other, flags);
    w.close(e.ep, other, one);
}
void two_queues(LifecycleBuilder& w) { bound_twice(w, Verb::OpenCq, FI_RECV); }
void two_counters(LifecycleBuilder& w) { bound_twice(w, Verb::OpenCntr, FI_SEND); }
void two_vectors(LifecycleBuilder& w) {
    if (!w.connected()) bound_twice(w, Verb::OpenAv, 0);
}

// What an endpoint is bound to is closed before the endpoint.
void closed_under_endpoint(LifecycleBuilder& w, Verb verb, std::uint64_t flags) {
    const Endpoint e = endpoint(w);
    const int bound = w.open(verb, e.domain);
    w.ep_bind(e.ep, bound, flags);
    w.close(bound, e.ep, bound);
}
void queue_under_endpoint(LifecycleBuilder& w) { closed_under_endpoint(w, Verb::OpenCq, FI_TRANSMIT); }
void counter_under_endpoint(LifecycleBuilder& w) { closed_under_endpoint(w, Verb::OpenCntr, FI_SEND); }
void vector_under_endpoint(LifecycleBuilder& w) {
    if (!w.connected()) closed_under_endpoint(w, Verb::OpenAv, 0);
}

// More endpoints at one shared receive context than it may have; where it may have none, the first is too much.
void shared_by_too_many(LifecycleBuilder& w) {
    constexpr std::uint64_t kFew = 3;
    if (w.max_ep_srx_ctx() > kFew) return;
    const int fabric = w.fabric();
    const int domain = w.domain(fabric);
    const int srx = w.open(Verb::OpenSrx, domain);
    for (std::uint64_t i = 0; i <= w.max_ep_srx_ctx(); ++i) w.ep_bind(w.open(Verb::OpenEp, domain), srx);
}

// More receives than the context has room for, by what its entry says.
void receives_beyond_size(LifecycleBuilder& w) {
    constexpr std::uint64_t kBeyond = 64;
    if (w.connected() || w.rx_size() == 0) return;
    const Endpoint e = endpoint(w);
    w.ep_bind(e.ep, e.cq, FI_TRANSMIT | FI_RECV);
    give_peers(w, e);
    w.enable(e.ep);
    w.receive(e.ep, std::min(w.rx_size(), kMostReceives - kBeyond) + kBeyond);
    close_endpoint(w, e);
}

constexpr std::size_t kBrief = 3;  // scripts for stages that are not looked at thoroughly
constexpr std::array kScripts = {
    everything_in_order,
    nothing_on_it,
    second_call,
    bound_queue,
    bound_registration,
    bound_cq,
    bound_fabric,
    unknown_interface,
    unknown_override,
    complete_override,
    null_override,
    small_override,
    busy_cq,
    busy_cntr,
    busy_ep,
    busy_srx,
    busy_av,
    fabric_with_domain,
    fabric_with_eq,
    fabric_with_pep,
    unknown_fabric,
    unknown_provider,
    partly_unknown_provider,
    reordered_provider,
    unknown_domain,
    nothing_reported,
    fabric_reported,
    domain_reported,
    fabric_requested,
    domain_requested,
    pep_requested,
    twin_fabrics,
    twin_domains,
    domains_of_twin_fabrics,
    opened_again,
    regions,
    busy_mr,
    most_vectors,
    most_vectors_by_attributes,
    too_many_vectors,
    too_many_vectors_by_attributes,
    av_map,
    av_table,
    enabled_endpoint,
    enabled_selective,
    enabled_one_way,
    enabled_without_queue,
    enabled_without_addresses,
    two_queues,
    two_counters,
    two_vectors,
    queue_under_endpoint,
    counter_under_endpoint,
    vector_under_endpoint,
    shared_by_too_many,
    receives_beyond_size,
};

}  // namespace

std::size_t script_count() { return kScripts.size(); }

std::vector<Action> script(std::size_t which, const Stage& stage) {
    if (!stage.thorough && which >= kBrief) return {};
    if (stage.direction != 0 && kScripts[which] != enabled_one_way) return {};
    LifecycleBuilder w(stage);
    kScripts[which](w);
    return w.take();
}

}  // namespace selvage::conformance
