// See opened_domain.h.
#include "conformance/drive/endpoint/opened_domain.h"

#include "conformance/harness/codec.h"
#include "conformance/runtime/runtime.h"

namespace selvage::conformance {
namespace {

setup setup_of(const TransferSequence& s) {
    const auto selective = [](bool is) { return is ? FI_SELECTIVE_COMPLETION : 0; };
    return {.format = static_cast<fi_cq_format>(s.format),
            .queue_size = s.queue_size,
            .receive_selective = selective(s.selective_receive),
            .transmit_selective = selective(s.selective_transmit),
            .receive_flags = s.receive_flags,
            .transmit_flags = s.transmit_flags,
            .counters = s.counters ? 1 : 0,
            .min_multi_recv = s.min_multi_recv};
}

}  // namespace

std::shared_ptr<OpenedDomain> OpenedDomain::open(const Entries& entries, const Case& c, Outcome& outcome) {
    std::shared_ptr<OpenedDomain> out(new OpenedDomain);
    out->free_info_ = entries.freeinfo;
    outcome = {0, "fi_getinfo"};
    if (!out->query(entries, c)) return nullptr;
    void* fabric = nullptr;
    opened& o = out->opened_;
    outcome = {entries.fabric(o.info->fabric_attr, &fabric, nullptr), "fi_fabric"};
    if (outcome.ret != 0) return nullptr;
    o.fabric = static_cast<fid_fabric*>(fabric);
    outcome = {fi_domain(o.fabric, o.info, &o.domain, nullptr), "fi_domain"};
    if (outcome.ret != 0) return nullptr;
    outcome = {};
    return out;
}

bool OpenedDomain::query(const Entries& entries, const Case& c) {
    Arena arena(room_for(c.first));
    const Encoded e = encode(c.first, arena, {});
    if (entries.getinfo(e.version, e.node, e.service, e.flags, e.hints, &list_) != 0) list_ = nullptr;
    fi_info* info = list_;
    for (int i = 0; i < c.sequence.entry && info != nullptr; ++i) info = info->next;
    if (info == nullptr || info->ep_attr == nullptr || info->domain_attr == nullptr || info->tx_attr == nullptr ||
        info->rx_attr == nullptr || info->fabric_attr == nullptr)
        return false;
    if (decode(info, {}, answered_) != nullptr) answered_ = {};
    setup_ = setup_of(c.sequence);
    add_defaults(info, &setup_);
    opened_ = {.info = info, .fabric = nullptr, .domain = nullptr, .next_key = 1};
    return true;
}

OpenedDomain::~OpenedDomain() {
    if (opened_.domain != nullptr) fi_close(&opened_.domain->fid);
    if (opened_.fabric != nullptr) fi_close(&opened_.fabric->fid);
    if (list_ != nullptr) free_info_(list_);
}

}  // namespace selvage::conformance
