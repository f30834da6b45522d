// Who is granted FI_HMEM, and what memory can be registered.
#include "impl/test/hmem/pair.h"

namespace selvage::test {
namespace {

InfoPtr hmem_hints(const char* provider, int mr_mode = FI_MR_HMEM) {
    InfoPtr hints = make_hints(provider, FI_EP_RDM);
    hints->caps = kHmemCaps;
    hints->domain_attr->mr_mode = mr_mode;
    return hints;
}

TEST(HmemQuery, IsGrantedToWhoRegistersSuchMemory) {
    for (const char* provider : {"shm", "tcp"}) {
        const Answer granted = getinfo(hmem_hints(provider));
        ASSERT_EQ(granted.result, 0);
        EXPECT_TRUE(granted->caps & FI_HMEM);
        EXPECT_TRUE(granted->tx_attr->caps & FI_HMEM);
        EXPECT_TRUE(granted->rx_attr->caps & FI_HMEM);
        EXPECT_EQ(granted->domain_attr->mr_mode, FI_MR_HMEM);
        EXPECT_EQ(getinfo(hmem_hints(provider, 0)).result, -FI_ENODATA) << "there is no other way to know it";
        EXPECT_EQ(getinfo(hmem_hints(provider, FI_MR_LOCAL)).result, -FI_ENODATA);
        EXPECT_EQ(getinfo(hmem_hints(provider), nullptr, nullptr, 0, FI_VERSION(1, 8)).result, -FI_ENODATA)
            << "before 1.9 there was no such capability";
    }
}

TEST(HmemQuery, WhoSaysNothingOfRegistrationIsRefused) {
    const InfoPtr hints = hmem_hints("shm");
    fi_domain_attr* attr = hints->domain_attr;
    hints->domain_attr = nullptr;
    EXPECT_EQ(getinfo(hints).result, -FI_ENODATA);
    hints->domain_attr = attr;
}

// A context that is to have it asks for it, too.
TEST(HmemQuery, IsGrantedToWhoAsksForItInAContextAlone) {
    for (const bool transmits : {true, false}) {
        const InfoPtr hints = make_hints("shm");
        hints->domain_attr->mr_mode = FI_MR_HMEM;
        (transmits ? hints->tx_attr->caps : hints->rx_attr->caps) = FI_HMEM;
        const Answer answer = getinfo(hints);
        ASSERT_EQ(answer.result, 0);
        EXPECT_EQ(answer.size(), 1U);
        EXPECT_TRUE(answer->caps & FI_HMEM);
        EXPECT_TRUE((transmits ? answer->tx_attr->caps : answer->rx_attr->caps) & FI_HMEM);
    }
}

// Datagrams go past the engine, and no other part of the library copies from and to such memory.
TEST(HmemQuery, IsNotGrantedForDatagrams) {
    const InfoPtr hints = make_hints("udp");
    hints->ep_attr->type = FI_EP_DGRAM;
    hints->domain_attr->mr_mode = FI_MR_HMEM;
    ASSERT_EQ(getinfo(hints).result, 0);
    hints->caps = FI_MSG | FI_HMEM;
    EXPECT_EQ(getinfo(hints).result, -FI_ENODATA);
}

// Most programs never use it, and do not pay for it: what is asked for whatever there is gets it once FI_MR_HMEM is
// set, behind the answers without duties.
TEST(HmemQuery, AWideQueryHasItBehindTheOthersForWhoRegistersSuchMemory) {
    for (const bool any : {true, false}) {
        const Answer wide = any ? getinfo(nullptr) : getinfo(make_hints("shm"));
        ASSERT_EQ(wide.result, 0);
        for (const fi_info* info = wide.get(); info; info = info->next) EXPECT_FALSE(info->caps & FI_HMEM);
    }
    const InfoPtr hints = make_hints("shm");
    hints->domain_attr->mr_mode = FI_MR_HMEM;
    const Answer all = getinfo(hints);
    ASSERT_EQ(all.result, 0);
    ASSERT_EQ(all.size(), 2U);
    EXPECT_FALSE(all->caps & FI_HMEM);
    EXPECT_EQ(all->domain_attr->mr_mode, 0);
    EXPECT_TRUE(all->next->caps & FI_HMEM);
    EXPECT_EQ(all->next->domain_attr->mr_mode, FI_MR_HMEM);
    const InfoPtr narrow = make_hints("shm");
    narrow->caps = FI_MSG;
    narrow->domain_attr->mr_mode = FI_MR_HMEM;
    const Answer plain = getinfo(narrow);
    ASSERT_EQ(plain.result, 0);
    EXPECT_EQ(plain.size(), 1U);
    EXPECT_FALSE(plain->caps & FI_HMEM);
    EXPECT_EQ(plain->domain_attr->mr_mode, 0);
}

class HmemRegistration : public ::testing::Test {
protected:
    int try_register(fid_domain* domain, int iface, void* at, uint64_t flags = 0, uint64_t device = 0) {
        const iovec range{.iov_base = at, .iov_len = 64};
        fi_mr_attr attr{};
        attr.mr_iov = &range;
        attr.iov_count = 1;
        attr.access = FI_SEND | FI_RECV;
        attr.requested_key = ++key_;
        attr.iface = static_cast<fi_hmem_iface>(iface);
        attr.device.reserved = device;
        Opened<fid_mr> region;
        return fi_mr_regattr(domain, &attr, flags, region.out());
    }
    uint64_t key_ = 0;
    char host_[64] = {};
};

TEST_F(HmemRegistration, RefusesInterfacesThatAreNotThere) {
    Network network("shm", FI_EP_RDM, kVersion, kHmemCaps, FI_MR_HMEM);
    ASSERT_EQ(network.result, 0);
    EXPECT_EQ(try_register(network.domain.get(), FI_HMEM_SYSTEM, host_), 0);
    EXPECT_EQ(try_register(network.domain.get(), FI_HMEM_ROCR, host_), -FI_ENOSYS);
    EXPECT_EQ(try_register(network.domain.get(), FI_HMEM_ZE, host_), -FI_ENOSYS);
    EXPECT_EQ(try_register(network.domain.get(), 99, host_), -FI_EINVAL);
    EXPECT_EQ(try_register(network.domain.get(), -1, host_), -FI_EINVAL);
    // Of CUDA it is the driver that says so, or that the memory is not its own.
    EXPECT_EQ(try_register(network.domain.get(), FI_HMEM_CUDA, host_),
              missing(MemoryKind::Cuda) ? -FI_ENOSYS : -FI_EINVAL);
}

TEST_F(HmemRegistration, TakesAllInterfacesWithFunctionsOfTheApplication) {
    Network network("shm", FI_EP_RDM, kVersion, kHmemCaps, FI_MR_HMEM);
    ASSERT_EQ(network.result, 0);
    ASSERT_EQ(prepare_domain(network.domain.get(), MemoryKind::Override), 0);
    for (int iface = FI_HMEM_CUDA; iface <= FI_HMEM_SYNAPSEAI; ++iface) {
        EXPECT_EQ(try_register(network.domain.get(), iface, host_), 0) << iface;
    }
    EXPECT_EQ(try_register(network.domain.get(), FI_HMEM_ZE, host_, FI_HMEM_DEVICE_ONLY), 0);
    EXPECT_EQ(try_register(network.domain.get(), FI_HMEM_ZE, host_, FI_HMEM_HOST_ALLOC), 0);
    EXPECT_EQ(try_register(network.domain.get(), 99, host_), -FI_EINVAL);
}

// "This field is ignored unless the application has requested the FI_HMEM capability" (fi_mr(3)).
TEST_F(HmemRegistration, LooksAtNoInterfaceWithoutTheCapability) {
    Network network("shm");
    ASSERT_EQ(network.result, 0);
    EXPECT_EQ(try_register(network.domain.get(), FI_HMEM_CUDA, host_), 0);
    EXPECT_EQ(try_register(network.domain.get(), FI_HMEM_CUDA, host_, FI_HMEM_DEVICE_ONLY), -FI_EBADFLAGS);
    Opened<fid_ep> ep;
    const Answer hmem = getinfo(hmem_hints("shm"));
    ASSERT_EQ(hmem.result, 0);
    EXPECT_EQ(fi_endpoint(network.domain.get(), hmem.get(), ep.out(), nullptr), -FI_EINVAL)
        << "an endpoint can do no more than its domain";
}

}  // namespace
}  // namespace selvage::test
