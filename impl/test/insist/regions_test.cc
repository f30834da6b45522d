// What is found of memory regions while duties are insisted on.
#include <sys/mman.h>

#include "impl/test/insist/insisting.h"

namespace selvage::test {
namespace {

constexpr uint64_t kEveryAccess = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;

int enroll(InsistedPair& both, char* bytes, size_t size, uint64_t access, Opened<fid_mr>& region, uint64_t flags = 0) {
    return fi_mr_reg(both.network.domain.get(), bytes, size, access, 0, 77, flags, region.out(), nullptr);
}

// A write of eight bytes from a to the region of b, and what becomes of it.
int written(InsistedPair& both, uint64_t address, uint64_t key) {
    static char source[8] = "written";
    if (fi_write(both.a.ep.get(), source, sizeof source, nullptr, both.a.peer, address, key, nullptr)) return -1;
    fi_cq_tagged_entry entry{};
    const ssize_t result = next_entry(both, both.a, &entry);
    if (result == 1) return 0;
    fi_cq_err_entry error{};
    return fi_cq_readerr(both.a.cq.get(), &error, 0) == 1 ? error.err : -1;
}

TEST(InsistedRegions, AreNamedByEveryBuffer) {
    const std::string log = insisting("mr_local", [] {
        InsistedPair both;
        char buffer[64], elsewhere[8];
        Opened<fid_mr> region, sending;
        ASSERT_EQ(enroll(both, buffer, 32, FI_RECV, region), 0);
        ASSERT_EQ(fi_mr_reg(both.network.domain.get(), buffer, 64, FI_SEND, 0, 78, 0, sending.out(), nullptr), 0);
        const auto receive = [&](void* at, void* desc) {
            return fi_recv(both.b.ep.get(), at, 8, desc, FI_ADDR_UNSPEC, nullptr);
        };
        EXPECT_EQ(receive(buffer, fi_mr_desc(region.get())), 0);
        EXPECT_EQ(receive(buffer, nullptr), -FI_EINVAL);
        EXPECT_EQ(receive(buffer, elsewhere), -FI_EINVAL);
        EXPECT_EQ(receive(buffer + 28, fi_mr_desc(region.get())), -FI_EINVAL);
        EXPECT_EQ(receive(buffer, fi_mr_desc(sending.get())), -FI_EINVAL);
        EXPECT_EQ(fi_send(both.a.ep.get(), buffer, 8, fi_mr_desc(sending.get()), both.a.peer, nullptr), 0);
        EXPECT_EQ(fi_inject(both.a.ep.get(), elsewhere, 8, both.a.peer), 0);
    });
    expect_line(log, "fi_recv: FI_MR_LOCAL is insisted on (fi_mr(3)), and desc is NULL");
    expect_line(log, "desc is of no region that is enabled");
    expect_line(log, "the buffer is not within the region of its desc");
    expect_line(log, "the region of desc lacks the access of the operation");
}

TEST(InsistedRegions, OfAnEndpointServeOnceTheyAreBoundAndEnabled) {
    const std::string log = insisting("mr_endpoint", [] {
        InsistedPair both;
        char target[8] = {};
        Opened<fid_mr> region;
        ASSERT_EQ(enroll(both, target, sizeof target, kEveryAccess, region), 0);
        EXPECT_NE(written(both, 0, 77), 0);
        EXPECT_EQ(fi_mr_enable(region.get()), -FI_EOPBADSTATE);
        EXPECT_EQ(fi_mr_bind(region.get(), both.b.ep.base(), 0), 0);
        EXPECT_NE(written(both, 0, 77), 0);
        EXPECT_EQ(fi_mr_enable(region.get()), 0);
        EXPECT_EQ(written(both, 0, 77), 0);
        EXPECT_STREQ(target, "written");
        EXPECT_EQ(fi_mr_bind(region.get(), both.a.ep.base(), 0), -FI_EOPBADSTATE);
        both.b.ep.close();
    });
    expect_line(log, "fi_mr_enable: FI_MR_ENDPOINT is insisted on (fi_mr(3)), and the region is bound to no endpoint");
    expect_line(log, "fi_mr_bind: FI_MR_ENDPOINT is insisted on (fi_mr(3)), and the region is enabled already");
}

TEST(InsistedRegions, WithCountersAreEnabledAfterTheyAreBound) {
    const std::string log = insisting("mr_rma_event", [] {
        InsistedPair both;
        char target[8] = {};
        Opened<fid_cntr> counter;
        Opened<fid_mr> region, plain;
        ASSERT_EQ(fi_cntr_open(both.network.domain.get(), nullptr, counter.out(), nullptr), 0);
        ASSERT_EQ(enroll(both, target, sizeof target, kEveryAccess, region, FI_RMA_EVENT), 0);
        EXPECT_NE(written(both, 0, 77), 0);
        EXPECT_EQ(fi_mr_bind(region.get(), counter.base(), FI_REMOTE_WRITE), 0);
        EXPECT_EQ(fi_mr_enable(region.get()), 0);
        EXPECT_EQ(written(both, 0, 77), 0);
        EXPECT_EQ(fi_mr_reg(both.network.domain.get(), target, 8, kEveryAccess, 0, 78, 0, plain.out(), nullptr), 0);
        EXPECT_EQ(written(both, 0, 78), 0);
        EXPECT_EQ(fi_mr_bind(plain.get(), counter.base(), FI_REMOTE_WRITE), -FI_EINVAL);
        region.close();
    });
    expect_line(log, "fi_mr_bind: FI_MR_RMA_EVENT is insisted on");
}

TEST(InsistedRegions, AreRefreshedBeforePeersUseThem) {
    insisting("mr_mmu_notify", [] {
        InsistedPair both;
        char target[8] = {};
        Opened<fid_mr> region;
        ASSERT_EQ(enroll(both, target, sizeof target, kEveryAccess, region), 0);
        EXPECT_NE(written(both, 0, 77), 0);
        const iovec all{target, sizeof target};
        EXPECT_EQ(fi_mr_refresh(region.get(), &all, 1, 0), 0);
        EXPECT_EQ(written(both, 0, 77), 0);
    });
}

TEST(InsistedRegions, HaveMemoryBehindThem) {
    const std::string log = insisting("mr_allocated", [] {
        InsistedPair both;
        auto* pages =
            static_cast<char*>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        Opened<fid_mr> region, beyond;
        EXPECT_EQ(enroll(both, pages, 8192, kEveryAccess, region), 0);
        munmap(pages + 4096, 4096);
        EXPECT_EQ(enroll(both, pages, 8192, kEveryAccess, beyond), -FI_EFAULT);
    });
    expect_line(log,
                "fi_mr_reg: FI_MR_ALLOCATED is insisted on (fi_mr(3)), and no memory is behind a part of the buffer");
}

TEST(InsistedRegions, HaveRawKeysThatAreMapped) {
    const std::string log = insisting("mr_raw", [] {
        InsistedPair both;
        EXPECT_EQ(both.network.info->domain_attr->mr_key_size, 32u);
        char target[8] = {};
        Opened<fid_mr> region;
        ASSERT_EQ(enroll(both, target, sizeof target, kEveryAccess, region), 0);
        EXPECT_EQ(fi_mr_key(region.get()), FI_KEY_NOTAVAIL);
        uint8_t raw[32];
        size_t size = 8;
        uint64_t base = 1, key = 0;
        EXPECT_EQ(fi_mr_raw_attr(region.get(), &base, raw, &size, 0), -FI_ETOOSMALL);
        ASSERT_EQ(size, sizeof raw);
        ASSERT_EQ(fi_mr_raw_attr(region.get(), &base, raw, &size, 0), 0);
        EXPECT_EQ(base, 0u);
        ASSERT_EQ(fi_mr_map_raw(both.network.domain.get(), base, raw, size, &key, 0), 0);
        EXPECT_EQ(written(both, 0, key), 0);
        memcpy(&key, raw, sizeof key);
        EXPECT_NE(written(both, 0, key), 0) << "the first bytes are no key";
        raw[9] ^= 1;
        EXPECT_EQ(fi_mr_map_raw(both.network.domain.get(), base, raw, size, &key, 0), -FI_EINVAL);
        EXPECT_EQ(fi_mr_unmap_key(both.network.domain.get(), key), 0);
    });
    expect_line(log, "fi_mr_map_raw: FI_MR_RAW is insisted on (fi_mr(3)), and this is no key of fi_mr_raw_attr");
}

TEST(InsistedRegions, HaveTheirAddressAndTheLibrarysKey) {
    insisting("mr_virt_addr,mr_prov_key", [] {
        InsistedPair both;
        char target[8] = {};
        Opened<fid_mr> region;
        ASSERT_EQ(enroll(both, target, sizeof target, kEveryAccess, region), 0);
        EXPECT_NE(fi_mr_key(region.get()), 77u);
        EXPECT_NE(written(both, 0, fi_mr_key(region.get())), 0);
        EXPECT_EQ(written(both, reinterpret_cast<uintptr_t>(target), fi_mr_key(region.get())), 0);
    });
}

TEST(InsistedRegions, OfAllDutiesAtOnceServe) {
    insisting("all", [] {
        InsistedPair both;
        static char target[8] = {}, source[8] = "written";
        Opened<fid_mr> region, local;
        const uint64_t access = kEveryAccess;
        ASSERT_EQ(fi_mr_reg(both.network.domain.get(), target, 8, access, 0, 0, 0, region.out(), nullptr), 0);
        ASSERT_EQ(fi_mr_reg(both.network.domain.get(), source, 8, access, 0, 0, 0, local.out(), nullptr), 0);
        for (Opened<fid_mr>* each : {&region, &local}) {
            Side& side = each == &region ? both.b : both.a;
            const iovec all{each == &region ? target : source, 8};
            EXPECT_EQ(fi_mr_bind(each->get(), side.ep.base(), 0), 0);
            EXPECT_EQ(fi_mr_enable(each->get()), 0);
            EXPECT_EQ(fi_mr_refresh(each->get(), &all, 1, 0), 0);
        }
        uint8_t raw[32];
        size_t size = sizeof raw;
        uint64_t base = 0, key = 0;
        ASSERT_EQ(fi_mr_raw_attr(region.get(), &base, raw, &size, 0), 0);
        ASSERT_EQ(fi_mr_map_raw(both.network.domain.get(), base, raw, size, &key, 0), 0);
        fi_context2 context{};
        ASSERT_EQ(fi_write(both.a.ep.get(), source, 8, fi_mr_desc(local.get()), both.a.peer,
                           reinterpret_cast<uintptr_t>(target), key, &context),
                  0);
        fi_cq_tagged_entry entry{};
        ASSERT_EQ(next_entry(both, both.a, &entry), 1);
        EXPECT_STREQ(target, "written");
        both.a.ep.close();
        both.b.ep.close();
    });
}

}  // namespace
}  // namespace selvage::test
