// A structure as a table: one row for each field, with its label, its offset and how to show it.
//
// Invariants: a row's kind matches the type of the field at its offset; SELVAGE_FIELD is checked for that at compile
// time by the size of the field. Used by the files that show attribute structures. Constant data: any thread.
#pragma once

#include "impl/text/tostr_writer.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace selvage::impl {

enum class Show : std::uint8_t {
    kSize,             // size_t, decimal
    kNumber8,          // uint8_t, decimal
    kNumber16,         // uint16_t, decimal
    kNumber32,         // uint32_t, decimal
    kHex32,            // uint32_t, 0x and digits
    kTag,              // uint64_t, 0x and sixteen digits
    kVersion,          // uint32_t, major.minor
    kPointer,          // void*, (nil) for NULL
    kPointerAsNumber,  // void*, 0x0 for NULL
    kString,           // char*
    kSecret,           // a pointer; the line is there if it is not NULL, what it points to is not shown
    kCaps,             // uint64_t, a list of names; likewise below
    kMode,
    kOpFlags,
    kMsgOrder,
    kCompletionOrder,
    kMrMode,  // int
    kEpType,  // 32-bit enumerations
    kProtocol,
    kAddrFormat,
    kThreading,
    kProgress,
    kResourceMgmt,
    kAvType,
    kBusType,
    kLinkState,
    kCqFormat,
    kWaitObj,
    kWaitCond,
    kCntrEvents,
    kHmemIface,
    kCqFlags,  // uint64_t, a list of names
};

struct Field {
    std::string_view label;  // with ": " behind it
    std::uint16_t offset;
    Show show;
};

constexpr std::size_t shown_bytes(Show show) noexcept {
    switch (show) {
        case Show::kNumber8:
            return 1;
        case Show::kNumber16:
            return 2;
        case Show::kSize:
            return sizeof(std::size_t);
        case Show::kPointer:
        case Show::kPointerAsNumber:
        case Show::kString:
        case Show::kSecret:
            return sizeof(void*);
        case Show::kTag:
        case Show::kCaps:
        case Show::kMode:
        case Show::kOpFlags:
        case Show::kMsgOrder:
        case Show::kCompletionOrder:
        case Show::kCqFlags:
            return 8;
        default:
            return 4;
    }
}

consteval Field field(std::string_view label, std::size_t offset, std::size_t bytes, Show show) {
    if (bytes != shown_bytes(show)) throw "the field and the way to show it differ in size";
    return {label, static_cast<std::uint16_t>(offset), show};
}

#define SELVAGE_FIELD(structure, member, show) \
    field(#member ": ", offsetof(structure, member), sizeof(structure::member), show)

// One line for each row.
void write_fields(Writer& out, std::span<const Field> fields, const void* structure, unsigned indent) noexcept;

// "name:" and the rows four columns further, or "name: (null)".
void write_structure(Writer& out, std::string_view name, std::span<const Field> fields, const void* structure,
                     unsigned indent) noexcept;

}  // namespace selvage::impl
