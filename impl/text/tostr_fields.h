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
    Size,             // size_t, decimal
    Number8,          // uint8_t, decimal
    Number16,         // uint16_t, decimal
    Number32,         // uint32_t, decimal
    Hex32,            // uint32_t, 0x and digits
    Tag,              // uint64_t, 0x and sixteen digits
    Version,          // uint32_t, major.minor
    Pointer,          // void*, (nil) for NULL
    PointerAsNumber,  // void*, 0x0 for NULL
    String,           // char*
    Secret,           // a pointer; the line is there if it is not NULL, what it points to is not shown
    Caps,             // uint64_t, a list of names; likewise below
    Mode,
    OpFlags,
    MsgOrder,
    CompletionOrder,
    MrMode,  // int
    EpType,  // 32-bit enumerations
    Protocol,
    AddrFormat,
    Threading,
    Progress,
    ResourceMgmt,
    AvType,
    BusType,
    LinkState,
    CqFormat,
    WaitObj,
    WaitCond,
    CntrEvents,
    HmemIface,
    CqFlags,  // uint64_t, a list of names
};

struct Field {
    std::string_view label;  // with ": " behind it
    std::uint16_t offset;
    Show show;
};

constexpr std::size_t shown_bytes(Show show) noexcept {
    switch (show) {
        case Show::Number8:
            return 1;
        case Show::Number16:
            return 2;
        case Show::Size:
            return sizeof(std::size_t);
        case Show::Pointer:
        case Show::PointerAsNumber:
        case Show::String:
        case Show::Secret:
            return sizeof(void*);
        case Show::Tag:
        case Show::Caps:
        case Show::Mode:
        case Show::OpFlags:
        case Show::MsgOrder:
        case Show::CompletionOrder:
        case Show::CqFlags:
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
void write_fields(TextWriter& out, std::span<const Field> fields, const void* structure, unsigned indent) noexcept;

// "name:" and the rows four columns further, or "name: (null)".
void write_structure(TextWriter& out, std::string_view name, std::span<const Field> fields, const void* structure,
                     unsigned indent) noexcept;

}  // namespace selvage::impl
