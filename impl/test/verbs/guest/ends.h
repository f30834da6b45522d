// Endpoints of the verbs provider, two in one process, for tests in a machine with an RDMA device.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "impl/test/library/objects.h"

namespace selvage::test {

inline constexpr int kDeviceModes = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;

struct Request {
    const char* provider = "verbs;ofi_rxm";
    fi_ep_type type = FI_EP_RDM;
    uint64_t caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC;
    int mr_mode = kDeviceModes;
    uint64_t order = FI_ORDER_SAS | FI_ORDER_SAW | FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_WAW | FI_ORDER_WAR;
    std::string key = "";  // the domain's
    fi_wait_obj wait = FI_WAIT_UNSPEC;
};

inline Answer find(const Request& request) {
    InfoPtr hints = make_hints(request.provider, request.type);
    hints->caps = request.caps;
    hints->domain_attr->mr_mode = request.mr_mode;
    hints->tx_attr->msg_order = request.order;
    if (!request.key.empty()) {
        hints->domain_attr->auth_key_size = request.key.size();
        hints->domain_attr->auth_key = static_cast<uint8_t*>(malloc(request.key.size()));
        memcpy(hints->domain_attr->auth_key, request.key.data(), request.key.size());
    }
    return getinfo(hints);
}

// One end: a domain, a queue, an endpoint.
class End {
public:
    explicit End(const Request& request = {}) {
        Answer answer = find(request);
        EXPECT_EQ(answer.result, 0);
        info = std::move(answer.list);
        EXPECT_EQ(fi_fabric(info->fabric_attr, fabric.out(), nullptr), 0);
        EXPECT_EQ(fi_domain(fabric.get(), info.get(), domain.out(), nullptr), 0);
        fi_cq_attr cq_attr{};
        cq_attr.format = FI_CQ_FORMAT_TAGGED;
        cq_attr.wait_obj = request.wait;
        EXPECT_EQ(fi_cq_open(domain.get(), &cq_attr, cq.out(), nullptr), 0);
        if (request.type == FI_EP_MSG) return;
        fi_av_attr av_attr{};
        EXPECT_EQ(fi_av_open(domain.get(), &av_attr, av.out(), nullptr), 0);
        EXPECT_EQ(fi_endpoint(domain.get(), info.get(), ep.out(), nullptr), 0);
        EXPECT_EQ(fi_ep_bind(ep.get(), av.base(), 0), 0);
        EXPECT_EQ(fi_ep_bind(ep.get(), cq.base(), FI_TRANSMIT | FI_RECV), 0);
        EXPECT_EQ(fi_enable(ep.get()), 0);
    }

    fi_addr_t address_of(const End& other) {
        char name[128];
        size_t length = sizeof name;
        EXPECT_EQ(fi_getname(other.ep.base(), name, &length), 0);
        fi_addr_t result = FI_ADDR_NOTAVAIL;
        EXPECT_EQ(fi_av_insert(av.get(), name, 1, &result, 0, nullptr), 1);
        return result;
    }
    // The next completion, or nothing; an error is kept in `failures`.
    bool next(fi_cq_tagged_entry* out) {
        const ssize_t result = fi_cq_read(cq.get(), out, 1);
        if (result == -FI_EAVAIL) {
            fi_cq_err_entry error{};
            if (fi_cq_readerr(cq.get(), &error, 0) == 1) failures.push_back(error);
        }
        return result == 1;
    }
    void poll() {
        fi_cq_tagged_entry entry;
        while (next(&entry)) done.push_back(entry);
    }

    InfoPtr info;
    Opened<fid_fabric> fabric;
    Opened<fid_domain> domain;
    Opened<fid_cq> cq;
    Opened<fid_av> av;
    Opened<fid_ep> ep;
    std::vector<fi_cq_tagged_entry> done;
    std::vector<fi_cq_err_entry> failures;
};

// Memory registered at one end.
struct Registered {
    Registered(End& end, size_t size,
               uint64_t access = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)
        : bytes(size, '\0') {
        EXPECT_EQ(fi_mr_reg(end.domain.get(), bytes.data(), size, access, 0, next_key()++, 0, region.out(), nullptr),
                  0);
        key = fi_mr_key(region.get());
        address = end.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? reinterpret_cast<uintptr_t>(bytes.data()) : 0;
    }
    static uint64_t& next_key() {
        static uint64_t key = 77;
        return key;
    }
    std::string bytes;
    Opened<fid_mr> region;
    uint64_t key;
    uint64_t address;
};

inline std::string pattern(size_t size, unsigned seed) {
    std::string text(size, '\0');
    for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(seed * 31 + i * 7 + (i >> 8));
    return text;
}

// Lets the ends move until something holds; false when it takes too long.
inline bool until(std::vector<End*> ends, const std::function<bool()>& holds, int seconds = 20) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    while (!holds()) {
        for (End* end : ends) end->poll();
        if (std::chrono::steady_clock::now() > limit) return false;
    }
    return true;
}

// Calls again while the answer is -FI_EAGAIN.
template <typename Call>
ssize_t again(std::vector<End*> ends, Call call) {
    ssize_t result = -FI_EAGAIN;
    until(ends, [&] { return (result = call()) != -FI_EAGAIN; });
    return result;
}

}  // namespace selvage::test
