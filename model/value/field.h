// Every field of an Info in one table: its path in the text form, where it lives, what its values mean.
//
// Whoever walks over hints (text form, generators, shrinking, reports, reproducers, codec) walks over this table, so
// that a field is written down once, in field_table.h.  Pure data and accessors; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "model/value/field_table.h"
#include "model/value/info.h"
#include "model_gen/vocabulary.h"

namespace selvage::model {

/// What kind of value a field holds.
enum class Form : std::uint8_t {
    Bits,    ///< a set of named bits
    Enum,    ///< one of named values; 0 is "unspecified"
    Size,    ///< a count or size: more is more
    Number,  ///< a number without an order (protocol_version, tclass, tag format)
    String,  ///< a string, or NULL
    Bytes,   ///< raw bytes, or NULL
    Object,  ///< an opened object, or NULL
};

/// What a field says in hints.
enum class Hint : std::uint8_t {
    Request,  ///< zero asks for nothing; a smaller size and fewer bits ask for less
    Duty,     ///< bits that the application is ready to keep: more of them ask for less
    Length,   ///< belongs to the bytes that it is named after
};

/// Names a field of an Info, or something else that a finding can speak of.
enum class Field : std::uint8_t {
#define X(name, ...) name,
    SELVAGE_NUMBER_FIELDS(X) SELVAGE_TEXT_FIELDS(X) SELVAGE_CALL_FIELDS(X)
#undef X
#define X(part, name, abi) name,
        SELVAGE_PARTS(X)
#undef X
#define X(name, path) name,
            SELVAGE_OTHER_FIELDS(X)
#undef X
};

/// One row of the table.
struct FieldRow {
    Field field;
    std::string_view path;  ///< as the text form and the C language spell it: "tx_attr.size"
    Part part;
    Form form;
    Family family;  ///< whose words its values are; Family::none for plain numbers
    Hint hint = Hint::Request;
    std::uint64_t widest = ~std::uint64_t{0};  ///< the largest value that the member of the interface has room for
    /// Of bytes, the field that holds their length; of a length, its bytes; Field::subject for others.
    Field partner = Field::subject;
};

/// A structure that an fi_info points to, and the field that names it in findings.
struct PartRow {
    Part part;
    Field field;
    std::string_view path;  ///< "tx_attr"
};

/// All fields that hold a number (bits, enums, sizes, numbers, handles), in ABI order.
std::span<const FieldRow> number_fields();
/// All fields that hold text or bytes.
std::span<const FieldRow> text_fields();
/// The parts, in ABI order: the attribute structures, and the nic.
std::span<const PartRow> parts();
/// The five attribute structures.
inline std::span<const PartRow> attributes() { return parts().first(5); }
/// The part that is spelt `path`, or nullptr.
const PartRow* find_part(std::string_view path);
/// The part that a field names as a whole, or nullptr.
const PartRow* part_of(Field f);
/// The row of any field; fields that are not of an Info have Part::Call.
const FieldRow& row(Field f);
/// The field spelt `path`, or nullptr.
const FieldRow* find_field(std::string_view path);
/// True for fields of SELVAGE_NUMBER_FIELDS, which come first.
constexpr bool is_number(Field f) { return f < Field::src_addr; }
/// True for fields of SELVAGE_TEXT_FIELDS.
bool is_text(Field f);

/// Where each number field lies in an Info, in the order of Field.  Judging reads some two hundred fields for a
/// query: a load by offset has no branch to guess, and one by a field that is known when compiling has no table
/// either.
inline constexpr std::uint16_t kNumberOffsets[] = {
#define X(name, path, part, structure, abi, member, ...) offsetof(Info, member),
    SELVAGE_NUMBER_FIELDS(X)
#undef X
};
static_assert(std::is_standard_layout_v<Info>);
#define X(name, path, part, structure, abi, member, ...) \
    static_assert(std::is_same_v<decltype(std::declval<Info&>().member), std::uint64_t>);
SELVAGE_NUMBER_FIELDS(X)
#undef X

/// The value of a number field.  Zero when its part is absent.
inline std::uint64_t get(const Info& info, Field f) {
    if (!is_number(f)) return 0;
    const auto* at = reinterpret_cast<const std::byte*>(&info) + kNumberOffsets[static_cast<std::size_t>(f)];
    return *reinterpret_cast<const std::uint64_t*>(at);
}
/// Sets a number field.  Does not make its part present.
inline void set(Info& info, Field f, std::uint64_t value) {
    if (!is_number(f)) return;
    auto* at = reinterpret_cast<std::byte*>(&info) + kNumberOffsets[static_cast<std::size_t>(f)];
    *reinterpret_cast<std::uint64_t*>(at) = value;
}
/// The value of a text field.
const Text& text(const Info& info, Field f);
Text& text(Info& info, Field f);

/// True for objects and addresses with their lengths, and keys: they depend on the call, so that no profile has them.
bool is_of_the_call(const FieldRow& field);

/// Sets the length of a text field, if it has one, to that of its bytes.
void fit_length(Info& info, Field text_field);
/// Asks for nothing in a field any more: zero, or NULL and its length zero.
void forget(Info& info, Field f);
/// Drops a part and all that it holds.
void drop_part(Info& info, Part part);

}  // namespace selvage::model
