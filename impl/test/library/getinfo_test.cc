// fi_getinfo through the shared object: what is granted, narrowed and refused.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <rdma/fi_domain.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>

#include "impl/test/library/getinfo.h"

namespace selvage::test {
namespace {

constexpr uint64_t kMessageModifiers = FI_SEND | FI_RECV;
constexpr uint64_t kMemoryModifiers = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;

TEST(GetInfo, WithoutHintsListsEveryProviderWithAllItCanDo) {
    const Answer all = getinfo(nullptr);
    ASSERT_EQ(all.result, 0);
    std::set<std::string> names;
    for (const fi_info* info = all.get(); info; info = info->next) {
        names.insert(info->fabric_attr->prov_name);
        EXPECT_EQ(info->mode, 0u);
        EXPECT_EQ(info->fabric_attr->api_version, kVersion);
        EXPECT_NE(info->caps & FI_MSG, 0u);
        EXPECT_NE(info->caps & FI_LOCAL_COMM, 0u);
        EXPECT_TRUE(info->src_addr);
        EXPECT_FALSE(info->dest_addr);
    }
    EXPECT_TRUE(names.contains("shm"));
    EXPECT_TRUE(names.contains("tcp"));
}

TEST(GetInfo, LoopbackComesLastAndReachesNothingRemote) {
    const Answer tcp = getinfo(make_hints("tcp"));
    ASSERT_EQ(tcp.result, 0);
    bool loopback_seen = false;
    for (const fi_info* info = tcp.get(); info; info = info->next) {
        const bool loopback = std::string(info->domain_attr->name) == "lo";
        EXPECT_FALSE(loopback_seen && !loopback);
        loopback_seen = loopback_seen || loopback;
        EXPECT_EQ((info->caps & FI_REMOTE_COMM) == 0, loopback);
    }
    EXPECT_TRUE(loopback_seen);
}

TEST(GetInfo, VersionsAndFlags) {
    EXPECT_EQ(getinfo(nullptr, nullptr, nullptr, 0, FI_VERSION(1, 19)).result, -FI_ENOSYS);
    EXPECT_EQ(getinfo(nullptr, nullptr, nullptr, 0, FI_VERSION(2, 0)).result, -FI_ENOSYS);
    EXPECT_EQ(getinfo(nullptr, nullptr, nullptr, 0, FI_VERSION(1, 18)).result, 0);
    EXPECT_EQ(getinfo(nullptr, nullptr, nullptr, 0, FI_VERSION(1, 0)).result, 0);
    EXPECT_EQ(getinfo(nullptr, nullptr, nullptr, 1).result, -FI_EBADFLAGS);
    EXPECT_EQ(getinfo(nullptr, nullptr, nullptr, FI_SOURCE).result, -FI_ENODATA);
    EXPECT_EQ(fi_version(), FI_VERSION(1, 18));
}

TEST(GetInfo, PrimaryCapabilitiesOnlyWhenAskedAndModifiersImplied) {
    InfoPtr hints = make_hints("shm");
    hints->caps = FI_MSG;
    const Answer plain = getinfo(hints);
    ASSERT_EQ(plain.result, 0);
    EXPECT_EQ(plain->caps, FI_MSG | kMessageModifiers | FI_MULTI_RECV | FI_LOCAL_COMM);
    hints->caps = FI_TAGGED | FI_RMA | FI_SEND;
    const Answer limited = getinfo(hints);
    ASSERT_EQ(limited.result, 0);
    EXPECT_EQ(limited->caps & (kMessageModifiers | kMemoryModifiers), FI_SEND | kMemoryModifiers);
    EXPECT_EQ(limited->tx_attr->caps & FI_TAGGED, FI_TAGGED);
    EXPECT_EQ(limited->rx_attr->caps & (FI_TAGGED | FI_RECV), 0u);
}

TEST(GetInfo, CapabilitiesThatCannotBe) {
    InfoPtr hints = make_hints("tcp");
    for (const uint64_t caps :
         {uint64_t{FI_READ}, uint64_t{FI_MSG | FI_REMOTE_WRITE}, uint64_t{FI_MSG | FI_SOURCE_ERR},
          uint64_t{FI_MSG | FI_RMA_EVENT}, uint64_t{FI_RMA | FI_READ | FI_RMA_EVENT}, uint64_t{FI_HMEM | FI_MSG},
          uint64_t{FI_MSG | FI_MULTICAST}, uint64_t{FI_RMA | FI_VARIABLE_MSG}, uint64_t{FI_ATOMIC | FI_RMA_PMEM}}) {
        hints->caps = caps;
        EXPECT_EQ(getinfo(hints).result, -FI_ENODATA) << std::hex << caps;
    }
    hints->caps = FI_MSG | 1;
    EXPECT_EQ(getinfo(hints).result, -FI_EBADFLAGS);
    hints->caps = FI_MSG | FI_REMOTE_COMM;
    EXPECT_EQ(getinfo(hints).result, 0);
    hints = make_hints("shm");
    hints->caps = FI_MSG | FI_REMOTE_COMM;
    EXPECT_EQ(getinfo(hints).result, -FI_ENODATA);
}

TEST(GetInfo, VariableMessagesAreForWhoNamesThem) {
    for (const char* provider : {"shm", "tcp"}) {
        for (const fi_ep_type type : {FI_EP_RDM, FI_EP_MSG}) {
            if (type == FI_EP_MSG && strcmp(provider, "shm") == 0) continue;
            InfoPtr hints = make_hints(provider, type);
            hints->caps = FI_MSG | FI_VARIABLE_MSG;
            const Answer granted = getinfo(hints);
            ASSERT_EQ(granted.result, 0) << provider;
            EXPECT_TRUE(granted->caps & FI_VARIABLE_MSG);
            EXPECT_TRUE(granted->rx_attr->caps & FI_VARIABLE_MSG);
            EXPECT_FALSE(granted->tx_attr->caps & FI_VARIABLE_MSG);
            // An application that asks for whatever there is receives into its own buffers.
            hints->caps = 0;
            const Answer all = getinfo(hints);
            ASSERT_EQ(all.result, 0);
            EXPECT_FALSE(all->caps & FI_VARIABLE_MSG);
            hints->rx_attr->caps = FI_MSG | FI_VARIABLE_MSG;
            const Answer by_context = getinfo(hints);
            ASSERT_EQ(by_context.result, 0);
            EXPECT_TRUE(by_context->caps & FI_VARIABLE_MSG);
        }
    }
}

TEST(GetInfo, BufferedReceivesAreRequiredOfNobody) {
    InfoPtr hints = make_hints("shm");
    hints->mode = ~uint64_t{0};
    const Answer answer = getinfo(hints);
    ASSERT_EQ(answer.result, 0);
    EXPECT_EQ(answer->mode, 0u);
}

TEST(GetInfo, OneReachAskedForOpensNoOther) {
    InfoPtr hints = make_hints("tcp");
    hints->caps = FI_MSG | FI_LOCAL_COMM;
    const Answer local = getinfo(hints);
    ASSERT_EQ(local.result, 0);
    EXPECT_EQ(local->caps & (FI_LOCAL_COMM | FI_REMOTE_COMM), FI_LOCAL_COMM);
}

TEST(GetInfo, SourceIsForConnectionlessEndpoints) {
    InfoPtr hints = make_hints("tcp", FI_EP_MSG);
    hints->caps = FI_MSG | FI_SOURCE;
    EXPECT_EQ(getinfo(hints).result, -FI_ENODATA);
    hints->ep_attr->type = FI_EP_RDM;
    EXPECT_EQ(getinfo(hints).result, 0);
}

TEST(GetInfo, ContextCapabilitiesAreASubsetOfTheEndpoints) {
    InfoPtr hints = make_hints("shm");
    hints->caps = FI_MSG | FI_TAGGED;
    hints->tx_attr->caps = FI_MSG;
    hints->rx_attr->caps = FI_TAGGED | FI_RECV;
    const Answer answer = getinfo(hints);
    ASSERT_EQ(answer.result, 0);
    EXPECT_EQ(answer->tx_attr->caps, FI_MSG | FI_SEND);
    EXPECT_EQ(answer->rx_attr->caps, FI_TAGGED | FI_RECV | FI_MULTI_RECV);
    hints->tx_attr->caps = FI_RMA;
    EXPECT_EQ(getinfo(hints).result, -FI_ENODATA);
}

TEST(GetInfo, RegistrationModes) {
    struct Case {
        uint32_t version;
        int requested;
        int answer;  // negative: refused
    };
    constexpr int kModes = FI_MR_LOCAL | FI_MR_RAW | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY |
                           FI_MR_MMU_NOTIFY | FI_MR_RMA_EVENT | FI_MR_ENDPOINT;
    for (const Case& each : {Case{FI_VERSION(1, 4), FI_MR_UNSPEC, FI_MR_SCALABLE},
                             {FI_VERSION(1, 4), FI_MR_BASIC, FI_MR_BASIC},
                             {FI_VERSION(1, 4), FI_MR_SCALABLE, FI_MR_SCALABLE},
                             {FI_VERSION(1, 4), FI_MR_LOCAL, -1},
                             {FI_VERSION(1, 5), 0, 0},
                             {FI_VERSION(1, 5), kModes, 0},
                             {FI_VERSION(1, 5), FI_MR_BASIC, FI_MR_BASIC},
                             {FI_VERSION(1, 5), FI_MR_SCALABLE, FI_MR_SCALABLE},
                             {FI_VERSION(1, 5), FI_MR_BASIC | FI_MR_LOCAL, -1},
                             {FI_VERSION(1, 18), FI_MR_BASIC | FI_MR_SCALABLE, -1}}) {
        InfoPtr hints = make_hints("shm");
        hints->domain_attr->mr_mode = each.requested;
        const Answer answer = getinfo(hints, nullptr, nullptr, 0, each.version);
        ASSERT_EQ(answer.result, each.answer < 0 ? -FI_ENODATA : 0) << each.requested;
        if (each.answer >= 0) {
            EXPECT_EQ(answer->domain_attr->mr_mode, each.answer) << each.requested;
        }
    }
}

TEST(GetInfo, FieldsNewerThanTheVersionAreNotLookedAt) {
    InfoPtr hints = make_hints("shm");
    hints->domain_attr->cntr_cnt = SIZE_MAX;
    hints->domain_attr->tclass = 0xdeadbeef;
    hints->domain_attr->auth_key_size = 1234;
    hints->ep_attr->auth_key_size = 1234;
    hints->tx_attr->tclass = 0xdeadbeef;
    EXPECT_EQ(getinfo(hints, nullptr, nullptr, 0, FI_VERSION(1, 4)).result, 0);
    EXPECT_EQ(getinfo(hints, nullptr, nullptr, 0, FI_VERSION(1, 5)).result, -FI_ENODATA);
    hints->domain_attr->auth_key_size = 0;
    hints->ep_attr->auth_key_size = 0;
    hints->domain_attr->cntr_cnt = 1;
    EXPECT_EQ(getinfo(hints, nullptr, nullptr, 0, FI_VERSION(1, 8)).result, 0);
    EXPECT_EQ(getinfo(hints, nullptr, nullptr, 0, FI_VERSION(1, 9)).result, -FI_ENODATA);
}

TEST(GetInfo, LimitsAnswerAtLeastWhatIsAsked) {
    const Answer standard = getinfo(make_hints("tcp", FI_EP_RDM));
    ASSERT_EQ(standard.result, 0);
    InfoPtr hints = make_hints("tcp", FI_EP_RDM);
    hints->tx_attr->size = 4096;
    hints->rx_attr->size = 16;
    hints->tx_attr->inject_size = 1;
    hints->domain_attr->mr_cnt = 7;
    const Answer answer = getinfo(hints);
    ASSERT_EQ(answer.result, 0);
    EXPECT_GE(answer->tx_attr->size, 4096u);
    EXPECT_GE(answer->rx_attr->size, 16u);
    EXPECT_GE(answer->domain_attr->mr_cnt, 7u);
    hints->tx_attr->size = SIZE_MAX;
    EXPECT_EQ(getinfo(hints).result, -FI_ENODATA);
    hints->tx_attr->size = 0;
    hints->tx_attr->inject_size = standard->tx_attr->inject_size + 1;
    EXPECT_EQ(getinfo(hints).result, -FI_ENODATA);
}

TEST(GetInfo, EveryAnswerIsGrantedAgain) {
    for (const char* provider : {"shm", "tcp", "tcp;ofi_rxm"}) {
        const Answer first = getinfo(make_hints(provider));
        ASSERT_EQ(first.result, 0) << provider;
        for (const fi_info* info = first.get(); info; info = info->next) {
            const InfoPtr hints(fi_dupinfo(info));
            const Answer second = getinfo(hints);
            ASSERT_EQ(second.result, 0) << provider << ' ' << info->domain_attr->name;
            EXPECT_EQ(second.size(), 1u) << provider << ' ' << info->domain_attr->name;
            EXPECT_EQ(second->caps, info->caps);
            EXPECT_EQ(second->tx_attr->caps, info->tx_attr->caps);
            EXPECT_EQ(second->rx_attr->caps, info->rx_attr->caps);
            EXPECT_EQ(second->src_addrlen, info->src_addrlen);
            EXPECT_EQ(memcmp(second->src_addr, info->src_addr, info->src_addrlen), 0);
        }
    }
}

TEST(GetInfo, LayeredNames) {
    for (const char* name : {"tcp;ofi_rxm", "ofi_rxm;tcp"}) {
        const Answer answer = getinfo(make_hints(name));
        ASSERT_EQ(answer.result, 0) << name;
        for (const fi_info* info = answer.get(); info; info = info->next) {
            EXPECT_EQ(info->ep_attr->type, FI_EP_RDM);
            EXPECT_STREQ(info->fabric_attr->prov_name, "tcp;ofi_rxm") << name;
        }
    }
    for (const char* name : {"shm;ofi_rxm", "tcp;ofi_rxd", "sockets", ";", "tcp;", "tCp;ofi_rxm", "OFI_RXM"}) {
        EXPECT_EQ(getinfo(make_hints(name)).result, -FI_ENODATA) << name;
    }
    InfoPtr hints = make_hints("tcp;ofi_rxm", FI_EP_MSG);
    EXPECT_EQ(getinfo(hints).result, -FI_ENODATA);
}

TEST(GetInfo, LayeredNamesAreListedAfterAllPlainOnes) {
    const Answer all = getinfo(nullptr);
    ASSERT_EQ(all.result, 0);
    size_t plain = 0, layered = 0;
    for (const fi_info* info = all.get(); info; info = info->next) {
        const bool is_layered = strchr(info->fabric_attr->prov_name, ';') != nullptr;
        EXPECT_TRUE(is_layered || layered == 0) << "a plain name behind a layered one";
        if (is_layered) {
            EXPECT_STREQ(info->fabric_attr->prov_name, "tcp;ofi_rxm");
            ++layered;
        } else if (strcmp(info->fabric_attr->prov_name, "tcp") == 0 && info->ep_attr->type == FI_EP_RDM) {
            ++plain;
        }
    }
    EXPECT_EQ(layered, plain);
    EXPECT_EQ(layered, getinfo(make_hints("tcp;ofi_rxm")).size());
}

TEST(GetInfo, APlainNameIsNotAnsweredUnderALayeredOne) {
    for (const char* name : {"tcp", "shm"}) {
        const Answer answer = getinfo(make_hints(name));
        ASSERT_EQ(answer.result, 0) << name;
        for (const fi_info* info = answer.get(); info; info = info->next) {
            EXPECT_STREQ(info->fabric_attr->prov_name, name);
        }
    }
}

TEST(GetInfo, AnEndpointTypeThatAProviderNeverHasIsRefused) {
    EXPECT_EQ(getinfo(make_hints("tcp", FI_EP_DGRAM)).result, -FI_ENODATA);
    EXPECT_EQ(getinfo(make_hints("shm", FI_EP_MSG)).result, -FI_ENODATA);
}

TEST(GetInfo, DatagramsAreOfferedWhereTheyAreAskedForAndAreNobodysFirstChoice) {
    const Answer all = getinfo(nullptr);
    ASSERT_EQ(all.result, 0);
    EXPECT_STRNE(all->fabric_attr->prov_name, "udp");
    const InfoPtr hints = make_hints(nullptr, FI_EP_DGRAM);
    hints->caps = FI_MSG | FI_MULTICAST;
    const Answer datagrams = getinfo(hints);
    ASSERT_EQ(datagrams.result, 0);
    for (const fi_info* info = datagrams.get(); info; info = info->next) {
        EXPECT_STREQ(info->fabric_attr->prov_name, "udp");
        EXPECT_EQ(info->ep_attr->protocol, uint32_t{FI_PROTO_UDP});
    }
}

TEST(GetInfo, ADatagramOverUdpIsAsLongAsAPacketOfItsInterface) {
    const Answer answer = getinfo(make_hints("udp"));
    ASSERT_EQ(answer.result, 0);
    const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    for (const fi_info* info = answer.get(); info; info = info->next) {
        ifreq request{};
        snprintf(request.ifr_name, sizeof request.ifr_name, "%s", info->domain_attr->name);
        ASSERT_EQ(ioctl(socket, SIOCGIFMTU, &request), 0);
        const bool v4 = info->addr_format == FI_SOCKADDR_IN;
        const auto packet = static_cast<size_t>(request.ifr_mtu) - (v4 ? 28 : 48);
        EXPECT_EQ(info->ep_attr->max_msg_size, std::min<size_t>(packet, v4 ? 65507 : 65527));
        EXPECT_EQ(info->tx_attr->inject_size, info->ep_attr->max_msg_size);
    }
    close(socket);
}

TEST(GetInfo, MulticastNeedsMessages) {
    const InfoPtr hints = make_hints("udp");
    hints->caps = FI_MULTICAST | FI_SEND;
    EXPECT_EQ(getinfo(hints).result, -FI_ENODATA);
    hints->caps |= FI_MSG;
    EXPECT_EQ(getinfo(hints).result, 0);
}

TEST(GetInfo, ProviderAttributesOnly) {
    const Answer all = getinfo(nullptr, nullptr, nullptr, FI_PROV_ATTR_ONLY);
    ASSERT_EQ(all.result, 0);
    EXPECT_EQ(all.size(), 5u);  // verbs, shm, tcp, udp, and the layer
    for (const fi_info* info = all.get(); info; info = info->next) {
        EXPECT_NE(info->fabric_attr->prov_version, 0u);
        EXPECT_EQ(info->caps, 0u);
        EXPECT_EQ(info->domain_attr->mr_key_size, 0u);
        EXPECT_FALSE(info->fabric_attr->name);
        EXPECT_FALSE(info->src_addr);
    }
}

TEST(GetInfo, SourceNodeAndService) {
    const Answer answer = getinfo(make_hints("tcp"), "127.0.0.1", "4711", FI_SOURCE);
    ASSERT_EQ(answer.result, 0);
    for (const fi_info* info = answer.get(); info; info = info->next) {
        ASSERT_EQ(info->addr_format, static_cast<uint32_t>(FI_SOCKADDR_IN));
        const auto* address = static_cast<const sockaddr_in*>(info->src_addr);
        EXPECT_EQ(ntohs(address->sin_port), 4711);
        EXPECT_EQ(ntohl(address->sin_addr.s_addr), static_cast<uint32_t>(INADDR_LOOPBACK));
        EXPECT_FALSE(info->dest_addr);
    }
    EXPECT_EQ(getinfo(make_hints("tcp"), "203.0.113.77", "1", FI_SOURCE).result, -FI_ENODATA);
    EXPECT_EQ(getinfo(make_hints("tcp"), "127.0.0.1", "70000", FI_SOURCE).result, -FI_ENODATA);
}

TEST(GetInfo, DestinationNodeAndService) {
    const Answer answer = getinfo(make_hints("tcp", FI_EP_RDM), "localhost", "4711");
    ASSERT_EQ(answer.result, 0);
    ASSERT_TRUE(answer->dest_addr);
    EXPECT_GT(answer->dest_addrlen, 0u);
    // Loopback is where the kernel sends from, so it is first here.
    EXPECT_STREQ(answer->domain_attr->name, "lo");
    EXPECT_EQ(getinfo(make_hints("tcp"), "not a host name", nullptr, FI_NUMERICHOST).result, -FI_ENODATA);
}

TEST(GetInfo, TextAddresses) {
    const Answer answer = getinfo(make_hints("tcp"), "fi_sockaddr_in://127.0.0.1:99");
    ASSERT_EQ(answer.result, 0);
    EXPECT_EQ(ntohs(static_cast<const sockaddr_in*>(answer->dest_addr)->sin_port), 99);
    EXPECT_EQ(getinfo(make_hints("tcp"), "fi_sockaddr_in://127.0.0.1:99", "99").result, -FI_ENODATA);
    EXPECT_EQ(getinfo(make_hints("shm"), "fi_sockaddr_in://127.0.0.1:99").result, -FI_ENODATA);
    InfoPtr hints = make_hints("tcp");
    hints->addr_format = FI_ADDR_STR;
    const Answer text = getinfo(hints, "fi_sockaddr_in6://[::1]:7", nullptr, FI_SOURCE);
    ASSERT_EQ(text.result, 0);
    EXPECT_STREQ(static_cast<const char*>(text->src_addr), "fi_sockaddr_in6://[::1]:7");
    EXPECT_EQ(text->src_addrlen, strlen("fi_sockaddr_in6://[::1]:7") + 1);
}

TEST(GetInfo, SharedMemoryAddresses) {
    const Answer service = getinfo(make_hints("shm"), nullptr, "peer", FI_SOURCE);
    ASSERT_EQ(service.result, 0);
    EXPECT_STREQ(static_cast<const char*>(service->src_addr), "fi_shm://:peer");
    const Answer local = getinfo(make_hints("shm"), "127.0.0.1", "peer");
    ASSERT_EQ(local.result, 0);
    EXPECT_STREQ(static_cast<const char*>(local->dest_addr), "fi_shm://:peer");
    EXPECT_EQ(getinfo(make_hints("shm"), "203.0.113.77", "peer").result, -FI_ENODATA);
    EXPECT_EQ(getinfo(make_hints("shm"), std::string(300, 'x').insert(0, "fi_shm://").c_str()).result, -FI_ENODATA);
}

TEST(GetInfo, HintAddressesAreRead) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(5);
    fi_info hints{};
    fi_fabric_attr fabric{};
    char provider[] = "tcp";
    fabric.prov_name = provider;
    hints.fabric_attr = &fabric;
    hints.src_addr = &address;
    EXPECT_EQ(getinfo(&hints).result, -FI_ENODATA);  // an address without a length
    hints.src_addrlen = sizeof address;
    const Answer source = getinfo(&hints);
    ASSERT_EQ(source.result, 0);
    EXPECT_EQ(memcmp(source->src_addr, &address, sizeof address), 0);
    hints.addr_format = FI_SOCKADDR;
    const Answer neutral = getinfo(&hints);
    ASSERT_EQ(neutral.result, 0);
    EXPECT_EQ(neutral->addr_format, static_cast<uint32_t>(FI_SOCKADDR));
    hints.addr_format = FI_SOCKADDR_IN6;
    EXPECT_EQ(getinfo(&hints).result, -FI_ENODATA);
    // Ignored: FI_SOURCE says that node and service are the source.
    hints.addr_format = FI_FORMAT_UNSPEC;
    const Answer named = getinfo(&hints, "127.0.0.1", "9", FI_SOURCE);
    ASSERT_EQ(named.result, 0);
    EXPECT_EQ(ntohs(static_cast<const sockaddr_in*>(named->src_addr)->sin_port), 9);
}

TEST(GetInfo, TheNeutralFormatIsAnsweredForEachFamilyOfSockets) {
    for (const char* provider : {"tcp", "udp"}) {
        for (const char* node : {"127.0.0.1", "::1"}) {
            const InfoPtr hints = make_hints(provider);
            hints->addr_format = FI_SOCKADDR;
            const Answer answer = getinfo(hints, node, "7", FI_SOURCE | FI_NUMERICHOST);
            const bool has_v6 = access("/proc/net/if_inet6", R_OK) == 0;
            if (answer.result && strcmp(node, "::1") == 0 && !has_v6) continue;
            ASSERT_EQ(answer.result, 0) << provider << " " << node;
            EXPECT_EQ(answer->addr_format, static_cast<uint32_t>(FI_SOCKADDR));
            const int family = strcmp(node, "::1") == 0 ? AF_INET6 : AF_INET;
            EXPECT_EQ(static_cast<const sockaddr*>(answer->src_addr)->sa_family, family) << provider << " " << node;
            hints->addr_format = FI_SOCKADDR_IB;
            EXPECT_EQ(getinfo(hints).result, -FI_ENODATA) << "of a device's own addresses";
        }
    }
    const InfoPtr memory = make_hints("shm");
    memory->addr_format = FI_SOCKADDR;
    EXPECT_EQ(getinfo(memory).result, -FI_ENODATA) << "it has no sockets";
}

TEST(GetInfo, HintsAreNotWritten) {
    InfoPtr hints = make_hints("tcp", FI_EP_RDM);
    hints->caps = FI_MSG;
    const InfoPtr before(fi_dupinfo(hints.get()));
    getinfo(hints, "127.0.0.1", "1");
    EXPECT_EQ(hints->caps, before->caps);
    EXPECT_EQ(memcmp(hints->tx_attr, before->tx_attr, sizeof *before->tx_attr), 0);
    EXPECT_EQ(memcmp(hints->rx_attr, before->rx_attr, sizeof *before->rx_attr), 0);
    EXPECT_EQ(memcmp(hints->ep_attr, before->ep_attr, sizeof *before->ep_attr), 0);
    EXPECT_EQ(memcmp(hints->domain_attr, before->domain_attr, sizeof *before->domain_attr), 0);
    EXPECT_STREQ(hints->fabric_attr->prov_name, "tcp");
}

TEST(GetInfo, AuthorizationKeysAreCopied) {
    InfoPtr hints = make_hints("tcp", FI_EP_RDM);
    hints->domain_attr->auth_key = static_cast<uint8_t*>(malloc(4));
    memcpy(hints->domain_attr->auth_key, "key", 4);
    hints->domain_attr->auth_key_size = 4;
    const Answer answer = getinfo(hints);
    ASSERT_EQ(answer.result, 0);
    ASSERT_EQ(answer->domain_attr->auth_key_size, 4u);
    EXPECT_NE(answer->domain_attr->auth_key, hints->domain_attr->auth_key);
    EXPECT_EQ(memcmp(answer->domain_attr->auth_key, "key", 4), 0);
}

TEST(DupInfo, CopiesOneElementDeeply) {
    const Answer all = getinfo(nullptr);
    ASSERT_TRUE(all->next);
    const InfoPtr copy(fi_dupinfo(all.get()));
    ASSERT_TRUE(copy);
    EXPECT_FALSE(copy->next);
    EXPECT_NE(copy->src_addr, all->src_addr);
    EXPECT_STREQ(copy->domain_attr->name, all->domain_attr->name);
    fi_info bare{};
    const InfoPtr empty(fi_dupinfo(&bare));
    ASSERT_TRUE(empty);
    EXPECT_FALSE(empty->tx_attr);
    fi_freeinfo(nullptr);
}

}  // namespace
}  // namespace selvage::test
