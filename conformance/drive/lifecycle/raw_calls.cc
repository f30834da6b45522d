// See raw_calls.h.
#include "conformance/drive/lifecycle/raw_calls.h"

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <chrono>

#include "conformance/base/available_time.h"
#include "conformance/generate/lifecycles.h"
#include "conformance/runtime/runtime.h"

namespace selvage::conformance {
namespace {

using model::Altered;
using model::ObjectClass;
using model::Override;
using model::Step;

int context_mark;  // its address is the context of fabrics and domains
alignas(4096) char region[4096];

fid_fabric* as_fabric(fid* f) { return reinterpret_cast<fid_fabric*>(f); }
fid_ep* as_endpoint(fid* f) { return reinterpret_cast<fid_ep*>(f); }
fid_domain* as_domain(fid* f) { return reinterpret_cast<fid_domain*>(f); }

// The fid of what a call stored, after it returned `ret`.
template <class T>
RawObject stored(ObjectClass kind, int ret, T* object, Step& step) {
    step.ret = ret;
    step.null = ret == 0 && object == nullptr;
    if (ret != 0 || object == nullptr) return {};
    step.fclass = object->fid.fclass;
    return {kind, &object->fid};
}

RawObject open_fabric(const Entries& entries, const Opening& o, Step& step) {
    fi_fabric_attr attr = *o.info->fabric_attr;
    std::string name = o.name;
    if (o.altered == Altered::FabricName) attr.name = name.data();
    if (o.altered == Altered::ProviderName || o.altered == Altered::ProviderOrder) attr.prov_name = name.data();
    void* const context = o.null_context ? nullptr : &context_mark;
    void* out = nullptr;
    const int ret = entries.fabric(o.altered == Altered::Nothing ? o.info->fabric_attr : &attr, &out, context);
    auto* const fabric = static_cast<fid_fabric*>(out);
    const RawObject made = stored(ObjectClass::Fabric, ret, fabric, step);
    if (made.at == nullptr) return made;
    step.has_ops = fabric->fid.ops != nullptr && fabric->ops != nullptr;
    step.context_kept = fabric->fid.context == context;
    step.api_version = fabric->api_version;
    return made;
}

RawObject open_domain(const Opening& o, Step& step) {
    fi_info info = *o.info;
    fi_domain_attr attr = *o.info->domain_attr;
    std::string name = o.name;
    attr.name = name.data();
    info.domain_attr = &attr;
    fi_info* const with = o.altered == Altered::DomainName ? &info : o.info;
    void* const context = o.null_context ? nullptr : &context_mark;
    fid_domain* domain = nullptr;
    const int ret = o.second_call ? fi_domain2(as_fabric(o.parent), with, &domain, o.flags, context)
                                  : fi_domain(as_fabric(o.parent), with, &domain, context);
    const RawObject made = stored(ObjectClass::Domain, ret, domain, step);
    if (made.at == nullptr) return made;
    step.has_ops = domain->fid.ops != nullptr && domain->ops != nullptr && domain->mr != nullptr;
    step.context_kept = domain->fid.context == context;
    return made;
}

RawObject open_av(const Opening& o, Step& step) {
    fi_av_attr attr = {};
    attr.type = static_cast<fi_av_type>(o.av_type);
    fid_av* av = nullptr;
    const int ret = fi_av_open(as_domain(o.parent), &attr, &av, nullptr);
    return stored(ObjectClass::Av, ret, av, step);
}

RawObject open_mr(const Opening& o, Step& step) {
    const bool rma = (o.info->caps & (FI_RMA | FI_ATOMIC)) != 0;
    const std::uint64_t access = rma ? FI_REMOTE_READ | FI_REMOTE_WRITE : FI_SEND | FI_RECV;
    fid_mr* mr = nullptr;
    const int by_attributes = (o.flags & kMrvAttributes) != 0 ? 1 : 0;
    const int ret = o.vectors == 0
                        ? fi_mr_reg(as_domain(o.parent), region, sizeof region, access, 0, o.key, 0, &mr, nullptr)
                        : register_vectors(as_domain(o.parent), region, o.vectors, by_attributes, access, o.key, &mr);
    const RawObject made = stored(ObjectClass::Mr, ret, mr, step);
    if (made.at != nullptr) step.key = fi_mr_key(mr);
    return made;
}

RawObject open_queue(const Opening& o, Step& step) {
    if (o.kind == ObjectClass::Eq) {
        fi_eq_attr attr = {};
        attr.wait_obj = FI_WAIT_NONE;
        fid_eq* eq = nullptr;
        const int ret = fi_eq_open(as_fabric(o.parent), &attr, &eq, nullptr);
        return stored(o.kind, ret, eq, step);
    }
    if (o.kind == ObjectClass::Cq) {
        fi_cq_attr attr = {};
        attr.format = FI_CQ_FORMAT_CONTEXT;
        fid_cq* cq = nullptr;
        const int ret = fi_cq_open(as_domain(o.parent), &attr, &cq, nullptr);
        return stored(o.kind, ret, cq, step);
    }
    fi_cntr_attr attr = {};
    attr.events = FI_CNTR_EVENTS_COMP;
    fid_cntr* cntr = nullptr;
    const int ret = fi_cntr_open(as_domain(o.parent), &attr, &cntr, nullptr);
    return stored(o.kind, ret, cntr, step);
}

RawObject open_endpoint(const Opening& o, Step& step) {
    if (o.kind == ObjectClass::Pep) {
        fid_pep* pep = nullptr;
        const int ret = fi_passive_ep(as_fabric(o.parent), o.info, &pep, nullptr);
        return stored(o.kind, ret, pep, step);
    }
    fid_ep* ep = nullptr;
    if (o.kind == ObjectClass::Srx) {
        const int ret = fi_srx_context(as_domain(o.parent), o.info->rx_attr, &ep, nullptr);
        return stored(o.kind, ret, ep, step);
    }
    const int ret = fi_endpoint(as_domain(o.parent), o.info, &ep, nullptr);
    return stored(o.kind, ret, ep, step);
}

}  // namespace

RawObject open_raw(const Entries& entries, const Opening& opening, Step& step) {
    switch (opening.kind) {
        case ObjectClass::Fabric:
            return open_fabric(entries, opening, step);
        case ObjectClass::Domain:
            return open_domain(opening, step);
        case ObjectClass::Eq:
        case ObjectClass::Cq:
        case ObjectClass::Cntr:
            return open_queue(opening, step);
        case ObjectClass::Av:
            return open_av(opening, step);
        case ObjectClass::Pep:
        case ObjectClass::Ep:
        case ObjectClass::Srx:
            return open_endpoint(opening, step);
        case ObjectClass::Mr:
            return open_mr(opening, step);
        case ObjectClass::None:
            break;
    }
    return {};
}

int close_raw(const RawObject& object) { return fi_close(object.at); }

int bind_raw(const RawObject& to, const RawObject& other, std::uint64_t flags) {
    if (to.kind == ObjectClass::Ep) return fi_ep_bind(as_endpoint(to.at), other.at, flags);
    return fi_domain_bind(as_domain(to.at), other.at, flags);
}

int enable_raw(const RawObject& endpoint) { return fi_enable(as_endpoint(endpoint.at)); }

int receive_raw(const RawObject& endpoint, std::uint64_t most, std::uint64_t& accepted) {
    std::size_t posted = 0;
    const auto ret = post_receives(as_endpoint(endpoint.at), most, &posted);
    accepted = posted;
    return static_cast<int>(ret);
}

int open_ops_raw(const RawObject& object, const std::string& name) {
    void* ops = nullptr;
    return fi_open_ops(object.at, name.c_str(), 0, &ops, nullptr);
}

int set_ops_raw(const RawObject& object, const std::string& name, Override which) {
    return fi_set_ops(object.at, name.c_str(), 0, override_ops(static_cast<int>(which)), nullptr);
}

bool registration_reported(const RawObject& eq) {
    constexpr std::chrono::milliseconds kPatience{500};
    AvailableTime time;
    do {
        if (::registration_reported(reinterpret_cast<fid_eq*>(eq.at)) != 0) return true;
    } while (!time.is_over(kPatience));
    return false;
}

}  // namespace selvage::conformance
