// An endpoint with everything it needs, over the fake transport, for tests: objects are made without fi_getinfo, all
// calls are the public ones.
#pragma once

#include <gtest/gtest.h>

#include "impl/catalog/capabilities.h"
#include "impl/catalog/engine_attrs.h"
#include "impl/domain/mr.h"
#include "impl/endpoint/datapath.h"
#include "impl/endpoint/shared.h"
#include "impl/engine/protocol.h"
#include "impl/events/cntr.h"
#include "impl/events/cq.h"
#include "impl/test/engine/fake_transport.h"

namespace selvage::impl::test {

struct Setting {
    uint64_t caps = kMessageCaps | kMemoryCaps | kModifiers | FI_MULTI_RECV | FI_RMA_EVENT | FI_FENCE |
                    FI_DIRECTED_RECV | FI_SOURCE;
    fi_threading threading = FI_THREAD_DOMAIN;
    fi_resource_mgmt management = FI_RM_ENABLED;
    uint64_t bind_transmit = FI_TRANSMIT;
    uint64_t bind_receive = FI_RECV;
    uint64_t op_flags = 0;
    uint64_t comp_order = 0;
    uint64_t order = kMessageOrder;
    size_t transmit_size = 64;
    size_t receive_size = 1000;
    size_t cq_size = 1024;
    uint64_t mode = 0;
    BufferedOptions buffered = {};
    bool pulls = false;
    bool shared = false;    // receives through a shared context
    bool counters = false;  // all of them
    bool enable = true;
};

const Provider& fake_provider(bool pulls);  // fake_provider_test.cc

class Node {
public:
    explicit Node(const char* name, const Setting& setting = {}) : setting_(setting) {
        fabric.provider = &fake_provider(setting.pulls);
        fabric.api_version = FI_VERSION(1, 17);
        domain.fabric = &fabric;
        domain.kind = AddressKind::Shm;
        domain.addr_format = FI_ADDR_STR;
        domain.attr.threading = setting.threading;
        domain.attr.control_progress = FI_PROGRESS_MANUAL;
        domain.attr.data_progress = FI_PROGRESS_MANUAL;
        domain.attr.resource_mgmt = setting.management;
        domain.attr.mr_key_size = 8;
        domain.attr.mr_iov_limit = 8;
        domain.descriptor.fid.fclass = FI_CLASS_DOMAIN;
        domain.descriptor.mr = const_cast<fi_ops_mr*>(&kMrOps);
        fi_cq_attr cq_attr{};
        cq_attr.format = FI_CQ_FORMAT_TAGGED;
        cq_attr.size = setting.cq_size;
        EXPECT_EQ(domain_open_cq(&domain.descriptor, &cq_attr, &cq, nullptr), 0);
        fi_av_attr av_attr{};
        EXPECT_EQ(domain_open_av(&domain.descriptor, &av_attr, &av, nullptr), 0);
        endpoint.domain = &domain;
        endpoint.type = FI_EP_RDM;
        endpoint.caps = setting.caps;
        endpoint.tx.caps = context_caps(setting.caps, kTransmitCaps);
        endpoint.tx.size = setting.transmit_size;
        endpoint.tx.inject_size = kInjectMax;
        endpoint.tx.iov_limit = 8;
        endpoint.tx.rma_iov_limit = 8;
        endpoint.tx.comp_order = setting.comp_order;
        endpoint.tx.msg_order = setting.order;
        endpoint.rx.caps = context_caps(setting.caps, kReceiveCaps);
        endpoint.rx.size = setting.receive_size;
        endpoint.rx.iov_limit = 8;
        endpoint.rx.comp_order = setting.comp_order;
        endpoint.rx.mode = setting.mode;
        endpoint.buffered = Endpoint::buffers(endpoint.rx);
        endpoint.buffered_options = setting.buffered;
        endpoint.max_msg_size = SIZE_MAX;
        endpoint.tx_flags = setting.op_flags;
        endpoint.min_multi_recv = kMinMultiRecv;
        EXPECT_TRUE(make_shm_text(name, endpoint.shm_address));
        init_endpoint_descriptor(&endpoint, this);
        ep = &endpoint.descriptor;
        EXPECT_EQ(fi_ep_bind(ep, &cq->fid, setting.bind_transmit), 0);
        EXPECT_EQ(fi_ep_bind(ep, &cq->fid, setting.bind_receive), 0);
        EXPECT_EQ(fi_ep_bind(ep, &av->fid, 0), 0);
        if (setting.shared) {
            endpoint.shared_receive = true;
            fi_rx_attr attr{};
            attr.size = setting.receive_size;
            attr.mode = setting.mode;
            EXPECT_EQ(domain_open_shared_receive(&domain.descriptor, &attr, &srx, nullptr), 0);
            EXPECT_EQ(fi_ep_bind(ep, &srx->fid, 0), 0);
        }
        for (size_t slot = 0; slot < kSlots && setting.counters; ++slot) {
            constexpr uint64_t kFlags[] = {FI_SEND, FI_RECV, FI_READ, FI_WRITE, FI_REMOTE_READ, FI_REMOTE_WRITE};
            EXPECT_EQ(domain_open_counter(&domain.descriptor, nullptr, &counters[slot], nullptr), 0);
            EXPECT_EQ(fi_ep_bind(ep, &counters[slot]->fid, kFlags[slot]), 0);
        }
        if (setting.enable) {
            EXPECT_EQ(fi_enable(ep), 0);
        }
    }
    ~Node() {
        close();
        for (fid_mr* region : regions) fi_close(&region->fid);
        for (fid_cntr* counter : counters) {
            if (counter) fi_close(&counter->fid);
        }
        if (srx) fi_close(&srx->fid);
        fi_close(&av->fid);
        fi_close(&cq->fid);
    }
    // The endpoint alone, as fi_close would (it is a member here).
    void close() {
        if (closed) return;
        closed = true;
        if (endpoint.path) endpoint.path->close();
        endpoint.path = nullptr;
        release_bindings(&endpoint);
    }
    fi_addr_t knows(const Node& other) {
        const char* text = other.endpoint.shm_address;
        fi_addr_t address = FI_ADDR_NOTAVAIL;
        EXPECT_EQ(fi_av_insert(av, &text, 1, &address, 0, nullptr), 1);
        return address;
    }
    uint64_t exposes(void* bytes, size_t size, uint64_t access = FI_REMOTE_READ | FI_REMOTE_WRITE, uint64_t key = 7) {
        fid_mr* region = nullptr;
        EXPECT_EQ(fi_mr_reg(&domain.descriptor, bytes, size, access, 0, key, 0, &region, nullptr), 0);
        regions.push_back(region);
        return fi_mr_key(region);
    }
    void progress() { fi_cq_read(cq, nullptr, 0); }
    // 1 with an entry, 0 without, negative for an error entry.
    ssize_t read(fi_cq_tagged_entry* entry, fi_addr_t* source = nullptr) {
        *entry = {};
        fi_addr_t from = FI_ADDR_NOTAVAIL;
        const ssize_t result = fi_cq_readfrom(cq, entry, 1, &from);
        if (source) *source = from;
        return result == -FI_EAGAIN ? 0 : result;
    }
    fi_cq_err_entry read_error() {
        fi_cq_err_entry error{};
        EXPECT_EQ(fi_cq_readerr(cq, &error, 0), 1);
        return error;
    }
    template <bool Pulls>
    FakeTransport<Pulls>& transport() {
        return *static_cast<FakeTransport<Pulls>*>(endpoint.path->transport());
    }

    Fabric fabric;
    Domain domain;
    Endpoint endpoint;
    fid_ep* ep = nullptr;
    fid_cq* cq = nullptr;
    fid_av* av = nullptr;
    fid_ep* srx = nullptr;
    fid_cntr* counters[kSlots] = {};
    std::vector<fid_mr*> regions;
    bool closed = false;

private:
    Setting setting_;
};

}  // namespace selvage::impl::test
