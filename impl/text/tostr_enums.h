// Names of the enumerated values: endpoint types, address formats, protocols, events, log levels and so on.
//
// Invariants: the row at index i of a family's dense part names value i, so a look-up is one array access; the few
// values far away follow it. A value without a name is shown as a number. Constant data: any thread.
#pragma once

#include "impl/text/tostr_writer.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace selvage::impl {

struct EnumName {
    std::uint32_t value;
    std::string_view name;
};

struct EnumFamily {
    std::span<const EnumName> rows;
    std::size_t dense;         // rows[i].value == i for every i < dense
    bool has_provider_values;  // values with FI_PROV_SPECIFIC set belong to a provider
};

extern const EnumFamily kEpTypeNames;
extern const EnumFamily kAddrFormatNames;
extern const EnumFamily kThreadingNames;
extern const EnumFamily kProgressNames;
extern const EnumFamily kResourceMgmtNames;
extern const EnumFamily kProtocolNames;
extern const EnumFamily kAvTypeNames;
extern const EnumFamily kDatatypeNames;
extern const EnumFamily kAtomicOpNames;
extern const EnumFamily kEqEventNames;
extern const EnumFamily kOpTypeNames;
extern const EnumFamily kCollectiveOpNames;
extern const EnumFamily kHmemIfaceNames;
extern const EnumFamily kCqFormatNames;
extern const EnumFamily kLogLevelNames;
extern const EnumFamily kLogSubsysNames;
extern const EnumFamily kBusTypeNames;
extern const EnumFamily kWaitObjNames;
extern const EnumFamily kWaitCondNames;
extern const EnumFamily kCntrEventNames;
extern const EnumFamily kLinkStateNames;

// The name, or an empty view.
std::string_view enum_name(const EnumFamily& family, std::uint32_t value) noexcept;

// The value of a name, in either case: used to read settings.
std::optional<std::uint32_t> enum_value(const EnumFamily& family, std::string_view name) noexcept;

void write_enum(TextWriter& out, const EnumFamily& family, std::uint32_t value) noexcept;

}  // namespace selvage::impl
