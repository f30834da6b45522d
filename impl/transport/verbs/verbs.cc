// Control part of the verbs provider. A machine without RDMA devices pays one failed directory look-up.
#include "impl/transport/verbs/verbs.h"

#include <dirent.h>

#include "impl/core/log.h"
#include "impl/core/registry.h"

namespace selvage::impl {
namespace {

bool any_device() {
    DIR* devices = opendir("/sys/class/infiniband");
    if (!devices) return false;
    bool found = false;
    while (const dirent* entry = readdir(devices)) {
        if (entry->d_name[0] != '.') found = true;
    }
    closedir(devices);
    return found;
}

int discover(const Provider& self, TableBuilder&) {
    if (any_device()) {
        log_for(self.name, FI_LOG_INFO, FI_LOG_FABRIC, "devices are present, but this build has no data path for them");
    } else {
        log_for(self.name, FI_LOG_INFO, FI_LOG_FABRIC, "no RDMA device on this machine");
    }
    return 0;
}

}  // namespace

const Provider kVerbsProvider = {
    .name = "verbs",
    .version = kProviderVersion,
    .layered_name = "ofi_rxm",
    .discover = discover,
    .endpoint_types = type_bit(FI_EP_MSG) | type_bit(FI_EP_RDM) | type_bit(FI_EP_DGRAM),
    .discover_follows_interfaces = false,
};

}  // namespace selvage::impl
