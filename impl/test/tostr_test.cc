// fi_tostr and fi_tostr_r: names of every value and bit, the form of the structures, bounds, threads.
#include "impl/text/tostr.h"

#include "impl/text/tostr_addr.h"
#include "impl/text/tostr_info.h"

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_trigger.h>
#include <rdma/providers/fi_log.h>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using selvage::impl::kLibraryVersionText;

// As a C caller would pass it, in range or not.
fi_type type_of(int number) { return std::bit_cast<fi_type>(number); }

std::string text_of(const void* data, int type) {
    std::vector<char> buffer(65536, '?');
    EXPECT_EQ(fi_tostr_r(buffer.data(), buffer.size(), data, type_of(type)), buffer.data());
    EXPECT_NE(std::memchr(buffer.data(), '\0', buffer.size()), nullptr);
    return buffer.data();
}

template <typename T>
std::string text_of_value(T value, int type) {
    return text_of(&value, type);
}

using Names = std::vector<std::pair<std::uint64_t, std::string>>;

#define NAMED(constant) \
    { static_cast<std::uint64_t>(constant), #constant }

struct EnumCase {
    fi_type type;
    Names names;
};

const std::vector<EnumCase> kEnumCases = {
    {FI_TYPE_EP_TYPE,
     {NAMED(FI_EP_UNSPEC), NAMED(FI_EP_MSG), NAMED(FI_EP_DGRAM), NAMED(FI_EP_RDM), NAMED(FI_EP_SOCK_STREAM),
      NAMED(FI_EP_SOCK_DGRAM)}},
    {FI_TYPE_ADDR_FORMAT,
     {NAMED(FI_FORMAT_UNSPEC), NAMED(FI_SOCKADDR), NAMED(FI_SOCKADDR_IN), NAMED(FI_SOCKADDR_IN6), NAMED(FI_SOCKADDR_IB),
      NAMED(FI_ADDR_PSMX), NAMED(FI_ADDR_GNI), NAMED(FI_ADDR_BGQ), NAMED(FI_ADDR_MLX), NAMED(FI_ADDR_STR),
      NAMED(FI_ADDR_PSMX2), NAMED(FI_ADDR_IB_UD), NAMED(FI_ADDR_EFA), NAMED(FI_ADDR_PSMX3), NAMED(FI_ADDR_OPX),
      NAMED(FI_ADDR_CXI)}},
    {FI_TYPE_THREADING,
     {NAMED(FI_THREAD_UNSPEC), NAMED(FI_THREAD_SAFE), NAMED(FI_THREAD_FID), NAMED(FI_THREAD_DOMAIN),
      NAMED(FI_THREAD_COMPLETION), NAMED(FI_THREAD_ENDPOINT)}},
    {FI_TYPE_PROGRESS, {NAMED(FI_PROGRESS_UNSPEC), NAMED(FI_PROGRESS_AUTO), NAMED(FI_PROGRESS_MANUAL)}},
    {FI_TYPE_PROTOCOL, {NAMED(FI_PROTO_UNSPEC),        NAMED(FI_PROTO_RDMA_CM_IB_RC),
                        NAMED(FI_PROTO_IWARP),         NAMED(FI_PROTO_IB_UD),
                        NAMED(FI_PROTO_PSMX),          NAMED(FI_PROTO_UDP),
                        NAMED(FI_PROTO_SOCK_TCP),      NAMED(FI_PROTO_MXM),
                        NAMED(FI_PROTO_IWARP_RDM),     NAMED(FI_PROTO_IB_RDM),
                        NAMED(FI_PROTO_GNI),           NAMED(FI_PROTO_RXM),
                        NAMED(FI_PROTO_RXD),           NAMED(FI_PROTO_MLX),
                        NAMED(FI_PROTO_NETWORKDIRECT), NAMED(FI_PROTO_PSMX2),
                        NAMED(FI_PROTO_SHM),           NAMED(FI_PROTO_MRAIL),
                        NAMED(FI_PROTO_RSTREAM),       NAMED(FI_PROTO_RDMA_CM_IB_XRC),
                        NAMED(FI_PROTO_EFA),           NAMED(FI_PROTO_PSMX3),
                        NAMED(FI_PROTO_RXM_TCP),       NAMED(FI_PROTO_OPX),
                        NAMED(FI_PROTO_CXI),           NAMED(FI_PROTO_XNET)}},
    {FI_TYPE_AV_TYPE, {NAMED(FI_AV_UNSPEC), NAMED(FI_AV_MAP), NAMED(FI_AV_TABLE)}},
    {FI_TYPE_ATOMIC_TYPE, {NAMED(FI_INT8),          NAMED(FI_UINT8),
                           NAMED(FI_INT16),         NAMED(FI_UINT16),
                           NAMED(FI_INT32),         NAMED(FI_UINT32),
                           NAMED(FI_INT64),         NAMED(FI_UINT64),
                           NAMED(FI_FLOAT),         NAMED(FI_DOUBLE),
                           NAMED(FI_FLOAT_COMPLEX), NAMED(FI_DOUBLE_COMPLEX),
                           NAMED(FI_LONG_DOUBLE),   NAMED(FI_LONG_DOUBLE_COMPLEX),
                           NAMED(FI_INT128),        NAMED(FI_UINT128),
                           {16, "FI_FLOAT16"},      {17, "FI_BFLOAT16"},
                           {18, "FI_FLOAT8_E4M3"},  {19, "FI_FLOAT8_E5M2"},
                           NAMED(FI_VOID)}},
    {FI_TYPE_ATOMIC_OP,
     {NAMED(FI_MIN),         NAMED(FI_MAX),          NAMED(FI_SUM),      NAMED(FI_PROD),     NAMED(FI_LOR),
      NAMED(FI_LAND),        NAMED(FI_BOR),          NAMED(FI_BAND),     NAMED(FI_LXOR),     NAMED(FI_BXOR),
      NAMED(FI_ATOMIC_READ), NAMED(FI_ATOMIC_WRITE), NAMED(FI_CSWAP),    NAMED(FI_CSWAP_NE), NAMED(FI_CSWAP_LE),
      NAMED(FI_CSWAP_LT),    NAMED(FI_CSWAP_GE),     NAMED(FI_CSWAP_GT), NAMED(FI_MSWAP),    {19, "FI_DIFF"},
      NAMED(FI_NOOP)}},
    {FI_TYPE_EQ_EVENT,
     {NAMED(FI_NOTIFY), NAMED(FI_CONNREQ), NAMED(FI_CONNECTED), NAMED(FI_SHUTDOWN), NAMED(FI_MR_COMPLETE),
      NAMED(FI_AV_COMPLETE), NAMED(FI_JOIN_COMPLETE)}},
    {FI_TYPE_OP_TYPE,
     {NAMED(FI_OP_RECV), NAMED(FI_OP_SEND), NAMED(FI_OP_TRECV), NAMED(FI_OP_TSEND), NAMED(FI_OP_READ),
      NAMED(FI_OP_WRITE), NAMED(FI_OP_ATOMIC), NAMED(FI_OP_FETCH_ATOMIC), NAMED(FI_OP_COMPARE_ATOMIC),
      NAMED(FI_OP_CNTR_SET), NAMED(FI_OP_CNTR_ADD)}},
    {FI_TYPE_COLLECTIVE_OP,
     {NAMED(FI_BARRIER), NAMED(FI_BROADCAST), NAMED(FI_ALLTOALL), NAMED(FI_ALLREDUCE), NAMED(FI_ALLGATHER),
      NAMED(FI_REDUCE_SCATTER), NAMED(FI_REDUCE), NAMED(FI_SCATTER), NAMED(FI_GATHER)}},
    {FI_TYPE_HMEM_IFACE,
     {NAMED(FI_HMEM_SYSTEM), NAMED(FI_HMEM_CUDA), NAMED(FI_HMEM_ROCR), NAMED(FI_HMEM_ZE), NAMED(FI_HMEM_NEURON),
      NAMED(FI_HMEM_SYNAPSEAI)}},
    {FI_TYPE_CQ_FORMAT,
     {NAMED(FI_CQ_FORMAT_UNSPEC), NAMED(FI_CQ_FORMAT_CONTEXT), NAMED(FI_CQ_FORMAT_MSG), NAMED(FI_CQ_FORMAT_DATA),
      NAMED(FI_CQ_FORMAT_TAGGED)}},
    {FI_TYPE_LOG_LEVEL,
     {{FI_LOG_WARN, "warn"}, {FI_LOG_TRACE, "trace"}, {FI_LOG_INFO, "info"}, {FI_LOG_DEBUG, "debug"}}},
    {FI_TYPE_LOG_SUBSYS,
     {{FI_LOG_CORE, "core"},
      {FI_LOG_FABRIC, "fabric"},
      {FI_LOG_DOMAIN, "domain"},
      {FI_LOG_EP_CTRL, "ep_ctrl"},
      {FI_LOG_EP_DATA, "ep_data"},
      {FI_LOG_AV, "av"},
      {FI_LOG_CQ, "cq"},
      {FI_LOG_EQ, "eq"},
      {FI_LOG_MR, "mr"},
      {FI_LOG_CNTR, "cntr"}}},
};

const std::vector<EnumCase> kBitCases = {
    {FI_TYPE_CAPS, {NAMED(FI_MSG),          NAMED(FI_RMA),
                    NAMED(FI_TAGGED),       NAMED(FI_ATOMIC),
                    NAMED(FI_MULTICAST),    NAMED(FI_COLLECTIVE),
                    NAMED(FI_READ),         NAMED(FI_WRITE),
                    NAMED(FI_RECV),         NAMED(FI_SEND),
                    NAMED(FI_REMOTE_READ),  NAMED(FI_REMOTE_WRITE),
                    NAMED(FI_MULTI_RECV),   NAMED(FI_REMOTE_CQ_DATA),
                    NAMED(FI_TRIGGER),      NAMED(FI_FENCE),
                    NAMED(FI_VARIABLE_MSG), NAMED(FI_RMA_PMEM),
                    NAMED(FI_SOURCE_ERR),   NAMED(FI_LOCAL_COMM),
                    NAMED(FI_REMOTE_COMM),  NAMED(FI_SHARED_AV),
                    NAMED(FI_RMA_EVENT),    NAMED(FI_SOURCE),
                    NAMED(FI_NAMED_RX_CTX), NAMED(FI_DIRECTED_RECV),
                    NAMED(FI_HMEM),         NAMED(FI_AV_USER_ID),
                    NAMED(FI_PEER),         NAMED(FI_XPU_TRIGGER)}},
    {FI_TYPE_MODE,
     {NAMED(FI_CONTEXT), NAMED(FI_MSG_PREFIX), NAMED(FI_ASYNC_IOV), NAMED(FI_RX_CQ_DATA), NAMED(FI_LOCAL_MR),
      NAMED(FI_NOTIFY_FLAGS_ONLY), NAMED(FI_RESTRICTED_COMP), NAMED(FI_CONTEXT2), NAMED(FI_BUFFERED_RECV),
      NAMED(FI_PEER_TRANSFER)}},
    {FI_TYPE_OP_FLAGS,
     {NAMED(FI_MULTICAST),
      NAMED(FI_MULTI_RECV),
      NAMED(FI_REMOTE_CQ_DATA),
      NAMED(FI_MORE),
      NAMED(FI_PEEK),
      NAMED(FI_TRIGGER),
      NAMED(FI_FENCE),
      NAMED(FI_COMPLETION),
      NAMED(FI_INJECT),
      NAMED(FI_INJECT_COMPLETE),
      NAMED(FI_TRANSMIT_COMPLETE),
      NAMED(FI_DELIVERY_COMPLETE),
      NAMED(FI_MATCH_COMPLETE),
      NAMED(FI_AFFINITY),
      NAMED(FI_CLAIM),
      NAMED(FI_DISCARD),
      NAMED(FI_PRIORITY),
      NAMED(FI_COMMIT_COMPLETE),
      NAMED(FI_MSG),
      NAMED(FI_RMA),
      NAMED(FI_TAGGED),
      NAMED(FI_ATOMIC),
      NAMED(FI_COLLECTIVE),
      NAMED(FI_READ),
      NAMED(FI_WRITE),
      NAMED(FI_RECV),
      NAMED(FI_SEND),
      NAMED(FI_REMOTE_READ),
      NAMED(FI_REMOTE_WRITE),
      NAMED(FI_PEER_TRANSFER),
      NAMED(FI_PEER),
      NAMED(FI_XPU_TRIGGER),
      NAMED(FI_RMA_PMEM),
      NAMED(FI_PROV_ATTR_ONLY),
      NAMED(FI_NUMERICHOST),
      NAMED(FI_RMA_EVENT)}},
    {FI_TYPE_MSG_ORDER,
     {NAMED(FI_ORDER_RAR), NAMED(FI_ORDER_RAW), NAMED(FI_ORDER_RAS), NAMED(FI_ORDER_WAR), NAMED(FI_ORDER_WAW),
      NAMED(FI_ORDER_WAS), NAMED(FI_ORDER_SAR), NAMED(FI_ORDER_SAW), NAMED(FI_ORDER_SAS), NAMED(FI_ORDER_RMA_RAR),
      NAMED(FI_ORDER_RMA_RAW), NAMED(FI_ORDER_RMA_WAR), NAMED(FI_ORDER_RMA_WAW), NAMED(FI_ORDER_ATOMIC_RAR),
      NAMED(FI_ORDER_ATOMIC_RAW), NAMED(FI_ORDER_ATOMIC_WAR), NAMED(FI_ORDER_ATOMIC_WAW), NAMED(FI_ORDER_DATA)}},
    {FI_TYPE_CQ_EVENT_FLAGS,
     {NAMED(FI_SEND), NAMED(FI_RECV), NAMED(FI_RMA), NAMED(FI_ATOMIC), NAMED(FI_MSG), NAMED(FI_TAGGED), NAMED(FI_READ),
      NAMED(FI_WRITE), NAMED(FI_REMOTE_READ), NAMED(FI_REMOTE_WRITE), NAMED(FI_REMOTE_CQ_DATA), NAMED(FI_MULTI_RECV),
      NAMED(FI_MORE), NAMED(FI_CLAIM), NAMED(FI_MULTICAST), NAMED(FI_COLLECTIVE), NAMED(FI_PEER_TRANSFER)}},
};

std::string hex_text(std::uint64_t value) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return text;
}

TEST(ToStr, NamesEveryEnumValueAndNumbersTheRest) {
    for (const EnumCase& family : kEnumCases) {
        for (const auto& [value, name] : family.names) {
            EXPECT_EQ(text_of_value(static_cast<std::uint32_t>(value), family.type), name);
        }
        EXPECT_EQ(text_of_value(std::uint32_t{4711}, family.type), "Unknown (4711)") << family.type;
        EXPECT_EQ(text_of_value(std::uint32_t{INT32_MAX}, family.type), "Unknown (2147483647)") << family.type;
    }
}

TEST(ToStr, ShowsProviderValuesAsSuch) {
    const std::uint32_t value = FI_PROV_SPECIFIC | 7u;
    EXPECT_EQ(text_of(&value, FI_TYPE_ADDR_FORMAT), "Provider specific (0x80000007)");
    EXPECT_EQ(text_of(&value, FI_TYPE_PROTOCOL), "Provider specific (0x80000007)");
    EXPECT_EQ(text_of(&value, FI_TYPE_EP_TYPE), "Unknown (2147483655)");
}

TEST(ToStr, NamesEveryBitAndShowsTheRestInHex) {
    for (const EnumCase& family : kBitCases) {
        std::uint64_t known = 0;
        for (const auto& [bit, name] : family.names) {
            known |= bit;
            EXPECT_EQ(text_of_value(bit, family.type), name);
        }
        for (unsigned i = 0; i < 64; ++i) {
            const std::uint64_t bit = std::uint64_t{1} << i;
            if ((known & bit) != 0) continue;
            EXPECT_EQ(text_of_value(bit, family.type), hex_text(bit)) << family.type;
        }
        EXPECT_EQ(text_of_value(std::uint64_t{0}, family.type), "");
    }
}

TEST(ToStr, LosesNoBitOfAnyWord) {
    std::mt19937_64 random(20240607);
    for (const EnumCase& family : kBitCases) {
        for (int round = 0; round < 500; ++round) {
            const std::uint64_t word = random() & random();
            std::uint64_t shown = 0;
            std::string text = text_of_value(word, family.type);
            for (std::size_t start = 0; start < text.size();) {
                const std::size_t end = std::min(text.find(", ", start), text.size());
                const std::string item = text.substr(start, end - start);
                start = end + 2;
                if (item.starts_with("0x")) shown |= std::strtoull(item.c_str(), nullptr, 16);
                for (const auto& [bit, name] : family.names) shown |= name == item ? bit : 0;
            }
            EXPECT_EQ(shown, word) << text;
        }
    }
}

TEST(ToStr, MrModeIsAnIntOfBits) {
    const char* names[] = {"FI_MR_BASIC",     "FI_MR_SCALABLE",  "FI_MR_LOCAL",    "FI_MR_RAW",
                           "FI_MR_VIRT_ADDR", "FI_MR_ALLOCATED", "FI_MR_PROV_KEY", "FI_MR_MMU_NOTIFY",
                           "FI_MR_RMA_EVENT", "FI_MR_ENDPOINT",  "FI_MR_HMEM",     "FI_MR_COLLECTIVE"};
    for (unsigned i = 0; i < 32; ++i) {
        const auto bit = static_cast<std::uint32_t>(1u << i);
        EXPECT_EQ(text_of(&bit, FI_TYPE_MR_MODE), i < std::size(names) ? names[i] : hex_text(bit));
    }
    EXPECT_EQ(text_of_value(int{FI_MR_LOCAL | FI_MR_RAW | (1 << 20)}, FI_TYPE_MR_MODE),
              "FI_MR_LOCAL, FI_MR_RAW, 0x100000");
}

TEST(ToStr, VersionIgnoresItsData) {
    EXPECT_EQ(text_of(nullptr, FI_TYPE_VERSION), kLibraryVersionText);
    EXPECT_EQ(text_of(reinterpret_cast<const void*>(8), FI_TYPE_VERSION), kLibraryVersionText);
}

TEST(ToStr, UnknownTypesAndMissingDataAreNoReasonToFail) {
    for (const int type : {FI_TYPE_LOG_SUBSYS + 8, FI_TYPE_LOG_SUBSYS + 9, 1000, -1, INT32_MIN, INT32_MAX}) {
        EXPECT_EQ(text_of(nullptr, type), "Unknown type");
        EXPECT_EQ(text_of("data", type), "Unknown type");
    }
    for (int type = FI_TYPE_INFO; type <= FI_TYPE_LOG_SUBSYS; ++type) {
        EXPECT_EQ(text_of(nullptr, type), type == FI_TYPE_VERSION ? std::string(kLibraryVersionText) : "(null)");
    }
}

// The types of 1.20, which the headers at hand do not name.
TEST(ToStr, AttributesOfObjectsAreShown) {
    fi_av_attr av{};
    av.type = FI_AV_TABLE;
    av.count = 7;
    av.name = "vector";
    fi_cq_attr cq{};
    cq.format = FI_CQ_FORMAT_TAGGED;
    cq.wait_obj = FI_WAIT_FD;
    cq.wait_cond = FI_CQ_COND_THRESHOLD;
    fi_mr_attr mr{};
    mr.access = FI_REMOTE_READ;
    fi_cntr_attr counter{};
    counter.wait_obj = FI_WAIT_POLLFD;
    fi_cq_err_entry error{};
    error.flags = FI_RECV | FI_TAGGED;
    error.err = 5;
    const struct {
        const void* data;
        std::vector<const char*> lines;
    } shown[] = {
        {&av, {"fi_av_attr:", "type: FI_AV_TABLE", "count: 7", "name: vector"}},
        {&cq, {"format: FI_CQ_FORMAT_TAGGED", "wait_obj: FI_WAIT_FD", "wait_cond: FI_CQ_COND_THRESHOLD"}},
        {&mr, {"access: [ FI_REMOTE_READ ]", "iface: FI_HMEM_SYSTEM"}},
        {&counter, {"events: FI_CNTR_EVENTS_COMP", "wait_obj: FI_WAIT_POLLFD"}},
        {&error, {"flags: [ FI_RECV, FI_TAGGED ]", "err: 5"}},
    };
    int type = FI_TYPE_LOG_SUBSYS;
    for (const auto& [data, lines] : shown) {
        const std::string text = text_of(data, ++type);
        for (const char* line : lines) EXPECT_NE(text.find(line), std::string::npos) << line << " in " << text;
    }
    EXPECT_EQ(text_of_value(int{FI_CQ_COND_THRESHOLD}, type + 1), "FI_CQ_COND_THRESHOLD");
    EXPECT_EQ(text_of_value(int{FI_WAIT_YIELD}, type + 2), "FI_WAIT_YIELD");
}

TEST(ToStr, DoesNotTouchABufferOfNoLength) {
    char letter = 'x';
    const std::uint64_t caps = FI_MSG;
    EXPECT_EQ(fi_tostr_r(&letter, 0, &caps, FI_TYPE_CAPS), &letter);
    EXPECT_EQ(letter, 'x');
    EXPECT_EQ(fi_tostr_r(nullptr, 0, &caps, FI_TYPE_CAPS), nullptr);
    EXPECT_EQ(fi_tostr_r(nullptr, 100, &caps, FI_TYPE_CAPS), nullptr);
    char text[64];
    EXPECT_STREQ(fi_tostr_r(text, SIZE_MAX, &caps, FI_TYPE_CAPS), "FI_MSG");
}

// An fi_info with everything in it, all bits set, and strings.
struct FullInfo {
    fi_tx_attr tx{};
    fi_rx_attr rx{};
    fi_ep_attr ep{};
    fi_domain_attr domain{};
    fi_fabric_attr fabric{};
    fi_device_attr device{};
    fi_bus_attr bus{};
    fi_link_attr link{};
    fid_nic nic{};
    fi_info info{};
    sockaddr_in source{};
    sockaddr_in6 destination{};
    char name[8] = "eth0";
    char fabric_name[16] = "192.0.2.0/24";
    char provider[16] = "tcp;ofi_rxm";
    uint8_t key[4] = {1, 2, 3, 4};

    FullInfo() {
        source.sin_family = AF_INET;
        source.sin_port = htons(7471);
        source.sin_addr.s_addr = htonl(0x0a010203);
        destination.sin6_family = AF_INET6;
        destination.sin6_port = htons(80);
        destination.sin6_addr = in6addr_loopback;
        tx.caps = tx.mode = tx.op_flags = tx.msg_order = tx.comp_order = UINT64_MAX;
        rx.caps = rx.mode = rx.op_flags = rx.msg_order = UINT64_MAX;
        tx.inject_size = SIZE_MAX;
        tx.tclass = 0x105;
        ep.type = FI_EP_RDM;
        ep.protocol = FI_PROTO_RXM;
        ep.mem_tag_format = 0xaaaa;
        ep.auth_key = key;
        ep.auth_key_size = sizeof key;
        domain.name = name;
        domain.mr_mode = -1;
        fabric.name = fabric_name;
        fabric.prov_name = provider;
        fabric.prov_version = FI_VERSION(117, 0);
        fabric.api_version = FI_VERSION(1, 18);
        device = {name, nullptr, nullptr, nullptr, name, nullptr};
        bus.bus_type = FI_BUS_PCI;
        bus.attr.pci = {1, 2, 3, 4};
        link = {name, 1500, 1000000000, FI_LINK_UP, nullptr};
        nic.fid.fclass = FI_CLASS_NIC;
        nic.device_attr = &device;
        nic.bus_attr = &bus;
        nic.link_attr = &link;
        info.caps = info.mode = UINT64_MAX;
        info.addr_format = FI_SOCKADDR;
        info.src_addr = &source;
        info.src_addrlen = sizeof source;
        info.dest_addr = &destination;
        info.dest_addrlen = sizeof destination;
        info.tx_attr = &tx;
        info.rx_attr = &rx;
        info.ep_attr = &ep;
        info.domain_attr = &domain;
        info.fabric_attr = &fabric;
        info.nic = &nic;
    }
};

TEST(ToStr, AnEmptyInfoHasTheUsualLines) {
    const fi_info info{};
    EXPECT_EQ(text_of(&info, FI_TYPE_INFO),
              "fi_info:\n"
              "    caps: [  ]\n"
              "    mode: [  ]\n"
              "    addr_format: FI_FORMAT_UNSPEC\n"
              "    src_addrlen: 0\n"
              "    dest_addrlen: 0\n"
              "    src_addr: (null)\n"
              "    dest_addr: (null)\n"
              "    handle: (nil)\n"
              "    fi_tx_attr: (null)\n"
              "    fi_rx_attr: (null)\n"
              "    fi_ep_attr: (null)\n"
              "    fi_domain_attr: (null)\n"
              "    fi_fabric_attr: (null)\n"
              "    nic: (nil)\n");
}

TEST(ToStr, AFullInfoShowsEveryStructure) {
    const FullInfo full;
    const std::string text = text_of(&full.info, FI_TYPE_INFO);
    for (const char* line :
         {"    src_addr: fi_sockaddr_in://10.1.2.3:7471\n", "    dest_addr: fi_sockaddr_in6://[::1]:80\n",
          "    fi_tx_attr:\n        caps: [ FI_MSG, ", "        inject_size: 18446744073709551615\n",
          "        tclass: 0x105\n", "        type: FI_EP_RDM\n        protocol: FI_PROTO_RXM\n",
          "        mem_tag_format: 0x000000000000aaaa\n",
          "        auth_key_size: 4\n        auth_key: (not shown)\n    fi_domain_attr:\n",
          "        domain: 0x0\n        name: eth0\n",
          "    fi_fabric_attr:\n        name: 192.0.2.0/24\n        prov_name: tcp;ofi_rxm\n"
          "        prov_version: 117.0\n        api_version: 1.18\n    nic:\n        fi_device_attr:\n",
          "            bus_type: FI_BUS_PCI\n            fi_pci_attr:\n                domain_id: 1\n",
          "            state: FI_LINK_UP\n            network_type: (null)\n"}) {
        EXPECT_NE(text.find(line), std::string::npos) << line << text;
    }
}

TEST(ToStr, AttributesAloneStandAtTheMargin) {
    const FullInfo full;
    EXPECT_TRUE(text_of(&full.tx, FI_TYPE_TX_ATTR).starts_with("fi_tx_attr:\n    caps: [ FI_MSG"));
    EXPECT_TRUE(text_of(&full.rx, FI_TYPE_RX_ATTR).starts_with("fi_rx_attr:\n    caps: [ FI_MSG"));
    EXPECT_TRUE(text_of(&full.ep, FI_TYPE_EP_ATTR).starts_with("fi_ep_attr:\n    type: FI_EP_RDM\n"));
    EXPECT_TRUE(text_of(&full.domain, FI_TYPE_DOMAIN_ATTR).starts_with("fi_domain_attr:\n    domain: 0x0\n"));
    EXPECT_TRUE(text_of(&full.fabric, FI_TYPE_FABRIC_ATTR).starts_with("fi_fabric_attr:\n    name: 192.0.2.0/24\n"));
    fi_fabric_attr opened = full.fabric;
    opened.fabric = reinterpret_cast<fid_fabric*>(0x10);
    EXPECT_TRUE(text_of(&opened, FI_TYPE_FABRIC_ATTR).starts_with("fi_fabric_attr:\n    fabric: 0x10\n    name: "));
}

TEST(ToStr, CompletionOrderHasNoneAndStrict) {
    const auto order = [](std::uint64_t value) {
        fi_tx_attr tx{};
        tx.comp_order = value;
        const std::string text = text_of(&tx, FI_TYPE_TX_ATTR);
        const std::size_t start = text.find("comp_order: ") + std::strlen("comp_order: ");
        return text.substr(start, text.find('\n', start) - start);
    };
    EXPECT_EQ(order(0), "[ FI_ORDER_NONE ]");
    EXPECT_EQ(order(FI_ORDER_STRICT), "[ FI_ORDER_STRICT ]");
    EXPECT_EQ(order(FI_ORDER_DATA), "[ FI_ORDER_NONE, FI_ORDER_DATA ]");
    EXPECT_EQ(order(FI_ORDER_STRICT | FI_ORDER_DATA), "[ FI_ORDER_STRICT, FI_ORDER_DATA ]");
    EXPECT_EQ(order(FI_ORDER_RAR | 1ull << 50), "[ FI_ORDER_RAR, 0x4000000000000 ]");
}

// length bytes that end where memory ends: a byte too far is a crash.
class Guarded {
public:
    explicit Guarded(std::size_t length) : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
        size_ = (length / page_ + 1) * page_ + page_;
        base_ = static_cast<char*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        EXPECT_EQ(mprotect(base_ + size_ - page_, page_, PROT_NONE), 0);
    }
    ~Guarded() { munmap(base_, size_); }
    Guarded(const Guarded&) = delete;
    Guarded& operator=(const Guarded&) = delete;

    char* last(std::size_t length) const { return base_ + size_ - page_ - length; }

private:
    std::size_t page_;
    std::size_t size_;
    char* base_;
};

void expect_prefix_at_every_length(const void* data, int type) {
    const std::string whole = text_of(data, type);
    const Guarded memory(whole.size() + 2);
    for (std::size_t length = 1; length <= whole.size() + 1; ++length) {
        char* buffer = memory.last(length);
        buffer[-1] = '#';
        std::memset(buffer, '?', length);
        fi_tostr_r(buffer, length, data, type_of(type));
        ASSERT_EQ(std::string_view(buffer), std::string_view(whole).substr(0, length - 1)) << "length " << length;
        ASSERT_EQ(buffer[-1], '#');
    }
}

TEST(ToStr, EveryLengthGivesAPrefixAndStaysInside) {
    const FullInfo full;
    const std::uint32_t odd = FI_PROV_SPECIFIC | 5u;
    const std::uint64_t all = UINT64_MAX;
    expect_prefix_at_every_length(&full.info, FI_TYPE_INFO);
    expect_prefix_at_every_length(&full.nic, FI_TYPE_FID);
    expect_prefix_at_every_length(&all, FI_TYPE_CAPS);
    expect_prefix_at_every_length(&odd, FI_TYPE_PROTOCOL);
    expect_prefix_at_every_length(nullptr, FI_TYPE_VERSION);
    expect_prefix_at_every_length(nullptr, 77);
}

TEST(ToStr, AllBitsOfEverythingFitTheInternalBuffer) {
    const FullInfo full;
    EXPECT_EQ(std::string(fi_tostr(&full.info, FI_TYPE_INFO)), text_of(&full.info, FI_TYPE_INFO));
}

TEST(ToStr, NeverReadsPastTheAddressLength) {
    const Guarded memory(256);
    for (std::uint32_t format = 0; format < 20; ++format) {
        for (std::size_t length = 0; length <= 80; ++length) {
            char* address = memory.last(length);
            for (const int family : {AF_INET, AF_INET6, 27, 200}) {
                std::memset(address, 0x41, length);
                const auto tag = static_cast<sa_family_t>(family);
                std::memcpy(address, &tag, std::min(length, sizeof tag));
                fi_info info{};
                info.addr_format = format;
                info.src_addr = address;
                info.src_addrlen = length;
                EXPECT_NE(text_of(&info, FI_TYPE_INFO).find("    dest_addr: (null)\n"), std::string::npos);
            }
        }
    }
}

std::string address_text(std::uint32_t format, const void* address, std::size_t length) {
    char buffer[2048];
    selvage::impl::TextWriter out(buffer, sizeof buffer);
    selvage::impl::write_address(out, format, address, length);
    out.finish();
    return buffer;
}

TEST(ToStr, AddressesHaveASchemeByFormat) {
    std::uint8_t bytes[64];
    for (unsigned i = 0; i < sizeof bytes; ++i) bytes[i] = static_cast<std::uint8_t>(i + 0x11);
    const auto text = [&](std::uint32_t format) { return address_text(format, bytes, sizeof bytes); };
    EXPECT_EQ(text(FI_SOCKADDR_IB), "fi_sockaddr_ib://[191a:1b1c:1d1e:1f20:2122:2324:2526:2728]:0x1314:0xd2e:0x40");
    EXPECT_EQ(text(FI_ADDR_PSMX), "fi_addr_psmx://1817161514131211");
    EXPECT_EQ(text(FI_ADDR_GNI), "fi_addr_gni://1817161514131211");
    EXPECT_EQ(text(FI_ADDR_PSMX2), "fi_addr_psmx2://1817161514131211:201f1e1d1c1b1a19");
    EXPECT_EQ(text(FI_ADDR_IB_UD), "fi_addr_ib_ud://1112:1314:1516:1718:191a:1b1c:1d1e:1f20:24232221/2625/2827/2b");
    EXPECT_EQ(text(FI_ADDR_EFA), "fi_addr_efa://[1112:1314:1516:1718:191a:1b1c:1d1e:1f20]:8737:673654309");
    EXPECT_EQ(text(FI_ADDR_PSMX3),
              "fi_addr_psmx3://1817161514131211:201f1e1d1c1b1a19:2827262524232221:302f2e2d2c2b2a29");
    EXPECT_EQ(text(FI_ADDR_OPX), "fi_addr_opx://1817161514131211");
    EXPECT_EQ(text(FI_ADDR_CXI), "fi_addr_cxi://0x14131211");
    EXPECT_EQ(address_text(FI_ADDR_MLX, bytes, 2), "fi_addr_mlx://0x1112");
    EXPECT_EQ(address_text(FI_ADDR_BGQ, bytes, 2), "fi_addr_bgq://0x1112");
    EXPECT_EQ(address_text(FI_ADDR_STR, "fi_shm://1234", 14), "fi_shm://1234");
    EXPECT_EQ(address_text(FI_ADDR_STR, "abcdef", 3), "abc");
    EXPECT_EQ(address_text(FI_SOCKADDR_IN, bytes, 3), "0x111213");
    EXPECT_EQ(address_text(FI_PROV_SPECIFIC | 1u, bytes, 3), "0x111213");
    EXPECT_EQ(address_text(FI_SOCKADDR, nullptr, 16), "(null)");
    const std::vector<std::uint8_t> long_address(300, 0xab);
    EXPECT_EQ(address_text(FI_FORMAT_UNSPEC, long_address.data(), 300).size(), 2 + 2 * 256 + 3u);
}

TEST(ToStr, Ipv6IsWrittenAsTheSystemWritesIt) {
    std::mt19937 random(7);
    for (int round = 0; round < 20000; ++round) {
        std::uint8_t bytes[16];
        for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
        const auto zeros = static_cast<unsigned>(random());
        for (unsigned group = 0; group < 8; ++group) {
            if ((zeros >> group & 1u) != 0) bytes[2 * group] = bytes[2 * group + 1] = 0;
        }
        if (round % 16 == 0) {
            std::memset(bytes, 0, 10);
            bytes[10] = bytes[11] = 0xff;
        }
        char expected[INET6_ADDRSTRLEN];
        ASSERT_NE(inet_ntop(AF_INET6, bytes, expected, sizeof expected), nullptr);
        char got[64];
        selvage::impl::TextWriter out(got, sizeof got);
        selvage::impl::write_ipv6(out, bytes);
        out.finish();
        ASSERT_STREQ(got, expected);
    }
}

int append_hello(const fid*, char* buffer, size_t length) {
    const std::size_t used = ::strnlen(buffer, length);
    std::snprintf(buffer + used, length - used, "    nic: hello\n");
    return 0;
}

int fill_without_end(const fid*, char* buffer, size_t length) {
    std::memset(buffer, 'z', length);
    return 0;
}

TEST(ToStr, AnObjectIsShownByItsOwnOperation) {
    fi_ops ops{};
    ops.size = sizeof ops;
    fid_nic nic{};
    nic.fid.fclass = FI_CLASS_NIC;
    nic.fid.ops = &ops;
    fi_info info{};
    info.nic = &nic;
    ops.tostr = append_hello;
    EXPECT_EQ(text_of(&nic.fid, FI_TYPE_FID), "    nic: hello\n");
    EXPECT_TRUE(text_of(&info, FI_TYPE_INFO).ends_with("    fi_fabric_attr: (null)\n    nic: hello\n"));
    expect_prefix_at_every_length(&info, FI_TYPE_INFO);

    ops.tostr = fill_without_end;
    char small[9];
    EXPECT_STREQ(fi_tostr_r(small, sizeof small, &nic.fid, FI_TYPE_FID), "zzzzzzzz");

    ops.size = offsetof(fi_ops, tostr);
    EXPECT_TRUE(text_of(&nic.fid, FI_TYPE_FID).starts_with("    nic:\n        fi_device_attr: (null)\n"));
}

TEST(ToStr, AnObjectWithoutOperationIsShownByItsAddress) {
    fid object{};
    object.fclass = FI_CLASS_EP;
    char expected[64];
    std::snprintf(expected, sizeof expected, "fid: %p\n", static_cast<void*>(&object));
    EXPECT_EQ(text_of(&object, FI_TYPE_FID), expected);
}

TEST(ToStr, NicOperationWritesFromTheStart) {
    const FullInfo full;
    char text[2048];
    std::memset(text, '?', sizeof text);
    EXPECT_EQ(selvage::impl::nic_tostr(&full.nic.fid, text, sizeof text), 0);
    EXPECT_EQ(std::string(text), text_of(&full.nic, FI_TYPE_FID));
    EXPECT_EQ(selvage::impl::nic_tostr(&full.nic.fid, text, 0), -FI_EINVAL);
    EXPECT_EQ(selvage::impl::nic_tostr(nullptr, text, 1), -FI_EINVAL);
}

TEST(ToStr, StringsAreNotReadFurtherThanTheyCanBeShown) {
    const Guarded memory(64);
    fi_fabric_attr attr{};
    attr.name = memory.last(40);  // no terminator before the end of memory
    std::memset(attr.name, 'n', 40);
    char text[60];
    const std::string shown = fi_tostr_r(text, sizeof text, &attr, FI_TYPE_FABRIC_ATTR);
    EXPECT_EQ(shown.size(), sizeof text - 1);
    EXPECT_TRUE(shown.ends_with("nnnn"));
}

TEST(ToStr, ThreadsDoNotDisturbEachOther) {
    const FullInfo full;
    const std::string expected = text_of(&full.info, FI_TYPE_INFO);
    std::vector<std::thread> threads;
    for (std::uint32_t number = 0; number < 4; ++number) {
        threads.emplace_back([&, number] {
            for (int round = 0; round < 200; ++round) {
                ASSERT_STREQ(fi_tostr(&full.info, FI_TYPE_INFO), expected.c_str());
                const std::uint32_t value = 1000 + number;
                ASSERT_EQ(fi_tostr(&value, FI_TYPE_EP_TYPE), "Unknown (" + std::to_string(value) + ")");
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
}

}  // namespace
