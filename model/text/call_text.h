// The one textual form of a call.
//
//   version=1.17 node="192.0.2.2" service="7471" flags=FI_SOURCE hints={caps=FI_MSG|FI_RMA, ep_attr.type=FI_EP_RDM}
//
// Words of the spec's vocabulary, numbers in decimal or 0x hexadecimal, strings in double quotes with C escapes, bytes
// as hex:0a0b0c or as an address (sockaddr_in:192.0.2.2:7471, sockaddr_in6:[::1]:0, str:"…").  A part of fi_info is
// present if one of its fields is named, or by `tx_attr=present`; hints={} is what fi_allocinfo gives (all parts
// present, all zero); hints=bare{…} has only the parts that are named; without hints= they are NULL.  src_addr,
// dest_addr and the keys bring their length with them, unless the length field is given too.
//
// Invariant: parse(print(q)) == q for every query.  (In an Info a part that is absent has no field but zeros; a field
// set there all the same is printed, and the part is present when it is read back.)  A reader leaves its output alone
// when it refuses.  Pure functions; any thread.  docs/formats.md holds the grammar.
#pragma once

#include <string>
#include <string_view>

#include "model/judge/ruling.h"
#include "model/value/query.h"

namespace selvage::model {

/// A parse error: what, where, and what would be right.
struct TextError {
    std::size_t at = 0;  ///< byte offset
    std::string message;
};

/// Reads a call.  @return true and `out`, or false and `error`.
bool parse_call(std::string_view text, Query& out, TextError& error);
/// Reads the inside of hints={…}, or {…} or bare{…} with its braces.
bool parse_hints(std::string_view text, Info& out, TextError& error);
/// Reads "1.17".
bool parse_version(std::string_view text, Version& out);
/// Prints a call; fields that are zero are left out unless their part would vanish.
std::string print_call(const Query& query);
/// The inside of hints={…} where all parts are present, else bare{…}.
std::string print_hints(const Info& hints);

/// A number as the words of a family: "FI_MSG|FI_RMA|0x8000", "FI_EP_RDM", "7", "none" for bits that are all clear.
std::string print_value(Family family, std::uint64_t value);
/// Reads what print_value prints, or a plain number.
bool parse_value(Family family, std::string_view text, std::uint64_t& out);
/// A field's value as text; bytes as an address where `addr_format` names one.
std::string print_field(const Info& info, Field field);
/// An errno by name: -61 or 61 is "FI_ENODATA".
std::string print_error(int error);

/// Evidence as half a sentence: "tx_attr.caps is FI_MSG|FI_RECV, must be within FI_MSG: FI_RECV is too many".  Where
/// `expected_field` is given, `wanted` (if not zero) is taken as that field's value, shown, and compared bit by bit.
std::string print_evidence(const Evidence& evidence);

}  // namespace selvage::model
