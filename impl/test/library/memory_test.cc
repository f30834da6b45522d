// Memory runs out at every possible point of every call: an error, nothing leaked, everything still usable.
#include <gtest/gtest.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_trigger.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <vector>

#include "impl/test/library/allocation.h"
#include "impl/test/library/objects.h"

namespace selvage::test {
namespace {

constexpr size_t kMostAllocations = 2000;

// Runs `call` with the first, second, ... allocation failing until none fails. `call` cleans up what it got.
void fail_each(const char* name, const std::function<int()>& call) {
    if (!allocation_control()) GTEST_SKIP() << "the sanitizer owns the allocator";
    ASSERT_EQ(call(), 0) << name;
    for (size_t n = 1; n < kMostAllocations; ++n) {
        const long before = live_blocks();
        fail_allocation(n);
        const int result = call();
        const bool failed = allocation_failed();
        fail_allocation(0);
        ASSERT_EQ(live_blocks(), before) << name << ", allocation " << n;
        if (!failed) {
            EXPECT_EQ(result, 0) << name;
            return;
        }
        // The resolver and the interface list may get by without a block; the library says so if it cannot.
        ASSERT_TRUE(result == -FI_ENOMEM || result == 0) << name << ", allocation " << n << ": " << result;
    }
    FAIL() << name << " allocates without end";
}

TEST(OutOfMemory, GetInfo) {
    const InfoPtr hints = make_hints("tcp");
    fail_each("fi_getinfo", [&] { return getinfo(hints).result; });
    fail_each("fi_getinfo with a node", [&] { return getinfo(hints, "127.0.0.1", "1").result; });
    fail_each("fi_getinfo for providers", [&] { return getinfo(nullptr, nullptr, nullptr, FI_PROV_ATTR_ONLY).result; });
}

TEST(OutOfMemory, GetInfoThatReadsTheInterfacesAnew) {
    if (!allocation_control()) GTEST_SKIP() << "the sanitizer owns the allocator";
    const InfoPtr hints = make_hints("tcp");
    const size_t expected = getinfo(hints).size();
    // A child of fork starts with an outdated table.
    for (size_t n = 1; n < 60; ++n) {
        const pid_t child = fork();
        if (child == 0) {
            fail_allocation(n);
            const int result = getinfo(hints).result;
            fail_allocation(0);
            _exit((result == 0 || result == -FI_ENOMEM) && getinfo(hints).size() == expected ? 0 : 1);
        }
        int status = -1;
        waitpid(child, &status, 0);
        ASSERT_EQ(status, 0) << "allocation " << n;
    }
}

TEST(OutOfMemory, DupInfo) {
    const Answer info = getinfo(make_hints("tcp"));
    fail_each("fi_dupinfo", [&] { return InfoPtr(fi_dupinfo(info.get())) ? 0 : -FI_ENOMEM; });
    fail_each("fi_allocinfo", [] { return InfoPtr(fi_allocinfo()) ? 0 : -FI_ENOMEM; });
}

// From an endpoint to the result of an operation, in a group of one.
int reduce_alone(const Network& setup) {
    Opened<fid_eq> eq;
    Opened<fid_cq> cq;
    Opened<fid_av> av;
    Opened<fid_ep> ep;
    Opened<fid_av_set> set;
    Opened<fid_mc> group;
    fi_av_attr av_attr{};
    fi_av_set_attr attr{};
    attr.start_addr = attr.end_addr = FI_ADDR_NOTAVAIL;
    attr.flags = FI_UNIVERSE;
    char name[256];
    size_t length = sizeof name;
    const void* names = name;
    fi_addr_t self, address;
    fi_cq_tagged_entry entry;
    uint64_t from = 3, to = 0;
    int result = fi_eq_open(setup.fabric.get(), nullptr, eq.out(), nullptr);
    if (!result) result = fi_cq_open(setup.domain.get(), nullptr, cq.out(), nullptr);
    if (!result) result = fi_av_open(setup.domain.get(), &av_attr, av.out(), nullptr);
    if (!result) result = fi_endpoint(setup.domain.get(), setup.info.get(), ep.out(), nullptr);
    if (!result) result = fi_ep_bind(ep.get(), &eq->fid, 0);
    if (!result) result = fi_ep_bind(ep.get(), &cq->fid, FI_TRANSMIT | FI_RECV);
    if (!result) result = fi_ep_bind(ep.get(), &av->fid, 0);
    if (!result) result = fi_enable(ep.get());
    if (!result) result = fi_getname(&ep->fid, name, &length);
    if (!result) result = fi_av_insert(av.get(), &names, 1, &self, 0, nullptr) == 1 ? 0 : -FI_ENOMEM;
    if (!result) result = fi_av_set(av.get(), &attr, set.out(), nullptr);
    if (!result) result = fi_av_set_addr(set.get(), &address);
    if (!result) result = fi_join_collective(ep.get(), address, set.get(), 0, group.out(), nullptr);
    if (result) return result;
    result = static_cast<int>(fi_allreduce(ep.get(), &from, 1, nullptr, &to, nullptr, fi_mc_addr(group.get()),
                                           FI_UINT64, FI_SUM, 0, nullptr));
    if (!result) result = fi_cq_read(cq.get(), &entry, 1) == 1 && to == 3 ? 0 : -FI_EIO;
    return result;
}

TEST(OutOfMemory, Collectives) {
    Network setup("shm", FI_EP_RDM, kVersion, FI_MSG | FI_COLLECTIVE);
    ASSERT_EQ(setup.result, 0);
    fail_each("collectives", [&] { return reduce_alone(setup); });
}

// As fail_each(), of calls whose blocks can't be counted: the transport of messages has some of aligned_alloc.
void survive_each(const char* name, const std::function<int()>& call) {
    if (!allocation_control()) GTEST_SKIP() << "the sanitizer owns the allocator";
    ASSERT_EQ(call(), 0) << name;
    for (size_t n = 1; n < kMostAllocations; ++n) {
        fail_allocation(n);
        const int result = call();
        const bool failed = allocation_failed();
        fail_allocation(0);
        ASSERT_TRUE(result == 0 || (failed && result == -FI_ENOMEM)) << name << ", allocation " << n << ": " << result;
        if (!failed) return;
    }
    FAIL() << name << " allocates without end";
}

// From a domain to sends that wait for a counter, and their start.
int trigger_sends(const Network& setup) {
    constexpr size_t kSends = 100;
    Opened<fid_domain> domain;
    Opened<fid_cntr> trigger;
    Opened<fid_cq> cq;
    Opened<fid_av> av;
    Opened<fid_ep> ep;
    fi_av_attr av_attr{};
    char name[256];
    size_t length = sizeof name;
    fi_addr_t self = FI_ADDR_NOTAVAIL;
    int result = fi_domain(setup.fabric.get(), setup.info.get(), domain.out(), nullptr);
    if (!result) result = fi_cntr_open(domain.get(), nullptr, trigger.out(), nullptr);
    if (!result) result = fi_cq_open(domain.get(), nullptr, cq.out(), nullptr);
    if (!result) result = fi_av_open(domain.get(), &av_attr, av.out(), nullptr);
    if (!result) result = fi_endpoint(domain.get(), setup.info.get(), ep.out(), nullptr);
    if (!result) result = fi_ep_bind(ep.get(), &cq->fid, FI_TRANSMIT | FI_RECV);
    if (!result) result = fi_ep_bind(ep.get(), &av->fid, 0);
    if (!result) result = fi_enable(ep.get());
    if (!result) result = fi_getname(&ep->fid, name, &length);
    if (!result) result = fi_av_insert(av.get(), name, 1, &self, 0, nullptr) == 1 ? 0 : -FI_ENOMEM;
    fi_triggered_context contexts[kSends] = {};
    const iovec range{name, 8};
    for (size_t i = 0; !result && i < kSends; ++i) {
        contexts[i].event_type = FI_TRIGGER_THRESHOLD;
        contexts[i].trigger.threshold = {trigger.get(), 1};
        const fi_msg message{&range, nullptr, 1, self, &contexts[i], 0};
        result = static_cast<int>(fi_sendmsg(ep.get(), &message, FI_TRIGGER));
    }
    if (!result) result = fi_cntr_add(trigger.get(), 1);
    if (ep.get()) ep.close();
    // Nothing of what waited is left.
    if (trigger.get() && trigger.close()) return -FI_EIO;
    return result;
}

TEST(OutOfMemory, SendsThatWaitForACounter) {
    Network setup("shm", FI_EP_RDM, kVersion, FI_MSG | FI_TRIGGER);
    ASSERT_EQ(setup.result, 0);
    survive_each("sends with FI_TRIGGER", [&] { return trigger_sends(setup); });
}

// A message to itself, as long as `size`, which is notified and then claimed. What can't be kept of it is an error of
// one of the two sides.
int receive_buffered(const Network& setup, std::vector<char>& bytes, bool claims) {
    Opened<fid_cq> cq;
    Opened<fid_av> av;
    Opened<fid_ep> ep;
    fi_av_attr av_attr{};
    fi_cq_attr cq_attr{};
    cq_attr.format = FI_CQ_FORMAT_MSG;
    char name[256];
    size_t length = sizeof name;
    const size_t limit = SIZE_MAX;
    fi_addr_t self = FI_ADDR_NOTAVAIL;
    int result = fi_cq_open(setup.domain.get(), &cq_attr, cq.out(), nullptr);
    if (!result) result = fi_av_open(setup.domain.get(), &av_attr, av.out(), nullptr);
    if (!result) result = fi_endpoint(setup.domain.get(), setup.info.get(), ep.out(), nullptr);
    if (!result) result = fi_ep_bind(ep.get(), &cq->fid, FI_TRANSMIT | FI_RECV);
    if (!result) result = fi_ep_bind(ep.get(), &av->fid, 0);
    if (!result) result = fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_BUFFERED_LIMIT, &limit, sizeof limit);
    if (!result) result = fi_enable(ep.get());
    if (!result) result = fi_getname(&ep->fid, name, &length);
    if (!result) result = fi_av_insert(av.get(), name, 1, &self, 0, nullptr) == 1 ? 0 : -FI_ENOMEM;
    const iovec range{bytes.data(), bytes.size()};
    const fi_msg message{&range, nullptr, 1, self, nullptr, 0};
    // The sender is told of what its peer could not keep.
    if (!result) result = static_cast<int>(fi_sendmsg(ep.get(), &message, FI_DELIVERY_COMPLETE));
    if (result == -FI_EAGAIN) result = -FI_ENOMEM;
    bool done = false;
    for (int turn = 0; !result && !done; ++turn) {
        fi_cq_msg_entry entry;
        fi_cq_err_entry error{};
        const ssize_t got = fi_cq_read(cq.get(), &entry, 1);
        if (got == -FI_EAVAIL && fi_cq_readerr(cq.get(), &error, 0) == 1) result = -error.err;
        if (turn == 10000) result = -FI_ETIMEDOUT;
        if (got != 1 || !(entry.flags & FI_RECV)) continue;
        done = !claims || (entry.flags & FI_CLAIM);
        if (done) continue;
        const fi_msg claim{&range, nullptr, 1, FI_ADDR_UNSPEC, entry.op_context, 0};
        result = static_cast<int>(fi_recvmsg(ep.get(), &claim, FI_CLAIM));
        if (result == -FI_EAGAIN) result = -FI_ENOMEM;
    }
    if (ep.get()) ep.close();
    return result;
}

TEST(OutOfMemory, BufferedReceives) {
    Network setup("shm", FI_EP_RDM, kVersion, FI_MSG | FI_VARIABLE_MSG);
    ASSERT_EQ(setup.result, 0);
    for (const size_t size : {size_t{8}, size_t{3000}, size_t{500000}}) {
        std::vector<char> bytes(size);
        survive_each("a message that is claimed", [&] { return receive_buffered(setup, bytes, true); });
        survive_each("a message that nobody claims", [&] { return receive_buffered(setup, bytes, false); });
    }
}

TEST(OutOfMemory, PersistentRegions) {
    Network setup("shm", FI_EP_RDM, kVersion, FI_RMA | FI_RMA_PMEM);
    ASSERT_EQ(setup.result, 0);
    char name[] = "selvage-pmem-XXXXXX";
    const int file = mkstemp(name);
    ASSERT_EQ(ftruncate(file, 4096), 0);
    void* bytes = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ASSERT_NE(bytes, MAP_FAILED);
    fail_each("fi_mr_reg with FI_RMA_PMEM", [&] {
        Opened<fid_mr> o;
        return fi_mr_reg(setup.domain.get(), bytes, 4096, FI_REMOTE_WRITE, 0, 3, FI_RMA_PMEM, o.out(), nullptr);
    });
    munmap(bytes, 4096);
    close(file);
    unlink(name);
}

TEST(OutOfMemory, Objects) {
    Network setup("shm");
    ASSERT_EQ(setup.result, 0);
    fid_domain* domain = setup.domain.get();
    fid_fabric* fabric = setup.fabric.get();
    fi_info* info = setup.info.get();
    fail_each("fi_fabric", [&] {
        Opened<fid_fabric> o;
        return fi_fabric(info->fabric_attr, o.out(), nullptr);
    });
    fail_each("fi_domain", [&] {
        Opened<fid_domain> o;
        return fi_domain(fabric, info, o.out(), nullptr);
    });
    fail_each("fi_eq_open", [&] {
        Opened<fid_eq> o;
        return fi_eq_open(fabric, nullptr, o.out(), nullptr);
    });
    fail_each("fi_cq_open", [&] {
        Opened<fid_cq> o;
        return fi_cq_open(domain, nullptr, o.out(), nullptr);
    });
    fail_each("fi_cntr_open", [&] {
        Opened<fid_cntr> o;
        return fi_cntr_open(domain, nullptr, o.out(), nullptr);
    });
    fail_each("fi_poll_open", [&] {
        Opened<fid_poll> o;
        return fi_poll_open(domain, nullptr, o.out());
    });
    fail_each("fi_endpoint", [&] {
        Opened<fid_ep> o;
        return fi_endpoint(domain, info, o.out(), nullptr);
    });
    fail_each("fi_stx_context", [&] {
        Opened<fid_stx> o;
        return fi_stx_context(domain, nullptr, o.out(), nullptr);
    });
    fail_each("fi_srx_context", [&] {
        Opened<fid_ep> o;
        return fi_srx_context(domain, nullptr, o.out(), nullptr);
    });
    fail_each("fi_wait_open", [&] {
        Opened<fid_wait> o;
        fi_wait_attr attr{};
        attr.wait_obj = FI_WAIT_FD;
        return fi_wait_open(fabric, &attr, o.out());
    });
    fail_each("fi_mr_reg", [&] {
        Opened<fid_mr> o;
        return fi_mr_reg(domain, info, sizeof *info, FI_REMOTE_READ, 0, 3, 0, o.out(), nullptr);
    });
    Opened<fid_ep> ep;
    ASSERT_EQ(fi_endpoint(domain, info, ep.out(), nullptr), 0);
    fail_each("fi_ep_alias", [&] {
        Opened<fid_ep> o;
        return fi_ep_alias(ep.get(), o.out(), FI_TRANSMIT);
    });
}

TEST(OutOfMemory, AddressVectors) {
    Network setup("shm");
    const char* names[] = {"fi_shm://one", "bad", "fi_shm://two"};
    const auto insert = [&](uint64_t flags) {
        Opened<fid_eq> eq;
        Opened<fid_av> av;
        fi_av_attr attr{};
        attr.flags = flags;
        int result = fi_eq_open(setup.fabric.get(), nullptr, eq.out(), nullptr);
        if (!result) result = fi_av_open(setup.domain.get(), &attr, av.out(), nullptr);
        if (!result && flags) result = fi_av_bind(av.get(), eq.base(), 0);
        if (!result) result = fi_av_insert(av.get(), names, 3, nullptr, 0, nullptr);
        if (av.get()) av.close();
        return result < 0 ? result : 0;
    };
    fail_each("fi_av_insert", [&] { return insert(0); });
    fail_each("fi_av_insert, asynchronous", [&] { return insert(FI_EVENT); });
}

// Two of four addresses are none: whichever allocation fails, the events tell what was inserted, or nothing was.
int insert_and_count(const Network& setup) {
    const char* names[] = {"fi_shm://one", "bad", "fi_shm://two", "worse"};
    Opened<fid_eq> eq;
    Opened<fid_av> av;
    fi_av_attr attr{};
    attr.flags = FI_EVENT;
    int result = fi_eq_open(setup.fabric.get(), nullptr, eq.out(), nullptr);
    if (!result) result = fi_av_open(setup.domain.get(), &attr, av.out(), nullptr);
    if (!result) result = fi_av_bind(av.get(), eq.base(), 0);
    if (!result) result = fi_av_insert(av.get(), names, 4, nullptr, 0, nullptr);
    if (result) return result;
    fi_eq_err_entry error{};
    uint64_t errors = 0;
    while (fi_eq_readerr(eq.get(), &error, 0) > 0) ++errors;
    uint32_t type = 0;
    fi_eq_entry done{};
    if (fi_eq_read(eq.get(), &type, &done, sizeof done, 0) != static_cast<ssize_t>(sizeof done)) return -FI_EOTHER;
    return errors == 2 && done.data == 2 ? 0 : -FI_EOTHER;
}

TEST(OutOfMemory, AsynchronousInsertionTellsAllOrDoesNothing) {
    Network setup("shm");
    ASSERT_EQ(setup.result, 0);
    fail_each("fi_av_insert", [&] { return insert_and_count(setup); });
}

}  // namespace
}  // namespace selvage::test
