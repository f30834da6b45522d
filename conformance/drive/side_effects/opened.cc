// What opening and closing leave behind.
#include <rdma/fi_domain.h>

#include <utility>

#include "conformance/drive/side_effects/watch.h"

namespace selvage::conformance {

using namespace model;

// Opens and closes with an answer's attributes, and opens that must fail: what stays behind?
void watch_opening(Watch& w) {
    const Entries& entries = w.context().library().entries();
    const List list(w.context(), w.shown().first);
    fi_info* info = list.get();
    if (info == nullptr) return;
    const auto open_fabric = [&](fi_fabric_attr* attr) {
        void* fabric = nullptr;
        const int ret = entries.fabric(attr, &fabric, nullptr);
        return std::pair(ret, static_cast<fid_fabric*>(ret == 0 ? fabric : nullptr));
    };
    SideEffects side_effects;
    const auto watch_fabric = [&](fi_fabric_attr* attr) {
        side_effects = w.begin();
        side_effects.written_field = Field::part_fabric;
        side_effects.leaked_blocks = blocks_left([&] {
            const auto [ret, fabric] = open_fabric(attr);
            side_effects.ret = ret;
            if (fabric != nullptr) fi_close(&fabric->fid);
        });
        w.rule(side_effects);
    };
    watch_fabric(info->fabric_attr);
    fi_fabric_attr nameless = *info->fabric_attr;
    char nobody[] = "no_such_provider";
    nameless.prov_name = nobody;
    watch_fabric(&nameless);

    const auto [ret, fabric] = open_fabric(info->fabric_attr);
    if (ret != 0) return;
    const auto watch_domain = [&] {
        side_effects = w.begin();
        side_effects.written_field = Field::part_domain;
        side_effects.leaked_blocks = blocks_left([&, of = fabric] {
            fid_domain* domain = nullptr;
            side_effects.ret = fi_domain(of, info, &domain, nullptr);
            if (side_effects.ret == 0) fi_close(&domain->fid);
        });
        w.rule(side_effects);
    };
    watch_domain();
    const fi_domain_attr sound = *info->domain_attr;
    char nowhere[] = "no-such-domain";
    info->domain_attr->name = nowhere;
    watch_domain();
    *info->domain_attr = sound;
    // More than anyone has: a library that takes unknown names may refuse this.
    info->domain_attr->caps = ~std::uint64_t{0};
    info->domain_attr->cq_data_size = info->domain_attr->mr_key_size = SIZE_MAX;
    info->domain_attr->cq_cnt = info->domain_attr->ep_cnt = SIZE_MAX;
    watch_domain();
    *info->domain_attr = sound;
    fi_close(&fabric->fid);
}

}  // namespace selvage::conformance
