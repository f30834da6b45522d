// See domain_core.h.
#include "impl/fabric/domain_core.h"

namespace selvage::impl {

void prepare(DomainCore& domain, ProgressList& list) {
    list.set_serialised(domain.serialised());
    if (domain.automatic_data()) list.set_activity(&domain.automatic.activity());
}

int attach_to(DomainCore& domain, ProgressList& list, Progressive* path) {
    if (!domain.automatic_data()) return list.attach(path, true);
    int error = list.attach(path, false);
    if (error) return error;
    error = domain.automatic.attach(path);
    if (error) list.detach(path);
    return error;
}

void detach_from(DomainCore& domain, ProgressList& list, Progressive* path) {
    if (domain.automatic_data()) domain.automatic.detach(path);
    list.detach(path);
}

}  // namespace selvage::impl
