// Pieces of the C++ that specc writes.
#pragma once

#include <cctype>
#include <string>

namespace selvage::specc {

/// A string literal.
inline std::string quoted(const std::string& s) {
    std::string out = "\"";
    for (const char c : s) {
        if (c == '"' || c == '\\') out.push_back('\\');
        if (c == '\n') {
            out += "\\n";
        } else {
            out.push_back(c);
        }
    }
    return out + "\"";
}

/// The same as a view that knows its length: a compiler that counts would count characters of long tables for ever.
inline std::string viewed(const std::string& s) { return quoted(s) + "sv"; }

/// A word as an enumerator: "names-itself" is NamesItself.
inline std::string capital(const std::string& s) {
    std::string out;
    bool upper = true;
    for (const char c : s) {
        if (c != '-') out += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
        upper = c == '-';
    }
    return out;
}

}  // namespace selvage::specc
