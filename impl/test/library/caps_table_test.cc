// The table of capabilities in impl/README.md says what fi_getinfo grants: this makes it anew and compares.
#include <gtest/gtest.h>
#include <rdma/fi_ext.h>

#include <fstream>
#include <sstream>

#include "impl/test/library/getinfo.h"

namespace selvage::test {
namespace {

struct Capability {
    const char* name;
    uint64_t bit;
    uint64_t companions;  // that it needs, to be asked for
};
constexpr uint64_t kMessages = FI_MSG | FI_TAGGED;
constexpr Capability kCapabilities[] = {
    {"FI_MSG", FI_MSG, 0},
    {"FI_TAGGED", FI_TAGGED, 0},
    {"FI_RMA", FI_RMA, 0},
    {"FI_ATOMIC", FI_ATOMIC, 0},
    {"FI_COLLECTIVE", FI_COLLECTIVE, FI_MSG},
    {"FI_MULTICAST", FI_MULTICAST, FI_MSG},
    {"FI_DIRECTED_RECV", FI_DIRECTED_RECV, FI_MSG},
    {"FI_NAMED_RX_CTX", FI_NAMED_RX_CTX, FI_MSG},
    {"FI_VARIABLE_MSG", FI_VARIABLE_MSG, kMessages},
    {"FI_HMEM", FI_HMEM, FI_MSG},
    {"FI_XPU_TRIGGER", FI_XPU_TRIGGER, FI_MSG | FI_TRIGGER},
    {"FI_SEND", FI_SEND, FI_MSG},
    {"FI_RECV", FI_RECV, FI_MSG},
    {"FI_READ", FI_READ, FI_RMA},
    {"FI_WRITE", FI_WRITE, FI_RMA},
    {"FI_REMOTE_READ", FI_REMOTE_READ, FI_RMA},
    {"FI_REMOTE_WRITE", FI_REMOTE_WRITE, FI_RMA},
    {"FI_MULTI_RECV", FI_MULTI_RECV, FI_MSG},
    {"FI_SOURCE", FI_SOURCE, FI_MSG},
    {"FI_SOURCE_ERR", FI_SOURCE_ERR, FI_MSG | FI_SOURCE},
    {"FI_RMA_EVENT", FI_RMA_EVENT, FI_RMA},
    {"FI_RMA_PMEM", FI_RMA_PMEM, FI_RMA},
    {"FI_SHARED_AV", FI_SHARED_AV, FI_MSG},
    {"FI_AV_USER_ID", FI_AV_USER_ID, FI_MSG},
    {"FI_TRIGGER", FI_TRIGGER, FI_MSG},
    {"FI_FENCE", FI_FENCE, FI_MSG},
    {"FI_LOCAL_COMM", FI_LOCAL_COMM, FI_MSG},
    {"FI_REMOTE_COMM", FI_REMOTE_COMM, FI_MSG},
};

struct Column {
    const char* name;
    const char* provider;
    fi_ep_type type;
};
constexpr Column kColumns[] = {
    {"shm", "shm", FI_EP_RDM},
    {"tcp `FI_EP_RDM`", "tcp", FI_EP_RDM},
    {"tcp `FI_EP_MSG`", "tcp", FI_EP_MSG},
    {"udp", "udp", FI_EP_DGRAM},
};

// An entry of the answer has the bit: "all" to hints without capabilities, "named" to those that name it, or "-".
const char* granted(const Column& column, const Capability& capability) {
    const auto has = [&](uint64_t caps) {
        const InfoPtr hints = make_hints(column.provider, column.type);
        hints->caps = caps;
        if (capability.bit == FI_HMEM) hints->domain_attr->mr_mode = FI_MR_HMEM;
        const Answer answer = getinfo(hints);
        for (const fi_info* info = answer.get(); info; info = info->next) {
            if (info->caps & capability.bit) return true;
        }
        return false;
    };
    if (!has(capability.bit | capability.companions)) return "-";
    return has(0) ? "all" : "named";
}

std::string table_as_granted() {
    std::string table = "| |";
    for (const Column& column : kColumns) table += std::string(" ") + column.name + " |";
    table += "\n|---|---|---|---|---|\n";
    for (const Capability& capability : kCapabilities) {
        table += std::string("| `") + capability.name + "` |";
        for (const Column& column : kColumns) table += std::string(" ") + granted(column, capability) + " |";
        table += "\n";
    }
    return table;
}

std::string table_as_written() {
    std::ifstream file(SELVAGE_IMPL_README);
    std::stringstream text;
    text << file.rdbuf();
    const std::string all = text.str();
    const size_t heading = all.find("## Capabilities\n");
    const size_t begin = all.find("| | shm |", heading);
    if (heading == std::string::npos || begin == std::string::npos) return "";
    return all.substr(begin, all.find("\n\n", begin) + 1 - begin);
}

TEST(Capabilities, AreGrantedAsTheTableHasIt) {
    // The reach of tcp and udp is that of the machine's interfaces.
    for (const char* provider : {"tcp", "udp"}) {
        const InfoPtr hints = make_hints(provider);
        hints->caps = FI_MSG | FI_REMOTE_COMM;
        if (getinfo(hints).result) GTEST_SKIP() << "this machine has no interface but loopback";
    }
    EXPECT_EQ(table_as_written(), table_as_granted());
}

TEST(Capabilities, OfThePageAreAllInTheTable) {
    uint64_t all = 0;
    for (const Capability& capability : kCapabilities) all |= capability.bit;
    // Whatever an answer has is among them.
    const Answer answer = getinfo(nullptr);
    ASSERT_EQ(answer.result, 0);
    for (const fi_info* info = answer.get(); info; info = info->next) EXPECT_EQ(info->caps & ~all, 0u);
}

}  // namespace
}  // namespace selvage::test
