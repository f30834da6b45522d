// Values as text: words of the vocabulary, numbers, versions, object numbers.
//
// What a reader takes is left of the cursor afterwards; on false the scanner holds the error.  Private to model/text,
// but for what call_text.h declares.  Pure; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/text/scan.h"
#include "model/value/field.h"

namespace selvage::model {

/// Reads bits (`FI_MSG|0x10`, `none`) or one enum value of a family; Family::none reads a plain number or `max`.
bool read_value(Scanner& in, Family family, std::uint64_t& out);
/// Reads the value of a number field in the field's own spelling.
bool read_number(Scanner& in, const FieldRow& field, std::uint64_t& out);
/// Reads a version: 1.17, or the packed number in hexadecimal.
bool read_version(Scanner& in, Version& out);
/// parse_value with the reason for a refusal; `at` counts from the start of `text`.
bool parse_value(Family family, std::string_view text, std::uint64_t& out, TextError& error);

/// A decimal or 0x hexadecimal number of at most 64 bits, all of `text`.
bool parse_plain(std::string_view text, std::uint64_t& out);
/// The value of a number field in the field's own spelling.
std::string print_number(Field field, std::uint64_t value);
/// 0x followed by the digits.
std::string print_hex(std::uint64_t value);

/// The word of a family spelt `name`, or nullptr.
const Word* find_word(Family family, std::string_view name);
/// Up to three of `names` that look most like `wanted`: "FI_MSG, FI_RMA".
std::string nearest(std::string_view expected, const std::vector<std::string_view>& names);

}  // namespace selvage::model
