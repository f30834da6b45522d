#include "model/text/scan.h"

#include <cstdint>

namespace selvage::model {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kEscapeLetters = "abfnrtv0\\\"'?";
constexpr std::string_view kEscapeBytes{"\a\b\f\n\r\t\v\0\\\"'?", 12};

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'; }

bool is_word(char c) {
    return c > ' ' && c < 0x7f && std::string_view(",{}\"=|#'\\").find(c) == std::string_view::npos;
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::string byte_name(char c) {
    const auto byte = static_cast<std::uint8_t>(c);
    return std::string("\\x") + kHexDigits[byte >> 4U] + kHexDigits[byte & 15U];
}

}  // namespace

bool Scanner::skip_blank() {
    const auto start = at_;
    while (!end() && is_blank(text_[at_])) ++at_;
    return at_ != start;
}

bool Scanner::skip_space() {
    const auto start = at_;
    while (skip_blank() || peek() == '#') {
        if (peek() != '#') continue;
        while (!end() && text_[at_] != '\n') ++at_;
    }
    return at_ != start;
}

bool Scanner::take(char c) {
    if (end() || text_[at_] != c) return false;
    ++at_;
    return true;
}

std::string_view Scanner::word() {
    const auto start = at_;
    while (!end() && is_word(text_[at_])) ++at_;
    return text_.substr(start, at_ - start);
}

bool Scanner::quoted(std::string& out) {
    const auto open = at_++;
    out.clear();
    while (!end() && text_[at_] != '\n') {
        const char c = text_[at_];
        if (c == '\\') {
            if (!escape(out)) return false;
            continue;
        }
        ++at_;
        if (c == '"') return true;
        out += c;
    }
    return fail(open, "this string has no closing '\"' on its line; write a line break as \\n");
}

// The cursor is on the backslash; \xNN takes exactly two digits, so that what follows is never swallowed.
bool Scanner::escape(std::string& out) {
    const auto start = at_++;
    const char c = peek();
    if (c == 'x') {
        const int high = start + 2 < text_.size() ? hex_digit(text_[start + 2]) : -1;
        const int low = start + 3 < text_.size() ? hex_digit(text_[start + 3]) : -1;
        if (high < 0 || low < 0) return fail(start, "\\x needs two hexadecimal digits, such as \\x0a");
        out += static_cast<char>(high * 16 + low);
        at_ = start + 4;
        return true;
    }
    const auto letter = end() ? std::string_view::npos : kEscapeLetters.find(c);
    if (letter == std::string_view::npos)
        return fail(start, "unknown escape; write \\\\ \\\" \\n \\t \\r \\a \\b \\f \\v \\0 or \\xNN");
    out += kEscapeBytes[letter];
    ++at_;
    return true;
}

bool Scanner::fail(std::size_t at, std::string message) {
    if (!failed_) error_ = {.at = at, .message = std::move(message)};
    failed_ = true;
    return false;
}

bool Scanner::expected(std::string_view what) {
    const auto start = at_;
    if (end()) return fail(start, "the text ends here, but " + std::string(what));
    auto token = word();
    if (token.empty()) token = text_.substr(start, 1);
    return fail(start, "found " + shown(token) + ", but " + std::string(what));
}

std::string shown(std::string_view token) {
    constexpr std::size_t kLongest = 48;
    std::string out = "'";
    for (const char c : token.substr(0, kLongest)) out += c >= ' ' && c < 0x7f ? std::string(1, c) : byte_name(c);
    return out + (token.size() > kLongest ? "...'" : "'");
}

std::string quote(std::string_view bytes) {
    std::string out = "\"";
    for (const char c : bytes) {
        if (c == '"' || c == '\\')
            out += std::string{'\\', c};
        else if (c == '\n')
            out += "\\n";
        else if (c == '\t')
            out += "\\t";
        else
            out += c >= ' ' && c < 0x7f ? std::string(1, c) : byte_name(c);
    }
    return out + '"';
}

}  // namespace selvage::model
