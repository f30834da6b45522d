#include "conformance/trace/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>

#include "conformance/case/quoted.h"
#include "model/text/call_text.h"
#include "model_gen/vocabulary.h"

namespace selvage::conformance {
namespace {

using model::Family;

constexpr std::string_view kFirstLine = "selvage-trace 1\n";
constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
constexpr int kMostNesting = 32;

bool plain_number(std::string_view text, std::uint64_t& out, int base = 10) {
    if (text.empty()) return false;
    const auto* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, out, base);
    return read.ec == std::errc{} && read.ptr == end;
}

// Flags of fi_bind that no family has under this name.
bool bind_word(std::string_view word, std::uint64_t& out) {
    if (word == "FI_TRANSMIT") {
        out = std::uint64_t{1} << 11;
        return true;
    }
    if (word == "FI_SELECTIVE_COMPLETION") {
        out = std::uint64_t{1} << 59;
        return true;
    }
    return false;
}

bool one_word(std::string_view word, std::uint64_t& out) {
    if (bind_word(word, out)) return true;
    static constexpr Family kFamilies[] = {Family::op_flags,  Family::caps,     Family::cq_event_flags, Family::av_type,
                                           Family::cq_format, Family::wait_obj, Family::eq_event,       Family::error,
                                           Family::datatype,  Family::atomic_op};
    for (const auto family : kFamilies) {
        for (const auto& w : model::words(family)) {
            if (w.name != word) continue;
            out = w.value;
            return true;
        }
    }
    return false;
}

// Walks over a value: a word, a string, or anything with brackets. @return its length; 0 if brackets or quotes are
// open.
std::size_t value_length(std::string_view text, char stop) {
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"') {
            for (++i; i < text.size() && text[i] != '"'; ++i)
                if (text[i] == '\\') ++i;
            if (i >= text.size()) return 0;
        } else if (c == '{' || c == '[') {
            if (++depth > kMostNesting) return 0;
        } else if (c == '}' || c == ']') {
            if (--depth < 0) return 0;
        } else if (c == stop && depth == 0) {
            return i;
        }
    }
    return depth == 0 ? text.size() : 0;
}

// "name=value name=value". @return false if it is not that.
bool read_arguments(std::string_view text, TraceArguments& out) {
    while (!text.empty()) {
        if (text.front() == ' ') {
            text.remove_prefix(1);
            continue;
        }
        const auto equals = text.find_first_of("= {[\"");
        if (equals == std::string_view::npos || equals == 0 || text[equals] != '=') return false;
        const auto name = text.substr(0, equals);
        text.remove_prefix(equals + 1);
        const auto size = value_length(text, ' ');
        if (size == 0) return false;
        out.add(name, text.substr(0, size));
        text.remove_prefix(size);
    }
    return true;
}

std::string_view inside(std::string_view text, char open, char close) {
    if (text.size() < 2 || text.front() != open || text.back() != close) return {};
    return text.substr(1, text.size() - 2);
}

bool read_result(std::string_view text, std::int64_t& out) {
    const bool negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    std::uint64_t value = 0;
    if (!plain_number(text, value) && !one_word(text, value)) return false;
    out = negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
    return true;
}

std::string_view take_word(std::string_view& line) {
    const auto blank = line.find(' ');
    const auto word = line.substr(0, blank);
    line = blank == std::string_view::npos ? std::string_view{} : line.substr(blank + 1);
    return word;
}

bool read_call(std::string_view line, TraceCall& out) {
    auto start = std::string_view{};
    if (!plain_number(take_word(line), out.sequence) || !plain_number(take_word(line), out.thread)) return false;
    start = take_word(line);
    if (!start.starts_with('+') || !plain_number(start.substr(1), out.start)) return false;
    if (!plain_number(take_word(line), out.took)) return false;
    // The arrow is the first outside of brackets and quotes: no name of an argument begins with it.
    std::size_t arrow = 0;
    for (std::string_view rest = line;;) {
        const auto size = value_length(rest, ' ');
        if (size == 0 && !rest.starts_with(' ')) return false;
        if (rest.substr(0, size) == "->") {
            arrow = line.size() - rest.size();
            break;
        }
        if (size >= rest.size()) return false;
        rest.remove_prefix(size + 1);
    }
    out.shown = line.substr(0, arrow > 0 ? arrow - 1 : 0);
    auto after = line.substr(arrow + 2);
    if (!after.starts_with(' ')) return false;
    after.remove_prefix(1);
    if (!read_result(take_word(after), out.result) || !read_arguments(after, out.out)) return false;
    out.vain = out.out.has("times");
    auto before = out.shown;
    const auto name = take_word(before);
    const auto at = name.find('@');
    out.call = name.substr(0, at);
    if (at != std::string_view::npos) out.node = name.substr(at + 1);
    if (before.starts_with('#') && !plain_number(take_word(before).substr(1), out.object)) return false;
    return out.call.starts_with("fi_") && read_arguments(before, out.in);
}

}  // namespace

const std::string* TraceArguments::find(std::string_view name) const {
    for (const auto& [known, value] : rows_)
        if (known == name) return &value;
    return nullptr;
}

std::string_view TraceArguments::text(std::string_view name) const {
    const auto* found = find(name);
    return found != nullptr ? std::string_view(*found) : std::string_view{};
}

std::uint64_t TraceArguments::number(std::string_view name) const {
    std::uint64_t value = 0;
    const auto* found = find(name);
    if (found != nullptr && !parse_trace_number(*found, value))
        throw std::runtime_error(fmt::format("{}={} is no number", name, *found));
    return value;
}

std::uint64_t TraceArguments::object(std::string_view name) const {
    const auto written = text(name);
    std::uint64_t value = 0;
    if (written.starts_with('#') && plain_number(written.substr(1), value)) return value;
    return 0;
}

std::optional<std::string> TraceArguments::bytes(std::string_view name) const {
    auto written = text(name);
    if (!written.starts_with("hex:")) return {};
    written.remove_prefix(4);
    std::string out;
    for (std::size_t i = 0; i + 1 < written.size(); i += 2) {
        std::uint64_t byte = 0;
        if (!plain_number(written.substr(i, 2), byte, 16))
            throw std::runtime_error(fmt::format("{} holds no bytes", name));
        out.push_back(static_cast<char>(byte));
    }
    return out;
}

std::optional<std::string> TraceArguments::string(std::string_view name) const {
    std::string out;
    if (!unquote(text(name), out)) return {};
    return out;
}

std::vector<std::string> TraceArguments::list(std::string_view name) const {
    std::vector<std::string> out;
    for (auto rest = inside(text(name), '[', ']'); !rest.empty();) {
        const auto size = value_length(rest, ' ');
        if (size == 0) break;
        out.emplace_back(rest.substr(0, size));
        rest.remove_prefix(std::min(size + 1, rest.size()));
    }
    return out;
}

TraceArguments TraceArguments::fields(std::string_view name) const {
    TraceArguments out;
    if (!read_arguments(inside(text(name), '{', '}'), out))
        throw std::runtime_error(fmt::format("{} can't be read", name));
    return out;
}

bool is_trace(std::string_view text) { return text.starts_with("selvage-trace "); }

bool parse_trace_number(std::string_view text, std::uint64_t& out) {
    if (text == "NULL") {
        out = 0;
        return true;
    }
    if (text == "unspec") {
        out = kMax;
        return true;
    }
    if (text.starts_with("-")) {
        std::uint64_t value = 0;
        if (!plain_number(text.substr(1), value)) return false;
        out = 0 - value;
        return true;
    }
    out = 0;
    while (!text.empty()) {
        const auto bar = text.find('|');
        const auto word = text.substr(0, bar);
        std::uint64_t value = 0;
        const bool read = word.starts_with("0x") ? plain_number(word.substr(2), value, 16)
                                                 : plain_number(word, value) || one_word(word, value);
        if (!read) return false;
        out |= value;
        if (bar == std::string_view::npos) return true;
        text.remove_prefix(bar + 1);
    }
    return false;
}

bool parse_trace_info(std::string_view text, model::Info& out) {
    model::TextError ignored;
    return model::parse_hints(text, out, ignored);
}

bool parse_trace_query(const TraceCall& call, model::Query& out, std::string& what) {
    out = {};
    out.node = call.in.string("node");
    out.service = call.in.string("service");
    const auto hints = call.in.text("hints");
    const bool has_hints = !hints.empty() && hints != "NULL";
    if (!model::parse_version(call.in.text("version"), out.version)) {
        what = "a version";
    } else if (has_hints && !parse_trace_info(hints, out.hints.emplace())) {
        what = "hints";
    } else if (call.in.has("flags") &&
               !model::parse_value(model::Family::getinfo_flags, call.in.text("flags"), out.flags)) {
        what = "flags";
    } else {
        return true;
    }
    return false;
}

std::string print_trace_result(std::int64_t result) {
    if (result >= 0) return std::to_string(result);
    if (result < std::numeric_limits<int>::min()) return std::to_string(result);
    const auto word = model::print_error(static_cast<int>(result));
    return word.starts_with("FI_") ? "-" + word : word;
}

bool parse_trace(std::string file, std::string text, Trace& out, std::string& error) {
    const auto fail = [&](std::size_t line, std::string_view why) {
        error = fmt::format("{}: line {}: {}", out.file, line, why);
        return false;
    };
    out = {};
    out.file = std::move(file);
    out.text = std::move(text);
    std::string_view rest = out.text;
    if (!rest.starts_with(kFirstLine)) return fail(1, "is no trace of a format that this selvage knows");
    rest.remove_prefix(kFirstLine.size());
    // A program that was killed leaves zero bytes behind its last line.
    const auto zeros = rest.find('\0');
    const bool killed = zeros != std::string_view::npos;
    if (killed && rest.find_first_not_of('\0', zeros) != std::string_view::npos)
        return fail(1, "zero bytes stand in its middle");
    rest = rest.substr(0, zeros);
    for (std::size_t number = 2; !rest.empty(); ++number) {
        const auto end = rest.find('\n');
        if (end == std::string_view::npos) return fail(number, "is cut: the file is not complete");
        const auto line = rest.substr(0, end);
        rest.remove_prefix(end + 1);
        if (number == 2) {
            if (!line.starts_with("header ") || !read_arguments(line.substr(7), out.header))
                return fail(number, "is no header");
            continue;
        }
        if (out.ended) return fail(number, "stands behind the end");
        if (line == "end") {
            out.ended = true;
            continue;
        }
        TraceCall call;
        if (!read_call(line, call)) return fail(number, "is no call as the recorder writes it");
        if (call.sequence != out.calls.size() + 1)
            return fail(number, fmt::format("is call {}, expected {}", call.sequence, out.calls.size() + 1));
        out.calls.push_back(std::move(call));
    }
    if (!out.ended && !killed) return fail(out.calls.size() + 2, "is followed by no end: the file is not complete");
    return true;
}

}  // namespace selvage::conformance
