// An endpoint for datagrams over the device of fake_datagrams.h.
#pragma once

#include <gtest/gtest.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>

#include "impl/av/av.h"
#include "impl/endpoint/ep.h"
#include "impl/test/queue/place.h"
#include "impl/test/verbs/fake_datagrams.h"
#include "impl/transport/verbs/verbs_dgram.h"

namespace selvage::impl::test {

// One endpoint with a queue and an address vector.
struct DatagramSide {
    static constexpr size_t kPacket = 1024;

    explicit DatagramSide(FakeDatagrams& fake, uint64_t caps = FI_MSG | FI_SEND | FI_RECV, size_t size = 64,
                          fi_threading threading = FI_THREAD_SAFE)
        : place({.threading = threading, .kind = AddressKind::IbUd}) {
        place.domain.device = &fake.domain;
        place.domain.addr_format = FI_ADDR_IB_UD;
        fi_av_attr attr{};
        EXPECT_EQ(domain_open_av(&place.domain.descriptor, &attr, &av, nullptr), 0);
        queue.emplace(place, FI_WAIT_FD, FI_CQ_FORMAT_DATA);
        endpoint.domain = &place.domain;
        endpoint.type = FI_EP_DGRAM;
        endpoint.caps = caps;
        endpoint.tx.caps = FI_MSG | FI_SEND;
        endpoint.rx.caps = FI_MSG | FI_RECV;
        endpoint.tx.size = endpoint.rx.size = size;
        endpoint.tx.iov_limit = endpoint.rx.iov_limit = 8;
        endpoint.tx.inject_size = kPacket;
        endpoint.max_msg_size = kPacket;
        endpoint.address.kind = AddressKind::IbUd;
        memcpy(endpoint.address.ib.gid, fake.gids[0].data(), 16);
        endpoint.tx_cq = endpoint.rx_cq = &queue->get();
        endpoint.av = AddressVector::of(av);
        endpoint.settle_flags();
        result = start_verbs_datagrams(endpoint);
    }
    ~DatagramSide() {
        if (endpoint.path) endpoint.path->close();
        queue.reset();
        EXPECT_EQ(fi_close(&av->fid), 0);
    }
    verbs::DatagramPath& path() { return static_cast<verbs::DatagramPath&>(*endpoint.path); }
    uint32_t number() { return path().pair().address().queue_pair; }
    fid_ep* ep() { return &endpoint.descriptor; }
    fi_addr_t insert(const IbAddress& address) {
        fi_addr_t given;
        EXPECT_EQ(fi_av_insert(av, &address, 1, &given, 0, nullptr), 1);
        return given;
    }
    fi_addr_t address_of(DatagramSide& other) { return insert(other.path().pair().address()); }
    // One completion; an error is kept in `error`.
    ssize_t next() {
        const ssize_t read = fi_cq_readfrom(queue->fid, &entry, 1, &source);
        if (read == -FI_EAVAIL) {
            error = {};
            EXPECT_EQ(fi_cq_readerr(queue->fid, &error, 0), 1);
        }
        return read;
    }
    ssize_t receive(void* to, size_t size, void* context = nullptr) {
        return fi_recv(ep(), to, size, nullptr, FI_ADDR_UNSPEC, context);
    }

    Place place;
    fid_av* av = nullptr;
    std::optional<Queue> queue;
    Endpoint endpoint;
    int result = 0;
    fi_cq_data_entry entry{};
    fi_cq_err_entry error{};
    fi_addr_t source = 0;
};

}  // namespace selvage::impl::test
