// See lifetime.h.
#include "model/lifecycle/lifetime.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>

#include <algorithm>

#include "model/lifecycle/step.h"

namespace selvage::model {

namespace {

int closing_rank(ObjectClass kind) {
    switch (kind) {
        case ObjectClass::Ep:
            return 0;
        case ObjectClass::Domain:
        case ObjectClass::Pep:
            return 2;
        case ObjectClass::Eq:
            return 3;
        case ObjectClass::Fabric:
            return 4;
        default:
            return 1;
    }
}

}  // namespace

bool is_instance(const Object& object, ObjectClass kind, const Info& offer) {
    if (object.kind != kind || object.provider != offer.fabric.prov_name) return false;
    if (object.fabric_name != offer.fabric.name) return false;
    return kind != ObjectClass::Domain || object.domain_name == offer.domain.name;
}

const Object* Lifetime::find(std::uint64_t number) const {
    return number == 0 || number > objects_.size() ? nullptr : &objects_[static_cast<std::size_t>(number) - 1];
}

const Object* Lifetime::find_open(std::uint64_t number) const {
    const Object* o = find(number);
    return o != nullptr && o->open() ? o : nullptr;
}

bool Lifetime::has_child(int parent, ObjectClass kind) const {
    return std::any_of(objects_.begin(), objects_.end(), [&](const Object& o) {
        return o.open() && o.parent == parent && (kind == ObjectClass::None || o.kind == kind);
    });
}

bool Lifetime::is_bound(int number) const {
    return is_bound_to_endpoint(number) || std::any_of(objects_.begin(), objects_.end(), [&](const Object& o) {
               return o.open() && std::find(o.bound_eqs.begin(), o.bound_eqs.end(), number) != o.bound_eqs.end();
           });
}

bool Lifetime::is_bound_to_endpoint(int number) const {
    return std::any_of(objects_.begin(), objects_.end(), [&](const Object& o) {
        return o.open() &&
               std::any_of(o.bindings.begin(), o.bindings.end(), [&](const Binding& b) { return b.number == number; });
    });
}

const Object* Lifetime::first_instance(ObjectClass kind, const Info& offer) const {
    for (const Object& o : objects_)
        if (o.open() && is_instance(o, kind, offer)) return &o;
    return nullptr;
}

int Lifetime::instances(ObjectClass kind, const Info& offer) const {
    return static_cast<int>(std::count_if(objects_.begin(), objects_.end(),
                                          [&](const Object& o) { return o.open() && is_instance(o, kind, offer); }));
}

std::vector<int> Lifetime::closing_order() const {
    std::vector<int> out;
    for (auto o = objects_.rbegin(); o != objects_.rend(); ++o)
        if (o->open()) out.push_back(o->number);
    std::stable_sort(out.begin(), out.end(), [&](int a, int b) {
        return closing_rank(objects_[static_cast<std::size_t>(a) - 1].kind) <
               closing_rank(objects_[static_cast<std::size_t>(b) - 1].kind);
    });
    return out;
}

void Lifetime::opened(const Step& step) {
    Object o;
    o.kind = step.opens;
    o.number = next_number();
    o.parent = step.opens == ObjectClass::Fabric ? 0 : step.object;
    o.offer = step.offer_index;
    o.flagged = step.second_call;
    o.reordered = step.altered == Altered::ProviderOrder;
    if (step.offer != nullptr) {
        o.provider = step.offer->fabric.prov_name;
        o.fabric_name = step.offer->fabric.name;
        o.domain_name = step.offer->domain.name;
        o.ep_type = step.offer->ep.type;
        o.caps = step.offer->caps;
        o.own_contexts = step.offer->ep.tx_ctx_cnt <= 1 && step.offer->ep.rx_ctx_cnt <= 1;
    }
    o.key = step.key;
    o.requested_key = step.requested_key;
    if (step.worked() && !step.null) {
        o.state = Object::State::Open;
        if (o.parent > 0) {
            Object& parent = objects_[static_cast<std::size_t>(o.parent) - 1];
            parent.had_children = true;
            if (first_refused_ == 0) parent.opened_before_refusal.push_back(o.kind);
        }
    }
    objects_.push_back(std::move(o));
}

void Lifetime::lose_children(int parent) {
    for (Object& o : objects_) {
        if (!o.open() || o.parent != parent) continue;
        o.state = Object::State::Lost;
        lose_children(o.number);
    }
}

void Lifetime::closed(const Step& step) {
    Object& o = objects_[static_cast<std::size_t>(step.object) - 1];
    if (step.ret == -FI_EBUSY) {
        o.refused = true;
        if (first_refused_ == 0) first_refused_ = static_cast<std::uint64_t>(step.object);
    }
    if (!step.worked()) return;
    o.state = Object::State::Closed;
    lose_children(o.number);
}

void Lifetime::bound(const Step& step) {
    Object& o = objects_[static_cast<std::size_t>(step.object) - 1];
    if (o.kind == ObjectClass::Ep) return o.bindings.push_back({.number = step.argument, .flags = step.flags});
    o.bound_eqs.push_back(step.argument);
    o.asynchronous = o.asynchronous || (step.flags & FI_REG_MR) != 0;
}

void Lifetime::apply(const Step& step) {
    if (step.verb == Verb::Open) return opened(step);
    if (step.target() == nullptr) return;
    if (step.verb == Verb::Close) return closed(step);
    if (step.verb == Verb::Bind && step.worked()) bound(step);
    if (step.verb == Verb::Enable && step.worked()) objects_[static_cast<std::size_t>(step.object) - 1].enabled = true;
}

}  // namespace selvage::model
