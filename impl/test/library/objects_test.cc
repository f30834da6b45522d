// Fabric objects: classes, contexts, use counts, and what each does without a data path.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "impl/test/library/objects.h"

namespace selvage::test {
namespace {

TEST(Objects, ClassesAndContexts) {
    Network setup;
    ASSERT_EQ(setup.result, 0);
    EXPECT_EQ(setup.fabric->fid.fclass, static_cast<size_t>(FI_CLASS_FABRIC));
    EXPECT_EQ(setup.fabric->fid.context, &setup);
    EXPECT_EQ(setup.domain->fid.fclass, static_cast<size_t>(FI_CLASS_DOMAIN));
    EXPECT_EQ(setup.domain->fid.context, &setup);
    EXPECT_EQ(setup.fabric->api_version, kVersion);
}

TEST(Objects, AFabricInUseStaysOpenAndUsable) {
    Network setup;
    ASSERT_EQ(setup.result, 0);
    EXPECT_EQ(fi_close(setup.fabric.base()), -FI_EBUSY);
    Opened<fid_eq> eq;
    EXPECT_EQ(fi_eq_open(setup.fabric.get(), nullptr, eq.out(), nullptr), 0);
    EXPECT_EQ(setup.domain.close(), 0);
    EXPECT_EQ(fi_close(setup.fabric.base()), -FI_EBUSY);
    EXPECT_EQ(eq.close(), 0);
    EXPECT_EQ(setup.fabric.close(), 0);
}

TEST(Objects, OpenedInstancesAreReportedAndChosenBy) {
    const InfoPtr hints = make_hints("shm");
    EXPECT_EQ(getinfo(hints)->fabric_attr->fabric, nullptr);
    Network first;
    Network second;
    ASSERT_EQ(second.result, 0);
    const Answer plain = getinfo(hints);
    EXPECT_EQ(plain->fabric_attr->fabric, first.fabric.get());
    EXPECT_EQ(plain->domain_attr->domain, first.domain.get());
    hints->fabric_attr->fabric = second.fabric.get();
    const Answer chosen = getinfo(hints);
    ASSERT_EQ(chosen.result, 0);
    EXPECT_EQ(chosen->fabric_attr->fabric, second.fabric.get());
    EXPECT_EQ(chosen->domain_attr->domain, second.domain.get());
    hints->domain_attr->domain = first.domain.get();
    EXPECT_EQ(getinfo(hints).result, -FI_ENODATA);
    hints->fabric_attr->fabric = reinterpret_cast<fid_fabric*>(0x10);  // never followed
    EXPECT_EQ(getinfo(hints).result, -FI_ENODATA);
    const InfoPtr tcp = make_hints("tcp");
    tcp->fabric_attr->fabric = first.fabric.get();
    EXPECT_EQ(getinfo(tcp).result, -FI_ENODATA);
}

TEST(Objects, FabricsThatDoNotExist) {
    char shm[] = "shm", other[] = "other";
    fi_fabric_attr attr{};
    fid_fabric* fabric;
    EXPECT_EQ(fi_fabric(&attr, &fabric, nullptr), -FI_EINVAL);
    attr.prov_name = other;
    EXPECT_EQ(fi_fabric(&attr, &fabric, nullptr), -FI_ENODEV);
    attr.prov_name = shm;
    attr.name = other;
    EXPECT_EQ(fi_fabric(&attr, &fabric, nullptr), -FI_ENODATA);
}

TEST(Domain, OperationsByName) {
    Network setup;
    void* ops = nullptr;
    EXPECT_EQ(fi_open_ops(setup.domain.base(), "unknown", 0, &ops, nullptr), -FI_ENOSYS);
    fi_hmem_override_ops hmem{};
    hmem.size = sizeof hmem;
    EXPECT_EQ(fi_set_ops(setup.domain.base(), FI_SET_OPS_HMEM_OVERRIDE, 0, &hmem, nullptr), -FI_EINVAL);
    hmem.copy_from_hmem_iov = [](void*, size_t, fi_hmem_iface, uint64_t, const iovec*, size_t, uint64_t) -> ssize_t {
        return 0;
    };
    hmem.copy_to_hmem_iov = [](fi_hmem_iface, uint64_t, const iovec*, size_t, uint64_t, const void*,
                               size_t) -> ssize_t { return 0; };
    EXPECT_EQ(fi_set_ops(setup.domain.base(), FI_SET_OPS_HMEM_OVERRIDE, 0, &hmem, nullptr), 0);
    EXPECT_EQ(fi_set_ops(setup.domain.base(), "unknown", 0, &hmem, nullptr), -FI_ENOSYS);
    fid_domain* domain;
    EXPECT_EQ(fi_domain2(setup.fabric.get(), setup.info.get(), &domain, FI_PEER, nullptr), -FI_ENOSYS);
    EXPECT_EQ(fi_domain2(setup.fabric.get(), setup.info.get(), &domain, 1, nullptr), -FI_EBADFLAGS);
}

TEST(EventQueueTest, WritesReadsAndWaits) {
    Network setup;
    fi_eq_attr attr{};
    attr.flags = FI_WRITE;
    attr.wait_obj = FI_WAIT_FD;
    Opened<fid_eq> eq;
    ASSERT_EQ(fi_eq_open(setup.fabric.get(), &attr, eq.out(), nullptr), 0);
    int file = -1;
    ASSERT_EQ(fi_control(eq.base(), FI_GETWAIT, &file), 0);
    uint32_t type;
    fi_eq_entry entry{};
    EXPECT_EQ(fi_eq_read(eq.get(), &type, &entry, sizeof entry, 0), -FI_EAGAIN);
    EXPECT_EQ(fi_eq_sread(eq.get(), &type, &entry, sizeof entry, 10, 0), -FI_EAGAIN);
    fid* waits[] = {eq.base()};
    EXPECT_EQ(fi_trywait(setup.fabric.get(), waits, 1), 0);
    entry.data = 42;
    EXPECT_EQ(fi_eq_write(eq.get(), FI_NOTIFY, &entry, sizeof entry, 0), static_cast<ssize_t>(sizeof entry));
    pollfd ready{.fd = file, .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&ready, 1, 0), 1);
    EXPECT_EQ(fi_trywait(setup.fabric.get(), waits, 1), -FI_EAGAIN);
    EXPECT_EQ(fi_eq_read(eq.get(), &type, &entry, 1, 0), -FI_ETOOSMALL);
    entry = {};
    EXPECT_EQ(fi_eq_read(eq.get(), &type, &entry, sizeof entry, FI_PEEK), static_cast<ssize_t>(sizeof entry));
    EXPECT_EQ(fi_eq_sread(eq.get(), &type, &entry, sizeof entry, -1, 0), static_cast<ssize_t>(sizeof entry));
    EXPECT_EQ(entry.data, 42u);
    EXPECT_EQ(fi_eq_read(eq.get(), &type, &entry, sizeof entry, 0), -FI_EAGAIN);
    EXPECT_EQ(fi_trywait(setup.fabric.get(), waits, 1), 0);
    EXPECT_EQ(poll(&ready, 1, 0), 0);
}

TEST(EventQueueTest, ABlockedReaderIsWoken) {
    Network setup;
    fi_eq_attr attr{};
    attr.flags = FI_WRITE;
    attr.wait_obj = FI_WAIT_UNSPEC;
    Opened<fid_eq> eq;
    ASSERT_EQ(fi_eq_open(setup.fabric.get(), &attr, eq.out(), nullptr), 0);
    std::thread writer([&] {
        for (uint64_t i = 0; i < 1000; ++i) {
            const fi_eq_entry entry{.fid = nullptr, .context = nullptr, .data = i};
            fi_eq_write(eq.get(), FI_NOTIFY, &entry, sizeof entry, 0);
        }
    });
    for (uint64_t i = 0; i < 1000; ++i) {
        uint32_t type;
        fi_eq_entry entry;
        ASSERT_GT(fi_eq_sread(eq.get(), &type, &entry, sizeof entry, 5000, 0), 0);
        EXPECT_EQ(entry.data, i);
    }
    writer.join();
}

TEST(CompletionQueueTest, OpensWithEveryFormatAndWaitObject) {
    Network setup;
    for (int format = FI_CQ_FORMAT_UNSPEC; format <= FI_CQ_FORMAT_TAGGED; ++format) {
        for (const fi_wait_obj wait : {FI_WAIT_NONE, FI_WAIT_UNSPEC, FI_WAIT_FD, FI_WAIT_MUTEX_COND, FI_WAIT_YIELD}) {
            fi_cq_attr attr{};
            attr.format = static_cast<fi_cq_format>(format);
            attr.wait_obj = wait;
            Opened<fid_cq> cq;
            ASSERT_EQ(fi_cq_open(setup.domain.get(), &attr, cq.out(), nullptr), 0);
            fi_cq_tagged_entry entry;
            EXPECT_EQ(fi_cq_read(cq.get(), &entry, 1), -FI_EAGAIN);
            EXPECT_EQ(fi_cq_sread(cq.get(), &entry, 1, nullptr, 0), -FI_EAGAIN);
            fi_wait_obj kind = FI_WAIT_SET;
            EXPECT_EQ(fi_control(cq.base(), FI_GETWAITOBJ, &kind), 0);
            EXPECT_EQ(kind, wait);
        }
    }
    fi_cq_attr attr{};
    const int unknown = 99;
    memcpy(&attr.format, &unknown, sizeof unknown);
    fid_cq* cq;
    EXPECT_EQ(fi_cq_open(setup.domain.get(), &attr, &cq, nullptr), -FI_EINVAL);
}

TEST(CompletionQueueTest, SignalWakesABlockedReader) {
    Network setup;
    fi_cq_attr attr{};
    attr.wait_obj = FI_WAIT_UNSPEC;
    Opened<fid_cq> cq;
    ASSERT_EQ(fi_cq_open(setup.domain.get(), &attr, cq.out(), nullptr), 0);
    std::atomic<bool> done{false};
    std::thread reader([&] {
        fi_cq_entry entry;
        EXPECT_EQ(fi_cq_sread(cq.get(), &entry, 1, nullptr, -1), -FI_EAGAIN);
        done = true;
    });
    while (!done) {
        fi_cq_signal(cq.get());
        std::this_thread::yield();
    }
    reader.join();
}

TEST(CounterTest, CountsAndWaits) {
    Network setup;
    fi_cntr_attr attr{};
    attr.wait_obj = FI_WAIT_UNSPEC;
    Opened<fid_cntr> counter;
    ASSERT_EQ(fi_cntr_open(setup.domain.get(), &attr, counter.out(), nullptr), 0);
    EXPECT_EQ(fi_cntr_wait(counter.get(), 1, 10), -FI_ETIMEDOUT);
    std::thread adder([&] { fi_cntr_add(counter.get(), 5); });
    EXPECT_EQ(fi_cntr_wait(counter.get(), 5, 5000), 0);
    adder.join();
    EXPECT_EQ(fi_cntr_read(counter.get()), 5u);
    fi_cntr_set(counter.get(), 1);
    EXPECT_EQ(fi_cntr_read(counter.get()), 1u);
    std::thread failer([&] { fi_cntr_adderr(counter.get(), 2); });
    failer.join();
    EXPECT_EQ(fi_cntr_readerr(counter.get()), 2u);
    fi_cntr_seterr(counter.get(), 0);
    EXPECT_EQ(fi_cntr_readerr(counter.get()), 0u);
    attr.flags = 1;
    fid_cntr* other;
    EXPECT_EQ(fi_cntr_open(setup.domain.get(), &attr, &other, nullptr), -FI_EBADFLAGS);
}

TEST(WaitSetTest, CollectsItsMembers) {
    Network setup;
    fi_wait_attr attr{};
    attr.wait_obj = FI_WAIT_FD;
    Opened<fid_wait> set;
    ASSERT_EQ(fi_wait_open(setup.fabric.get(), &attr, set.out()), 0);
    fi_eq_attr eq_attr{};
    eq_attr.flags = FI_WRITE;
    eq_attr.wait_obj = FI_WAIT_SET;
    eq_attr.wait_set = set.get();
    Opened<fid_eq> eq;
    ASSERT_EQ(fi_eq_open(setup.fabric.get(), &eq_attr, eq.out(), nullptr), 0);
    EXPECT_EQ(fi_close(set.base()), -FI_EBUSY);
    EXPECT_EQ(fi_wait(set.get(), 10), -FI_ETIMEDOUT);
    const fi_eq_entry entry{};
    fi_eq_write(eq.get(), FI_NOTIFY, &entry, sizeof entry, 0);
    EXPECT_EQ(fi_wait(set.get(), -1), 0);
    fid* waits[] = {set.base()};
    EXPECT_EQ(fi_trywait(setup.fabric.get(), waits, 1), -FI_EAGAIN);
    EXPECT_EQ(eq.close(), 0);
    EXPECT_EQ(set.close(), 0);
}

TEST(PollSetTest, HoldsItsMembers) {
    Network setup;
    fi_poll_attr attr{};
    Opened<fid_poll> poll;
    ASSERT_EQ(fi_poll_open(setup.domain.get(), &attr, poll.out()), 0);
    Opened<fid_cq> cq;
    ASSERT_EQ(fi_cq_open(setup.domain.get(), nullptr, cq.out(), nullptr), 0);
    EXPECT_EQ(fi_poll_add(poll.get(), cq.base(), 0), 0);
    EXPECT_EQ(fi_close(cq.base()), -FI_EBUSY);
    EXPECT_EQ(fi_close(poll.base()), -FI_EBUSY);
    void* contexts[4];
    EXPECT_EQ(fi_poll(poll.get(), contexts, 4), 0);
    EXPECT_EQ(fi_poll_del(poll.get(), cq.base(), 0), 0);
    EXPECT_EQ(fi_poll_del(poll.get(), cq.base(), 0), -FI_EINVAL);
    EXPECT_EQ(poll.close(), 0);
}

TEST(MemoryRegionTest, KeysOfTheApplication) {
    Network setup;
    char buffer[64];
    Opened<fid_mr> region;
    ASSERT_EQ(fi_mr_reg(setup.domain.get(), buffer, sizeof buffer, FI_REMOTE_READ, 0, 7, 0, region.out(), buffer), 0);
    EXPECT_EQ(fi_mr_key(region.get()), 7u);
    EXPECT_EQ(region->fid.context, buffer);
    fid_mr* other = nullptr;
    EXPECT_EQ(fi_mr_reg(setup.domain.get(), buffer, 1, FI_REMOTE_READ, 0, 7, 0, &other, nullptr), -FI_ENOKEY);
    EXPECT_EQ(fi_mr_reg(setup.domain.get(), buffer, 1, FI_REMOTE_READ, 1, 8, 0, &other, nullptr), -FI_EINVAL);
    EXPECT_EQ(fi_mr_reg(setup.domain.get(), buffer, 1, FI_REMOTE_READ, 0, 8, FI_RMA_PMEM, &other, nullptr), -FI_EINVAL)
        << "a stack is not persistent";
    EXPECT_EQ(fi_mr_reg(setup.domain.get(), buffer, 1, FI_REMOTE_READ, 0, 8, FI_MULTICAST, &other, nullptr),
              -FI_EBADFLAGS);
    EXPECT_EQ(fi_close(setup.domain.base()), -FI_EBUSY);
    uint64_t base = 1;
    uint8_t raw[8];
    size_t size = 4;
    EXPECT_EQ(fi_mr_raw_attr(region.get(), &base, raw, &size, 0), -FI_ETOOSMALL);
    EXPECT_EQ(size, 8u);
    EXPECT_EQ(fi_mr_raw_attr(region.get(), &base, raw, &size, 0), 0);
    EXPECT_EQ(base, 0u);
    uint64_t key = 0;
    EXPECT_EQ(fi_mr_map_raw(setup.domain.get(), base, raw, size, &key, 0), 0);
    EXPECT_EQ(key, 7u);
    EXPECT_EQ(fi_mr_unmap_key(setup.domain.get(), key), 0);
    EXPECT_EQ(fi_mr_enable(region.get()), 0);
    EXPECT_EQ(fi_mr_refresh(region.get(), nullptr, 0, 0), 0);
    EXPECT_EQ(region.close(), 0);
    ASSERT_EQ(fi_mr_reg(setup.domain.get(), buffer, sizeof buffer, FI_REMOTE_READ, 0, 7, 0, region.out(), nullptr), 0);
}

TEST(MemoryRegionTest, BasicRegistrationChoosesKeysAndUsesAddresses) {
    Network setup("shm", FI_EP_RDM, kVersion, 0, FI_MR_BASIC);
    char buffer[64];
    Opened<fid_mr> a, b;
    ASSERT_EQ(fi_mr_reg(setup.domain.get(), buffer, sizeof buffer, FI_REMOTE_READ, 0, 7, 0, a.out(), nullptr), 0);
    ASSERT_EQ(fi_mr_reg(setup.domain.get(), buffer, sizeof buffer, FI_REMOTE_READ, 0, 7, 0, b.out(), nullptr), 0);
    EXPECT_NE(fi_mr_key(a.get()), fi_mr_key(b.get()));
    uint64_t base = 0;
    uint8_t raw[8];
    size_t size = sizeof raw;
    EXPECT_EQ(fi_mr_raw_attr(a.get(), &base, raw, &size, 0), 0);
    EXPECT_EQ(base, reinterpret_cast<uintptr_t>(buffer));
}

TEST(MemoryRegionTest, AsynchronousRegistrationReportsThroughTheQueue) {
    Network setup;
    Opened<fid_eq> eq;
    ASSERT_EQ(fi_eq_open(setup.fabric.get(), nullptr, eq.out(), nullptr), 0);
    ASSERT_EQ(fi_domain_bind(setup.domain.get(), eq.base(), FI_REG_MR), 0);
    EXPECT_EQ(fi_close(eq.base()), -FI_EBUSY);
    char buffer[64];
    Opened<fid_mr> region;
    int context;
    ASSERT_EQ(fi_mr_reg(setup.domain.get(), buffer, sizeof buffer, FI_SEND, 0, 1, 0, region.out(), &context), 0);
    uint32_t type;
    fi_eq_entry entry;
    ASSERT_EQ(fi_eq_read(eq.get(), &type, &entry, sizeof entry, 0), static_cast<ssize_t>(sizeof entry));
    EXPECT_EQ(type, static_cast<uint32_t>(FI_MR_COMPLETE));
    EXPECT_EQ(entry.fid, region.base());
    EXPECT_EQ(entry.context, &context);
    EXPECT_EQ(region.close(), 0);
    EXPECT_EQ(setup.domain.close(), 0);
    EXPECT_EQ(eq.close(), 0);
}

TEST(EndpointTest, NeedsItsQueuesBeforeItIsEnabled) {
    Network setup;
    Opened<fid_cq> cq;
    Opened<fid_av> av;
    Opened<fid_cntr> counter;
    fi_av_attr av_attr{};
    fi_cntr_attr counter_attr{};
    ASSERT_EQ(fi_cq_open(setup.domain.get(), nullptr, cq.out(), nullptr), 0);
    ASSERT_EQ(fi_av_open(setup.domain.get(), &av_attr, av.out(), nullptr), 0);
    ASSERT_EQ(fi_cntr_open(setup.domain.get(), &counter_attr, counter.out(), nullptr), 0);
    Opened<fid_ep> ep;
    ASSERT_EQ(fi_endpoint(setup.domain.get(), setup.info.get(), ep.out(), &setup), 0);
    EXPECT_EQ(ep->fid.fclass, static_cast<size_t>(FI_CLASS_EP));
    EXPECT_EQ(ep->fid.context, &setup);
    EXPECT_EQ(fi_enable(ep.get()), -FI_ENOCQ);
    EXPECT_EQ(fi_ep_bind(ep.get(), cq.base(), 0), -FI_EBADFLAGS);
    EXPECT_EQ(fi_ep_bind(ep.get(), cq.base(), FI_TRANSMIT | FI_RECV), 0);
    EXPECT_EQ(fi_ep_bind(ep.get(), cq.base(), FI_RECV), -FI_EINVAL);
    EXPECT_EQ(fi_enable(ep.get()), -FI_ENOAV);
    EXPECT_EQ(fi_ep_bind(ep.get(), av.base(), 0), 0);
    EXPECT_EQ(fi_ep_bind(ep.get(), counter.base(), FI_SEND | FI_RECV), 0);
    EXPECT_EQ(fi_ep_bind(ep.get(), counter.base(), FI_SEND), -FI_EINVAL);
    EXPECT_EQ(fi_enable(ep.get()), 0);
    EXPECT_EQ(fi_ep_bind(ep.get(), cq.base(), FI_RECV), -FI_EOPBADSTATE);
    for (fid* used : {cq.base(), av.base(), counter.base(), setup.domain.base()}) {
        EXPECT_EQ(fi_close(used), -FI_EBUSY);
    }
    // There is no such address.
    EXPECT_EQ(fi_send(ep.get(), nullptr, 0, nullptr, 0, nullptr), -FI_EINVAL);
    EXPECT_EQ(fi_tsend(ep.get(), nullptr, 0, nullptr, 0, 0, nullptr), -FI_EINVAL);
    EXPECT_EQ(fi_read(ep.get(), nullptr, 0, nullptr, 0, 0, 0, nullptr), -FI_EINVAL);
    size_t count = 0;
    EXPECT_EQ(fi_atomicvalid(ep.get(), FI_UINT64, FI_SUM, &count), 0);
    EXPECT_GT(count, 0u);
    EXPECT_EQ(fi_atomicvalid(ep.get(), FI_FLOAT, FI_BXOR, &count), -FI_EOPNOTSUPP);
    char name[128];
    size_t length = 0;
    EXPECT_EQ(fi_getname(ep.base(), nullptr, &length), -FI_ETOOSMALL);
    length = 1;
    EXPECT_EQ(fi_getname(ep.base(), name, &length), -FI_ETOOSMALL);
    EXPECT_EQ(fi_getname(ep.base(), name, &length), 0);
    EXPECT_EQ(std::string(name).rfind("fi_shm://", 0), 0u);
    EXPECT_EQ(ep.close(), 0);
}

TEST(EndpointTest, AliasesAndFlags) {
    Network setup;
    Opened<fid_ep> ep;
    ASSERT_EQ(fi_endpoint(setup.domain.get(), setup.info.get(), ep.out(), nullptr), 0);
    Opened<fid_ep> alias;
    EXPECT_EQ(fi_ep_alias(ep.get(), alias.out(), FI_INJECT), -FI_EINVAL);
    ASSERT_EQ(fi_ep_alias(ep.get(), alias.out(), FI_TRANSMIT | FI_INJECT), 0);
    EXPECT_EQ(fi_close(ep.base()), -FI_EBUSY);
    uint64_t flags = FI_TRANSMIT;
    EXPECT_EQ(fi_control(alias.base(), FI_GETOPSFLAG, &flags), 0);
    EXPECT_EQ(flags, FI_INJECT);
    flags = FI_TRANSMIT;
    EXPECT_EQ(fi_control(ep.base(), FI_GETOPSFLAG, &flags), 0);
    EXPECT_EQ(flags, 0u);
    flags = FI_TRANSMIT | FI_DELIVERY_COMPLETE;
    EXPECT_EQ(fi_control(ep.base(), FI_SETOPSFLAG, &flags), 0);
    flags = FI_TRANSMIT | FI_RECV;
    EXPECT_EQ(fi_control(ep.base(), FI_GETOPSFLAG, &flags), -FI_EINVAL);
    size_t value = 0, size = sizeof value;
    EXPECT_EQ(fi_getopt(ep.base(), FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &value, &size), 0);
    value = 128;
    EXPECT_EQ(fi_setopt(ep.base(), FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &value, sizeof value), 0);
    value = 0;
    EXPECT_EQ(fi_getopt(ep.base(), FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &value, &size), 0);
    EXPECT_EQ(value, 128u);
    EXPECT_EQ(alias.close(), 0);
    EXPECT_EQ(ep.close(), 0);
}

TEST(EndpointTest, SharedContexts) {
    InfoPtr hints = make_hints("tcp", FI_EP_RDM);
    hints->ep_attr->tx_ctx_cnt = FI_SHARED_CONTEXT;
    hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
    const Answer answer = getinfo(hints);
    ASSERT_EQ(answer.result, 0);
    Opened<fid_fabric> fabric;
    Opened<fid_domain> domain;
    Opened<fid_stx> stx;
    Opened<fid_ep> srx, ep;
    ASSERT_EQ(fi_fabric(answer->fabric_attr, fabric.out(), nullptr), 0);
    ASSERT_EQ(fi_domain(fabric.get(), answer.get(), domain.out(), nullptr), 0);
    ASSERT_EQ(fi_stx_context(domain.get(), nullptr, stx.out(), nullptr), 0);
    ASSERT_EQ(fi_srx_context(domain.get(), nullptr, srx.out(), nullptr), 0);
    ASSERT_EQ(fi_endpoint(domain.get(), answer.get(), ep.out(), nullptr), 0);
    EXPECT_EQ(fi_ep_bind(ep.get(), &stx->fid, 0), 0);
    EXPECT_EQ(fi_ep_bind(ep.get(), &srx->fid, 0), 0);
    EXPECT_EQ(fi_close(&srx->fid), -FI_EBUSY);
    EXPECT_EQ(stx.close(), 0) << "the endpoint has no need of it";
    EXPECT_EQ(ep.close(), 0);
}

TEST(PassiveEndpointTest, HandleIsHandedThrough) {
    Network setup("tcp", FI_EP_MSG);
    ASSERT_EQ(setup.result, 0);
    Opened<fid_pep> pep;
    ASSERT_EQ(fi_passive_ep(setup.fabric.get(), setup.info.get(), pep.out(), nullptr), 0);
    EXPECT_EQ(fi_listen(pep.get()), -FI_ENOEQ);
    InfoPtr hints = make_hints("tcp", FI_EP_MSG);
    hints->handle = pep.base();
    EXPECT_EQ(getinfo(hints)->handle, pep.base());
    hints->handle = reinterpret_cast<fid*>(0x20);
    EXPECT_EQ(getinfo(hints)->handle, nullptr);
    EXPECT_EQ(fi_close(setup.fabric.base()), -FI_EBUSY);
    Network shm;
    fid_pep* none;
    EXPECT_EQ(fi_passive_ep(shm.fabric.get(), shm.info.get(), &none, nullptr), -FI_ENOSYS);
}

size_t open_files() {
    size_t count = 0;
    for (int file = 0; file < 1024; ++file) count += fcntl(file, F_GETFD) >= 0;
    return count;
}

TEST(Objects, TenThousandCyclesKeepNothing) {
    const auto cycle = [] {
        Network setup("tcp", FI_EP_MSG);
        Opened<fid_eq> eq;
        Opened<fid_pep> pep;
        Opened<fid_cq> cq;
        Opened<fid_ep> ep;
        fi_cq_attr attr{};
        attr.wait_obj = FI_WAIT_FD;
        fi_eq_open(setup.fabric.get(), nullptr, eq.out(), nullptr);
        fi_passive_ep(setup.fabric.get(), setup.info.get(), pep.out(), nullptr);
        fi_cq_open(setup.domain.get(), &attr, cq.out(), nullptr);
        fi_endpoint(setup.domain.get(), setup.info.get(), ep.out(), nullptr);
        fi_ep_bind(ep.get(), cq.base(), FI_TRANSMIT | FI_RECV);
    };
    cycle();
    const size_t files = open_files();
    for (int i = 0; i < 10000; ++i) cycle();
    EXPECT_EQ(open_files(), files);
}

}  // namespace
}  // namespace selvage::test
