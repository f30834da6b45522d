// Opening and closing a fabric: spec/clauses/fabric_open.toml.
#include "model/lifecycle/rules.h"

namespace selvage::model::clause {

using namespace rules;

namespace {

bool opens_fabric(const Step& s) { return s.verb == Verb::Open && s.opens == ObjectClass::Fabric && calm(s); }

}  // namespace

Ruling fabric_open_each_answer(const Step& s) {
    if (!opens_entry(s, ObjectClass::Fabric)) return Ruling::not_applicable();
    // Opened again while it is open: another clause speaks.
    if (s.before->first_instance(ObjectClass::Fabric, *s.offer) != nullptr) return Ruling::not_applicable();
    return returned(s, 0);
}

Ruling fabric_open_twice(const Step& s) {
    if (!opens_entry(s, ObjectClass::Fabric)) return Ruling::not_applicable();
    if (s.before->first_instance(ObjectClass::Fabric, *s.offer) == nullptr) return Ruling::not_applicable();
    return returned(s, 0, "an instance of it is open");
}

Ruling fabric_open_object(const Step& s) {
    if (!opens_fabric(s) || !s.worked()) return Ruling::not_applicable();
    return opened_as(s, FI_CLASS_FABRIC);
}

Ruling fabric_open_context(const Step& s) {
    if (!opens_fabric(s) || !s.worked() || s.null) return Ruling::not_applicable();
    return Ruling::check(s.context_kept, [] {
        return observed(Observable::ObjectContext, reported(Field::object, "the fabric does not carry its context"));
    });
}

Ruling fabric_open_api_version(const Step& s) {
    if (!opens_entry(s, ObjectClass::Fabric) || !s.worked() || s.null) return Ruling::not_applicable();
    return Ruling::check(s.api_version == s.version.packed, [&] {
        return observed(Observable::ApiVersion, number(Field::object, Relation::Equals, s.version.packed, s.api_version,
                                                       "api_version of the fabric"));
    });
}

Ruling fabric_open_error_negative(const Step& s) {
    if (opens_fabric(s) || closes(s, ObjectClass::Fabric)) return negative_errno(s);
    // What other calls on a fabric return is the business of other pages; that they do is not.
    const bool on_fabric =
        calm(s) && s.verb == Verb::Open && s.target() != nullptr && s.target()->kind == ObjectClass::Fabric;
    return on_fabric && !s.returned() ? Ruling::broken(crash_of(s)) : Ruling::not_applicable();
}

Ruling fabric_open_unknown_provider(const Step& s) {
    if (!opens_fabric(s) || s.altered != Altered::ProviderName) return Ruling::not_applicable();
    return failed(s, "no such provider is registered");
}

// What such a fabric is shows when the domain of the layered entry is opened on it.
Ruling fabric_open_layered_order(const Step& s) {
    if (opens_fabric(s) && s.altered == Altered::ProviderOrder) return returned(s, 0, "the same layers");
    const bool on_reordered = s.target() != nullptr && s.target()->reordered && s.target()->offer == s.offer_index;
    if (!opens_entry(s, ObjectClass::Domain) || s.second_call || !on_reordered) return Ruling::not_applicable();
    return returned(s, 0, "its fabric was opened by the names in the other order");
}

Ruling fabric_open_unknown_name(const Step& s) {
    if (!opens_fabric(s) || s.altered != Altered::FabricName) return Ruling::not_applicable();
    return failed(s, "the provider reports no fabric of that name");
}

Ruling fabric_close_empty(const Step& s) { return empty_close(s, ObjectClass::Fabric, false); }
Ruling fabric_close_after_children(const Step& s) { return empty_close(s, ObjectClass::Fabric, true); }
Ruling fabric_close_busy_domain(const Step& s) { return busy_close(s, ObjectClass::Fabric, ObjectClass::Domain); }
Ruling fabric_close_busy_pep(const Step& s) { return busy_close(s, ObjectClass::Fabric, ObjectClass::Pep); }
Ruling fabric_close_busy_eq(const Step& s) { return busy_close(s, ObjectClass::Fabric, ObjectClass::Eq); }
Ruling fabric_close_item(const Step& s) { return child_close(s, ObjectClass::Fabric); }
Ruling fabric_close_whole_after_busy(const Step& s) { return whole_after_busy(s, ObjectClass::Fabric); }

}  // namespace selvage::model::clause
