// A trace of libselvage-record.so, read into memory (docs/formats.md, "Traces").
//
// Reading checks the form of every line: header, numbers in order, brackets and quotes. What the values mean is looked
// at when they are used, by the functions below, which refuse what they cannot read. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/value/info.h"
#include "model/value/query.h"

namespace selvage::conformance {

/// Names and the text of their values, in the order of the line.
class TraceArguments {
public:
    void add(std::string_view name, std::string_view value) { rows_.emplace_back(name, value); }
    /// The text of a value; empty if it is not there.
    [[nodiscard]] std::string_view text(std::string_view name) const;
    [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }
    /// A number: decimal, hexadecimal, flags by name, NULL and "unspec". 0 if it is not there.
    [[nodiscard]] std::uint64_t number(std::string_view name) const;
    /// The number of an object, "#3"; 0 for NULL.
    [[nodiscard]] std::uint64_t object(std::string_view name) const;
    /// Bytes of "hex:…"; nothing for NULL.
    [[nodiscard]] std::optional<std::string> bytes(std::string_view name) const;
    /// A string in quotes; nothing for NULL.
    [[nodiscard]] std::optional<std::string> string(std::string_view name) const;
    /// The elements of "[… …]".
    [[nodiscard]] std::vector<std::string> list(std::string_view name) const;
    /// The fields of "{name=value …}".
    [[nodiscard]] TraceArguments fields(std::string_view name) const;

private:
    [[nodiscard]] const std::string* find(std::string_view name) const;
    std::vector<std::pair<std::string, std::string>> rows_;
};

/// One call that returned.
struct TraceCall {
    std::uint64_t sequence = 0;
    std::uint64_t thread = 0;
    std::uint64_t start = 0;  ///< nanoseconds since the trace began
    std::uint64_t took = 0;
    std::string call;  ///< "fi_cq_read"
    std::string node;  ///< "FABRIC_1.3" of a function that the library exports
    std::uint64_t object = 0;
    TraceArguments in, out;
    std::int64_t result = 0;
    bool vain = false;       ///< it may stand for many equal ones
    std::string_view shown;  ///< the line without its numbers, up to "->"
};

struct Trace {
    std::string file;
    TraceArguments header;
    std::vector<TraceCall> calls;
    bool ended = false;  ///< the program ended in order
    std::string text;    ///< what the views point into
};

/// True if the text is meant to be a trace.
bool is_trace(std::string_view text);
/// @return false and a one-line `error`.
bool parse_trace(std::string file, std::string text, Trace& out, std::string& error);

/// A number in any of the spellings of a trace. @return false if it is none.
bool parse_trace_number(std::string_view text, std::uint64_t& out);
/// "{…}" and "bare{…}" as fi_info.
bool parse_trace_info(std::string_view text, model::Info& out);
/// The arguments of a call of fi_getinfo.  @return false and what can't be read: "hints".
bool parse_trace_query(const TraceCall& call, model::Query& out, std::string& what);
/// A result as a trace has it: "-FI_ENODATA".
std::string print_trace_result(std::int64_t result);

}  // namespace selvage::conformance
