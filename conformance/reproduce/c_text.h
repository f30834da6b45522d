// Values of the model as C expressions: literals, names of the interface, members, initializers.
//
// Private to reproduce/.  Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "model/value/field.h"
#include "model/value/query.h"

namespace selvage::conformance::c {

/// A number by the names of its family where the headers have them: "FI_MSG | FI_RMA", "99", "0x8000ULL".
std::string value(model::Family family, std::uint64_t v);
/// A plain number: decimal where short, else hexadecimal with suffix.
std::string number(std::uint64_t v);
/// A string literal or NULL.
std::string string(const model::Text& text);
/// "FI_VERSION(1, 17)".
std::string version(model::Version v);
/// The return value of a call by name: "-FI_ENODATA", "0".
std::string error(int ret);

/// The member behind a field, of the fi_info pointer `info`, 0 or NULL where its substructure is absent.
std::string member(std::string_view info, model::Field field);
/// The member behind a field, where its substructure is known to be there.
std::string plain_member(std::string_view info, model::Field field);
/// A condition that holds if the substructure of a field is there, with `&&` after it; "" for fields of fi_info.
std::string part_guard(std::string_view info, model::Field field);
/// The substructure that holds a field, "" if the fi_info itself: "tx_attr".
std::string part_of(model::Field field);
std::string_view part_name(model::Part part);
/// For bytes: the field that holds their length.
model::Field length_of(model::Field bytes);

/// How the memory of initialized hints is declared.
enum class Memory { Writable, Constant };
/// A definition `static struct fi_info NAME = {…};` with substructures and strings in place.
std::string define_info(std::string_view name, const model::Info& info, Memory memory);
/// The arguments of fi_getinfo, up to and without the last: `FI_VERSION(1, 17), NULL, NULL, 0, &hints`.
std::string getinfo_arguments(const model::Query& query, std::string_view hints);

/// Text that is safe inside a C comment, wrapped, each line after `lead`.
std::string comment(std::string_view text, std::string_view lead, std::size_t width = 100);
/// `text` made safe for a format string of printf.
std::string for_printf(std::string_view text);

}  // namespace selvage::conformance::c
