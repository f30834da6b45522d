// See markup.h.
#include "conformance/base/markup.h"

#include <algorithm>

namespace selvage::conformance {
namespace {

// Length of the valid UTF-8 sequence at the start of `s`, or 0.
std::size_t sequence(std::string_view s) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
    const unsigned lead = byte(0);
    if (lead < 0x80) return 1;
    const std::size_t length = lead >= 0xC2 && lead < 0xE0   ? 2
                               : lead >= 0xE0 && lead < 0xF0 ? 3
                               : lead >= 0xF0 && lead < 0xF5 ? 4
                                                             : 0;
    if (length == 0 || s.size() < length) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xC0U) != 0x80) return 0;
    if (lead == 0xE0 && byte(1) < 0xA0) return 0;  // longer than needed
    if (lead == 0xED && byte(1) > 0x9F) return 0;  // surrogates
    if ((lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F)) return 0;
    if (lead == 0xEF && byte(1) == 0xBF && byte(2) >= 0xBE) return 0;  // no characters in XML
    return length;
}

}  // namespace

std::string clean(std::string_view text) {
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string out;
    while (!text.empty()) {
        const std::size_t length = sequence(text);
        const auto byte = static_cast<unsigned char>(text.front());
        const bool control = byte < 0x20 ? byte != '\n' && byte != '\t' : byte == 0x7F;
        if (length == 0 || control) {
            out.append("\\x").push_back(kHex[byte >> 4]);
            out.push_back(kHex[byte & 15]);
            text.remove_prefix(1);
        } else {
            out.append(text.substr(0, length));
            text.remove_prefix(length);
        }
    }
    return out;
}

std::string escape(std::string_view text) {
    std::string out;
    for (const char c : clean(text)) {
        switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out.push_back(c);
        }
    }
    return out;
}

std::string counted(std::size_t count, std::string_view noun) {
    return std::to_string(count).append(" ").append(noun).append(count == 1 ? "" : "s");
}

std::string wrap(std::string_view text, std::string_view lead, std::size_t width) {
    std::string out;
    std::string line(lead);
    const auto flush = [&] {
        out += line + "\n";
        line = lead;
    };
    while (!text.empty()) {
        const auto end = std::min(text.find_first_of(" \n"), text.size());
        const auto word = text.substr(0, end);
        if (line.size() > lead.size() && line.size() + 1 + word.size() > width) flush();
        if (line.size() > lead.size()) line.push_back(' ');
        line.append(word);
        if (end < text.size() && text[end] == '\n') flush();
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (line.size() > lead.size()) flush();
    return out;
}

}  // namespace selvage::conformance
