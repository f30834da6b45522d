// See action_text.h.
#include "conformance/case/action_text.h"

#include "conformance/case/names.h"
#include "conformance/case/quoted.h"

namespace selvage::conformance {
namespace {

int count_opened(const std::vector<Action>& actions) {
    int n = 0;
    for (const auto& a : actions) n += opens(a) ? 1 : 0;
    return n;
}

std::string hex(std::uint64_t v) {
    char digits[20];
    const auto r = std::to_chars(digits, digits + sizeof digits, v, 16);
    return "0x" + std::string(digits, r.ptr);
}

// Takes the next word off `line`; a quoted string is part of a word.
std::string_view next_word(std::string_view& line) {
    while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    std::size_t end = 0;
    for (bool quoted = false; end < line.size() && (quoted || line[end] != ' '); ++end) {
        if (quoted && line[end] == '\\')
            ++end;
        else if (line[end] == '"')
            quoted = !quoted;
    }
    end = std::min(end, line.size());
    const auto word = line.substr(0, end);
    line.remove_prefix(end);
    return word;
}

class ActionReader {
public:
    ActionReader(const std::vector<Action>& before, Action& out, CaseError& error)
        : before_(before), out_(out), error_(error) {}

    bool read(std::string_view line) {
        std::string_view target;
        if (const auto equals = line.find(" = open "); equals != std::string_view::npos) {
            target = line.substr(0, equals);
            line.remove_prefix(equals + 3);
        }
        const VerbRow* verb = take_verb(line);
        if (verb == nullptr) return fail(line, "no such action; known are " + known_verbs());
        out_.verb = verb->verb;
        if (!check_target(*verb, target)) return false;
        if (verb->takes_object && !take_object(next_word(line), out_.object)) return false;
        for (auto word = next_word(line); !word.empty(); word = next_word(line))
            if (!read_option(word)) return false;
        return true;
    }

private:
    bool fail(std::string_view token, std::string message) {
        return conformance::fail(error_, token, std::move(message));
    }

    static std::string known_verbs() {
        std::string all;
        for (const auto& v : verbs()) all.append(all.empty() ? "" : ", ").append(v.words);
        return all;
    }

    static const VerbRow* take_verb(std::string_view& line) {
        for (const auto& v : verbs()) {
            if (!line.starts_with(v.words)) continue;
            if (line.size() > v.words.size() && line[v.words.size()] != ' ') continue;
            line.remove_prefix(v.words.size());
            return &v;
        }
        return nullptr;
    }

    bool check_target(const VerbRow& verb, std::string_view target) {
        if (verb.opens.empty())
            return target.empty() || fail(target, "this action opens nothing that could have a name");
        const std::string right = std::string(verb.opens) + std::to_string(count_opened(before_) + 1);
        return target == right || fail(target, "objects are numbered in the order in which they are opened: write " +
                                                   right + " = " + std::string(verb.words) + " ...");
    }

    bool take_object(std::string_view word, int& out) {
        const auto digits = word.find_first_of("-0123456789");
        if (digits == std::string_view::npos || !read_number(word.substr(digits), out))
            return fail(word, "expected an object such as domain2");
        const std::string right = object_name(before_, out);
        return word == right || fail(word, "object " + std::to_string(out) + " is called " + right + " here");
    }

    bool read_option(std::string_view word) {
        const auto equals = word.find('=');
        if (equals == std::string_view::npos) return take_object(word, out_.argument);
        const auto key = word.substr(0, equals);
        const auto value = word.substr(equals + 1);
        if (key == "offer" || key == "argument")
            return read_number(value, out_.argument) || fail(value, "expected a number");
        if (key == "object") return read_number(value, out_.object) || fail(value, "expected a number");
        if (key == "flags") return read_number(value, out_.flags) || fail(value, "expected a number");
        if (key == "name") return unquote(value, out_.name) || fail(value, "expected a string in double quotes");
        return fail(key, "known are offer=, argument=, object=, flags= and name=");
    }

    const std::vector<Action>& before_;
    Action& out_;
    CaseError& error_;
};

}  // namespace

bool is_action(std::string_view line) {
    if (line.find(" = open ") != std::string_view::npos && line.find('=') == line.find(" = open ") + 1) return true;
    for (const auto& v : verbs()) {
        if (!line.starts_with(v.words)) continue;
        if (line.size() == v.words.size() || line[v.words.size()] == ' ') return line.find(" = ") != v.words.size();
    }
    return false;
}

bool parse_action(std::string_view line, const std::vector<Action>& before, Action& out, CaseError& error) {
    out = {};
    return ActionReader(before, out, error).read(line);
}

std::string object_name(const std::vector<Action>& actions, int number) {
    int n = 0;
    for (const auto& a : actions)
        if (opens(a) && ++n == number) return std::string(verb_row(a.verb).opens) + std::to_string(number);
    return "object" + std::to_string(number);
}

std::string print_action(const std::vector<Action>& before, const Action& a) {
    const auto& verb = verb_row(a.verb);
    std::string out;
    if (opens(a)) out += std::string(verb.opens) + std::to_string(count_opened(before) + 1) + " = ";
    out += verb.words;
    if (verb.takes_object) out += " " + object_name(before, a.object);
    if (!verb.takes_object && a.object != 0) out += " object=" + std::to_string(a.object);
    if (a.verb == Action::Verb::OpenFabric) {
        out += " offer=" + std::to_string(a.argument);
    } else if (a.verb == Action::Verb::BindEq || a.verb == Action::Verb::BindEp) {
        out += " " + object_name(before, a.argument);
    } else if (a.argument != 0) {
        out += " argument=" + std::to_string(a.argument);
    }
    if (a.flags != 0) out += " flags=" + hex(a.flags);
    if (!a.name.empty()) out += " name=" + quote(a.name);
    return out;
}

}  // namespace selvage::conformance
