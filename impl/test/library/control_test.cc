// fi_control, fi_getopt and fi_setopt: what each object answers to each command and option of the headers. The table is
// in ../../README.md, too.
#include <rdma/fi_trigger.h>

#include <map>
#include <string>

#include "impl/test/library/pair.h"

namespace selvage::test {
namespace {

// One object of each class, opened and not used.
struct Every {
    Network network{"tcp", FI_EP_RDM, kVersion, FI_MSG | FI_RMA};
    Opened<fid_eq> eq;
    Opened<fid_cq> cq;
    Opened<fid_cntr> cntr;
    Opened<fid_poll> poll;
    Opened<fid_wait> wait;
    Opened<fid_av> av;
    Opened<fid_mr> mr;
    Opened<fid_pep> pep;
    Opened<fid_stx> stx;
    Opened<fid_ep> srx;
    Opened<fid_ep> ep;
    Opened<fid_ep> alias;
    char memory[64] = {};

    Every() {
        fid_domain* domain = network.domain.get();
        fi_av_attr av_attr{};
        fi_wait_attr wait_attr{};
        wait_attr.wait_obj = FI_WAIT_FD;
        fi_poll_attr poll_attr{};
        fi_eq_attr eq_attr{};
        eq_attr.wait_obj = FI_WAIT_FD;
        fi_cq_attr cq_attr{};
        cq_attr.wait_obj = FI_WAIT_FD;
        fi_cntr_attr cntr_attr{};
        cntr_attr.wait_obj = FI_WAIT_FD;
        const Answer listening = getinfo(make_hints("tcp", FI_EP_MSG));
        EXPECT_EQ(fi_eq_open(network.fabric.get(), &eq_attr, eq.out(), nullptr), 0);
        EXPECT_EQ(fi_wait_open(network.fabric.get(), &wait_attr, wait.out()), 0);
        EXPECT_EQ(fi_passive_ep(network.fabric.get(), listening.get(), pep.out(), nullptr), 0);
        EXPECT_EQ(fi_cq_open(domain, &cq_attr, cq.out(), nullptr), 0);
        EXPECT_EQ(fi_cntr_open(domain, &cntr_attr, cntr.out(), nullptr), 0);
        EXPECT_EQ(fi_poll_open(domain, &poll_attr, poll.out()), 0);
        EXPECT_EQ(fi_av_open(domain, &av_attr, av.out(), nullptr), 0);
        EXPECT_EQ(fi_mr_reg(domain, memory, sizeof memory, FI_REMOTE_READ, 0, 1, 0, mr.out(), nullptr), 0);
        EXPECT_EQ(fi_stx_context(domain, nullptr, stx.out(), nullptr), 0);
        EXPECT_EQ(fi_srx_context(domain, nullptr, srx.out(), nullptr), 0);
        EXPECT_EQ(fi_endpoint(domain, network.info.get(), ep.out(), nullptr), 0);
        EXPECT_EQ(fi_ep_alias(ep.get(), alias.out(), FI_TRANSMIT), 0);
    }

    std::map<std::string, fid*> all() {
        return {{"fabric", network.fabric.base()},
                {"domain", network.domain.base()},
                {"eq", eq.base()},
                {"cq", cq.base()},
                {"cntr", cntr.base()},
                {"poll", poll.base()},
                {"wait", wait.base()},
                {"av", av.base()},
                {"mr", mr.base()},
                {"pep", pep.base()},
                {"stx", stx.base()},
                {"srx", srx.base()},
                {"ep", ep.base()},
                {"alias", alias.base()}};
    }
};

// What an object answers to a command whose argument is 256 bytes of zeros. What is not here is not its command.
const std::map<std::string, std::map<int, int>>& answers() {
    static const std::map<std::string, std::map<int, int>> table = {
        {"domain",
         {{FI_MAP_RAW_MR, -FI_EINVAL},
          {FI_UNMAP_KEY, 0},
          {FI_QUEUE_WORK, -FI_EINVAL},
          {FI_CANCEL_WORK, -FI_ENOENT},
          {FI_FLUSH_WORK, 0}}},
        {"eq", {{FI_GETWAIT, 0}, {FI_GETWAITOBJ, 0}}},
        {"cq", {{FI_GETWAIT, 0}, {FI_GETWAITOBJ, 0}}},
        {"cntr", {{FI_GETWAIT, 0}, {FI_GETWAITOBJ, 0}, {FI_GETOPSFLAG, 0}, {FI_SETOPSFLAG, 0}}},
        {"wait", {{FI_GETWAIT, 0}, {FI_GETWAITOBJ, 0}}},
        {"mr", {{FI_GET_RAW_MR, -FI_EINVAL}, {FI_ENABLE, 0}, {FI_REFRESH, 0}}},
        {"pep", {{FI_BACKLOG, 0}}},
        {"stx", {{FI_ENABLE, 0}}},
        {"srx", {{FI_ENABLE, 0}}},
        // Flags that name neither side, no place for the alias, and no queue.
        {"ep",
         {{FI_GETOPSFLAG, -FI_EINVAL}, {FI_SETOPSFLAG, -FI_EINVAL}, {FI_ALIAS, -FI_EINVAL}, {FI_ENABLE, -FI_ENOCQ}}},
        {"alias",
         {{FI_GETOPSFLAG, -FI_EINVAL}, {FI_SETOPSFLAG, -FI_EINVAL}, {FI_ALIAS, -FI_EINVAL}, {FI_ENABLE, -FI_ENOCQ}}},
    };
    return table;
}

int expected(const std::string& object, int command) {
    if (command == FI_GET_VAL || command == FI_SET_VAL) return -FI_EINVAL;  // no name is defined
    const auto known = answers().find(object);
    if (known == answers().end() || !known->second.contains(command)) return -FI_ENOSYS;
    return known->second.at(command);
}

TEST(Control, OfEachObjectAnswersEachCommandOfTheHeaders) {
    Every every;
    for (const auto& [name, object] : every.all()) {
        for (int command = FI_GETFIDFLAG; command <= FI_EXPORT_FID; ++command) {
            alignas(16) char argument[256] = {};
            EXPECT_EQ(fi_control(object, command, argument), expected(name, command))
                << name << ", command " << command;
        }
    }
}

TEST(Control, OfNumbersThatAreNoCommandsIsInvalid) {
    Every every;
    for (const auto& [name, object] : every.all()) {
        for (const int number : {-1, FI_EXPORT_FID + 1, 4711}) {
            EXPECT_EQ(fi_control(object, number, nullptr), -FI_EINVAL) << name << ", number " << number;
        }
    }
}

TEST(Control, WithoutAnArgumentWhereOneIsNeededIsInvalid) {
    Every every;
    for (const auto& [name, commands] : answers()) {
        for (const auto& [command, answer] : commands) {
            if (command == FI_ENABLE || command == FI_FLUSH_WORK) continue;  // which need none
            EXPECT_EQ(fi_control(every.all().at(name), command, nullptr), -FI_EINVAL)
                << name << ", command " << command;
        }
    }
}

struct Option {
    int name;
    int get;
    int set;  // to what was got, or to 1
};

void expect_options(fid* endpoint, std::initializer_list<Option> options) {
    for (const Option& option : options) {
        size_t value[8] = {1}, length = sizeof value;
        const int got = fi_getopt(endpoint, FI_OPT_ENDPOINT, option.name, value, &length);
        EXPECT_EQ(got, option.get) << "option " << option.name;
        if (got) length = sizeof *value;
        EXPECT_EQ(fi_setopt(endpoint, FI_OPT_ENDPOINT, option.name, value, length), option.set)
            << "option " << option.name;
        EXPECT_EQ(fi_getopt(endpoint, FI_OPT_ENDPOINT + 1, option.name, value, &length), -FI_ENOPROTOOPT);
    }
}

constexpr int kMissingOption = -FI_ENOPROTOOPT;

TEST(Options, OfEndpointsAnswerEachNameOfTheHeaders) {
    Every every;
    expect_options(every.ep.base(), {{FI_OPT_MIN_MULTI_RECV, 0, 0},
                                     {FI_OPT_CM_DATA_SIZE, kMissingOption, -FI_EINVAL},  // it has no connections
                                     {FI_OPT_BUFFERED_MIN, kMissingOption, kMissingOption},
                                     {FI_OPT_BUFFERED_LIMIT, kMissingOption, kMissingOption},
                                     {FI_OPT_SEND_BUF_SIZE, kMissingOption, kMissingOption},
                                     {FI_OPT_RECV_BUF_SIZE, kMissingOption, kMissingOption},
                                     {FI_OPT_TX_SIZE, 0, 0},
                                     {FI_OPT_RX_SIZE, 0, 0},
                                     {FI_OPT_FI_HMEM_P2P, 0, 0},
                                     {FI_OPT_XPU_TRIGGER, -FI_EOPNOTSUPP, -FI_EINVAL}});
    for (int newer = FI_OPT_XPU_TRIGGER + 3; newer <= FI_OPT_XPU_TRIGGER + 10; ++newer) {
        size_t value = 0, length = sizeof value;
        EXPECT_EQ(fi_getopt(every.ep.base(), FI_OPT_ENDPOINT, newer, &value, &length), 0) << newer;
        EXPECT_GT(value, 0u) << newer;
        EXPECT_EQ(fi_setopt(every.ep.base(), FI_OPT_ENDPOINT, newer, &value, length), kMissingOption) << newer;
    }
}

// Of 2.x: what can be set alone. Memory of CUDA is here or not.
TEST(Options, ThatPermitAreTakenWhereTheyCanBeKept) {
    constexpr int kCudaCalls = FI_OPT_XPU_TRIGGER + 1, kSharedMemory = FI_OPT_XPU_TRIGGER + 2;
    const bool yes = true, no = false;
    bool value = false;
    size_t length = sizeof value;
    Every every;
    fid* const ep = every.ep.base();
    for (const int option : {kCudaCalls, kSharedMemory}) {
        EXPECT_EQ(fi_getopt(ep, FI_OPT_ENDPOINT, option, &value, &length), kMissingOption);
        EXPECT_EQ(fi_setopt(ep, FI_OPT_ENDPOINT, option, &yes, 8), -FI_EINVAL);
    }
    const int cuda = fi_setopt(ep, FI_OPT_ENDPOINT, kCudaCalls, &yes, sizeof yes);
    EXPECT_TRUE(cuda == 0 || cuda == -FI_EINVAL) << cuda;
    EXPECT_EQ(fi_setopt(ep, FI_OPT_ENDPOINT, kCudaCalls, &no, sizeof no), cuda ? -FI_EINVAL : -FI_EOPNOTSUPP);
    EXPECT_EQ(fi_setopt(ep, FI_OPT_ENDPOINT, kSharedMemory, &no, sizeof no), 0);
    EXPECT_EQ(fi_setopt(ep, FI_OPT_ENDPOINT, kSharedMemory, &yes, sizeof yes), 0);
    EXPECT_EQ(fi_ep_bind(every.ep.get(), &every.cq.get()->fid, FI_TRANSMIT | FI_RECV), 0);
    EXPECT_EQ(fi_ep_bind(every.ep.get(), &every.av.get()->fid, 0), 0);
    ASSERT_EQ(fi_enable(every.ep.get()), 0);
    EXPECT_EQ(fi_setopt(ep, FI_OPT_ENDPOINT, kSharedMemory, &yes, sizeof yes), -FI_EOPBADSTATE);
}

TEST(Options, OfShmDoNotForbidMemory) {
    constexpr int kSharedMemory = FI_OPT_XPU_TRIGGER + 2;
    const bool yes = true, no = false;
    Network network("shm", FI_EP_RDM, kVersion, FI_MSG);
    ASSERT_EQ(network.result, 0);
    Pair pair(network);
    fid* const ep = pair.a.ep.base();
    EXPECT_EQ(fi_setopt(ep, FI_OPT_ENDPOINT, kSharedMemory, &yes, sizeof yes), 0);
    EXPECT_EQ(fi_setopt(ep, FI_OPT_ENDPOINT, kSharedMemory, &no, sizeof no), -FI_EOPNOTSUPP);
}

TEST(Options, OfBufferedReceivesAreThereWithTheMode) {
    Network network("shm", FI_EP_RDM, kVersion, FI_MSG | FI_VARIABLE_MSG);
    ASSERT_EQ(network.result, 0);
    Pair pair(network);
    fid* ep = pair.a.ep.base();
    for (const int option : {FI_OPT_BUFFERED_LIMIT, FI_OPT_BUFFERED_MIN}) {
        size_t value = 0, length = sizeof value;
        ASSERT_EQ(fi_getopt(ep, FI_OPT_ENDPOINT, option, &value, &length), 0);
        EXPECT_EQ(value, option == FI_OPT_BUFFERED_LIMIT ? 16384u : 0u);
        value = 500;
        EXPECT_EQ(fi_setopt(ep, FI_OPT_ENDPOINT, option, &value, length), 0);
        value = 0;
        ASSERT_EQ(fi_getopt(ep, FI_OPT_ENDPOINT, option, &value, &length), 0);
        EXPECT_EQ(value, 500u);
        value = SIZE_MAX / 2;
        EXPECT_EQ(fi_setopt(ep, FI_OPT_ENDPOINT, option, &value, length), -FI_EMSGSIZE);
        value = SIZE_MAX;
        EXPECT_EQ(fi_setopt(ep, FI_OPT_ENDPOINT, option, &value, length), 0);
        ASSERT_EQ(fi_getopt(ep, FI_OPT_ENDPOINT, option, &value, &length), 0);
        EXPECT_EQ(value, size_t{1} << 20) << "the most";
        EXPECT_EQ(fi_setopt(ep, FI_OPT_ENDPOINT, option, &value, 1), -FI_EINVAL);
    }
    pair.enable();
    const size_t value = 1;
    EXPECT_EQ(fi_setopt(ep, FI_OPT_ENDPOINT, FI_OPT_BUFFERED_LIMIT, &value, sizeof value), -FI_EOPBADSTATE);
}

TEST(Options, OfPassiveEndpointsAndSharedContextsAreFewer) {
    Every every;
    expect_options(every.pep.base(), {{FI_OPT_CM_DATA_SIZE, 0, -FI_EINVAL},
                                      {FI_OPT_MIN_MULTI_RECV, kMissingOption, kMissingOption},
                                      {FI_OPT_TX_SIZE, kMissingOption, kMissingOption}});
    expect_options(every.srx.base(), {{FI_OPT_MIN_MULTI_RECV, 0, 0}, {FI_OPT_RX_SIZE, kMissingOption, kMissingOption}});
}

TEST(Options, OfTheSizeOfQueuesCountUntilTheEndpointIsEnabled) {
    Network network("shm", FI_EP_RDM, kVersion, FI_MSG);
    ASSERT_EQ(network.result, 0);
    Pair pair(network);
    size_t size = 8, length = sizeof size;
    ASSERT_EQ(fi_setopt(pair.a.ep.base(), FI_OPT_ENDPOINT, FI_OPT_TX_SIZE, &size, length), 0);
    size = SIZE_MAX;
    EXPECT_EQ(fi_setopt(pair.a.ep.base(), FI_OPT_ENDPOINT, FI_OPT_TX_SIZE, &size, length), -FI_EINVAL);
    pair.enable();
    EXPECT_EQ(pair.a.ep->ops->tx_size_left(pair.a.ep.get()), 8);
    size = 16;
    EXPECT_EQ(fi_setopt(pair.a.ep.base(), FI_OPT_ENDPOINT, FI_OPT_TX_SIZE, &size, length), -FI_EOPBADSTATE);
}

// Each table begins with its own size, and functions follow.
void expect_full(const void* table, const char* what) {
    size_t size;
    memcpy(&size, table, sizeof size);
    ASSERT_GE(size, 2 * sizeof(void*)) << what;
    for (size_t at = sizeof size; at < size; at += sizeof(void*)) {
        void* function;
        memcpy(&function, static_cast<const char*>(table) + at, sizeof function);
        EXPECT_NE(function, nullptr) << what << ", at byte " << at;
    }
}

TEST(Tables, OfEveryObjectAreFull) {
    Every every;
    for (const auto& [name, object] : every.all()) expect_full(object->ops, name.c_str());
    expect_full(every.network.fabric->ops, "fi_ops_fabric");
    expect_full(every.network.domain->ops, "fi_ops_domain");
    expect_full(every.network.domain->mr, "fi_ops_mr");
    expect_full(every.eq->ops, "fi_ops_eq");
    expect_full(every.cq->ops, "fi_ops_cq");
    expect_full(every.cntr->ops, "fi_ops_cntr");
    expect_full(every.poll->ops, "fi_ops_poll");
    expect_full(every.wait->ops, "fi_ops_wait");
    expect_full(every.av->ops, "fi_ops_av");
    expect_full(every.pep->ops, "fi_ops_ep of a pep");
    expect_full(every.pep->cm, "fi_ops_cm of a pep");
    expect_full(every.stx->ops, "fi_ops_ep of an stx");
    for (const Opened<fid_ep>* each : {&every.ep, &every.srx, &every.alias}) {
        const fid_ep& ep = *each->get();
        expect_full(ep.ops, "fi_ops_ep");
        expect_full(ep.cm, "fi_ops_cm");
        expect_full(ep.msg, "fi_ops_msg");
        expect_full(ep.rma, "fi_ops_rma");
        expect_full(ep.tagged, "fi_ops_tagged");
        expect_full(ep.atomic, "fi_ops_atomic");
        expect_full(ep.collective, "fi_ops_collective");
    }
}

}  // namespace
}  // namespace selvage::test
