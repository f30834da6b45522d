#include "model/specc/pages.h"

#include <array>
#include <cctype>
#include <cstdio>
#include <map>

namespace selvage::specc {
namespace {

struct Line {
    std::string at;       // line number, as the page prints it or counted
    std::string content;  // without the number
    bool blank = true;
    bool heading = false;
};

bool starts_with_digit(std::string_view s) { return !s.empty() && std::isdigit(static_cast<unsigned char>(s[0])) != 0; }

std::vector<std::string> to_lines(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const auto end = text.find('\n');
        lines.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return lines;
}

// Web renderings print a line number in front of each line and headings without one.
bool is_numbered(const std::vector<std::string>& lines) {
    std::size_t with = 0;
    std::size_t filled = 0;
    for (const auto& l : lines) {
        if (l.empty()) continue;
        ++filled;
        if (starts_with_digit(l)) ++with;
    }
    return with * 2 > filled;
}

Line read_line(const std::string& raw, std::size_t number, bool numbered) {
    Line line;
    std::size_t start = 0;
    if (numbered) {
        while (start < raw.size() && std::isdigit(static_cast<unsigned char>(raw[start])) != 0) ++start;
        line.at = raw.substr(0, start);
        line.heading = start == 0;
    } else {
        line.at = std::to_string(number);
        line.heading = !raw.empty() && raw[0] != ' ' && raw[0] != '\t';
    }
    line.content = raw.substr(start);
    line.blank = line.content.find_first_not_of(" \t\r") == std::string::npos;
    if (line.blank) line.heading = false;
    return line;
}

std::string fold(std::string_view s) {
    std::string out;
    for (const char c : s) {
        if (c == ' ' || c == '\t' || c == '\r') {
            if (!out.empty() && out.back() != ' ') out.push_back(' ');
        } else {
            out.push_back(c);
        }
    }
    while (!out.empty() && out.back() == ' ') out.pop_back();
    return out;
}

bool ends_with_abbreviation(std::string_view s) {
    constexpr std::array<std::string_view, 6> kKnown = {"i.e.", "e.g.", "I.e.", "etc.", "a.k.a.", "E.g."};
    for (const auto k : kKnown) {
        if (s.size() >= k.size() && s.substr(s.size() - k.size()) == k) return true;
    }
    return false;
}

// A paragraph as it is gathered, with the line each character came from.
struct Paragraph {
    std::string text;
    std::vector<const Line*> from;

    void add(const Line& line) {
        std::string piece = fold(line.content);
        if (!piece.empty() && piece.front() == ' ') piece.erase(0, 1);
        constexpr std::string_view kHyphen = "\xe2\x80\x90";  // the hyphen that line breaking puts in
        const bool joined = text.size() >= kHyphen.size() && text.ends_with(kHyphen);
        if (joined) {
            text.resize(text.size() - kHyphen.size());
            from.resize(text.size());
        } else if (!text.empty()) {
            text.push_back(' ');
            from.push_back(&line);
        }
        text += piece;
        from.resize(text.size(), &line);
    }
};

bool is_end(const std::string& t, std::size_t i) {
    if (t[i] != '.' && t[i] != '?' && t[i] != '!') return false;
    if (i + 1 == t.size()) return true;
    if (t[i + 1] != ' ' || i + 2 >= t.size()) return false;
    const auto next = static_cast<unsigned char>(t[i + 2]);
    if (std::islower(next) != 0 && t.compare(i + 2, 3, "fi_") != 0) return false;
    return !ends_with_abbreviation(std::string_view(t).substr(0, i + 1));
}

void cut(const Paragraph& p, const std::string& section, std::vector<Sentence>& out) {
    std::size_t begin = 0;
    for (std::size_t i = 0; i < p.text.size(); ++i) {
        const bool last = i + 1 == p.text.size();
        if (!last && !is_end(p.text, i)) continue;
        while (begin < i && p.text[begin] == ' ') ++begin;
        Sentence s;
        s.at = p.from[begin]->at;
        s.section = section;
        s.text = p.text.substr(begin, i + 1 - begin);
        s.digest = digest_of(s.text, &s.words);
        if (s.words > 0) out.push_back(std::move(s));
        begin = i + 1;
    }
}

// The k-th sentence that starts on one line is distinguished by a letter.
void tell_apart(std::vector<Sentence>& sentences) {
    std::map<std::string, char> seen;
    for (auto& s : sentences) {
        const auto [it, fresh] = seen.emplace(s.at, 'a');
        if (!fresh) s.at.push_back(++it->second);
    }
}

}  // namespace

std::string digest_of(std::string_view sentence, unsigned* words) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    unsigned count = 0;
    bool inside = false;
    const auto mix = [&hash](char c) {
        hash ^= static_cast<unsigned char>(c);
        hash *= 0x100000001b3ULL;
    };
    for (const char c : sentence) {
        const auto u = static_cast<unsigned char>(c);
        if (u < 0x80 && (std::isalnum(u) != 0 || c == '_')) {
            if (!inside) ++count;
            inside = true;
            mix(static_cast<char>(std::tolower(u)));
        } else if (inside) {
            inside = false;
            mix(' ');
        }
    }
    if (inside) mix(' ');
    if (words != nullptr) *words = count;
    std::array<char, 17> hex{};
    std::snprintf(hex.data(), hex.size(), "%016llx", static_cast<unsigned long long>(hash));
    return hex.data();
}

std::vector<Sentence> split_page(std::string_view text) {
    const auto raw = to_lines(text);
    const bool numbered = is_numbered(raw);
    std::vector<Line> lines;
    lines.reserve(raw.size());
    for (std::size_t i = 0; i < raw.size(); ++i) lines.push_back(read_line(raw[i], i + 1, numbered));

    std::vector<Sentence> out;
    std::string section;
    Paragraph paragraph;
    const auto flush = [&] {
        cut(paragraph, section, out);
        paragraph = {};
    };
    for (const auto& line : lines) {
        if (line.heading) {
            flush();
            section = fold(line.content);
        } else if (line.blank) {
            flush();
        } else {
            paragraph.add(line);
        }
    }
    flush();
    tell_apart(out);
    return out;
}

}  // namespace selvage::specc
