// Shows a structure by its table of fields. See tostr_fields.h.
#include "impl/text/tostr_fields.h"

#include "impl/base/rdma.h"
#include "impl/text/tostr_bits.h"
#include "impl/text/tostr_enums.h"

namespace selvage::impl {
namespace {

template <typename T>
T read(const void* structure, std::size_t offset) noexcept {
    T value;
    std::memcpy(&value, static_cast<const char*>(structure) + offset, sizeof value);
    return value;
}

void write_list(TextWriter& out, const BitFamily& family, std::uint64_t word) noexcept {
    out.put(std::string_view("[ "));
    write_bits(out, family, word);
    out.put(std::string_view(" ]"));
}

void write_version(TextWriter& out, std::uint32_t version) noexcept {
    out.decimal(FI_MAJOR(version));
    out.put('.');
    out.decimal(FI_MINOR(version));
}

// Numbers, pointers and strings; false if the kind is none of these.
bool write_plain(TextWriter& out, Show show, const void* structure, std::size_t offset) noexcept {
    switch (show) {
        case Show::Size:
            out.decimal(read<std::size_t>(structure, offset));
            return true;
        case Show::Number8:
            out.decimal(static_cast<unsigned>(read<std::uint8_t>(structure, offset)));
            return true;
        case Show::Number16:
            out.decimal(read<std::uint16_t>(structure, offset));
            return true;
        case Show::Number32:
            out.decimal(read<std::uint32_t>(structure, offset));
            return true;
        case Show::Hex32:
            out.hex_prefixed(read<std::uint32_t>(structure, offset));
            return true;
        case Show::Tag:
            out.put(std::string_view("0x"));
            out.hex(read<std::uint64_t>(structure, offset), 16);
            return true;
        case Show::Version:
            write_version(out, read<std::uint32_t>(structure, offset));
            return true;
        case Show::Pointer:
            out.pointer(read<const void*>(structure, offset));
            return true;
        case Show::PointerAsNumber:
            out.hex_prefixed(read<std::uintptr_t>(structure, offset));
            return true;
        case Show::String:
            out.c_string(read<const char*>(structure, offset));
            return true;
        case Show::Secret:
            out.put(std::string_view("(not shown)"));
            return true;
        default:
            return false;
    }
}

// Lists of bit names; false if the kind is none of these.
bool write_flags(TextWriter& out, Show show, const void* structure, std::size_t offset) noexcept {
    switch (show) {
        case Show::Caps:
            write_list(out, kCapsBits, read<std::uint64_t>(structure, offset));
            return true;
        case Show::Mode:
            write_list(out, kModeBits, read<std::uint64_t>(structure, offset));
            return true;
        case Show::OpFlags:
            write_list(out, kOpFlagBits, read<std::uint64_t>(structure, offset));
            return true;
        case Show::MsgOrder:
            write_list(out, kMsgOrderBits, read<std::uint64_t>(structure, offset));
            return true;
        case Show::CqFlags:
            write_list(out, kCqFlagBits, read<std::uint64_t>(structure, offset));
            return true;
        case Show::MrMode:
            write_list(out, kMrModeBits, read<std::uint32_t>(structure, offset));
            return true;
        case Show::CompletionOrder:
            out.put(std::string_view("[ "));
            write_completion_order(out, read<std::uint64_t>(structure, offset));
            out.put(std::string_view(" ]"));
            return true;
        default:
            return false;
    }
}

const EnumFamily& family_of(Show show) noexcept {
    switch (show) {
        case Show::EpType:
            return kEpTypeNames;
        case Show::Protocol:
            return kProtocolNames;
        case Show::AddrFormat:
            return kAddrFormatNames;
        case Show::Threading:
            return kThreadingNames;
        case Show::Progress:
            return kProgressNames;
        case Show::ResourceMgmt:
            return kResourceMgmtNames;
        case Show::AvType:
            return kAvTypeNames;
        case Show::BusType:
            return kBusTypeNames;
        case Show::CqFormat:
            return kCqFormatNames;
        case Show::WaitObj:
            return kWaitObjNames;
        case Show::WaitCond:
            return kWaitCondNames;
        case Show::CntrEvents:
            return kCntrEventNames;
        case Show::HmemIface:
            return kHmemIfaceNames;
        default:
            return kLinkStateNames;
    }
}

void write_value(TextWriter& out, Show show, const void* structure, std::size_t offset) noexcept {
    if (write_plain(out, show, structure, offset)) return;
    if (write_flags(out, show, structure, offset)) return;
    write_enum(out, family_of(show), read<std::uint32_t>(structure, offset));
}

}  // namespace

void write_fields(TextWriter& out, std::span<const Field> fields, const void* structure, unsigned indent) noexcept {
    for (const Field& field : fields) {
        if (field.show == Show::Secret && !read<const void*>(structure, field.offset)) continue;
        out.indent(indent);
        out.put(field.label);
        write_value(out, field.show, structure, field.offset);
        out.put('\n');
    }
}

void write_structure(TextWriter& out, std::string_view name, std::span<const Field> fields, const void* structure,
                     unsigned indent) noexcept {
    out.indent(indent);
    out.put(name);
    if (structure == nullptr) {
        out.put(std::string_view(": (null)\n"));
        return;
    }
    out.put(std::string_view(":\n"));
    write_fields(out, fields, structure, indent + 4);
}

}  // namespace selvage::impl
