// The entry that a transfer case asks for, and a fabric and a domain opened by it.
//
// Only for child processes: the library may do anything.  One thread.
#pragma once

#include <memory>

#include "conformance/base/library.h"
#include "conformance/case/case.h"
#include "conformance/drive/endpoint/endpoint.h"
#include "conformance/runtime/side.h"

namespace selvage::conformance {

class OpenedDomain {
public:
    /// @return nullptr and the call that failed in `outcome`; its ret is 0 if the answer has no such entry.
    static std::shared_ptr<OpenedDomain> open(const Entries& entries, const Case& c, Outcome& outcome);
    ~OpenedDomain();
    OpenedDomain(const OpenedDomain&) = delete;
    OpenedDomain& operator=(const OpenedDomain&) = delete;

    /// How endpoints of the case are set up.
    [[nodiscard]] const setup& set_up() const { return setup_; }
    /// What they are opened with: the entry, with the set-up's flags as its defaults.
    [[nodiscard]] opened& of_sides() { return opened_; }
    [[nodiscard]] fi_info* info() const { return opened_.info; }
    /// The entry as it was answered.
    [[nodiscard]] const model::Info& answered() const { return answered_; }
    [[nodiscard]] bool connected() const { return info()->ep_attr->type == FI_EP_MSG; }
    void free_info(fi_info* info) const { free_info_(info); }

private:
    OpenedDomain() = default;
    bool query(const Entries& entries, const Case& c);

    void (*free_info_)(fi_info*) = nullptr;
    fi_info* list_ = nullptr;
    model::Info answered_;
    setup setup_{};
    opened opened_{};
};

}  // namespace selvage::conformance
