// The byte form of a case: what fuzzers work on (docs/formats.md, "Cases as bytes").
//
// Reading is total: any bytes are some input, and an input is some case.  Not every value may become a case, as a
// library may expect honesty: texts end at their NUL, lengths are no longer than what they measure, numbers fit their
// members, the second call of a pair stands to the first as the pair says.  read_input() sees to the calls, to_case()
// to the rest, so that a deviation is the library's and not the query's.  So whatever a fuzzer, a generator or a
// person writes down as bytes is one kind of thing: it is judged, shrunk, replayed and printed like any other case.
//
// For an input that is valid, read_input(write_input(i)) == i.  The first byte of what write_input() writes has its
// top bit set, which no text form has: is_case_bytes() distinguishes the two.  Saved inputs outlive the program: kinds,
// fields, verbs, relations and acts are numbers, so their enumerations may grow at the end and nowhere else.  Pure
// functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "conformance/case/case.h"

namespace selvage::conformance {

inline constexpr std::size_t kMostTextBytes = 2048;  ///< of one text, name or address; the rest is left out
inline constexpr std::size_t kMostActions = 64;      ///< of one life
inline constexpr std::size_t kMostChoices = 600;     ///< bytes of them, on the way to one exchange

/// A case to be.
struct Input {
    Case drawn;              ///< of a pair, the first call alone
    std::uint64_t turn = 0;  ///< a pair: which of the calls that stand so to the first is the second; traffic: which of
                             ///< the systematic exchanges, from 1, or 0 for a random one
    std::uint8_t stage = 0;  ///< traffic: which kind of endpoint
    std::uint8_t setup = 0;  ///< traffic: which way to set the pair up
    std::string choices;     ///< traffic: what is chosen on the way to a random exchange (Rng)
    bool operator==(const Input&) const = default;
};

/// Any bytes as an input.
Input read_input(std::string_view bytes);
/// An input as bytes; empty for a kind of case that has no byte form.
std::string write_input(const Input& input);
/// The case that an input comes to.  Traffic hangs on what the provider offers: see RolledExchanges, which makes that.
Case to_case(const Input& input);
/// True if these may be bytes of write_input() rather than a case's text form.
bool is_case_bytes(std::string_view content);

}  // namespace selvage::conformance
