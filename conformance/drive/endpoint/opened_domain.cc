// See opened_domain.h.
#include "conformance/drive/endpoint/opened_domain.h"

#include <rdma/fi_endpoint.h>

#include "conformance/harness/codec.h"

namespace selvage::conformance {

std::shared_ptr<OpenedDomain> OpenedDomain::open(const Entries& entries, const Case& c, Outcome& outcome) {
    std::shared_ptr<OpenedDomain> out(new OpenedDomain);
    out->free_info_ = entries.freeinfo;
    outcome = {0, "fi_getinfo"};
    if (!out->query(entries, c)) return nullptr;
    void* fabric = nullptr;
    outcome = {entries.fabric(out->info_->fabric_attr, &fabric, nullptr), "fi_fabric"};
    if (outcome.ret != 0) return nullptr;
    out->fabric_ = static_cast<fid_fabric*>(fabric);
    outcome = {fi_domain(out->fabric_, out->info_, &out->domain_, nullptr), "fi_domain"};
    if (outcome.ret != 0) return nullptr;
    outcome = {};
    return out;
}

bool OpenedDomain::query(const Entries& entries, const Case& c) {
    Arena arena(room_for(c.first));
    const Encoded e = encode(c.first, arena, {});
    if (entries.getinfo(e.version, e.node, e.service, e.flags, e.hints, &list_) != 0) list_ = nullptr;
    info_ = list_;
    for (int i = 0; i < c.sequence.entry && info_ != nullptr; ++i) info_ = info_->next;
    if (info_ == nullptr || info_->ep_attr == nullptr || info_->domain_attr == nullptr || info_->tx_attr == nullptr ||
        info_->rx_attr == nullptr || info_->fabric_attr == nullptr)
        return false;
    if (decode(info_, {}, answered_) != nullptr) answered_ = {};
    info_->tx_attr->op_flags |= c.sequence.transmit_flags;
    info_->rx_attr->op_flags |= c.sequence.receive_flags;
    return true;
}

OpenedDomain::~OpenedDomain() {
    if (domain_ != nullptr) fi_close(&domain_->fid);
    if (fabric_ != nullptr) fi_close(&fabric_->fid);
    if (list_ != nullptr) free_info_(list_);
}

}  // namespace selvage::conformance
