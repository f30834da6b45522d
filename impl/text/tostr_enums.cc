// Names of the enumerated values. See tostr_enums.h.
#include "impl/text/tostr_enums.h"

#include "impl/base/abi_2x.h"
#include "impl/base/rdma.h"

#include <strings.h>

namespace selvage::impl {
namespace {

#define SELVAGE_VALUE(constant) \
    EnumName { static_cast<std::uint32_t>(constant), #constant }

constexpr EnumName kEpTypeRows[] = {
    SELVAGE_VALUE(FI_EP_UNSPEC), SELVAGE_VALUE(FI_EP_MSG),         SELVAGE_VALUE(FI_EP_DGRAM),
    SELVAGE_VALUE(FI_EP_RDM),    SELVAGE_VALUE(FI_EP_SOCK_STREAM), SELVAGE_VALUE(FI_EP_SOCK_DGRAM),
};

constexpr EnumName kAddrFormatRows[] = {
    SELVAGE_VALUE(FI_FORMAT_UNSPEC), SELVAGE_VALUE(FI_SOCKADDR),    SELVAGE_VALUE(FI_SOCKADDR_IN),
    SELVAGE_VALUE(FI_SOCKADDR_IN6),  SELVAGE_VALUE(FI_SOCKADDR_IB), SELVAGE_VALUE(FI_ADDR_PSMX),
    SELVAGE_VALUE(FI_ADDR_GNI),      SELVAGE_VALUE(FI_ADDR_BGQ),    SELVAGE_VALUE(FI_ADDR_MLX),
    SELVAGE_VALUE(FI_ADDR_STR),      SELVAGE_VALUE(FI_ADDR_PSMX2),  SELVAGE_VALUE(FI_ADDR_IB_UD),
    SELVAGE_VALUE(FI_ADDR_EFA),      SELVAGE_VALUE(FI_ADDR_PSMX3),  SELVAGE_VALUE(FI_ADDR_OPX),
    SELVAGE_VALUE(FI_ADDR_CXI),
};

constexpr EnumName kThreadingRows[] = {
    SELVAGE_VALUE(FI_THREAD_UNSPEC), SELVAGE_VALUE(FI_THREAD_SAFE),       SELVAGE_VALUE(FI_THREAD_FID),
    SELVAGE_VALUE(FI_THREAD_DOMAIN), SELVAGE_VALUE(FI_THREAD_COMPLETION), SELVAGE_VALUE(FI_THREAD_ENDPOINT),
};

constexpr EnumName kProgressRows[] = {
    SELVAGE_VALUE(FI_PROGRESS_UNSPEC),
    SELVAGE_VALUE(FI_PROGRESS_AUTO),
    SELVAGE_VALUE(FI_PROGRESS_MANUAL),
    {kProgressControlUnified, "FI_PROGRESS_CONTROL_UNIFIED"},
};

constexpr EnumName kResourceMgmtRows[] = {
    SELVAGE_VALUE(FI_RM_UNSPEC),
    SELVAGE_VALUE(FI_RM_DISABLED),
    SELVAGE_VALUE(FI_RM_ENABLED),
};

constexpr EnumName kProtocolRows[] = {
    SELVAGE_VALUE(FI_PROTO_UNSPEC),        SELVAGE_VALUE(FI_PROTO_RDMA_CM_IB_RC),
    SELVAGE_VALUE(FI_PROTO_IWARP),         SELVAGE_VALUE(FI_PROTO_IB_UD),
    SELVAGE_VALUE(FI_PROTO_PSMX),          SELVAGE_VALUE(FI_PROTO_UDP),
    SELVAGE_VALUE(FI_PROTO_SOCK_TCP),      SELVAGE_VALUE(FI_PROTO_MXM),
    SELVAGE_VALUE(FI_PROTO_IWARP_RDM),     SELVAGE_VALUE(FI_PROTO_IB_RDM),
    SELVAGE_VALUE(FI_PROTO_GNI),           SELVAGE_VALUE(FI_PROTO_RXM),
    SELVAGE_VALUE(FI_PROTO_RXD),           SELVAGE_VALUE(FI_PROTO_MLX),
    SELVAGE_VALUE(FI_PROTO_NETWORKDIRECT), SELVAGE_VALUE(FI_PROTO_PSMX2),
    SELVAGE_VALUE(FI_PROTO_SHM),           SELVAGE_VALUE(FI_PROTO_MRAIL),
    SELVAGE_VALUE(FI_PROTO_RSTREAM),       SELVAGE_VALUE(FI_PROTO_RDMA_CM_IB_XRC),
    SELVAGE_VALUE(FI_PROTO_EFA),           SELVAGE_VALUE(FI_PROTO_PSMX3),
    SELVAGE_VALUE(FI_PROTO_RXM_TCP),       SELVAGE_VALUE(FI_PROTO_OPX),
    SELVAGE_VALUE(FI_PROTO_CXI),           SELVAGE_VALUE(FI_PROTO_XNET),
};

constexpr EnumName kAvTypeRows[] = {
    SELVAGE_VALUE(FI_AV_UNSPEC),
    SELVAGE_VALUE(FI_AV_MAP),
    SELVAGE_VALUE(FI_AV_TABLE),
};

// What releases 1.20 to 2.6 added has no name in the headers at hand.
constexpr EnumName kDatatypeRows[] = {
    SELVAGE_VALUE(FI_INT8),
    SELVAGE_VALUE(FI_UINT8),
    SELVAGE_VALUE(FI_INT16),
    SELVAGE_VALUE(FI_UINT16),
    SELVAGE_VALUE(FI_INT32),
    SELVAGE_VALUE(FI_UINT32),
    SELVAGE_VALUE(FI_INT64),
    SELVAGE_VALUE(FI_UINT64),
    SELVAGE_VALUE(FI_FLOAT),
    SELVAGE_VALUE(FI_DOUBLE),
    SELVAGE_VALUE(FI_FLOAT_COMPLEX),
    SELVAGE_VALUE(FI_DOUBLE_COMPLEX),
    SELVAGE_VALUE(FI_LONG_DOUBLE),
    SELVAGE_VALUE(FI_LONG_DOUBLE_COMPLEX),
    SELVAGE_VALUE(FI_INT128),
    SELVAGE_VALUE(FI_UINT128),
    {FI_UINT128 + 1, "FI_FLOAT16"},
    {FI_UINT128 + 2, "FI_BFLOAT16"},
    {FI_UINT128 + 3, "FI_FLOAT8_E4M3"},
    {FI_UINT128 + 4, "FI_FLOAT8_E5M2"},
    SELVAGE_VALUE(FI_VOID),
};

constexpr EnumName kAtomicOpRows[] = {
    SELVAGE_VALUE(FI_MIN),      SELVAGE_VALUE(FI_MAX),         SELVAGE_VALUE(FI_SUM),
    SELVAGE_VALUE(FI_PROD),     SELVAGE_VALUE(FI_LOR),         SELVAGE_VALUE(FI_LAND),
    SELVAGE_VALUE(FI_BOR),      SELVAGE_VALUE(FI_BAND),        SELVAGE_VALUE(FI_LXOR),
    SELVAGE_VALUE(FI_BXOR),     SELVAGE_VALUE(FI_ATOMIC_READ), SELVAGE_VALUE(FI_ATOMIC_WRITE),
    SELVAGE_VALUE(FI_CSWAP),    SELVAGE_VALUE(FI_CSWAP_NE),    SELVAGE_VALUE(FI_CSWAP_LE),
    SELVAGE_VALUE(FI_CSWAP_LT), SELVAGE_VALUE(FI_CSWAP_GE),    SELVAGE_VALUE(FI_CSWAP_GT),
    SELVAGE_VALUE(FI_MSWAP),    {FI_MSWAP + 1, "FI_DIFF"},     SELVAGE_VALUE(FI_NOOP),
};

constexpr EnumName kEqEventRows[] = {
    SELVAGE_VALUE(FI_NOTIFY),        SELVAGE_VALUE(FI_CONNREQ),     SELVAGE_VALUE(FI_CONNECTED),
    SELVAGE_VALUE(FI_SHUTDOWN),      SELVAGE_VALUE(FI_MR_COMPLETE), SELVAGE_VALUE(FI_AV_COMPLETE),
    SELVAGE_VALUE(FI_JOIN_COMPLETE),
};

constexpr EnumName kOpTypeRows[] = {
    SELVAGE_VALUE(FI_OP_RECV),     SELVAGE_VALUE(FI_OP_SEND),         SELVAGE_VALUE(FI_OP_TRECV),
    SELVAGE_VALUE(FI_OP_TSEND),    SELVAGE_VALUE(FI_OP_READ),         SELVAGE_VALUE(FI_OP_WRITE),
    SELVAGE_VALUE(FI_OP_ATOMIC),   SELVAGE_VALUE(FI_OP_FETCH_ATOMIC), SELVAGE_VALUE(FI_OP_COMPARE_ATOMIC),
    SELVAGE_VALUE(FI_OP_CNTR_SET), SELVAGE_VALUE(FI_OP_CNTR_ADD),
};

constexpr EnumName kCollectiveOpRows[] = {
    SELVAGE_VALUE(FI_BARRIER),   SELVAGE_VALUE(FI_BROADCAST), SELVAGE_VALUE(FI_ALLTOALL),
    SELVAGE_VALUE(FI_ALLREDUCE), SELVAGE_VALUE(FI_ALLGATHER), SELVAGE_VALUE(FI_REDUCE_SCATTER),
    SELVAGE_VALUE(FI_REDUCE),    SELVAGE_VALUE(FI_SCATTER),   SELVAGE_VALUE(FI_GATHER),
};

constexpr EnumName kHmemIfaceRows[] = {
    SELVAGE_VALUE(FI_HMEM_SYSTEM), SELVAGE_VALUE(FI_HMEM_CUDA),   SELVAGE_VALUE(FI_HMEM_ROCR),
    SELVAGE_VALUE(FI_HMEM_ZE),     SELVAGE_VALUE(FI_HMEM_NEURON), SELVAGE_VALUE(FI_HMEM_SYNAPSEAI),
};

constexpr EnumName kCqFormatRows[] = {
    SELVAGE_VALUE(FI_CQ_FORMAT_UNSPEC), SELVAGE_VALUE(FI_CQ_FORMAT_CONTEXT), SELVAGE_VALUE(FI_CQ_FORMAT_MSG),
    SELVAGE_VALUE(FI_CQ_FORMAT_DATA),   SELVAGE_VALUE(FI_CQ_FORMAT_TAGGED),
};

constexpr EnumName kWaitObjRows[] = {
    SELVAGE_VALUE(FI_WAIT_NONE),   SELVAGE_VALUE(FI_WAIT_UNSPEC),     SELVAGE_VALUE(FI_WAIT_SET),
    SELVAGE_VALUE(FI_WAIT_FD),     SELVAGE_VALUE(FI_WAIT_MUTEX_COND), SELVAGE_VALUE(FI_WAIT_YIELD),
    SELVAGE_VALUE(FI_WAIT_POLLFD),
};

constexpr EnumName kWaitCondRows[] = {
    SELVAGE_VALUE(FI_CQ_COND_NONE),
    SELVAGE_VALUE(FI_CQ_COND_THRESHOLD),
};

constexpr EnumName kCntrEventRows[] = {
    SELVAGE_VALUE(FI_CNTR_EVENTS_COMP),
    {kCounterEventsBytes, "FI_CNTR_EVENTS_BYTES"},
};

// Levels and subsystems are shown as the environment variables spell them.
constexpr EnumName kLogLevelRows[] = {
    {FI_LOG_WARN, "warn"},
    {FI_LOG_TRACE, "trace"},
    {FI_LOG_INFO, "info"},
    {FI_LOG_DEBUG, "debug"},
};

constexpr EnumName kLogSubsysRows[] = {
    {FI_LOG_CORE, "core"},       {FI_LOG_FABRIC, "fabric"}, {FI_LOG_DOMAIN, "domain"}, {FI_LOG_EP_CTRL, "ep_ctrl"},
    {FI_LOG_EP_DATA, "ep_data"}, {FI_LOG_AV, "av"},         {FI_LOG_CQ, "cq"},         {FI_LOG_EQ, "eq"},
    {FI_LOG_MR, "mr"},           {FI_LOG_CNTR, "cntr"},
};

constexpr EnumName kBusTypeRows[] = {
    SELVAGE_VALUE(FI_BUS_UNKNOWN),
    SELVAGE_VALUE(FI_BUS_PCI),
};

constexpr EnumName kLinkStateRows[] = {
    SELVAGE_VALUE(FI_LINK_UNKNOWN),
    SELVAGE_VALUE(FI_LINK_DOWN),
    SELVAGE_VALUE(FI_LINK_UP),
};

#undef SELVAGE_VALUE

consteval EnumFamily family(std::span<const EnumName> rows, bool has_provider_values = false) {
    std::size_t dense = 0;
    while (dense < rows.size() && rows[dense].value == dense) ++dense;
    if (rows.size() - dense > 1) throw "the values are dense but for one far row";
    return {rows, dense, has_provider_values};
}

bool same_word(std::string_view left, std::string_view right) noexcept {
    return left.size() == right.size() && ::strncasecmp(left.data(), right.data(), left.size()) == 0;
}

}  // namespace

constinit const EnumFamily kEpTypeNames = family(kEpTypeRows);
constinit const EnumFamily kAddrFormatNames = family(kAddrFormatRows, true);
constinit const EnumFamily kThreadingNames = family(kThreadingRows);
constinit const EnumFamily kProgressNames = family(kProgressRows);
constinit const EnumFamily kResourceMgmtNames = family(kResourceMgmtRows);
constinit const EnumFamily kProtocolNames = family(kProtocolRows, true);
constinit const EnumFamily kAvTypeNames = family(kAvTypeRows);
constinit const EnumFamily kDatatypeNames = family(kDatatypeRows);
constinit const EnumFamily kAtomicOpNames = family(kAtomicOpRows);
constinit const EnumFamily kEqEventNames = family(kEqEventRows);
constinit const EnumFamily kOpTypeNames = family(kOpTypeRows);
constinit const EnumFamily kCollectiveOpNames = family(kCollectiveOpRows);
constinit const EnumFamily kHmemIfaceNames = family(kHmemIfaceRows);
constinit const EnumFamily kCqFormatNames = family(kCqFormatRows);
constinit const EnumFamily kLogLevelNames = family(kLogLevelRows);
constinit const EnumFamily kLogSubsysNames = family(kLogSubsysRows);
constinit const EnumFamily kWaitObjNames = family(kWaitObjRows);
constinit const EnumFamily kWaitCondNames = family(kWaitCondRows);
constinit const EnumFamily kCntrEventNames = family(kCntrEventRows);
constinit const EnumFamily kBusTypeNames = family(kBusTypeRows);
constinit const EnumFamily kLinkStateNames = family(kLinkStateRows);

std::string_view enum_name(const EnumFamily& family, std::uint32_t value) noexcept {
    if (value < family.dense) [[likely]]
        return family.rows[value].name;
    for (const EnumName& row : family.rows.subspan(family.dense)) {
        if (row.value == value) return row.name;
    }
    return {};
}

std::optional<std::uint32_t> enum_value(const EnumFamily& family, std::string_view name) noexcept {
    for (const EnumName& row : family.rows) {
        if (same_word(row.name, name)) return row.value;
    }
    return std::nullopt;
}

void write_enum(TextWriter& out, const EnumFamily& family, std::uint32_t value) noexcept {
    if (const std::string_view name = enum_name(family, value); !name.empty()) [[likely]] {
        out.put(name);
    } else if (family.has_provider_values && (value & FI_PROV_SPECIFIC) != 0) {
        out.put(std::string_view("Provider specific ("));
        out.hex_prefixed(value);
        out.put(')');
    } else {
        out.put(std::string_view("Unknown ("));
        out.decimal(value);
        out.put(')');
    }
}

}  // namespace selvage::impl
