// FI_SOURCE_ERR, as a program meets it that took all capabilities that it was offered (MPICH does): fi_cq(3) makes a
// message of an unknown sender an error of fi_cq_readfrom, and of no other call.
#include <gtest/gtest.h>
#include <sched.h>

#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#include <cstring>
#include <memory>

#include "impl/test/library/objects.h"

namespace selvage::test {
namespace {

struct End {
    Opened<fid_cq> cq;
    Opened<fid_cntr> received;
    Opened<fid_av> av;
    Opened<fid_ep> ep;

    End(fid_domain* domain, fi_info* info) {
        fi_cq_attr cq_attr{};
        cq_attr.format = FI_CQ_FORMAT_TAGGED;
        fi_cntr_attr cntr_attr{};
        fi_av_attr av_attr{};
        EXPECT_EQ(fi_cq_open(domain, &cq_attr, cq.out(), nullptr), 0);
        EXPECT_EQ(fi_cntr_open(domain, &cntr_attr, received.out(), nullptr), 0);
        EXPECT_EQ(fi_av_open(domain, &av_attr, av.out(), nullptr), 0);
        EXPECT_EQ(fi_endpoint(domain, info, ep.out(), nullptr), 0);
        EXPECT_EQ(fi_ep_bind(ep.get(), cq.base(), FI_TRANSMIT | FI_RECV), 0);
        EXPECT_EQ(fi_ep_bind(ep.get(), received.base(), FI_RECV), 0);
        EXPECT_EQ(fi_ep_bind(ep.get(), av.base(), 0), 0);
        EXPECT_EQ(fi_enable(ep.get()), 0);
    }
};

class SourceError : public testing::TestWithParam<const char*> {
protected:
    SourceError() {
        InfoPtr hints = make_hints(GetParam(), FI_EP_RDM);
        hints->caps = FI_TAGGED | FI_SOURCE | FI_SOURCE_ERR;
        Answer answer = getinfo(hints);
        EXPECT_EQ(answer.result, 0);
        EXPECT_EQ(fi_fabric(answer.get()->fabric_attr, fabric.out(), nullptr), 0);
        EXPECT_EQ(fi_domain(fabric.get(), answer.get(), domain.out(), nullptr), 0);
        a = std::make_unique<End>(domain.get(), answer.get());
        b = std::make_unique<End>(domain.get(), answer.get());
        // `b` does not know `a`.
        char name[256];
        size_t size = sizeof name;
        EXPECT_EQ(fi_getname(b->ep.base(), name, &size), 0);
        EXPECT_EQ(fi_av_insert(a->av.get(), name, 1, &b_of_a, 0, nullptr), 1);
    }
    void send(const char* what) {
        ssize_t result = -FI_EAGAIN;
        for (int i = 0; i < 100'000 && result == -FI_EAGAIN; ++i) {
            result = fi_tinject(a->ep.get(), what, strlen(what) + 1, b_of_a, 7);
            progress();
        }
        EXPECT_EQ(result, 0);
    }
    void progress() {
        fi_cq_read(a->cq.get(), nullptr, 0);
        fi_cq_read(b->cq.get(), nullptr, 0);
        sched_yield();
    }
    template <typename Read>
    ssize_t await(Read read) {
        ssize_t result = -FI_EAGAIN;
        for (int i = 0; i < 100'000 && result == -FI_EAGAIN; ++i) {
            progress();
            result = read();
        }
        return result;
    }

    Opened<fid_fabric> fabric;
    Opened<fid_domain> domain;
    std::unique_ptr<End> a, b;
    fi_addr_t b_of_a = 0;
    char text[16] = "";
    fi_cq_tagged_entry entry{};
};
INSTANTIATE_TEST_SUITE_P(Providers, SourceError, testing::Values("shm", "tcp"),
                         [](const auto& provider) { return std::string(provider.param); });

TEST_P(SourceError, ReadWithoutSourcesHasTheMessageOfAnUnknownSender) {
    ASSERT_EQ(fi_trecv(b->ep.get(), text, sizeof text, nullptr, FI_ADDR_UNSPEC, 7, 0, &entry), 0);
    send("hello");
    fi_cq_tagged_entry out{};
    ASSERT_EQ(await([&] { return fi_cq_read(b->cq.get(), &out, 1); }), 1);
    EXPECT_EQ(out.op_context, &entry);
    EXPECT_EQ(out.len, 6u);
    EXPECT_STREQ(text, "hello");
    EXPECT_EQ(fi_cntr_read(b->received.get()), 1u) << "it was received";
    EXPECT_EQ(fi_cntr_readerr(b->received.get()), 0u);
}

TEST_P(SourceError, ReadWithSourcesHasAnErrorWithAnAddressThatCanBeInserted) {
    ASSERT_EQ(fi_trecv(b->ep.get(), text, sizeof text, nullptr, FI_ADDR_UNSPEC, 7, 0, nullptr), 0);
    send("hello");
    fi_addr_t source = 0;
    ASSERT_EQ(await([&] { return fi_cq_readfrom(b->cq.get(), &entry, 1, &source); }), -FI_EAVAIL);
    fi_cq_err_entry error{};
    ASSERT_EQ(fi_cq_readerr(b->cq.get(), &error, 0), 1);
    EXPECT_EQ(error.err, FI_EADDRNOTAVAIL);
    EXPECT_STREQ(text, "hello");
    fi_addr_t a_of_b = FI_ADDR_NOTAVAIL;
    ASSERT_EQ(fi_av_insert(b->av.get(), error.err_data, 1, &a_of_b, 0, nullptr), 1);
    ASSERT_EQ(fi_trecv(b->ep.get(), text, sizeof text, nullptr, FI_ADDR_UNSPEC, 7, 0, nullptr), 0);
    send("again");
    ASSERT_EQ(await([&] { return fi_cq_readfrom(b->cq.get(), &entry, 1, &source); }), 1);
    EXPECT_EQ(source, a_of_b);
}

}  // namespace
}  // namespace selvage::test
