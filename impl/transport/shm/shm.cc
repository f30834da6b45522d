// Control part of the shared-memory provider: its table.
#include "impl/transport/shm/shm.h"

#include "impl/catalog/engine_attrs.h"
#include "impl/catalog/registry.h"
#include "impl/engine/engine.h"
#include "impl/transport/shm/chosen_name.h"
#include "impl/transport/shm/shm_transport.h"

namespace selvage::impl {
namespace {

// Provider-specific (upper bit set): the bytes in the segment are this library's own layout.
constexpr uint32_t kProtocol = FI_PROV_SPECIFIC | 0x5e01;

int discover(const Provider& self, TableBuilder& table) {
    Offer* offer = table.add();
    if (!offer) return -FI_ENOMEM;
    fill_engine_attrs(*offer, FI_EP_RDM, FI_LOCAL_COMM);
    offer_contexts(*offer);
    offer->provider = &self;
    offer->kind = AddressKind::Shm;
    offer->loopback = true;
    offer->set.ep.protocol = kProtocol;
    offer->known_as = {FI_PROTO_SHM};
    offer->set.info.addr_format = FI_ADDR_STR;
    memcpy(offer->domain_name, "shm", sizeof "shm");
    memcpy(offer->fabric_name, "shm", sizeof "shm");
    return make_shm_text("", offer->source_text) ? 0 : -FI_EINVAL;
}

}  // namespace

const Provider kShmProvider = {
    .name = "shm",
    .version = kProviderVersion,
    .layered_name = nullptr,
    .discover = discover,
    .endpoint_types = type_bit(FI_EP_RDM),
    .discover_follows_interfaces = false,
    .start = start_engine<ShmTransport>,
    .choose_address = shm::choose_text,
    .scales = true,
};

}  // namespace selvage::impl
