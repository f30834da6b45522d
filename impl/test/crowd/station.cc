// See station.h.
#include "impl/test/crowd/station.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace selvage::impl::test {

void give_up(const char* where, const std::string& what) {
    fprintf(stderr, "process %d: %s: %s\n", getpid(), where, what.c_str());
    exit(1);
}

std::string to_hex(const void* bytes, size_t size) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    for (size_t i = 0; i < size; ++i) {
        const auto byte = static_cast<const unsigned char*>(bytes)[i];
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

std::string from_hex(const std::string& text) {
    std::string bytes;
    for (size_t i = 0; i + 1 < text.size(); i += 2) {
        bytes += static_cast<char>(strtoul(text.substr(i, 2).c_str(), nullptr, 16));
    }
    return bytes;
}

Station::Station(const StationChoice& choice) : memory(choice.memory) {
    fi_info* hints = fi_allocinfo();
    hints->fabric_attr->prov_name = strdup(choice.provider.c_str());
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = choice.caps;
    hints->domain_attr->threading = choice.threading;
    hints->domain_attr->data_progress = hints->domain_attr->control_progress = choice.progress;
    hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    const bool network = choice.provider != "shm";
    const char* service = choice.service.empty() ? nullptr : choice.service.c_str();
    const char* node = network && !choice.node.empty() ? choice.node.c_str() : nullptr;
    SELVAGE_MUST(fi_getinfo(FI_VERSION(1, 17), node, service, network || service ? FI_SOURCE : 0, hints, &info_));
    fi_freeinfo(hints);
    SELVAGE_MUST(fi_fabric(info_->fabric_attr, &fabric_, nullptr));
    SELVAGE_MUST(fi_domain(fabric_, info_, &domain_, nullptr));
    fi_av_attr av_attr{};
    SELVAGE_MUST(fi_av_open(domain_, &av_attr, &av, nullptr));
    fi_cq_attr cq_attr{};
    cq_attr.format = FI_CQ_FORMAT_TAGGED;
    cq_attr.wait_obj = FI_WAIT_UNSPEC;
    cq_attr.size = choice.queue_size;
    SELVAGE_MUST(fi_cq_open(domain_, &cq_attr, &cq, nullptr));
    SELVAGE_MUST(fi_endpoint(domain_, info_, &ep, nullptr));
    SELVAGE_MUST(fi_ep_bind(ep, &av->fid, 0));
    SELVAGE_MUST(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
    if (choice.caps & FI_COLLECTIVE) {
        fi_eq_attr eq_attr{};
        SELVAGE_MUST(fi_eq_open(fabric_, &eq_attr, &eq, nullptr));
        SELVAGE_MUST(fi_ep_bind(ep, &eq->fid, 0));
    }
    if (!choice.shares_memory) {
        constexpr int kSharedMemoryPermitted = FI_OPT_XPU_TRIGGER + 2;  // of 2.x
        SELVAGE_MUST(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, kSharedMemoryPermitted, &choice.shares_memory, sizeof(bool)));
    }
    SELVAGE_MUST(fi_enable(ep));
    if (!memory.empty()) expose();
}

void Station::expose() {
    constexpr uint64_t kAccess = FI_REMOTE_READ | FI_REMOTE_WRITE;
    SELVAGE_MUST(fi_mr_reg(domain_, memory.data(), memory.size(), kAccess, 0, 0, 0, &mr, nullptr));
    key = fi_mr_key(mr);
    const bool by_address = info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    base = by_address ? reinterpret_cast<uintptr_t>(memory.data()) : 0;
}

void Station::close_region() {
    if (mr) SELVAGE_MUST(fi_close(&mr->fid));
    mr = nullptr;
}

void Station::close_endpoint() {
    if (ep) SELVAGE_MUST(fi_close(&ep->fid));
    ep = nullptr;
}

Station::~Station() {
    close_endpoint();
    close_region();
    if (eq) SELVAGE_MUST(fi_close(&eq->fid));
    SELVAGE_MUST(fi_close(&cq->fid));
    SELVAGE_MUST(fi_close(&av->fid));
    SELVAGE_MUST(fi_close(&domain_->fid));
    SELVAGE_MUST(fi_close(&fabric_->fid));
    fi_freeinfo(info_);
}

std::string Station::name() const {
    char bytes[512];
    size_t size = sizeof bytes;
    SELVAGE_MUST(fi_getname(&ep->fid, bytes, &size));
    return {bytes, size};
}

StationInfo Station::info() const {
    const std::string own = name();
    StationInfo out{.name = {}, .name_size = own.size(), .key = key, .base = base};
    memcpy(out.name, own.data(), own.size());
    return out;
}

fi_addr_t Station::insert(const std::string& name) {
    // One address is a text for shm, and an array of texts for fi_av_insert.
    char text[512] = {};
    memcpy(text, name.data(), std::min(name.size(), sizeof text - 1));
    const char* texts[] = {text};
    const bool is_text = info_->addr_format == FI_ADDR_STR;
    fi_addr_t address = FI_ADDR_NOTAVAIL;
    if (fi_av_insert(av, is_text ? static_cast<const void*>(texts) : text, 1, &address, 0, nullptr) != 1) {
        give_up("fi_av_insert", to_hex(name.data(), name.size()));
    }
    return address;
}

void Station::remove(fi_addr_t address) { SELVAGE_MUST(fi_av_remove(av, &address, 1, 0)); }

}  // namespace selvage::impl::test
