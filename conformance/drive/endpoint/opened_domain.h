// The entry that a transfer case asks for, and a fabric and a domain opened by it.
//
// Only for child processes: the library may do anything.  One thread.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

#include <cstdint>
#include <memory>

#include "conformance/case/case.h"
#include "conformance/drive/endpoint/endpoint.h"
#include "conformance/harness/caller.h"

namespace selvage::conformance {

class OpenedDomain {
public:
    /// @return nullptr and the call that failed in `outcome`; its ret is 0 if the answer has no such entry.
    static std::shared_ptr<OpenedDomain> open(const Entries& entries, const Case& c, Outcome& outcome);
    ~OpenedDomain();
    OpenedDomain(const OpenedDomain&) = delete;
    OpenedDomain& operator=(const OpenedDomain&) = delete;

    /// The entry, with the sequence's flags as its defaults.
    [[nodiscard]] fi_info* info() const { return info_; }
    /// The entry as it was answered.
    [[nodiscard]] const model::Info& answered() const { return answered_; }
    [[nodiscard]] fid_fabric* fabric() const { return fabric_; }
    [[nodiscard]] fid_domain* domain() const { return domain_; }
    [[nodiscard]] bool connected() const { return info_->ep_attr->type == FI_EP_MSG; }
    /// A key that no region of the domain was asked for.
    std::uint64_t new_key() { return next_key_++; }
    void free_info(fi_info* info) const { free_info_(info); }

private:
    OpenedDomain() = default;
    bool query(const Entries& entries, const Case& c);

    void (*free_info_)(fi_info*) = nullptr;
    fi_info* list_ = nullptr;
    fi_info* info_ = nullptr;
    model::Info answered_;
    fid_fabric* fabric_ = nullptr;
    fid_domain* domain_ = nullptr;
    std::uint64_t next_key_ = 1;
};

}  // namespace selvage::conformance
