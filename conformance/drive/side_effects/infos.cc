// fi_dupinfo, fi_allocinfo and fi_freeinfo: what a duplicate shares with its original, objects behind handle, what the
// caller has changed.
#include <rdma/fi_endpoint.h>

#include <cstdlib>
#include <cstring>
#include <span>

#include "conformance/drive/side_effects/watch.h"
#include "conformance/runtime/runtime.h"

namespace selvage::conformance {

using namespace model;
using Act = SideEffects::Act;

namespace {

void watch_dup_of(Watch& w, const fi_info* original, const Info& as_value, std::span<void* const> objects = {}) {
    const Entries& entries = w.context().library().entries();
    fi_info* copy = entries.dupinfo(original);
    SideEffects side_effects = w.begin();
    side_effects.original = &as_value;
    Info copied;
    if (copy != nullptr) {
        decode(copy, objects, copied);
        side_effects.copy = &copied;
        side_effects.copy_shares = shares(original, copy) != 0;
        side_effects.copy_has_next = copy->next != nullptr;
    }
    w.rule(side_effects);
    if (copy != nullptr) {
        copy->next = nullptr;
        entries.freeinfo(copy);
    }
}

// A passive endpoint in the hints' handle comes back in every answer.
void watch_passive(Watch& w, fi_info* info, fid_fabric* fabric) {
    fid_pep* pep = nullptr;
    if (info->ep_attr == nullptr || info->ep_attr->type != FI_EP_MSG) return;
    if (fi_passive_ep(fabric, info, &pep, nullptr) != 0) return;
    Query q = widest_query(w.context().provider(), w.context().version());
    q.hints->handle = 1;
    void* const objects[] = {pep};
    w.context().single().set_objects(objects);
    const Answer answer = w.context().single().issue(q).answer;
    // Callers of 1.6 had no use for it.
    Query before = widest_query(w.context().provider(), Version(1, 6));
    before.hints->handle = 1;
    const Answer narrowed = w.context().single().issue(before).answer;
    w.context().single().set_objects({});
    World world = w.context().world();
    world.opened.push_back({World::Opened::Kind::Pep, {}, {}, {}});
    w.rule(q, world, answer);
    w.rule(before, world, narrowed);
    fi_close(&pep->fid);
}

// An opened fabric in the hints narrows the answer.
void watch_instance(Watch& w, void* fabric) {
    Query q = widest_query(w.context().provider(), w.context().version());
    q.hints->fabric.fabric = 1;
    void* const objects[] = {fabric};
    w.context().single().set_objects(objects);
    const Answer answer = w.context().single().issue(q).answer;
    w.context().single().set_objects({});
    World world = w.context().world();
    world.opened.push_back({World::Opened::Kind::Fabric, {}, {}, {}});
    w.rule(q, world, answer);
}

// An open object behind handle: neither fi_dupinfo nor fi_freeinfo may touch it.
void watch_handle(Watch& w, fi_info* info, Info as_value) {
    const Entries& entries = w.context().library().entries();
    void* opened = nullptr;
    if (info->fabric_attr == nullptr || entries.fabric(info->fabric_attr, &opened, nullptr) != 0) return;
    auto* fabric = static_cast<fid_fabric*>(opened);
    fid_t const before = info->handle;
    info->handle = &fabric->fid;
    as_value.handle = 1;
    void* const objects[] = {opened};
    watch_dup_of(w, info, as_value, objects);
    info->handle = before;
    watch_instance(w, opened);
    watch_passive(w, info, fabric);
    SideEffects freed = w.begin();
    freed.act = Act::FreeInfo;
    freed.original = &as_value;
    freed.ret = fi_close(&fabric->fid);
    w.rule(freed);
}

}  // namespace

// Offers of the answer, and the hints themselves, which may lack substructures.
void watch_dup(Watch& w) {
    const List list(w.context(), w.shown().first);
    std::size_t i = 0;
    for (const fi_info* p = list.get(); p != nullptr && i < 4 && i < list.answer().offers.size(); p = p->next, ++i) {
        watch_dup_of(w, p, list.answer().offers[i]);
    }
    // Objects of another provider say nothing of this one.
    i = 0;
    for (fi_info* p = list.get(); p != nullptr && i < list.answer().offers.size(); p = p->next, ++i) {
        const Info& offer = list.answer().offers[i];
        if (!offer_is_of(offer, w.context().provider())) continue;
        watch_handle(w, p, offer);
        break;
    }
    if (!w.shown().first.hints) return;
    Arena arena(room_for(w.shown().first));
    const fi_info* hints = encode(*w.shown().first.hints, arena, {});
    arena.protect();
    watch_dup_of(w, hints, *w.shown().first.hints);
}

void watch_dup_own_nic(Watch& w) {
    char name[] = "own0";
    fi_device_attr device = {};
    fid_nic nic = {};
    fi_info info = {};
    device.name = name;
    nic.fid.fclass = FI_CLASS_NIC;
    nic.device_attr = &device;
    info.nic = &nic;
    Info value;
    value.add(Part::Nic);
    watch_dup_of(w, &info, value);
}

void watch_alloc(Watch& w) {
    const Entries& entries = w.context().library().entries();
    fi_info* one = entries.dupinfo(nullptr);
    fi_info* two = entries.dupinfo(nullptr);
    SideEffects side_effects = w.begin();
    Info value;
    if (one != nullptr) {
        decode(one, {}, value);
        side_effects.copy = &value;
        side_effects.copy_has_next = one->next != nullptr;
        side_effects.copy_shares = two != nullptr && shares(one, two) != 0;
    }
    w.rule(side_effects);
    if (one != nullptr) entries.freeinfo(one);
    if (two != nullptr && two != one) entries.freeinfo(two);
}

namespace {

// A fi_info from fi_allocinfo, filled as applications do it, with memory of malloc.
fi_info* filled(const Entries& entries, const Info& from) {
    fi_info* info = entries.dupinfo(nullptr);
    if (info == nullptr) return nullptr;
    if (info->fabric_attr != nullptr && from.fabric.prov_name)
        info->fabric_attr->prov_name = strdup(from.fabric.prov_name->c_str());
    if (info->fabric_attr != nullptr && from.fabric.name) info->fabric_attr->name = strdup(from.fabric.name->c_str());
    if (info->domain_attr != nullptr && from.domain.name) info->domain_attr->name = strdup(from.domain.name->c_str());
    if (from.src_addr && !from.src_addr->empty()) {
        info->src_addr = std::malloc(from.src_addr->size());
        if (info->src_addr != nullptr) std::memcpy(info->src_addr, from.src_addr->data(), from.src_addr->size());
        info->src_addrlen = from.src_addr->size();
    }
    return info;
}

}  // namespace

void watch_free(Watch& w) {
    const Entries& entries = w.context().library().entries();
    {
        const List one(w.context(), w.shown().first);
        const List two(w.context(), w.shown().first);
        SideEffects side_effects = w.begin();
        side_effects.answer = &one.answer();
        side_effects.ret = one.answer().ret;
        for (const fi_info *a = one.get(), *b = two.get(); a != nullptr && b != nullptr; a = a->next, b = b->next) {
            side_effects.copy_shares = side_effects.copy_shares || shares(a, b) != 0;
        }
        side_effects.leaked_blocks = blocks_left([&] { const List again(w.context(), w.shown().first); });
        w.rule(side_effects);
    }
    if (!w.shown().first.hints) return;
    SideEffects side_effects = w.begin();
    side_effects.original = &*w.shown().first.hints;
    side_effects.leaked_blocks = blocks_left([&] {
        if (fi_info* info = filled(entries, *w.shown().first.hints)) entries.freeinfo(info);
    });
    w.rule(side_effects);
}

}  // namespace selvage::conformance
