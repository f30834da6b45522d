// Opened objects that close themselves, for tests.
#pragma once

#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include "impl/test/library/getinfo.h"

namespace selvage::test {

// Closes at the end of the scope what has not been closed before.
template <typename Descriptor>
class Opened {
public:
    Opened() = default;
    ~Opened() {
        if (object_) fi_close(&object_->fid);
    }
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
    Descriptor** out() { return &object_; }
    Descriptor* get() const { return object_; }
    Descriptor* operator->() const { return object_; }
    fid* base() const { return &object_->fid; }
    int close() {
        const int result = fi_close(&object_->fid);
        if (!result) object_ = nullptr;
        return result;
    }

private:
    Descriptor* object_ = nullptr;
};

// A fabric and a domain of one provider.
struct Network {
    InfoPtr info;
    Opened<fid_fabric> fabric;
    Opened<fid_domain> domain;
    int result = 0;

    explicit Network(const char* provider = "shm", fi_ep_type type = FI_EP_RDM, uint32_t version = kVersion,
                     uint64_t caps = 0, int mr_mode = 0, uint64_t mode = 0) {
        InfoPtr hints = make_hints(provider, type);
        hints->caps = caps;
        hints->mode = mode;
        hints->domain_attr->mr_mode = mr_mode;
        Answer answer = getinfo(hints, nullptr, nullptr, 0, version);
        result = answer.result;
        if (result) return;
        info = std::move(answer.list);
        result = fi_fabric(info->fabric_attr, fabric.out(), this);
        if (!result) result = fi_domain(fabric.get(), info.get(), domain.out(), this);
    }
};

}  // namespace selvage::test
