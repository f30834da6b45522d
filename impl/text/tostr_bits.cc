// Names of the flag words. See tostr_bits.h.
#include "impl/text/tostr_bits.h"

#include "impl/base/rdma.h"

#include <bit>
#include <cstddef>

namespace selvage::impl {
namespace {

#define SELVAGE_BIT(constant) \
    BitName { static_cast<std::uint64_t>(constant), #constant }

constexpr BitName kCapsRows[] = {
    SELVAGE_BIT(FI_MSG),          SELVAGE_BIT(FI_RMA),
    SELVAGE_BIT(FI_TAGGED),       SELVAGE_BIT(FI_ATOMIC),
    SELVAGE_BIT(FI_MULTICAST),    SELVAGE_BIT(FI_COLLECTIVE),
    SELVAGE_BIT(FI_READ),         SELVAGE_BIT(FI_WRITE),
    SELVAGE_BIT(FI_RECV),         SELVAGE_BIT(FI_SEND),
    SELVAGE_BIT(FI_REMOTE_READ),  SELVAGE_BIT(FI_REMOTE_WRITE),
    SELVAGE_BIT(FI_MULTI_RECV),   SELVAGE_BIT(FI_REMOTE_CQ_DATA),
    SELVAGE_BIT(FI_TRIGGER),      SELVAGE_BIT(FI_FENCE),
    SELVAGE_BIT(FI_VARIABLE_MSG), SELVAGE_BIT(FI_RMA_PMEM),
    SELVAGE_BIT(FI_SOURCE_ERR),   SELVAGE_BIT(FI_LOCAL_COMM),
    SELVAGE_BIT(FI_REMOTE_COMM),  SELVAGE_BIT(FI_SHARED_AV),
    SELVAGE_BIT(FI_RMA_EVENT),    SELVAGE_BIT(FI_SOURCE),
    SELVAGE_BIT(FI_NAMED_RX_CTX), SELVAGE_BIT(FI_DIRECTED_RECV),
    SELVAGE_BIT(FI_HMEM),         SELVAGE_BIT(FI_AV_USER_ID),
    SELVAGE_BIT(FI_PEER),         SELVAGE_BIT(FI_XPU_TRIGGER),
};

constexpr BitName kModeRows[] = {
    SELVAGE_BIT(FI_CONTEXT),         SELVAGE_BIT(FI_MSG_PREFIX), SELVAGE_BIT(FI_ASYNC_IOV),
    SELVAGE_BIT(FI_RX_CQ_DATA),      SELVAGE_BIT(FI_LOCAL_MR),   SELVAGE_BIT(FI_NOTIFY_FLAGS_ONLY),
    SELVAGE_BIT(FI_RESTRICTED_COMP), SELVAGE_BIT(FI_CONTEXT2),   SELVAGE_BIT(FI_BUFFERED_RECV),
    SELVAGE_BIT(FI_PEER_TRANSFER),
};

// Operation flags proper come first. The rest are the flags of calls in general, where the headers give the bit one
// meaning only; bits 58 and 59 mean many things and keep their operation names.
constexpr BitName kOpFlagRows[] = {
    SELVAGE_BIT(FI_MULTICAST),
    SELVAGE_BIT(FI_MULTI_RECV),
    SELVAGE_BIT(FI_REMOTE_CQ_DATA),
    SELVAGE_BIT(FI_MORE),
    SELVAGE_BIT(FI_PEEK),
    SELVAGE_BIT(FI_TRIGGER),
    SELVAGE_BIT(FI_FENCE),
    SELVAGE_BIT(FI_COMPLETION),
    SELVAGE_BIT(FI_INJECT),
    SELVAGE_BIT(FI_INJECT_COMPLETE),
    SELVAGE_BIT(FI_TRANSMIT_COMPLETE),
    SELVAGE_BIT(FI_DELIVERY_COMPLETE),
    SELVAGE_BIT(FI_MATCH_COMPLETE),
    SELVAGE_BIT(FI_AFFINITY),
    SELVAGE_BIT(FI_CLAIM),
    SELVAGE_BIT(FI_DISCARD),
    SELVAGE_BIT(FI_PRIORITY),
    SELVAGE_BIT(FI_COMMIT_COMPLETE),
    SELVAGE_BIT(FI_MSG),
    SELVAGE_BIT(FI_RMA),
    SELVAGE_BIT(FI_TAGGED),
    SELVAGE_BIT(FI_ATOMIC),
    SELVAGE_BIT(FI_COLLECTIVE),
    SELVAGE_BIT(FI_READ),
    SELVAGE_BIT(FI_WRITE),
    SELVAGE_BIT(FI_RECV),
    SELVAGE_BIT(FI_SEND),
    SELVAGE_BIT(FI_REMOTE_READ),
    SELVAGE_BIT(FI_REMOTE_WRITE),
    SELVAGE_BIT(FI_PEER_TRANSFER),
    SELVAGE_BIT(FI_PEER),
    SELVAGE_BIT(FI_XPU_TRIGGER),
    SELVAGE_BIT(FI_RMA_PMEM),
    SELVAGE_BIT(FI_PROV_ATTR_ONLY),
    SELVAGE_BIT(FI_NUMERICHOST),
    SELVAGE_BIT(FI_RMA_EVENT),
};

constexpr BitName kMsgOrderRows[] = {
    SELVAGE_BIT(FI_ORDER_RAR),        SELVAGE_BIT(FI_ORDER_RAW),        SELVAGE_BIT(FI_ORDER_RAS),
    SELVAGE_BIT(FI_ORDER_WAR),        SELVAGE_BIT(FI_ORDER_WAW),        SELVAGE_BIT(FI_ORDER_WAS),
    SELVAGE_BIT(FI_ORDER_SAR),        SELVAGE_BIT(FI_ORDER_SAW),        SELVAGE_BIT(FI_ORDER_SAS),
    SELVAGE_BIT(FI_ORDER_RMA_RAR),    SELVAGE_BIT(FI_ORDER_RMA_RAW),    SELVAGE_BIT(FI_ORDER_RMA_WAR),
    SELVAGE_BIT(FI_ORDER_RMA_WAW),    SELVAGE_BIT(FI_ORDER_ATOMIC_RAR), SELVAGE_BIT(FI_ORDER_ATOMIC_RAW),
    SELVAGE_BIT(FI_ORDER_ATOMIC_WAR), SELVAGE_BIT(FI_ORDER_ATOMIC_WAW), SELVAGE_BIT(FI_ORDER_DATA),
};

constexpr BitName kCqFlagRows[] = {
    SELVAGE_BIT(FI_SEND),
    SELVAGE_BIT(FI_RECV),
    SELVAGE_BIT(FI_RMA),
    SELVAGE_BIT(FI_ATOMIC),
    SELVAGE_BIT(FI_MSG),
    SELVAGE_BIT(FI_TAGGED),
    SELVAGE_BIT(FI_READ),
    SELVAGE_BIT(FI_WRITE),
    SELVAGE_BIT(FI_REMOTE_READ),
    SELVAGE_BIT(FI_REMOTE_WRITE),
    SELVAGE_BIT(FI_REMOTE_CQ_DATA),
    SELVAGE_BIT(FI_MULTI_RECV),
    SELVAGE_BIT(FI_MORE),
    SELVAGE_BIT(FI_CLAIM),
    SELVAGE_BIT(FI_MULTICAST),
    SELVAGE_BIT(FI_COLLECTIVE),
    SELVAGE_BIT(FI_PEER_TRANSFER),
};

constexpr BitName kMrModeRows[] = {
    SELVAGE_BIT(FI_MR_BASIC),    SELVAGE_BIT(FI_MR_SCALABLE),   SELVAGE_BIT(FI_MR_LOCAL),
    SELVAGE_BIT(FI_MR_RAW),      SELVAGE_BIT(FI_MR_VIRT_ADDR),  SELVAGE_BIT(FI_MR_ALLOCATED),
    SELVAGE_BIT(FI_MR_PROV_KEY), SELVAGE_BIT(FI_MR_MMU_NOTIFY), SELVAGE_BIT(FI_MR_RMA_EVENT),
    SELVAGE_BIT(FI_MR_ENDPOINT), SELVAGE_BIT(FI_MR_HMEM),       SELVAGE_BIT(FI_MR_COLLECTIVE),
};

#undef SELVAGE_BIT

// Distinct single bits, or the build stops here.
consteval BitFamily family(std::span<const BitName> rows) {
    std::uint64_t known = 0;
    for (const BitName& row : rows) {
        if (!std::has_single_bit(row.bit) || (known & row.bit) != 0) throw "a row must name one bit of its own";
        known |= row.bit;
    }
    return {rows, known};
}

// Writes the names, and says what separates the next item: nothing if none was written.
std::string_view write_names(TextWriter& out, const BitFamily& family, std::uint64_t word,
                             std::string_view separator) noexcept {
    for (const BitName& row : family.rows) {
        if ((word & row.bit) == 0) continue;
        out.put(separator);
        out.put(row.name);
        separator = ", ";
    }
    return separator;
}

void write_word(TextWriter& out, const BitFamily& family, std::uint64_t word, std::string_view separator) noexcept {
    separator = write_names(out, family, word & family.known, separator);
    if (const std::uint64_t nameless = word & ~family.known; nameless != 0) {
        out.put(separator);
        out.hex_prefixed(nameless);
    }
}

}  // namespace

constinit const BitFamily kCapsBits = family(kCapsRows);
constinit const BitFamily kModeBits = family(kModeRows);
constinit const BitFamily kOpFlagBits = family(kOpFlagRows);
constinit const BitFamily kMsgOrderBits = family(kMsgOrderRows);
constinit const BitFamily kCqFlagBits = family(kCqFlagRows);
constinit const BitFamily kMrModeBits = family(kMrModeRows);

void write_bits(TextWriter& out, const BitFamily& family, std::uint64_t word) noexcept {
    if (word != 0) write_word(out, family, word, "");
}

void write_completion_order(TextWriter& out, std::uint64_t word) noexcept {
    std::string_view separator = "";
    if ((word & FI_ORDER_STRICT) == FI_ORDER_NONE) {
        out.put(std::string_view("FI_ORDER_NONE"));
        separator = ", ";
    } else if ((word & FI_ORDER_STRICT) == FI_ORDER_STRICT) {
        out.put(std::string_view("FI_ORDER_STRICT"));
        word &= ~std::uint64_t{FI_ORDER_STRICT};
        separator = ", ";
    }
    write_word(out, kMsgOrderBits, word, separator);
}

}  // namespace selvage::impl
