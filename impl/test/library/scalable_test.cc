// Scalable endpoints: what is granted and refused where they are opened, and the end of a peer. What moves through
// their contexts is checked by programs/contexts.c.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

#include "impl/test/library/pair.h"

namespace selvage::test {
namespace {

constexpr size_t kContexts = 64;
constexpr int kBits = 7;

// A scalable endpoint with its address vector, and some of its contexts with a queue for all.
struct Scalable {
    Opened<fid_cq> cq;
    Opened<fid_av> av;
    Opened<fid_ep> ep;
    std::array<Opened<fid_ep>, kContexts> tx, rx;
    InfoPtr info;

    int open(Network& network, size_t contexts) {
        fi_cq_attr cq_attr{};
        fi_av_attr av_attr{};
        av_attr.rx_ctx_bits = kBits;
        info.reset(fi_dupinfo(network.info.get()));
        info->ep_attr->tx_ctx_cnt = info->ep_attr->rx_ctx_cnt = contexts;
        int error = fi_cq_open(network.domain.get(), &cq_attr, cq.out(), nullptr);
        if (!error) error = fi_av_open(network.domain.get(), &av_attr, av.out(), nullptr);
        if (!error) error = fi_scalable_ep(network.domain.get(), info.get(), ep.out(), nullptr);
        if (!error) error = fi_scalable_ep_bind(ep.get(), av.base(), 0);
        return error ? error : fi_enable(ep.get());
    }
    int open_transmit(int index) {
        Opened<fid_ep>& context = tx[static_cast<size_t>(index)];
        int error = fi_tx_context(ep.get(), index, nullptr, context.out(), nullptr);
        if (!error) error = fi_ep_bind(context.get(), cq.base(), FI_TRANSMIT);
        return error ? error : fi_enable(context.get());
    }
    int open_receive(int index) {
        Opened<fid_ep>& context = rx[static_cast<size_t>(index)];
        int error = fi_rx_context(ep.get(), index, nullptr, context.out(), nullptr);
        if (!error) error = fi_ep_bind(context.get(), cq.base(), FI_RECV);
        return error ? error : fi_enable(context.get());
    }
    std::string name() const {
        char bytes[256];
        size_t length = sizeof bytes;
        return fi_getname(ep.base(), bytes, &length) ? "" : std::string(bytes, length);
    }
};

class ScalableEndpoints : public testing::TestWithParam<const char*> {
protected:
    Network network_{GetParam(), FI_EP_RDM, kVersion, FI_MSG | FI_RMA | FI_NAMED_RX_CTX};
};
INSTANTIATE_TEST_SUITE_P(Providers, ScalableEndpoints, testing::Values("shm", "tcp"),
                         [](const auto& provider) { return std::string(provider.param); });

TEST_P(ScalableEndpoints, AtLeast64ContextsAreOfferedAndNoneUnasked) {
    ASSERT_EQ(network_.result, 0);
    EXPECT_GE(network_.info->domain_attr->max_ep_tx_ctx, kContexts);
    EXPECT_GE(network_.info->domain_attr->max_ep_rx_ctx, kContexts);
    EXPECT_EQ(network_.info->ep_attr->tx_ctx_cnt, 1u);
    EXPECT_EQ(network_.info->ep_attr->rx_ctx_cnt, 1u);
    EXPECT_TRUE(network_.info->tx_attr->caps & FI_NAMED_RX_CTX);
    EXPECT_FALSE(network_.info->rx_attr->caps & FI_NAMED_RX_CTX);
}

TEST_P(ScalableEndpoints, OfAll64EachReachesItsOwn) {
    ASSERT_EQ(network_.result, 0);
    Scalable from, to;
    ASSERT_EQ(from.open(network_, kContexts), 0);
    ASSERT_EQ(to.open(network_, kContexts), 0);
    fi_addr_t peer = FI_ADDR_NOTAVAIL;
    const std::string name = to.name();
    ASSERT_EQ(fi_av_insert(from.av.get(), name.data(), 1, &peer, 0, nullptr), 1);
    std::array<int, kContexts> received{};
    for (int i = 0; i < static_cast<int>(kContexts); ++i) {
        ASSERT_EQ(from.open_transmit(i), 0) << i;
        ASSERT_EQ(to.open_receive(i), 0) << i;
        ASSERT_EQ(fi_recv(to.rx[static_cast<size_t>(i)].get(), &received[static_cast<size_t>(i)], sizeof(int), nullptr,
                          FI_ADDR_UNSPEC, nullptr),
                  0);
    }
    fi_cq_entry entry;
    for (int i = 0; i < static_cast<int>(kContexts); ++i) {
        const int value = i + 1;
        ssize_t result;
        while ((result = fi_inject(from.tx[static_cast<size_t>(i)].get(), &value, sizeof value,
                                   fi_rx_addr(peer, i, kBits))) == -FI_EAGAIN) {
            fi_cq_read(from.cq.get(), &entry, 0);
            fi_cq_read(to.cq.get(), &entry, 0);
        }
        ASSERT_EQ(result, 0) << i;
    }
    size_t done = 0;
    for (int tries = 0; tries < 5000 && done < kContexts; ++tries) {
        fi_cq_read(from.cq.get(), &entry, 0);
        if (fi_cq_sread(to.cq.get(), &entry, 1, nullptr, 1) == 1) ++done;
    }
    EXPECT_EQ(done, kContexts);
    for (int i = 0; i < static_cast<int>(kContexts); ++i) EXPECT_EQ(received[static_cast<size_t>(i)], i + 1);
}

TEST_P(ScalableEndpoints, IsRefusedWhatIsNotOffered) {
    ASSERT_EQ(network_.result, 0);
    Scalable scalable;
    EXPECT_EQ(scalable.open(network_, network_.info->domain_attr->max_ep_tx_ctx + 1), -FI_EINVAL);
    Opened<fid_av> av;
    fi_av_attr attr{};
    for (const int bits : {-1, 17, 64}) {
        attr.rx_ctx_bits = bits;
        EXPECT_EQ(fi_av_open(network_.domain.get(), &attr, av.out(), nullptr), -FI_EINVAL) << bits;
    }
}

TEST_P(ScalableEndpoints, IsBoundToWhatItsContextsShareAndTheyToTheRest) {
    ASSERT_EQ(network_.result, 0);
    Scalable scalable;
    ASSERT_EQ(scalable.open(network_, 2), 0);
    Opened<fid_ep> tx;
    ASSERT_EQ(fi_tx_context(scalable.ep.get(), 0, nullptr, tx.out(), nullptr), 0);
    EXPECT_EQ(fi_scalable_ep_bind(scalable.ep.get(), scalable.cq.base(), FI_TRANSMIT), -FI_EOPBADSTATE);
    EXPECT_EQ(fi_ep_bind(tx.get(), scalable.av.base(), 0), -FI_EINVAL);
    EXPECT_EQ(fi_enable(tx.get()), -FI_ENOCQ);
    Opened<fid_ep> again;
    EXPECT_EQ(fi_tx_context(scalable.ep.get(), 0, nullptr, again.out(), nullptr), -FI_EBUSY);
    EXPECT_EQ(fi_send(scalable.ep.get(), "x", 1, nullptr, 0, nullptr), -FI_EOPBADSTATE);
    EXPECT_EQ(fi_send(tx.get(), "x", 1, nullptr, 0, nullptr), -FI_EOPBADSTATE);
    EXPECT_EQ(scalable.ep.close(), -FI_EBUSY);
    EXPECT_EQ(tx.close(), 0);
    EXPECT_EQ(scalable.ep.close(), 0);
    EXPECT_EQ(scalable.av.close(), 0);
}

TEST_P(ScalableEndpoints, HasOneContextOfASideThatIsShared) {
    ASSERT_EQ(network_.result, 0);
    network_.info->ep_attr->tx_ctx_cnt = 4;
    network_.info->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
    Opened<fid_ep> scalable, srx, rx, tx;
    Opened<fid_av> av;
    Opened<fid_cq> cq;
    fi_av_attr av_attr{};
    fi_cq_attr cq_attr{};
    ASSERT_EQ(fi_cq_open(network_.domain.get(), &cq_attr, cq.out(), nullptr), 0);
    ASSERT_EQ(fi_av_open(network_.domain.get(), &av_attr, av.out(), nullptr), 0);
    ASSERT_EQ(fi_srx_context(network_.domain.get(), network_.info->rx_attr, srx.out(), nullptr), 0);
    ASSERT_EQ(fi_scalable_ep(network_.domain.get(), network_.info.get(), scalable.out(), nullptr), 0);
    ASSERT_EQ(fi_scalable_ep_bind(scalable.get(), av.base(), 0), 0);
    EXPECT_EQ(fi_tx_context(scalable.get(), 3, nullptr, tx.out(), nullptr), 0);
    EXPECT_EQ(fi_rx_context(scalable.get(), 1, nullptr, rx.out(), nullptr), -FI_EINVAL);
    ASSERT_EQ(fi_rx_context(scalable.get(), 0, nullptr, rx.out(), nullptr), 0);
    ASSERT_EQ(fi_ep_bind(rx.get(), cq.base(), FI_RECV), 0);
    EXPECT_EQ(fi_enable(rx.get()), -FI_EOPBADSTATE) << "bound to no shared context";
    ASSERT_EQ(fi_ep_bind(rx.get(), srx.base(), 0), 0);
    EXPECT_EQ(fi_enable(rx.get()), 0);
    EXPECT_EQ(srx.close(), -FI_EBUSY);
    EXPECT_EQ(rx.close(), 0);
    EXPECT_EQ(tx.close(), 0);
    EXPECT_EQ(scalable.close(), 0);
    EXPECT_EQ(srx.close(), 0);
}

// In a process of its own: a scalable endpoint that tells its name and waits to be killed.
[[noreturn]] void be_killed(const char* provider, int pipe) {
    Network network(provider, FI_EP_RDM, kVersion, FI_MSG | FI_NAMED_RX_CTX);
    Scalable scalable;
    if (network.result || scalable.open(network, 2) || scalable.open_receive(0) || scalable.open_receive(1)) _exit(1);
    const std::string name = scalable.name();
    if (write(pipe, name.data(), name.size()) < 0) _exit(1);
    fi_cq_entry entry;
    for (;;) fi_cq_sread(scalable.cq.get(), &entry, 1, nullptr, 10);
}

TEST(ScalableEndpointsOf, APeerThatIsKilledFailsTheTransfersOfEachContext) {
    for (const char* provider : {"shm", "tcp"}) {
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        const pid_t child = fork();
        if (child == 0) be_killed(provider, ends[1]);
        char name[256] = {};
        ASSERT_GT(read(ends[0], name, sizeof name), 0) << provider;
        close(ends[0]);
        close(ends[1]);
        Network network(provider, FI_EP_RDM, kVersion, FI_MSG | FI_NAMED_RX_CTX);
        Scalable scalable;
        ASSERT_EQ(scalable.open(network, 2), 0);
        ASSERT_EQ(scalable.open_transmit(0), 0);
        ASSERT_EQ(scalable.open_transmit(1), 0);
        fi_addr_t peer = FI_ADDR_NOTAVAIL;
        ASSERT_EQ(fi_av_insert(scalable.av.get(), name, 1, &peer, 0, nullptr), 1);
        // Longer than what may wait at the peer without a receive.
        static char bytes[8 << 20];
        int contexts[2];
        for (const int i : {0, 1}) {
            ssize_t posted;
            while ((posted = fi_send(scalable.tx[static_cast<size_t>(i)].get(), bytes, sizeof bytes, nullptr,
                                     fi_rx_addr(peer, i, kBits), &contexts[i])) == -FI_EAGAIN) {
                fi_cq_read(scalable.cq.get(), nullptr, 0);
            }
            ASSERT_EQ(posted, 0) << provider;
        }
        for (int i = 0; i < 100; ++i) {
            fi_cq_read(scalable.cq.get(), nullptr, 0);
            usleep(1000);
        }
        kill(child, SIGKILL);
        waitpid(child, nullptr, 0);
        int failed = 0;
        fi_cq_err_entry error{};
        fi_cq_entry entry;
        for (int i = 0; i < 5000 && failed < 2; ++i) {
            if (fi_cq_sread(scalable.cq.get(), &entry, 1, nullptr, 1) != -FI_EAVAIL) continue;
            if (fi_cq_readerr(scalable.cq.get(), &error, 0) == 1) ++failed;
        }
        EXPECT_EQ(failed, 2) << provider;
        EXPECT_EQ(error.err, FI_ECONNRESET) << provider;
    }
}

TEST(ScalableEndpointsOf, ConnectedEndpointsAndDatagramsThereAreNone) {
    for (const auto& [provider, type] : {std::pair("tcp", FI_EP_MSG), std::pair("udp", FI_EP_DGRAM)}) {
        Network network(provider, type);
        ASSERT_EQ(network.result, 0) << provider;
        Opened<fid_ep> ep;
        EXPECT_EQ(network.info->domain_attr->max_ep_rx_ctx, 1u);
        EXPECT_EQ(fi_scalable_ep(network.domain.get(), network.info.get(), ep.out(), nullptr), -FI_ENOSYS);
    }
    Network udp("udp", FI_EP_DGRAM);
    Opened<fid_av> av;
    fi_av_attr attr{};
    attr.rx_ctx_bits = 1;
    EXPECT_EQ(fi_av_open(udp.domain.get(), &attr, av.out(), nullptr), -FI_EINVAL);
}

}  // namespace
}  // namespace selvage::test
