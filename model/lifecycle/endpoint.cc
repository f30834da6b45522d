// What an endpoint is bound to, enabling it, and closing what it is bound to: spec/clauses/endpoint_lifecycle.toml, and
// the clauses on closing queues, counters and address vectors.
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <algorithm>

#include "model/lifecycle/rules.h"

namespace selvage::model::clause {

using namespace rules;

namespace {

constexpr std::uint64_t kQueueFlags = FI_TRANSMIT | FI_RECV;
constexpr std::uint64_t kCounterFlags = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;

// The step acts on an open endpoint that is not enabled.
bool on_fresh_endpoint(const Step& s, Verb verb) {
    return s.verb == verb && calm(s) && s.target() != nullptr && s.target()->kind == ObjectClass::Ep &&
           !s.target()->enabled;
}

bool connects(const Object& endpoint) { return endpoint.ep_type == FI_EP_MSG; }

// Flags that all bindings of an endpoint to objects of one class have together.
std::uint64_t bound_for(const Step& s, ObjectClass kind) {
    std::uint64_t all = 0;
    for (const Binding& b : s.target()->bindings) {
        const Object* o = s.before->find(static_cast<std::uint64_t>(b.number));
        if (o != nullptr && o->kind == kind) all |= b.flags;
    }
    return all;
}

bool has_bound(const Step& s, ObjectClass kind) {
    return std::any_of(s.target()->bindings.begin(), s.target()->bindings.end(), [&](const Binding& b) {
        const Object* o = s.before->find(static_cast<std::uint64_t>(b.number));
        return o != nullptr && o->kind == kind;
    });
}

// The directions for which an endpoint needs a queue.
std::uint64_t directions(const Object& endpoint) {
    const bool sends = (endpoint.caps & (FI_SEND | FI_READ | FI_WRITE)) != 0;
    const bool receives = (endpoint.caps & FI_RECV) != 0;
    return (sends ? FI_TRANSMIT : 0) | (receives ? FI_RECV : 0);
}

bool is_queue_binding(std::uint64_t flags) {
    return (flags & kQueueFlags) != 0 && (flags & ~(kQueueFlags | FI_SELECTIVE_COMPLETION)) == 0;
}

bool is_counter_binding(std::uint64_t flags, const Object& endpoint) {
    if (flags == 0 || (flags & ~kCounterFlags) != 0 || (flags & ~endpoint.caps) != 0) return false;
    return (flags & (FI_REMOTE_READ | FI_REMOTE_WRITE)) == 0 || (endpoint.caps & FI_RMA_EVENT) != 0;
}

// What a step binds may be bound so, and nothing stands in its way.
bool fits(const Step& s, const Object& bound) {
    const Object& endpoint = *s.target();
    const bool beside = bound.parent == endpoint.parent;
    switch (bound.kind) {
        case ObjectClass::Cq:
            return beside && is_queue_binding(s.flags) && (s.flags & kQueueFlags & ~directions(endpoint)) == 0 &&
                   (s.flags & kQueueFlags & bound_for(s, ObjectClass::Cq)) == 0;
        case ObjectClass::Cntr:
            return beside && is_counter_binding(s.flags, endpoint) && (s.flags & bound_for(s, ObjectClass::Cntr)) == 0;
        case ObjectClass::Av:
            return beside && !connects(endpoint) && s.flags == 0 && !has_bound(s, ObjectClass::Av);
        case ObjectClass::Eq: {
            const Object* domain = s.before->find_open(static_cast<std::uint64_t>(endpoint.parent));
            return connects(endpoint) && s.flags == 0 && !has_bound(s, ObjectClass::Eq) && domain != nullptr &&
                   bound.parent == domain->parent;
        }
        default:
            return false;
    }
}

// Another of the kind is bound for the same already.
bool second(const Step& s, const Object& bound) {
    switch (bound.kind) {
        case ObjectClass::Cq:
            return is_queue_binding(s.flags) && (s.flags & kQueueFlags & bound_for(s, ObjectClass::Cq)) != 0;
        case ObjectClass::Cntr:
            return is_counter_binding(s.flags, *s.target()) && (s.flags & bound_for(s, ObjectClass::Cntr)) != 0;
        case ObjectClass::Av:
            return s.flags == 0 && has_bound(s, ObjectClass::Av);
        default:
            return false;
    }
}

// A buffer has to be registered, or to have a prefix, before it can be received into.
bool needs_registration(const Info& offer) {
    return ((offer.mode | offer.rx.mode) & (FI_LOCAL_MR | FI_MSG_PREFIX)) != 0 ||
           (offer.domain.mr_mode & FI_MR_LOCAL) != 0;
}

// The object that a step binds to a fresh endpoint, or nullptr.
const Object* binds_to_endpoint(const Step& s) {
    return on_fresh_endpoint(s, Verb::Bind) ? s.before->find_open(static_cast<std::uint64_t>(s.argument)) : nullptr;
}

// Queues for all of its operations, and an address vector or an event queue.
bool has_all_it_needs(const Step& s) {
    // A shared context would have to be bound, too.
    if (!s.target()->own_contexts) return false;
    const std::uint64_t needed = directions(*s.target());
    if (needed == 0 || (needed & ~bound_for(s, ObjectClass::Cq)) != 0) return false;
    return has_bound(s, connects(*s.target()) ? ObjectClass::Eq : ObjectClass::Av);
}

// Closing what an endpoint is bound to is refused.
Ruling bound_close(const Step& s, ObjectClass kind) {
    if (!closes(s, kind) || !s.before->is_bound_to_endpoint(s.object)) return Ruling::not_applicable();
    return returned(s, -FI_EBUSY);
}

}  // namespace

Ruling endpoint_bind_fits(const Step& s) {
    const Object* bound = binds_to_endpoint(s);
    if (bound == nullptr || !fits(s, *bound)) return Ruling::not_applicable();
    return returned(s, 0);
}

Ruling endpoint_bind_single(const Step& s) {
    const Object* bound = binds_to_endpoint(s);
    // The same object once more for the same changes nothing; of that the page says nothing.
    if (bound == nullptr || !second(s, *bound)) return Ruling::not_applicable();
    for (const Binding& b : s.target()->bindings)
        if (b.number == s.argument) return Ruling::not_applicable();
    return failed(s, "one is bound for that already");
}

Ruling endpoint_bind_error_negative(const Step& s) {
    const bool binds = s.verb == Verb::Bind || s.verb == Verb::Enable;
    if (!binds || !calm(s) || s.target() == nullptr || s.target()->kind != ObjectClass::Ep)
        return Ruling::not_applicable();
    // To bind what is needed ahead of fi_enable is the application's duty (fi_endpoint(3)): what comes of a call
    // without is for the clauses on what is needed to speak of.
    if (!s.returned() && enables_too_early(s)) return Ruling::not_applicable();
    return negative_errno(s);
}

Ruling endpoint_enable_bound(const Step& s) {
    if (!on_fresh_endpoint(s, Verb::Enable) || !has_all_it_needs(s)) return Ruling::not_applicable();
    return returned(s, 0);
}

Ruling endpoint_enable_needs_queue(const Step& s) {
    if (!on_fresh_endpoint(s, Verb::Enable) || directions(*s.target()) == 0) return Ruling::not_applicable();
    if (has_bound(s, ObjectClass::Cq) || has_bound(s, ObjectClass::Cntr)) return Ruling::not_applicable();
    return failed(s, "no completion queue is bound to it");
}

Ruling endpoint_enable_needs_addresses(const Step& s) {
    if (!on_fresh_endpoint(s, Verb::Enable) || connects(*s.target())) return Ruling::not_applicable();
    if (has_bound(s, ObjectClass::Av)) return Ruling::not_applicable();
    return failed(s, "no address vector is bound to it");
}

Ruling domain_rm_receives_full_enabled(const Step& s) {
    if (s.verb != Verb::Receive || !calm(s) || s.target() == nullptr || s.offer == nullptr || s.accepted == 0)
        return Ruling::not_applicable();
    if (s.offer->domain.resource_mgmt != FI_RM_ENABLED || needs_registration(*s.offer)) return Ruling::not_applicable();
    if (!s.returned()) return Ruling::broken(crash_of(s));
    return Ruling::check(s.ret == 0 || s.ret == -FI_EAGAIN, [&] {
        return number(Field::call_return, Relation::Equals, wide(-FI_EAGAIN), wide(s.ret),
                      "of the receive behind " + std::to_string(s.accepted) + " that were accepted");
    });
}

Ruling domain_max_ep_srx_ctx_exceeded(const Step& s) {
    const Object* srx = binds_to_endpoint(s);
    if (srx == nullptr || srx->kind != ObjectClass::Srx || s.offer == nullptr) return Ruling::not_applicable();
    std::uint64_t sharers = 0;
    for (const Object& o : s.before->objects()) {
        const auto is_srx = [&](const Binding& b) { return b.number == srx->number; };
        if (o.open() && std::any_of(o.bindings.begin(), o.bindings.end(), is_srx)) ++sharers;
    }
    if (sharers < s.offer->domain.max_ep_srx_ctx) return Ruling::not_applicable();
    return failed(s, "max_ep_srx_ctx endpoints have that context already");
}

Ruling cq_close_busy(const Step& s) { return bound_close(s, ObjectClass::Cq); }
Ruling domain_av_close_busy(const Step& s) { return bound_close(s, ObjectClass::Av); }

Ruling cntr_close_releases(const Step& s) {
    if (closes(s, ObjectClass::Cntr) && !s.before->is_bound_to_endpoint(s.object)) return returned(s, 0);
    return bound_close(s, ObjectClass::Cntr);
}

}  // namespace selvage::model::clause

bool selvage::model::enables_too_early(const Step& s) {
    return clause::on_fresh_endpoint(s, Verb::Enable) && !clause::has_all_it_needs(s);
}
