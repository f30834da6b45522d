// See quoted.h.
#include "conformance/case/quoted.h"

#include <array>
#include <cctype>

namespace selvage::conformance {
namespace {

bool printable(unsigned char c) { return c >= 0x20 && c < 0x7F; }

// Value of a digit in `base`, or -1.
int digit(char c, int base) {
    int value = -1;
    if (c >= '0' && c <= '9') value = c - '0';
    if (c >= 'a' && c <= 'f') value = c - 'a' + 10;
    if (c >= 'A' && c <= 'F') value = c - 'A' + 10;
    return value < base ? value : -1;
}

// Reads up to `most` digits from text[at] on; false if there is none or the value is no byte.
bool read_digits(std::string_view text, std::size_t& at, int base, int most, std::string& out) {
    int value = 0;
    int count = 0;
    while (count < most && at < text.size() && digit(text[at], base) >= 0) {
        value = value * base + digit(text[at++], base);
        ++count;
    }
    if (count == 0 || value > 0xFF) return false;
    out.push_back(static_cast<char>(value));
    return true;
}

bool read_escape(std::string_view text, std::size_t& at, std::string& out) {
    if (at >= text.size()) return false;
    const char c = text[at];
    if (c >= '0' && c <= '7') return read_digits(text, at, 8, 3, out);
    ++at;
    switch (c) {
        case 'x':
            return read_digits(text, at, 16, 2, out);
        case 'n':
            out.push_back('\n');
            return true;
        case 't':
            out.push_back('\t');
            return true;
        case 'r':
            out.push_back('\r');
            return true;
        case '"':
        case '\\':
        case '\'':
        case '?':
            out.push_back(c);
            return true;
        default:
            return false;
    }
}

}  // namespace

std::string quote(std::string_view text) {
    std::string out = "\"";
    char last = 0;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\' || (c == '?' && last == '?')) {
            out.push_back('\\');
            out.push_back(c);
        } else if (c == '\n') {
            out += "\\n";
        } else if (c == '\t') {
            out += "\\t";
        } else if (printable(byte)) {
            out.push_back(c);
        } else {
            const std::array<char, 4> octal = {'\\', static_cast<char>('0' + (byte >> 6)),
                                               static_cast<char>('0' + (byte >> 3 & 7)),
                                               static_cast<char>('0' + (byte & 7))};
            out.append(octal.data(), octal.size());
        }
        last = c;
    }
    return out + "\"";
}

bool unquote(std::string_view text, std::string& out) {
    out.clear();
    if (text.size() < 2 || text.front() != '"' || text.back() != '"') return false;
    text = text.substr(1, text.size() - 2);
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at++];
        if (c == '"') return false;
        if (c != '\\') {
            out.push_back(c);
        } else if (!read_escape(text, at, out)) {
            return false;
        }
    }
    return true;
}

}  // namespace selvage::conformance
