// What external providers are asked, and what a program gets of their answers and objects.
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

#include "impl/test/external/in_child.h"
#include "impl/test/library/allocation.h"
#include "impl/test/library/getinfo.h"
#include "impl/test/library/versioned.h"

namespace selvage::test {
namespace {

using Fabric2Call = int (*)(fi_info*, fid_fabric**, uint64_t, void*);

TEST(ExternalAnswers, HaveEverythingThatTheProviderReturned) {
    in_child(folder("good"), [] {
        const Answer answer = getinfo(make_hints("small"));
        ASSERT_EQ(answer.size(), 2U);
        const fi_info* rdm = answer.get();
        EXPECT_STREQ(rdm->fabric_attr->prov_name, "small");
        EXPECT_STREQ(rdm->fabric_attr->name, "small-fabric");
        EXPECT_STREQ(rdm->domain_attr->name, "small-domain");
        EXPECT_EQ(rdm->fabric_attr->prov_version, FI_VERSION(3, 1));
        EXPECT_EQ(rdm->fabric_attr->api_version, kVersion);
        EXPECT_EQ(rdm->src_addrlen, 8U);
        EXPECT_EQ(memcmp(rdm->src_addr, "\1\2\3\4\5\6\7\10", 8), 0);
        EXPECT_EQ(rdm->tx_attr->tclass, FI_TC_LOW_LATENCY);
        EXPECT_EQ(rdm->nic, nullptr);
        const fi_info* msg = rdm->next;
        EXPECT_EQ(msg->ep_attr->type, FI_EP_MSG);
        EXPECT_STREQ(static_cast<char*>(msg->src_addr), "small://here");
        EXPECT_EQ(memcmp(msg->ep_attr->auth_key, "abc", 3), 0);
        EXPECT_EQ(memcmp(msg->domain_attr->auth_key, "defg", 4), 0);
        ASSERT_TRUE(msg->nic);
        EXPECT_STREQ(msg->nic->device_attr->name, "small-nic");
        EXPECT_TRUE(std::string(fi_tostr(msg, FI_TYPE_INFO)).ends_with("a nic of small"));
    });
}

TEST(ExternalAnswers, AreTheProgramsToCopyChangeAndRelease) {
    in_child(folder("good"), [] {
        getinfo(make_hints("small"));
        const long before = live_blocks();
        {
            Answer answer = getinfo(make_hints("small", FI_EP_MSG));
            ASSERT_EQ(answer.size(), 1U);
            const InfoPtr copy(fi_dupinfo(answer.get()));
            ASSERT_TRUE(copy && copy->nic && copy->nic != answer->nic);
            EXPECT_EQ(seen("good").nics, 2);
            fi_info* info = answer.get();
            free(info->domain_attr->name);
            info->domain_attr->name = strdup("another");
            free(info->src_addr);
            info->src_addr = nullptr;
        }
        EXPECT_EQ(seen("good").nics, 0);
        if (allocation_control()) {
            EXPECT_EQ(live_blocks(), before);
        }
    });
}

TEST(ExternalAnswers, AreAllOrNothingWhenMemoryIsShort) {
    if (!allocation_control()) GTEST_SKIP() << "the sanitizer owns the allocator";
    in_child(folder("good") + ":" + folder("other"), [] {
        const size_t expected = getinfo(nullptr).size();
        bool failed = true;
        for (size_t n = 1; failed; ++n) {
            const long before = live_blocks();
            fail_allocation(n);
            {
                const Answer answer = getinfo(nullptr);
                failed = allocation_failed();
                fail_allocation(0);
                if (answer.result) {
                    EXPECT_EQ(answer.result, -FI_ENOMEM);
                    EXPECT_FALSE(answer.get());
                } else {
                    EXPECT_EQ(answer.size(), expected);
                }
            }
            ASSERT_EQ(live_blocks(), before) << "allocation " << n;
            ASSERT_EQ(seen("good").nics, 0);
        }
    });
}

TEST(ExternalAnswers, WithoutHintsAreAskedForWithoutHints) {
    in_child(folder("good"), [] {
        EXPECT_EQ(getinfo(nullptr, nullptr, "1", FI_SOURCE).result, 0);
        EXPECT_EQ(seen("good").queries, 1);
        EXPECT_FALSE(seen("good").had_hints);
        EXPECT_EQ(seen("good").flags, FI_SOURCE);
        EXPECT_EQ(seen("good").version, kVersion);
    });
}

TEST(ExternalAnswers, ComeFromTheProviderThatTheHintsName) {
    in_child(folder("good") + ":" + folder("other"), [] {
        EXPECT_EQ(getinfo(make_hints("other")).size(), 2U);
        EXPECT_EQ(seen("good").queries, 0);
        const Answer shouted = getinfo(make_hints("SMALL"));
        ASSERT_EQ(shouted.size(), 2U);
        EXPECT_STREQ(shouted->fabric_attr->prov_name, "SMALL");  // as the hints spell it
        EXPECT_EQ(getinfo(make_hints("")).size(), getinfo(nullptr).size());
        getinfo(make_hints("tcp"));
        EXPECT_EQ(seen("good").foreign_names + seen("other").foreign_names, 0);
        EXPECT_EQ(seen("good").queries, 3);
    });
}

TEST(ExternalAnswers, ComeUnderNoLayeredName) {
    in_child(folder("good"), [] {
        for (const char* name : {"small;ofi_rxm", "ofi_rxm;small", "tcp;ofi_rxm", "small;", "smal"}) {
            getinfo(make_hints(name));
        }
        EXPECT_EQ(seen("good").queries, 0);
        EXPECT_EQ(getinfo(make_hints("small;ofi_rxm")).result, -FI_ENODATA);
    });
}

// A caller of 1.0, whose structures end where an unreadable page begins, and who cannot release a nic.
TEST(ExternalAnswers, ToOldProgramsAreAskedForWithWhatTheyOwn) {
#ifdef SELVAGE_SANITIZED
    GTEST_SKIP() << "a structure of 28 bytes that ends where a page does is not aligned";
#endif
    in_child(folder("good"), [] {
        const auto get = symbol<GetInfoCall>("fi_getinfo", "FABRIC_1.0");
        const AtEdge<fi_info> info(offsetof(fi_info, nic));
        const AtEdge<fi_tx_attr> tx(offsetof(fi_tx_attr, tclass));
        const AtEdge<fi_ep_attr> ep(offsetof(fi_ep_attr, auth_key_size));
        const AtEdge<fi_fabric_attr> fabric(offsetof(fi_fabric_attr, api_version));
        char name[] = "small";
        info->tx_attr = tx.get();
        info->ep_attr = ep.get();
        info->fabric_attr = fabric.get();
        fabric->prov_name = name;
        tx->inject_size = 42;
        fi_info* list = nullptr;
        ASSERT_EQ(get(FI_VERSION(1, 0), nullptr, nullptr, 0, info.get(), &list), 0);
        const small_seen& requested = seen("good");
        EXPECT_EQ(requested.version, FI_VERSION(1, 0));
        EXPECT_EQ(requested.inject_in_hints, 42U);
        EXPECT_EQ(requested.tclass_in_hints, 0U);
        EXPECT_EQ(requested.key_in_hints, 0U);
        EXPECT_EQ(requested.nic_in_hints, nullptr);
        EXPECT_EQ(requested.nics, 0);
        symbol<FreeInfoCall>("fi_freeinfo", "FABRIC_1.0")(list);
    });
}

TEST(ExternalAnswers, GoToProgramsOfAtMostTheProvidersOwnVersion) {
    in_child(folder("of_1_10"), [] {
        EXPECT_EQ(getinfo(make_hints("small"), nullptr, nullptr, 0, FI_VERSION(1, 11)).result, -FI_ENODATA);
        EXPECT_EQ(getinfo(make_hints("tcp"), nullptr, nullptr, 0, FI_VERSION(1, 11)).result, 0);
        EXPECT_EQ(seen("of_1_10").queries, 0);
        EXPECT_EQ(getinfo(make_hints("small"), nullptr, nullptr, 0, FI_VERSION(1, 10)).result, 0);
        EXPECT_EQ(getinfo(make_hints("small"), nullptr, nullptr, 0, FI_VERSION(1, 19)).result, -FI_ENOSYS);
    });
}

TEST(ExternalAnswers, OfNewerProvidersReachNewerProgramsWhole) {
    in_child(folder("of_2_6"), [] {
        const auto get = symbol<GetInfoCall>("fi_getinfo", "FABRIC_1.9");
        const InfoPtr hints = make_hints("small");
        fi_info* list = nullptr;
        ASSERT_EQ(get(FI_VERSION(2, 6), nullptr, nullptr, 0, hints.get(), &list), 0);
        EXPECT_EQ(memcmp(reinterpret_cast<char*>(list->domain_attr) + 208, "01234567", 8), 0);
        symbol<FreeInfoCall>("fi_freeinfo", "FABRIC_1.9")(list);
        EXPECT_EQ(getinfo(hints).size(), 2U);
    });
}

TEST(ExternalAnswers, AreNamesAloneWhereOnlyNamesAreAskedFor) {
    in_child(folder("good"), [] {
        const Answer all = getinfo(nullptr, nullptr, nullptr, FI_PROV_ATTR_ONLY);
        const fi_info* last = all.get();
        while (last->next) last = last->next;
        EXPECT_STREQ(last->fabric_attr->prov_name, "small");
        EXPECT_EQ(last->fabric_attr->prov_version, FI_VERSION(3, 1));
        EXPECT_EQ(getinfo(make_hints("small"), nullptr, nullptr, FI_PROV_ATTR_ONLY).size(), 1U);
        EXPECT_EQ(getinfo(make_hints("tcp"), nullptr, nullptr, FI_PROV_ATTR_ONLY).size(), 1U);
        EXPECT_EQ(seen("good").queries, 0);
    });
}

TEST(ExternalAnswers, ToACallThatIsWrongAreNotAskedFor) {
    in_child(folder("good"), [] {
        EXPECT_EQ(fi_getinfo(kVersion, nullptr, nullptr, 0, nullptr, nullptr), -FI_EINVAL);
        EXPECT_EQ(getinfo(nullptr, nullptr, nullptr, uint64_t{1} << 20).result, -FI_EBADFLAGS);
        EXPECT_EQ(getinfo(make_hints("small"), nullptr, nullptr, FI_SOURCE).result, -FI_ENODATA);
        InfoPtr hints = make_hints();
        hints->caps = uint64_t{1} << 62;
        EXPECT_EQ(getinfo(hints).result, -FI_EBADFLAGS);
        EXPECT_EQ(seen("good").queries, 0);
    });
}

TEST(ExternalAnswers, DoNotDependOnObjectsOfTheLibrary) {
    in_child(folder("good"), [] {
        const Answer shm = getinfo(make_hints("shm"));
        fid_fabric* fabric = nullptr;
        fid_domain* domain = nullptr;
        ASSERT_EQ(fi_fabric(shm->fabric_attr, &fabric, nullptr), 0);
        ASSERT_EQ(fi_domain(fabric, shm.get(), &domain, nullptr), 0);
        InfoPtr hints = make_hints();
        hints->fabric_attr->fabric = fabric;
        EXPECT_GT(getinfo(hints).size(), 0U);
        hints->fabric_attr->fabric = nullptr;
        hints->domain_attr->domain = domain;
        EXPECT_GT(getinfo(hints).size(), 0U);
        EXPECT_EQ(seen("good").queries, 0);
        fi_close(&domain->fid);
        fi_close(&fabric->fid);
    });
}

struct BadAnswer {
    const char* variant;
    size_t left;       // answers that can be used
    const char* line;  // part of the one in the log
};

class BadAnswers : public testing::TestWithParam<BadAnswer> {};

TEST_P(BadAnswers, AreLeftOutAndTheOthersStand) {
    const BadAnswer& expected = GetParam();
    setenv("FI_LOG_LEVEL", "info", 1);
    const Lines log = in_child(folder(expected.variant) + ":" + folder("other"), [&] {
        getinfo(make_hints("other"));
        const long before = live_blocks();
        EXPECT_EQ(getinfo(make_hints("small")).size(), expected.left);
        const bool released = std::string_view(expected.variant) != "endless_list";
        if (allocation_control() && released) {
            EXPECT_EQ(live_blocks(), before);
        }
        EXPECT_EQ(getinfo(make_hints("other")).size(), 2U);
        EXPECT_EQ(seen(expected.variant).queries, 1);
    });
    unsetenv("FI_LOG_LEVEL");
    EXPECT_EQ(count_lines_with(log, expected.line), 1U);
}

INSTANTIATE_TEST_SUITE_P(External, BadAnswers,
                         testing::Values(BadAnswer{"without_domain", 1, "<warn> an answer of small is left out"},
                                         BadAnswer{"without_name", 1, "<warn> an answer of small is left out"},
                                         BadAnswer{"endless_name", 1, "<warn> an answer of small is left out"},
                                         BadAnswer{"huge_address", 1, "<warn> an answer of small is left out"},
                                         BadAnswer{"endless_list", 0, "<warn> the answers of small are left out"},
                                         BadAnswer{"fails", 0, "<info> fi_getinfo of small returned -1 and no answer"},
                                         BadAnswer{"no_answer", 0,
                                                   "<info> fi_getinfo of small returned 0 and no answer"}),
                         [](const auto& test) { return std::string(test.param.variant); });

TEST(ExternalFabrics, AreTheProvidersOwnObjects) {
    in_child(folder("good"), [] {
        const Answer answer = getinfo(make_hints("Small"));
        ASSERT_EQ(answer.size(), 2U);
        int context = 0;
        fid_fabric* fabric = nullptr;
        ASSERT_EQ(fi_fabric(answer->fabric_attr, &fabric, &context), 0);
        EXPECT_EQ(seen("good").fabrics, 1);
        EXPECT_EQ(fabric->fid.context, &context);
        EXPECT_EQ(fabric->api_version, kVersion);
        fid_domain* domain = nullptr;
        EXPECT_EQ(fi_domain(fabric, answer.get(), &domain, nullptr), -SMALL_DOMAIN_ERROR);
        fi_eq_attr attr{};
        fid_eq* eq = nullptr;
        EXPECT_EQ(fi_eq_open(fabric, &attr, &eq, nullptr), -SMALL_EQ_ERROR);
        EXPECT_EQ(fi_close(&fabric->fid), 0);
        EXPECT_EQ(seen("good").fabrics, 0);
        ASSERT_EQ(symbol<Fabric2Call>("fi_fabric2", "FABRIC_1.8")(answer.get(), &fabric, 0, nullptr), 0);
        EXPECT_EQ(fi_close(&fabric->fid), 0);
    });
}

TEST(ExternalFabrics, CanBeOpenedByTheFirstCallOfAProcess) {
#ifdef SELVAGE_SANITIZED
    GTEST_SKIP() << "a structure of 28 bytes that ends where a page does is not aligned";
#endif
    in_child(folder("good"), [] {
        char provider[] = "small";
        char name[] = "small-fabric";
        // One of 1.0 has no api_version: that would be in the next page.
        const AtEdge<fi_fabric_attr> old(offsetof(fi_fabric_attr, api_version));
        old->prov_name = provider;
        old->name = name;
        fid_fabric* fabric = nullptr;
        ASSERT_EQ(symbol<FabricCall>("fi_fabric", "FABRIC_1.0")(old.get(), &fabric, nullptr), 0);
        EXPECT_EQ(fabric->api_version, FI_VERSION(1, 0));
        fi_close(&fabric->fid);
        fi_fabric_attr attr{};
        attr.prov_name = provider;
        attr.name = name;
        attr.api_version = FI_VERSION(1, 19);
        EXPECT_EQ(fi_fabric(&attr, &fabric, nullptr), -FI_ENOSYS);
        attr.api_version = FI_VERSION(1, 18);  // newer than the provider
        EXPECT_EQ(fi_fabric(&attr, &fabric, nullptr), -FI_ENOSYS);
        EXPECT_EQ(fabric, nullptr);
    });
}

TEST(ExternalFabrics, ThatCannotBeOpenedAreNull) {
    const Lines log = in_child(folder("good") + ":@" + folder("no_object"), [] {
        const Answer answer = getinfo(make_hints("small"));
        fi_fabric_attr attr = *answer->fabric_attr;
        fid_fabric* fabric = reinterpret_cast<fid_fabric*>(1);
        EXPECT_EQ(fi_fabric(&attr, nullptr, nullptr), -FI_EINVAL);
        char unknown[] = "unknown";
        attr.name = unknown;
        EXPECT_EQ(fi_fabric(&attr, &fabric, nullptr), -FI_ENODATA);
        EXPECT_EQ(fabric, nullptr);
        attr.name = nullptr;
        EXPECT_EQ(fi_fabric(&attr, &fabric, nullptr), -FI_EINVAL);
        attr.name = answer->fabric_attr->name;
        attr.prov_name = unknown;
        EXPECT_EQ(fi_fabric(&attr, &fabric, nullptr), -FI_ENODEV);
        char layered[] = "small;ofi_rxm";
        attr.prov_name = layered;
        EXPECT_EQ(fi_fabric(&attr, &fabric, nullptr), -FI_ENODEV);
    });
    in_child(folder("no_object"), [] {
        const Answer answer = getinfo(make_hints("small"));
        fid_fabric* fabric = nullptr;
        EXPECT_EQ(fi_fabric(answer->fabric_attr, &fabric, nullptr), -FI_EOTHER);
    });
}

// This library's own files (provider/provider_file.cc), loaded by it as by any other.
TEST(OwnFiles, AreProvidersBesideTheLibrarysOwn) {
    EXPECT_TRUE(in_child(SELVAGE_OWN_FILES, [] {
                    for (const char* name : {"shm", "selvage_shm", "tcp", "selvage_tcp"}) {
                        const Answer answer = getinfo(make_hints(name));
                        ASSERT_GT(answer.size(), 0U) << name;
                        EXPECT_STREQ(answer->fabric_attr->prov_name, name);
                    }
                    EXPECT_EQ(getinfo(make_hints("selvage_tcp;ofi_rxm")).result, -FI_ENODATA);
                }).empty());
}

TEST(OwnFiles, AnswerProgramsOfAllReleases) {
    in_child(SELVAGE_OWN_FILES, [] {
        EXPECT_EQ(getinfo(make_hints("selvage_shm"), nullptr, nullptr, 0, FI_VERSION(1, 18)).result, 0);
        const auto get = symbol<GetInfoCall>("fi_getinfo", "FABRIC_1.9");
        const InfoPtr hints = make_hints("selvage_shm");
        fi_info* list = nullptr;
        ASSERT_EQ(get(FI_VERSION(2, 6), nullptr, nullptr, 0, hints.get(), &list), 0);
        fid_fabric* fabric = nullptr;
        EXPECT_EQ(fi_fabric(list->fabric_attr, &fabric, nullptr), 0);
        EXPECT_EQ(fabric->api_version, FI_VERSION(2, 6));
        fid_domain* domain = nullptr;
        EXPECT_EQ(fi_domain(fabric, list, &domain, nullptr), 0);
        fi_close(&domain->fid);
        fi_close(&fabric->fid);
        symbol<FreeInfoCall>("fi_freeinfo", "FABRIC_1.9")(list);
    });
}

}  // namespace
}  // namespace selvage::test
