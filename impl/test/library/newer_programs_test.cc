// Programs of releases 1.20 to 2.6: they are bound to symbols of their own, and their structures are larger. The
// headers at hand are older, so what such a program sees is declared here, apart from the library's own declarations.
#include <gtest/gtest.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "impl/test/library/objects.h"
#include "impl/test/library/versioned.h"

namespace selvage::test {
namespace {

// As a program of 2.5 sees fi_domain_attr, from its end on.
struct DomainTail {
    size_t max_ep_auth_key;
    uint32_t max_group_id;
    uint32_t padding;
    uint64_t max_cntr_value;
    uint64_t max_err_cntr_value;
};
constexpr size_t kTailAt = 192;
static_assert(sizeof(fi_domain_attr) == kTailAt && sizeof(DomainTail) == 32);

struct Release {
    const char* symbol;
    uint32_t version;
    size_t tail_bytes;
};
constexpr Release kReleases[] = {
    {"FABRIC_1.7", FI_VERSION(1, 20), 8}, {"FABRIC_1.8", FI_VERSION(2, 0), 16}, {"FABRIC_1.9", FI_VERSION(2, 6), 32}};

using Fabric2Call = int (*)(fi_info*, fid_fabric**, uint64_t, void*);

DomainTail tail_of(const fi_info* info) {
    DomainTail tail;
    memcpy(&tail, reinterpret_cast<const char*>(info->domain_attr) + kTailAt, sizeof tail);
    return tail;
}

class NewerPrograms : public testing::TestWithParam<Release> {
protected:
    void SetUp() override {
        ASSERT_TRUE(get && release && duplicate) << GetParam().symbol;
        ASSERT_EQ(get(GetParam().version, nullptr, nullptr, 0, hints_.get(), &list_), 0);
    }
    void TearDown() override {
        if (list_) release(list_);
    }
    const GetInfoCall get = symbol<GetInfoCall>("fi_getinfo", GetParam().symbol);
    const FreeInfoCall release = symbol<FreeInfoCall>("fi_freeinfo", GetParam().symbol);
    const DupInfoCall duplicate = symbol<DupInfoCall>("fi_dupinfo", GetParam().symbol);
    InfoPtr hints_ = make_hints("shm");
    fi_info* list_ = nullptr;
};

TEST_P(NewerPrograms, AreAnsweredInTheirVersionAndLayout) {
    EXPECT_EQ(list_->fabric_attr->api_version, GetParam().version);
    EXPECT_EQ(tail_of(list_).max_cntr_value, UINT64_MAX);
    EXPECT_EQ(tail_of(list_).max_err_cntr_value, UINT64_MAX);
    EXPECT_EQ(tail_of(list_).max_group_id, 0U);
}

TEST_P(NewerPrograms, FindInACopyWhatTheyWroteAndNothingElse) {
    const DomainTail written{
        .max_ep_auth_key = 1, .max_group_id = 2, .padding = 0, .max_cntr_value = 3, .max_err_cntr_value = 4};
    memcpy(reinterpret_cast<char*>(list_->domain_attr) + kTailAt, &written, sizeof written);
    fi_info* copy = duplicate(list_);
    ASSERT_TRUE(copy);
    DomainTail expected{};
    memcpy(&expected, &written, GetParam().tail_bytes);
    const DomainTail seen = tail_of(copy);
    EXPECT_EQ(memcmp(&seen, &expected, sizeof seen), 0);
    release(copy);
}

// A program of 1.17 that is linked with this library anew, and says so in what it hands over: its structures end where
// an unreadable page begins.
TEST_P(NewerPrograms, DoNotOwnWhatTheirVersionLacks) {
    AtEdge<fi_domain_attr> domain(kTailAt);
    fi_domain_attr* own = hints_->domain_attr;
    hints_->domain_attr = domain.get();
    hints_->fabric_attr->api_version = FI_VERSION(1, 17);
    fi_info* copy = duplicate(hints_.get());
    EXPECT_TRUE(copy);
    release(copy);
    fi_info* answer = nullptr;
    EXPECT_EQ(get(FI_VERSION(1, 17), nullptr, nullptr, 0, hints_.get(), &answer), 0);
    release(answer);
    hints_->domain_attr = own;
}

INSTANTIATE_TEST_SUITE_P(Releases, NewerPrograms, testing::ValuesIn(kReleases),
                         [](const auto& test) { return std::string(test.param.symbol).replace(8, 1, "_"); });

TEST(NewerVersions, RescanIsAFlagSinceRelease2) {
    constexpr uint64_t kRescan = uint64_t{1} << 35;
    const auto get = symbol<GetInfoCall>("fi_getinfo", "FABRIC_1.9");
    fi_info* list = nullptr;
    EXPECT_EQ(get(FI_VERSION(2, 0), nullptr, nullptr, kRescan, nullptr, &list), 0);
    symbol<FreeInfoCall>("fi_freeinfo", "FABRIC_1.9")(list);
    EXPECT_EQ(get(FI_VERSION(1, 18), nullptr, nullptr, kRescan, nullptr, &list), -FI_EBADFLAGS);
}

TEST(NewerVersions, ControlProgressMayBeUnifiedWithDataProgressSinceRelease2) {
    const auto get = symbol<GetInfoCall>("fi_getinfo", "FABRIC_1.9");
    InfoPtr hints = make_hints("shm");
    hints->domain_attr->control_progress = static_cast<fi_progress>(3);
    fi_info* list = nullptr;
    ASSERT_EQ(get(FI_VERSION(2, 0), nullptr, nullptr, 0, hints.get(), &list), 0);
    EXPECT_EQ(static_cast<int>(list->domain_attr->control_progress), 3);
    symbol<FreeInfoCall>("fi_freeinfo", "FABRIC_1.9")(list);
    EXPECT_EQ(get(FI_VERSION(1, 18), nullptr, nullptr, 0, hints.get(), &list), -FI_ENODATA);
}

// A failed receive of one end, as a program of that version reads it; the entry has eight bytes more.
struct ErrorEntry {
    fi_cq_err_entry base;
    fi_addr_t src_addr;
};
static_assert(sizeof(fi_cq_err_entry) == 80 && sizeof(ErrorEntry) == 88);

fi_addr_t source_in_error(uint32_t version, const char* node) {
    const auto get = symbol<GetInfoCall>("fi_getinfo", node);
    InfoPtr hints = make_hints("shm");
    hints->caps = FI_MSG | FI_SOURCE;
    fi_info* info = nullptr;
    fid_fabric* fabric = nullptr;
    fid_domain* domain = nullptr;
    fid_ep* ep = nullptr;
    fid_cq* cq = nullptr;
    fid_av* av = nullptr;
    EXPECT_EQ(get(version, nullptr, nullptr, 0, hints.get(), &info), 0);
    EXPECT_EQ(info->fabric_attr->api_version, version);
    const auto open = symbol<Fabric2Call>("fi_fabric2", "FABRIC_1.8");
    EXPECT_EQ(open(info, &fabric, 1, nullptr), -FI_EBADFLAGS);
    EXPECT_EQ(open(info, &fabric, 0, nullptr), 0);
    EXPECT_EQ(fi_domain(fabric, info, &domain, nullptr), 0);
    fi_cq_attr cq_attr{};
    cq_attr.format = FI_CQ_FORMAT_TAGGED;
    fi_av_attr av_attr{};
    EXPECT_EQ(fi_cq_open(domain, &cq_attr, &cq, nullptr), 0);
    EXPECT_EQ(fi_av_open(domain, &av_attr, &av, nullptr), 0);
    EXPECT_EQ(fi_endpoint(domain, info, &ep, nullptr), 0);
    EXPECT_EQ(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV), 0);
    EXPECT_EQ(fi_ep_bind(ep, &av->fid, 0), 0);
    EXPECT_EQ(fi_enable(ep), 0);
    char name[256];
    size_t size = sizeof name;
    fi_addr_t self = FI_ADDR_NOTAVAIL;
    EXPECT_EQ(fi_getname(&ep->fid, name, &size), 0);
    EXPECT_EQ(fi_av_insert(av, name, 1, &self, 0, nullptr), 1);
    char buffer[4];
    EXPECT_EQ(fi_recv(ep, buffer, sizeof buffer, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    EXPECT_EQ(fi_inject(ep, name, 8, self), 0);  // longer than the receive
    ErrorEntry entry{};
    entry.src_addr = 4711;
    fi_cq_tagged_entry done;
    ssize_t result = 0;
    for (int i = 0; i < 1000 && result != -FI_EAVAIL; ++i) result = fi_cq_read(cq, &done, 1);
    EXPECT_EQ(result, -FI_EAVAIL);
    EXPECT_EQ(fi_cq_readerr(cq, &entry.base, 0), 1);
    EXPECT_EQ(entry.base.err, FI_ETRUNC);
    EXPECT_GE(av->ops->size, size_t{88});  // with fi_av_set_user_id
    for (fid* object : {&ep->fid, &av->fid, &cq->fid, &domain->fid, &fabric->fid}) EXPECT_EQ(fi_close(object), 0);
    symbol<FreeInfoCall>("fi_freeinfo", node)(info);
    EXPECT_EQ(self, 0U);
    return entry.src_addr;
}

TEST(NewerVersions, ErrorEntriesNameTheirSourceSince1_20) {
    EXPECT_EQ(source_in_error(FI_VERSION(1, 20), "FABRIC_1.7"), 0U);
    EXPECT_EQ(source_in_error(FI_VERSION(2, 6), "FABRIC_1.9"), 0U);
    EXPECT_EQ(source_in_error(FI_VERSION(1, 18), "FABRIC_1.9"), 4711U) << "not the caller's to be written to";
}

struct DomainOf {
    fi_info* info = nullptr;
    Opened<fid_fabric> fabric;
    Opened<fid_domain> domain;

    explicit DomainOf(uint32_t version, const char* provider = "shm") {
        InfoPtr hints = make_hints(provider, FI_EP_RDM);
        EXPECT_EQ(symbol<GetInfoCall>("fi_getinfo", "FABRIC_1.9")(version, nullptr, nullptr, 0, hints.get(), &info), 0);
        EXPECT_EQ(fi_fabric(info->fabric_attr, fabric.out(), nullptr), 0);
        EXPECT_EQ(fi_domain(fabric.get(), info, domain.out(), nullptr), 0);
    }
    ~DomainOf() { symbol<FreeInfoCall>("fi_freeinfo", "FABRIC_1.9")(info); }
    DomainOf(const DomainOf&) = delete;
    DomainOf& operator=(const DomainOf&) = delete;
};

// fi_mr(3): "-FI_EBADFLAGS: Returned if the specified flags are not supported by the provider." What stands in place of
// the ranges is not taken for them.
TEST(NewerVersions, RegistrationOfMemoryOfADeviceIsRefusedByItsFlag) {
    constexpr uint64_t kDmaBuf = uint64_t{1} << 40, kSingleUse = uint64_t{1} << 41;
    constexpr size_t kMrAttrBytes = 112, kDmaBufBytes = 32;
    AtEdge<fi_mr_attr> attr(kMrAttrBytes);
    AtEdge<char> dmabuf(kDmaBufBytes);
    attr->mr_iov = reinterpret_cast<const iovec*>(dmabuf.get());
    attr->iov_count = 1;
    attr->access = FI_REMOTE_READ;
    for (const char* provider : {"shm", "tcp"}) {
        const DomainOf of(FI_VERSION(2, 0), provider);
        for (const uint64_t flags : {kDmaBuf, kSingleUse, kDmaBuf | uint64_t{FI_RMA_EVENT}}) {
            auto* region = reinterpret_cast<fid_mr*>(1);
            EXPECT_EQ(fi_mr_regattr(of.domain.get(), attr.get(), flags, &region), -FI_EBADFLAGS) << provider;
        }
    }
}

TEST(NewerVersions, CountersOfBytesAreNotImplementedAndNoValueOfOlderReleases) {
    const DomainOf now(FI_VERSION(2, 0)), before(FI_VERSION(1, 18));
    fi_cntr_attr attr{};
    fid_cntr* counter = nullptr;
    attr.events = static_cast<fi_cntr_events>(1);  // FI_CNTR_EVENTS_BYTES
    EXPECT_EQ(fi_cntr_open(now.domain.get(), &attr, &counter, nullptr), -FI_ENOSYS);
    EXPECT_EQ(fi_cntr_open(before.domain.get(), &attr, &counter, nullptr), -FI_EINVAL);
    attr.events = std::bit_cast<fi_cntr_events>(2);
    EXPECT_EQ(fi_cntr_open(now.domain.get(), &attr, &counter, nullptr), -FI_EINVAL);
    EXPECT_FALSE(counter);
}

TEST(NewerVersions, DatatypesAndOperationsOfThatReleaseHaveNamesAndAreNotOffered) {
    const DomainOf of(FI_VERSION(2, 0));
    const auto name = [](unsigned value, fi_type type) { return std::string(fi_tostr(&value, type)); };
    const char* const types[] = {"FI_FLOAT16", "FI_BFLOAT16", "FI_FLOAT8_E4M3", "FI_FLOAT8_E5M2"};
    fi_atomic_attr attr{};
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned value = FI_UINT128 + 1 + i;
        EXPECT_EQ(name(value, FI_TYPE_ATOMIC_TYPE), types[i]);
        EXPECT_EQ(fi_query_atomic(of.domain.get(), static_cast<fi_datatype>(value), FI_SUM, &attr, 0), -FI_EOPNOTSUPP);
    }
    EXPECT_EQ(name(FI_MSWAP + 1, FI_TYPE_ATOMIC_OP), "FI_DIFF");
    const auto difference = static_cast<fi_op>(FI_MSWAP + 1);
    EXPECT_EQ(fi_query_atomic(of.domain.get(), FI_INT32, difference, &attr, 0), -FI_EOPNOTSUPP);
    EXPECT_STREQ(fi_strerror(-EPROTO), strerror(EPROTO)) << "FI_EPROTO";
}

// The structures of such a program are those of its headers.
TEST(NewerVersions, AProgramOfAnOlderReleaseDoesNotGetAnswersOfANewerOne) {
    const auto get = symbol<GetInfoCall>("fi_getinfo", "FABRIC_1.3");
    fi_info* list = nullptr;
    EXPECT_EQ(get(FI_VERSION(2, 0), nullptr, nullptr, 0, nullptr, &list), -FI_ENOSYS);
    EXPECT_EQ(symbol<GetInfoCall>("fi_getinfo", "FABRIC_1.9")(FI_VERSION(2, 7), nullptr, nullptr, 0, nullptr, &list),
              -FI_ENOSYS);
}

// The list of upstream's 2.6.
TEST(NewerVersions, EverySymbolOfThatReleaseIsThere) {
    const std::vector<std::pair<const char*, std::vector<const char*>>> nodes = {
        {"FABRIC_1.0",
         {"fi_getinfo", "fi_freeinfo", "fi_dupinfo", "fi_version", "fi_fabric", "fi_strerror", "fi_tostr",
          "fi_getparams", "fi_freeparams", "fi_param_define", "fi_param_get", "fi_log_enabled", "fi_log"}},
        {"FABRIC_1.1", {"fi_getinfo", "fi_freeinfo", "fi_dupinfo", "fi_fabric"}},
        {"FABRIC_1.2", {"fi_getinfo", "fi_freeinfo", "fi_dupinfo"}},
        {"FABRIC_1.3", {"fi_getinfo", "fi_freeinfo", "fi_dupinfo"}},
        {"FABRIC_1.4", {"fi_tostr_r"}},
        {"FABRIC_1.5", {"fi_open"}},
        {"FABRIC_1.6", {"fi_log_ready"}},
        {"FABRIC_1.7", {"fi_getinfo", "fi_freeinfo", "fi_dupinfo"}},
        {"FABRIC_1.8", {"fi_getinfo", "fi_freeinfo", "fi_dupinfo", "fi_fabric2"}},
        {"FABRIC_1.9", {"fi_getinfo", "fi_freeinfo", "fi_dupinfo"}},
    };
    for (const auto& [node, names] : nodes) {
        for (const char* name : names) EXPECT_TRUE(symbol<void*>(name, node)) << name << '@' << node;
    }
}

}  // namespace
}  // namespace selvage::test
