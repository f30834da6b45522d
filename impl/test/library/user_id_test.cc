// Address vectors that are opened with FI_AV_USER_ID (fi_av(3) of 1.20 and later): completions report what
// fi_av_set_user_id gave an address. The headers at hand are older, so the call is declared here.
#include <gtest/gtest.h>
#include <sched.h>

#include <memory>
#include <string>

#include "impl/test/library/objects.h"
#include "impl/test/library/versioned.h"

namespace selvage::test {
namespace {

constexpr const char* kNode = "FABRIC_1.8";
constexpr uint32_t kNew = FI_VERSION(2, 0);

// As a program of 2.0 sees fi_ops_av.
struct AvOps {
    fi_ops_av base;
    void* insert_auth_key;
    void* lookup_auth_key;
    int (*set_user_id)(fid_av*, fi_addr_t, fi_addr_t, uint64_t);
};
static_assert(offsetof(AvOps, set_user_id) == 80);

int set_user_id(fid_av* av, fi_addr_t address, fi_addr_t user_id, uint64_t flags = 0) {
    return reinterpret_cast<AvOps*>(av->ops)->set_user_id(av, address, user_id, flags);
}

struct Freed {
    void operator()(fi_info* info) const { symbol<FreeInfoCall>("fi_freeinfo", kNode)(info); }
};

struct Place {
    std::unique_ptr<fi_info, Freed> info;
    Opened<fid_fabric> fabric;
    Opened<fid_domain> domain;

    explicit Place(const char* provider, uint32_t version = kNew) {
        InfoPtr hints = make_hints(provider, FI_EP_RDM);
        hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_SOURCE | FI_SOURCE_ERR | FI_DIRECTED_RECV | FI_AV_USER_ID;
        fi_info* list = nullptr;
        EXPECT_EQ(symbol<GetInfoCall>("fi_getinfo", kNode)(version, nullptr, nullptr, 0, hints.get(), &list), 0);
        info.reset(list);
        EXPECT_EQ(fi_fabric(info->fabric_attr, fabric.out(), nullptr), 0);
        EXPECT_EQ(fi_domain(fabric.get(), info.get(), domain.out(), nullptr), 0);
    }
    int open(Opened<fid_av>& av, uint64_t flags, const char* name = nullptr) {
        fi_av_attr attr{};
        attr.flags = flags;
        attr.name = name;
        return fi_av_open(domain.get(), &attr, av.out(), nullptr);
    }
};

struct UserEnd {
    Opened<fid_cq> cq;
    Opened<fid_av> av;
    Opened<fid_ep> ep;

    UserEnd(Place& place, uint64_t av_flags) {
        fi_cq_attr attr{};
        attr.format = FI_CQ_FORMAT_TAGGED;
        EXPECT_EQ(fi_cq_open(place.domain.get(), &attr, cq.out(), nullptr), 0);
        EXPECT_EQ(place.open(av, av_flags), 0);
        EXPECT_EQ(fi_endpoint(place.domain.get(), place.info.get(), ep.out(), nullptr), 0);
        EXPECT_EQ(fi_ep_bind(ep.get(), cq.base(), FI_TRANSMIT | FI_RECV), 0);
        EXPECT_EQ(fi_ep_bind(ep.get(), av.base(), 0), 0);
        EXPECT_EQ(fi_enable(ep.get()), 0);
    }
    fi_addr_t meet(const UserEnd& other, fi_addr_t given = 0, uint64_t flags = 0) {
        char name[256];
        size_t size = sizeof name;
        EXPECT_EQ(fi_getname(other.ep.base(), name, &size), 0);
        EXPECT_EQ(fi_av_insert(av.get(), name, 1, &given, flags, nullptr), 1);
        return given;
    }
};

class UserIds : public testing::TestWithParam<const char*> {
protected:
    // While both ends make progress: the next entry of `to`, and where it says it is from.
    ssize_t next(const UserEnd& to, fi_addr_t* source, fi_cq_tagged_entry* entry = nullptr) {
        fi_cq_tagged_entry own;
        for (int i = 0; i < 100000; ++i) {
            for (const UserEnd* end : {&a, &b, &c}) fi_cq_read(end->cq.get(), nullptr, 0);
            const ssize_t result = fi_cq_readfrom(to.cq.get(), entry ? entry : &own, 1, source);
            if (result != -FI_EAGAIN) return result;
            sched_yield();
        }
        return -FI_EAGAIN;
    }
    template <typename Post>
    void post(Post call) {
        ssize_t result = -FI_EAGAIN;
        for (int i = 0; i < 100000 && result == -FI_EAGAIN; ++i) {
            result = call();
            for (const UserEnd* end : {&a, &b, &c}) fi_cq_read(end->cq.get(), nullptr, 0);
        }
        EXPECT_EQ(result, 0);
    }
    void send(const UserEnd& from, fi_addr_t to, const char* text) {
        post([&] { return fi_inject(from.ep.get(), text, strlen(text) + 1, to); });
    }
    // Of a message that finds its receive posted, or, kept, is there first.
    fi_addr_t source_of_message(bool kept = false) {
        char text[8] = "";
        fi_addr_t source = 99;
        if (kept) {
            send(a, b_of_a, "hello");
            for (int i = 0; i < 1000; ++i) fi_cq_read(b.cq.get(), nullptr, 0), sched_yield();
        }
        EXPECT_EQ(fi_recv(b.ep.get(), text, sizeof text, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
        if (!kept) send(a, b_of_a, "hello");
        EXPECT_EQ(next(b, &source), 1);
        EXPECT_STREQ(text, "hello");
        return source;
    }

    Place place{GetParam()};
    UserEnd a{place, 0}, b{place, FI_AV_USER_ID}, c{place, 0};
    fi_addr_t b_of_a = a.meet(b), b_of_c = c.meet(b);
    fi_addr_t c_of_b = b.meet(c), a_of_b = b.meet(a);
};
INSTANTIATE_TEST_SUITE_P(Providers, UserIds, testing::Values("shm", "tcp"),
                         [](const auto& provider) { return std::string(provider.param); });

TEST_P(UserIds, AreReportedFromWhenTheyAreSet) {
    EXPECT_EQ(source_of_message(), FI_ADDR_NOTAVAIL) << "and no error, as the address is known";
    EXPECT_EQ(set_user_id(b.av.get(), a_of_b, 4711), 0);
    EXPECT_EQ(source_of_message(), 4711U);
    EXPECT_EQ(source_of_message(true), 4711U);
    EXPECT_EQ(set_user_id(b.av.get(), a_of_b, c_of_b), 0);
    EXPECT_EQ(source_of_message(), c_of_b);
    EXPECT_EQ(set_user_id(b.av.get(), a_of_b, FI_ADDR_NOTAVAIL), 0);
    EXPECT_EQ(source_of_message(), FI_ADDR_NOTAVAIL);
}

TEST_P(UserIds, AreReportedOfAMessageThatWasLookedAt) {
    EXPECT_EQ(set_user_id(b.av.get(), a_of_b, 4711), 0);
    post([&] { return fi_tinject(a.ep.get(), "x", 1, b_of_a, 5); });
    fi_msg_tagged message{};
    message.tag = 5;
    message.addr = FI_ADDR_UNSPEC;
    fi_addr_t source = 0;
    ssize_t result = -FI_EAGAIN;
    for (int i = 0; i < 100000 && result != 1; ++i) {
        EXPECT_EQ(fi_trecvmsg(b.ep.get(), &message, FI_PEEK | FI_COMPLETION), 0);
        result = next(b, &source);
        struct {
            fi_cq_err_entry of_1_17;
            fi_addr_t src_addr;
        } error{};
        if (result == -FI_EAVAIL) fi_cq_readerr(b.cq.get(), &error.of_1_17, 0);
    }
    EXPECT_EQ(result, 1);
    EXPECT_EQ(source, 4711U);
}

TEST_P(UserIds, AreReportedOfRemoteData) {
    char memory[8] = "";
    Opened<fid_mr> region;
    ASSERT_EQ(fi_mr_reg(place.domain.get(), memory, sizeof memory, FI_REMOTE_WRITE, 0, 77, 0, region.out(), nullptr),
              0);
    EXPECT_EQ(set_user_id(b.av.get(), a_of_b, 4711), 0);
    const bool by_address = place.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
    const uint64_t at = by_address ? reinterpret_cast<uintptr_t>(memory) : 0;
    post([&] { return fi_inject_writedata(a.ep.get(), "data", 5, 9, b_of_a, at, fi_mr_key(region.get())); });
    fi_addr_t source = 0;
    fi_cq_tagged_entry entry{};
    EXPECT_EQ(next(b, &source, &entry), 1);
    EXPECT_EQ(entry.data, 9U);
    EXPECT_EQ(source, 4711U);
}

// Receives name addresses, whatever completions report: also two of one identifier, or of none.
TEST_P(UserIds, DoNotChangeWhomAReceiveIsFor) {
    for (const fi_addr_t both : {FI_ADDR_NOTAVAIL, fi_addr_t{8}}) {
        EXPECT_EQ(set_user_id(b.av.get(), a_of_b, both), 0);
        EXPECT_EQ(set_user_id(b.av.get(), c_of_b, both), 0);
        char from_a[8] = "", from_c[8] = "";
        int context_a, context_c;
        EXPECT_EQ(fi_recv(b.ep.get(), from_c, sizeof from_c, nullptr, c_of_b, &context_c), 0);
        EXPECT_EQ(fi_recv(b.ep.get(), from_a, sizeof from_a, nullptr, a_of_b, &context_a), 0);
        fi_addr_t source = 0;
        fi_cq_tagged_entry entry{};
        send(a, b_of_a, "from a");
        EXPECT_EQ(next(b, &source, &entry), 1);
        EXPECT_EQ(entry.op_context, &context_a);
        EXPECT_EQ(source, both);
        send(c, b_of_c, "from c");
        EXPECT_EQ(next(b, &source, &entry), 1);
        EXPECT_EQ(entry.op_context, &context_c);
        EXPECT_STREQ(from_a, "from a");
        EXPECT_STREQ(from_c, "from c");
    }
}

TEST_P(UserIds, GoWithTheAddress) {
    EXPECT_EQ(set_user_id(b.av.get(), a_of_b, 4711), 0);
    EXPECT_EQ(b.meet(a), a_of_b) << "inserted again it is the same, with its identifier";
    EXPECT_EQ(source_of_message(), 4711U);
    EXPECT_EQ(fi_av_remove(b.av.get(), &a_of_b, 1, 0), 0);
    EXPECT_EQ(source_of_message(), 4711U);
    EXPECT_EQ(fi_av_remove(b.av.get(), &a_of_b, 1, 0), 0);
    EXPECT_EQ(set_user_id(b.av.get(), a_of_b, 4711), -FI_EINVAL);
    EXPECT_EQ(b.meet(a), a_of_b);
    EXPECT_EQ(source_of_message(), FI_ADDR_NOTAVAIL);
}

TEST_P(UserIds, AreRefusedWhereThereIsNothingToSet) {
    EXPECT_EQ(set_user_id(b.av.get(), 99, 1), -FI_EINVAL);
    EXPECT_EQ(set_user_id(b.av.get(), FI_ADDR_NOTAVAIL, 1), -FI_EINVAL);
    EXPECT_EQ(set_user_id(b.av.get(), a_of_b, 1, uint64_t{1} << 57), -FI_EBADFLAGS) << "FI_AUTH_KEY";
    EXPECT_EQ(set_user_id(a.av.get(), b_of_a, 1), -FI_EINVAL) << "the vector was not opened with FI_AV_USER_ID";
    char name[256];
    size_t size = sizeof name;
    fi_addr_t given = 5;
    ASSERT_EQ(fi_getname(a.ep.base(), name, &size), 0);
    EXPECT_EQ(fi_av_insert(b.av.get(), name, 1, &given, FI_AV_USER_ID, nullptr), -FI_EBADFLAGS);
}

TEST(UserIdsOfVectors, AreNotOfNamedOnesNorOfOlderPrograms) {
    Place place("shm"), old("shm", FI_VERSION(1, 18));
    Opened<fid_av> av;
    EXPECT_EQ(place.open(av, FI_AV_USER_ID, "shared"), -FI_EBADFLAGS);
    EXPECT_EQ(old.open(av, FI_AV_USER_ID), -FI_EBADFLAGS);
    EXPECT_EQ(old.open(av, 0), 0);
}

}  // namespace
}  // namespace selvage::test
