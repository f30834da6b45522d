// How the chapter on fi_tostr reads a string: words of the vocabulary, fields and their values, whatever the layout.
//
// Invariant: no layout is taken for granted but that the value of a field follows its name, before the name of the next
// field.  Names are whole identifiers: FI_MSG_PREFIX does not name FI_MSG.  Only the chapters on fi_tostr include this.
#pragma once

#include <string_view>

#include "model/chapters/rules.h"
#include "model_gen/vocabulary.h"

namespace selvage::model::rules {

/// True if the text holds the identifier.
bool has_name(std::string_view text, std::string_view name);
/// True if one of the numbers in the text (decimal, or 0x hexadecimal) is `value`.
bool has_number(std::string_view text, std::uint64_t value);
/// True if the family has a word for every bit of the value (bits), or for the value (enum).
bool is_named(Family family, std::uint64_t value);
/// True if `text` names the value's words: all of its bits, or the enum value.  Words younger than the library are not
/// demanded.  @param absent receives the first name that is missing.
bool names_all(std::string_view text, Family family, std::uint64_t value, Version library, std::string_view& absent);
/// The first word in `text` that the value does not have, or an empty name.
std::string_view foreign_name(std::string_view text, Family family, std::uint64_t value);
/// True if the text names the value by its word without prefix, in any case: "warn" for FI_LOG_WARN.
bool names_loosely(std::string_view text, Family family, std::uint64_t value, std::string_view& absent);
/// True if all bytes print, or are white space.  Bytes of other character sets are not looked at.
bool is_printable(std::string_view text);
/// The name of a field without its structure: "size" for tx_attr.size.
std::string_view leaf(const FieldRow& field);
/// Evidence that a text lacks something that it should say.
Evidence lacking(std::string_view text, std::string_view expected, std::string note = {});
/// True if `text` names the field and, after it, its value as `info` has it.
/// @param why receives what is missing.
bool says_field(std::string_view text, const Info& info, const FieldRow& field, Version library, Evidence& why);

}  // namespace selvage::model::rules
