// Memory regions and address vectors of a domain: spec/clauses/domain_mr_bits.toml, domain_av.toml, domain_bind.toml.
#include <rdma/fi_domain.h>

#include "model/lifecycle/rules.h"

namespace selvage::model::clause {

using namespace rules;

namespace {

bool registers(const Step& s) {
    return s.verb == Verb::Open && s.opens == ObjectClass::Mr && calm(s) && s.offer != nullptr &&
           s.target() != nullptr && s.target()->kind == ObjectClass::Domain;
}

// Who picks the keys of a domain's regions?
enum class Picks { Provider, Application, Unclear };
Picks picks(const Step& s) {
    const auto mode = s.offer->domain.mr_mode;
    // FI_MR_UNSPEC of old: basic or scalable, the reader cannot tell.
    if (s.version < Version(1, 5) && mode == FI_MR_UNSPEC) return Picks::Unclear;
    if (mode == FI_MR_BASIC || (mode & FI_MR_PROV_KEY) != 0) return Picks::Provider;
    return Picks::Application;
}

// The key is not one number, or not there before the region is bound and enabled.
bool key_comes_otherwise(const Step& s) { return (s.offer->domain.mr_mode & (FI_MR_RAW | FI_MR_ENDPOINT)) != 0; }

// A region of the same domain with a key, open now.
bool has_region(const Step& s, std::uint64_t key, std::uint64_t Object::*which) {
    for (const Object& o : s.before->objects())
        if (o.open() && o.kind == ObjectClass::Mr && o.parent == s.object && o.*which == key) return true;
    return false;
}

bool within_key_size(std::uint64_t key, std::uint64_t size) { return size >= 8 || key >> (8 * size) == 0; }

// Several buffers are registered where one was, which is closed again: nothing else is in the way.
bool registers_vectors(const Step& s) {
    if (!registers(s) || s.vectors == 0 || s.offer->domain.mr_iov_limit == 0 || s.target()->asynchronous) return false;
    bool worked = false;
    for (const Object& o : s.before->objects()) {
        const bool alike = o.kind == ObjectClass::Mr && o.parent == s.object && o.requested_key == s.requested_key;
        if (alike && o.open()) return false;
        worked = worked || (alike && o.state == Object::State::Closed);
    }
    return worked;
}

}  // namespace

Ruling domain_mr_provider_key(const Step& s) {
    if (!registers(s) || picks(s) != Picks::Provider || key_comes_otherwise(s) || s.target()->asynchronous)
        return Ruling::not_applicable();
    if (s.worked())
        return Ruling::check(!has_region(s, s.key, &Object::key), [] {
            return observed(Observable::KeyIsOwn,
                            reported(Field::object, "two regions of one domain have the same key"));
        });
    // Asking for a key that is taken is no reason to refuse.
    if (!has_region(s, s.requested_key, &Object::requested_key)) return Ruling::not_applicable();
    return returned(s, 0, "the key that was asked for does not count");
}

Ruling domain_mr_application_key(const Step& s) {
    if (!registers(s) || !s.worked() || picks(s) != Picks::Application || key_comes_otherwise(s))
        return Ruling::not_applicable();
    if (s.target()->asynchronous || !within_key_size(s.requested_key, s.offer->domain.mr_key_size))
        return Ruling::not_applicable();
    return Ruling::check(s.key == s.requested_key, [&] {
        return observed(Observable::Key,
                        number(Field::object, Relation::Equals, s.requested_key, s.key, "the key of the region"));
    });
}

Ruling domain_bind_mr_sync(const Step& s) {
    if (!registers(s) || !s.worked() || s.target()->asynchronous || key_comes_otherwise(s))
        return Ruling::not_applicable();
    // What stands for no key may have been asked for as one.
    if (picks(s) != Picks::Provider && s.requested_key == FI_KEY_NOTAVAIL) return Ruling::not_applicable();
    return Ruling::check(s.key != FI_KEY_NOTAVAIL, [] {
        return observed(Observable::KeyIsThere, reported(Field::object, "the region has no key yet"));
    });
}

Ruling domain_bind_mr_async(const Step& s) {
    if (!registers(s) || !s.worked() || !s.target()->asynchronous) return Ruling::not_applicable();
    return Ruling::check(s.completed, [] {
        return observed(Observable::Registration,
                        reported(Field::object, "no event tells that the registration is done"));
    });
}

Ruling domain_mr_iov_limit_reached(const Step& s) {
    if (!registers_vectors(s) || s.vectors > s.offer->domain.mr_iov_limit) return Ruling::not_applicable();
    return returned(s, 0, "a registration of one buffer worked");
}

Ruling domain_mr_iov_limit_exceeded(const Step& s) {
    if (!registers_vectors(s) || s.vectors <= s.offer->domain.mr_iov_limit) return Ruling::not_applicable();
    return failed(s, "it has more vectors than domain_attr.mr_iov_limit");
}

Ruling domain_av_opens_granted(const Step& s) {
    if (s.verb != Verb::Open || s.opens != ObjectClass::Av || !calm(s) || s.offer == nullptr || s.target() == nullptr)
        return Ruling::not_applicable();
    const auto type = s.offer->ep.type;
    if (type != FI_EP_RDM && type != FI_EP_DGRAM) return Ruling::not_applicable();
    const auto reported = s.offer->domain.av_type;
    // There are two types; another may be refused.
    if (s.av_type != FI_AV_UNSPEC && s.av_type != FI_AV_MAP && s.av_type != FI_AV_TABLE)
        return Ruling::not_applicable();
    if (reported != FI_AV_UNSPEC && reported != s.av_type) return Ruling::not_applicable();
    return returned(s, 0);
}

}  // namespace selvage::model::clause
