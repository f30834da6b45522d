// The predicates tostr.type.* of spec/clauses/tostr.toml, by hand from the text.
#include <gtest/gtest.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_trigger.h>

#include "model/test/tostr_make.h"
#include "model_gen/newer_names.h"

namespace selvage::model {
namespace {

using namespace fields_test;

// For each datatype of a number: a value, what names it, and what does not.
struct NumberCase {
    Ruling (*judge)(const TextCase&);
    std::uint64_t datatype, value;
    std::string_view right, wrong;
};
const NumberCase kNumbers[] = {
    {clause::tostr_type_ep_type, FI_TYPE_EP_TYPE, FI_EP_RDM, "FI_EP_RDM", "FI_EP_DGRAM"},
    {clause::tostr_type_caps, FI_TYPE_CAPS, FI_MSG | FI_RMA, "FI_MSG, FI_RMA", "FI_MSG"},
    {clause::tostr_type_op_flags, FI_TYPE_OP_FLAGS, FI_INJECT | FI_COMPLETION, "FI_INJECT FI_COMPLETION", "FI_INJECT"},
    {clause::tostr_type_addr_format, FI_TYPE_ADDR_FORMAT, FI_SOCKADDR_IN, "FI_SOCKADDR_IN", "FI_SOCKADDR_IN6"},
    {clause::tostr_type_threading, FI_TYPE_THREADING, FI_THREAD_SAFE, "FI_THREAD_SAFE", "Unknown"},
    {clause::tostr_type_progress, FI_TYPE_PROGRESS, FI_PROGRESS_AUTO, "FI_PROGRESS_AUTO", "FI_PROGRESS_MANUAL"},
    {clause::tostr_type_protocol, FI_TYPE_PROTOCOL, FI_PROTO_RXM, "FI_PROTO_RXM", "FI_PROTO_RXM_TCP"},
    {clause::tostr_type_msg_order, FI_TYPE_MSG_ORDER, FI_ORDER_SAS, "FI_ORDER_SAS", "FI_ORDER_SAW"},
    {clause::tostr_type_mode, FI_TYPE_MODE, FI_CONTEXT, "[FI_CONTEXT]", "[FI_CONTEXT2]"},
    {clause::tostr_type_av_type, FI_TYPE_AV_TYPE, FI_AV_MAP, "FI_AV_MAP", "FI_AV_TABLE"},
    {clause::tostr_type_atomic_type, FI_TYPE_ATOMIC_TYPE, FI_INT8, "FI_INT8", "FI_UINT8"},
    {clause::tostr_type_atomic_op, FI_TYPE_ATOMIC_OP, FI_MIN, "FI_MIN", "FI_MAX"},
    {clause::tostr_type_eq_event, FI_TYPE_EQ_EVENT, FI_CONNREQ, "FI_CONNREQ", ""},
    {clause::tostr_type_cq_event_flags, FI_TYPE_CQ_EVENT_FLAGS, FI_RECV | FI_TAGGED, "FI_RECV|FI_TAGGED", "FI_TAGGED"},
    {clause::tostr_type_mr_mode, FI_TYPE_MR_MODE, FI_MR_LOCAL, "FI_MR_LOCAL", "FI_LOCAL_MR"},
    {clause::tostr_type_op_type, FI_TYPE_OP_TYPE, FI_OP_READ, "FI_OP_READ", "FI_OP_WRITE"},
    {clause::tostr_type_hmem_iface, FI_TYPE_HMEM_IFACE, FI_HMEM_CUDA, "FI_HMEM_CUDA", "FI_HMEM_ZE"},
    {clause::tostr_type_cq_format, FI_TYPE_CQ_FORMAT, FI_CQ_FORMAT_MSG, "FI_CQ_FORMAT_MSG", "FI_CQ_FORMAT_DATA"},
    {clause::tostr_type_log_level, FI_TYPE_LOG_LEVEL, 2, "info", "debug"},
    {clause::tostr_type_log_subsys, FI_TYPE_LOG_SUBSYS, 3, "ep_ctrl", "ep_data"},
};

TEST(TostrType, NamesItsValue) {
    for (const auto& n : kNumbers) {
        EXPECT_EQ(rule(n.judge, said(n.datatype, n.value, n.right)), kHolds) << n.right;
        EXPECT_EQ(rule(n.judge, said(n.datatype, n.value, n.wrong)), kBroken) << n.wrong;
        EXPECT_EQ(rule(n.judge, said(FI_TYPE_VERSION, n.value, n.wrong)), kSkips);
    }
}

TEST(TostrType, NamesNothingThatWasNotGiven) {
    EXPECT_EQ(rule(clause::tostr_type_caps, said(FI_TYPE_CAPS, FI_MSG, "FI_MSG, FI_RMA")), kBroken);
    EXPECT_EQ(rule(clause::tostr_type_ep_type, said(FI_TYPE_EP_TYPE, FI_EP_MSG, "FI_EP_MSG FI_EP_RDM")), kBroken);
    EXPECT_EQ(rule(clause::tostr_type_caps, said(FI_TYPE_CAPS, FI_MSG, "caps: FI_MSG (0x2)")), kHolds);
}

TEST(TostrType, TakesAnyNameOfOneBit) {
    EXPECT_EQ(rule(clause::tostr_type_caps, said(FI_TYPE_CAPS, FI_ATOMIC, "FI_ATOMICS")), kHolds);
    EXPECT_EQ(rule(clause::tostr_type_caps, said(FI_TYPE_CAPS, FI_SEND, "FI_TRANSMIT")), kHolds);
}

TEST(TostrType, AsksNoYoungerNamesThanTheLibrary) {
    auto c = said(FI_TYPE_HMEM_IFACE, FI_HMEM_SYNAPSEAI, "Unknown");
    EXPECT_EQ(rule(clause::tostr_type_hmem_iface, c), kBroken);
    c.version = "1.11";
    EXPECT_EQ(rule(clause::tostr_type_hmem_iface, c), kHolds);
}

TEST(TostrType, IsJudgedOnWholeTextsOnly) {
    const auto judge = clause::tostr_type_caps;
    EXPECT_EQ(rule(judge, cut("FI_MSG, FI_RMA", 8, "FI_MSG,")), kSkips);
    EXPECT_EQ(rule(judge, cut("FI_MSG, FI_RMA", 15, "FI_MSG, FI_R")), kSkips);
    EXPECT_EQ(rule(judge, cut("FI_MSG, FI_RMA", 100, "FI_MSG")), kBroken);
    EXPECT_EQ(rule(judge, crashed(said(FI_TYPE_CAPS, FI_MSG, ""))), kSkips);
    EXPECT_EQ(rule(judge, internal(said(FI_TYPE_CAPS, FI_MSG, "FI_RMA"))), kBroken);
    auto c = said(FI_TYPE_CAPS, FI_MSG, "FI_RMA");
    c.data_null = true;
    EXPECT_EQ(rule(judge, c), kSkips);
    c = said(FI_TYPE_CAPS, FI_MSG, "FI_RMA");
    c.concurrent = true;
    EXPECT_EQ(rule(judge, c), kSkips);
}

TEST(TostrType, LeavesValuesWithoutANameToTheirOwnClause) {
    EXPECT_EQ(rule(clause::tostr_type_ep_type, said(FI_TYPE_EP_TYPE, 999, "Unknown")), kSkips);
    EXPECT_EQ(rule(clause::tostr_type_caps, said(FI_TYPE_CAPS, FI_MSG | 1ULL << 62, "")), kSkips);
    EXPECT_EQ(rule(clause::tostr_type_caps, said(FI_TYPE_CAPS, 0, "")), kSkips);
}

TEST(TostrType, ReadsEnumsAs32Bits) {
    EXPECT_EQ(rule(clause::tostr_type_ep_type, said(FI_TYPE_EP_TYPE, FI_EP_RDM | 1ULL << 40, "FI_EP_RDM")), kHolds);
}

TEST(TostrType, CountsNoPrefixAndNoCaseForLogWords) {
    EXPECT_EQ(rule(clause::tostr_type_log_level, said(FI_TYPE_LOG_LEVEL, 0, "FI_LOG_WARN")), kHolds);
    EXPECT_EQ(rule(clause::tostr_type_log_level, said(FI_TYPE_LOG_LEVEL, 0, "Warn")), kHolds);
    EXPECT_EQ(rule(clause::tostr_type_log_level, said(FI_TYPE_LOG_LEVEL, 0, "warning-free")), kBroken);
}

TEST(TostrType, SaysSomethingOfAnObject) {
    EXPECT_EQ(rule(clause::tostr_type_fid, said(FI_TYPE_FID, 0, "fid: 0x7f00")), kHolds);
    EXPECT_EQ(rule(clause::tostr_type_fid, said(FI_TYPE_FID, 0, "")), kBroken);
    EXPECT_EQ(rule(clause::tostr_type_fid, said(FI_TYPE_CAPS, 0, "")), kSkips);
}

TEST(TostrVersion, IsThatOfTheLibrary) {
    const auto judge = clause::tostr_type_version;
    EXPECT_EQ(rule(judge, said(FI_TYPE_VERSION, 5, "1.17")), kHolds);
    EXPECT_EQ(rule(judge, said(FI_TYPE_VERSION, 5, "1.17.0")), kHolds);
    EXPECT_EQ(rule(judge, said(FI_TYPE_VERSION, 5, "1.170")), kBroken);
    EXPECT_EQ(rule(judge, said(FI_TYPE_VERSION, 5, "1.6")), kBroken);
    EXPECT_EQ(rule(judge, said(FI_TYPE_CAPS, 5, "1.6")), kSkips);
}

TEST(TostrVersion, IsTheSameWithoutData) {
    const auto judge = clause::tostr_type_version_ignores_data;
    auto c = said(FI_TYPE_VERSION, 0, "1.17.0");
    EXPECT_EQ(rule(judge, c), kSkips);
    c.data_null = true;
    EXPECT_EQ(rule(judge, c), kHolds);
    EXPECT_EQ(rule(judge, crashed(c)), kBroken);
    c.terminated = false;  // NULL came back
    c.string = {};
    EXPECT_EQ(rule(judge, c), kBroken);
}

TEST(TostrUnlisted, DoesNoHarm) {
    const auto judge = clause::tostr_type_unlisted;
    EXPECT_EQ(rule(judge, said(4000, 0, "Unknown type")), kHolds);
    EXPECT_EQ(rule(judge, crashed(said(4000, 0, ""))), kBroken);
    EXPECT_EQ(rule(judge, said(FI_TYPE_CAPS, 0, "")), kSkips);
    auto endless = said(4000, 0, "zzz");
    endless.terminated = false;
    EXPECT_EQ(rule(judge, endless), kBroken);
    endless.returned_buffer = false;  // NULL came back
    EXPECT_EQ(rule(judge, endless), kHolds);
}

// Structures.  Any layout will do that puts a value after the name of its field.
constexpr std::string_view kTx =
    "fi_tx_attr:\n    caps: [ FI_MSG, FI_SEND ]\n    mode: [  ]\n    op_flags: [ FI_INJECT ]\n    msg_order: [  ]\n"
    "    comp_order: [ FI_ORDER_STRICT ]\n    inject_size: 64\n    size: 1024\n    iov_limit: 4\n    rma_iov_limit: "
    "0x2\n"
    "    tclass: 0x0\n";

Info tx_info() {
    return info({{Field::tx_caps, FI_MSG | FI_SEND},
                 {Field::tx_op_flags, FI_INJECT},
                 {Field::tx_comp_order, FI_ORDER_STRICT},
                 {Field::tx_inject_size, 64},
                 {Field::tx_size, 1024},
                 {Field::tx_iov_limit, 4},
                 {Field::tx_rma_iov_limit, 2}});
}

std::string without(std::string_view text, std::string_view part, std::string_view instead = {}) {
    std::string out(text);
    const auto at = out.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    return out.replace(at, part.size(), instead);
}

TEST(TostrTxAttr, SaysEveryFieldAndItsValue) {
    const auto judge = clause::tostr_type_tx_attr;
    const Info i = tx_info();
    EXPECT_EQ(rule(judge, said(FI_TYPE_TX_ATTR, i, kTx)), kHolds);
    EXPECT_EQ(rule(judge, said(FI_TYPE_TX_ATTR, i, without(kTx, ", FI_SEND"))), kBroken);
    EXPECT_EQ(rule(judge, said(FI_TYPE_TX_ATTR, i, without(kTx, "FI_ORDER_STRICT"))), kBroken);
    EXPECT_EQ(rule(judge, said(FI_TYPE_TX_ATTR, i, without(kTx, "    size: 1024\n"))), kBroken);
    EXPECT_EQ(rule(judge, said(FI_TYPE_TX_ATTR, i, without(kTx, "1024", "102"))), kBroken);
    EXPECT_EQ(rule(judge, said(FI_TYPE_TX_ATTR, i, without(kTx, "iov_limit: 4", "iov_limit: 2"))), kBroken);
    EXPECT_EQ(rule(judge, said(FI_TYPE_RX_ATTR, i, kTx)), kSkips);
    EXPECT_EQ(rule(judge, said(FI_TYPE_TX_ATTR, 0, kTx)), kSkips);  // no structure
}

TEST(TostrTxAttr, MayLookQuiteDifferent) {
    constexpr std::string_view kOneLine =
        "{caps=FI_SEND|FI_MSG,mode=0,op_flags=FI_INJECT,msg_order=none,comp_order=FI_ORDER_STRICT,inject_size=0x40,"
        "size=1024,iov_limit=4,rma_iov_limit=2,tclass=FI_TC_UNSPEC}";
    const Info i = tx_info();
    EXPECT_EQ(rule(clause::tostr_type_tx_attr, said(FI_TYPE_TX_ATTR, i, kOneLine)), kHolds);
}

TEST(TostrTxAttr, TellsWhatIsMissing) {
    const Info i = tx_info();
    const auto text = without(kTx, "    size: 1024\n");
    auto r = clause::tostr_type_tx_attr(said(FI_TYPE_TX_ATTR, i, text));
    ASSERT_TRUE(r.is_broken());
    EXPECT_EQ(r.evidence().note, "does not say size, the name of tx_attr.size");  // inject_size holds the letters
    r = clause::tostr_type_tx_attr(said(FI_TYPE_TX_ATTR, i, "nothing"));
    EXPECT_EQ(r.evidence().expected_text, "caps");
}

TEST(TostrRxAttr, SaysEveryFieldAndItsValue) {
    constexpr std::string_view kRx = "caps mode op_flags msg_order comp_order total_buffered_recv 5 size 6 iov_limit 7";
    const Info i = info({{Field::rx_total_buffered_recv, 5}, {Field::rx_size, 6}, {Field::rx_iov_limit, 7}});
    EXPECT_EQ(rule(clause::tostr_type_rx_attr, said(FI_TYPE_RX_ATTR, i, kRx)), kHolds);
    EXPECT_EQ(rule(clause::tostr_type_rx_attr, said(FI_TYPE_RX_ATTR, i, without(kRx, "total_buffered_recv 5"))),
              kBroken);
    EXPECT_EQ(rule(clause::tostr_type_rx_attr, said(FI_TYPE_TX_ATTR, i, kRx)), kSkips);
}

TEST(TostrEpAttr, SaysEveryFieldAndItsValue) {
    constexpr std::string_view kEp =
        "type FI_EP_RDM protocol FI_PROTO_SHM protocol_version 1 max_msg_size 18446744073709551615 msg_prefix_size 0 "
        "max_order_raw_size 0 max_order_war_size 0 max_order_waw_size 0 mem_tag_format 0x00000000000000ff tx_ctx_cnt 1 "
        "rx_ctx_cnt 1 auth_key_size 0";
    const auto judge = clause::tostr_type_ep_attr;
    Info i = info({{Field::ep_type, FI_EP_RDM},
                   {Field::ep_protocol, FI_PROTO_SHM},
                   {Field::ep_protocol_version, 1},
                   {Field::ep_max_msg_size, ~0ULL},
                   {Field::ep_mem_tag_format, 0xff},
                   {Field::ep_tx_ctx_cnt, 1},
                   {Field::ep_rx_ctx_cnt, 1}});
    EXPECT_EQ(rule(judge, said(FI_TYPE_EP_ATTR, i, kEp)), kHolds);
    EXPECT_EQ(rule(judge, said(FI_TYPE_EP_ATTR, i, without(kEp, "18446744073709551615", "unlimited"))), kHolds);
    EXPECT_EQ(rule(judge, said(FI_TYPE_EP_ATTR, i, without(kEp, "FI_EP_RDM"))), kBroken);
    EXPECT_EQ(rule(judge, said(FI_TYPE_EP_ATTR, i, without(kEp, "ff", "fe"))), kBroken);
    EXPECT_EQ(rule(judge, said(FI_TYPE_TX_ATTR, i, kEp)), kSkips);
    i.ep.auth_key = "key";
    i.ep.auth_key_size = 3;
    const auto sized = without(kEp, "auth_key_size 0", "auth_key_size 3");
    EXPECT_EQ(rule(judge, said(FI_TYPE_EP_ATTR, i, sized)), kBroken);  // a key, and no word of it
    EXPECT_EQ(rule(judge, said(FI_TYPE_EP_ATTR, i, std::string(sized) + " auth_key 6b6579")), kHolds);
}

TEST(TostrFabricAttr, SaysNamesAndVersions) {
    constexpr std::string_view kFabric = "name: net prov_name: tcp prov_version: 117.0 api_version: 1.17";
    const auto judge = clause::tostr_type_fabric_attr;
    Info i = info({{Field::fabric_prov_version, 117U << 16}, {Field::fabric_api_version, 1U << 16 | 17}});
    i.fabric.name = "net";
    i.fabric.prov_name = "tcp";
    EXPECT_EQ(rule(judge, said(FI_TYPE_FABRIC_ATTR, i, kFabric)), kHolds);
    EXPECT_EQ(rule(judge, said(FI_TYPE_FABRIC_ATTR, i, without(kFabric, "tcp"))), kBroken);
    EXPECT_EQ(rule(judge, said(FI_TYPE_FABRIC_ATTR, i, without(kFabric, "117.0", "118.0"))), kBroken);
    EXPECT_EQ(rule(judge, said(FI_TYPE_INFO, i, kFabric)), kSkips);
    i.fabric.fabric = 1;  // an open fabric, and no word of it
    EXPECT_EQ(rule(judge, said(FI_TYPE_FABRIC_ATTR, i, kFabric)), kBroken);
}

std::string all_fields(Part only) {
    std::string out;
    for (const FieldRow& r : number_fields())
        if (only == Part::Info || r.part == only)
            out += std::string(r.path.substr(r.path.rfind('.') + 1)) +
                   ": 0 FI_EP_UNSPEC FI_PROTO_UNSPEC FI_FORMAT_UNSPEC "
                   "FI_THREAD_UNSPEC FI_PROGRESS_UNSPEC FI_RM_UNSPEC FI_AV_UNSPEC\n";
    return out;
}

TEST(TostrDomainAttr, SaysEveryFieldAndItsValue) {
    const auto judge = clause::tostr_type_domain_attr;
    const auto text = all_fields(Part::Domain);
    Info i = info();
    EXPECT_EQ(rule(judge, said(FI_TYPE_DOMAIN_ATTR, i, text)), kHolds);
    EXPECT_EQ(rule(judge, said(FI_TYPE_DOMAIN_ATTR, i, without(text, "mr_cnt"))), kBroken);
    EXPECT_EQ(rule(judge, said(FI_TYPE_DOMAIN_ATTR, i, without(text, "threading:", "threading: caps"))), kBroken);
    EXPECT_EQ(rule(judge, said(FI_TYPE_CAPS, 0, text)), kSkips);
    i.domain.name = "eth0";
    EXPECT_EQ(rule(judge, said(FI_TYPE_DOMAIN_ATTR, i, text)), kBroken);
}

TEST(TostrInfo, SaysEveryFieldOfTheSubstructuresThatAreThere) {
    const auto judge = clause::tostr_type_info;
    const auto text = all_fields(Part::Info);
    Info i = info();
    EXPECT_EQ(rule(judge, said(FI_TYPE_INFO, i, text)), kHolds);
    const auto less = without(text, "inject_size");
    EXPECT_EQ(rule(judge, said(FI_TYPE_INFO, i, less)), kBroken);
    i.drop(Part::Tx);
    EXPECT_EQ(rule(judge, said(FI_TYPE_INFO, i, less)), kHolds);
    EXPECT_EQ(rule(judge, said(FI_TYPE_TX_ATTR, i, less)), kSkips);
}

TEST(TostrInfo, SaysTheValuesOfTheWholeAndOfItsParts) {
    const auto text = all_fields(Part::Info);
    const Info big = info({{Field::tx_inject_size, 77}});
    EXPECT_EQ(rule(clause::tostr_type_info, said(FI_TYPE_INFO, big, text)), kBroken);
    const Info mode = info({{Field::mode, FI_CONTEXT}});
    EXPECT_EQ(rule(clause::tostr_type_info, said(FI_TYPE_INFO, mode, text)), kBroken);
}

TEST(TostrInfo, NeedNotSayANameThatNoHeaderHas) {
    const auto text = all_fields(Part::Info);
    const Info xpu = info({{Field::caps, FI_XPU}});
    EXPECT_EQ(rule(clause::tostr_type_info, said(FI_TYPE_INFO, xpu, text)), kHolds);
    EXPECT_EQ(rule(clause::tostr_type_caps, said(FI_TYPE_CAPS, FI_XPU, "")), kHolds);
    const Info more = info({{Field::caps, FI_XPU | FI_TRIGGER}});
    EXPECT_EQ(rule(clause::tostr_type_info, said(FI_TYPE_INFO, more, text)), kBroken) << "FI_TRIGGER has a name";
}

}  // namespace
}  // namespace selvage::model
