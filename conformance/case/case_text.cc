// Case files: printing and the line reader.  Actions are in action_text.cc.
#include "conformance/case/case_text.h"

#include <charconv>

#include "conformance/case/action_text.h"
#include "conformance/case/group_text.h"
#include "conformance/case/names.h"
#include "conformance/case/quoted.h"
#include "conformance/case/traffic_text.h"
#include "model/spec/clause.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

constexpr std::string_view kHeader = "selvage-case 1";
constexpr std::string_view kBefore = "before";  // the operations behind it were carried first
constexpr std::string_view kThen = "then";      // and those behind it are judged

std::string_view trim(std::string_view s) {
    while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
    while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r')) s.remove_suffix(1);
    return s;
}

void put(std::string& out, std::string_view key, std::string_view value) {
    out.append(key).append(" = ").append(value).push_back('\n');
}

void print_string_probe(std::string& out, const Case& c) {
    const StringProbe& s = c.string;
    const StringProbe plain;
    const bool is_text = c.kind == Case::Kind::Text;
    if (is_text || s.datatype != 0) put(out, "type", model::print_value(model::Family::fi_type, s.datatype));
    if (is_text || !s.reentrant) put(out, "function", s.reentrant ? "fi_tostr_r" : "fi_tostr");
    if (is_text || s.length != 0) put(out, "length", std::to_string(s.length));
    if (s.value != plain.value) put(out, "value", std::to_string(s.value));
    if (s.info) put(out, "info", model::print_hints(*s.info));
    if (s.data_null) put(out, "data", "null");
    if (s.concurrent) put(out, "concurrent", "yes");
}

void print_comment(std::string& out, std::string_view comment) {
    while (!comment.empty()) {
        const auto end = std::min(comment.find('\n'), comment.size());
        out.append("# ").append(comment.substr(0, end)).push_back('\n');
        comment.remove_prefix(std::min(end + 1, comment.size()));
    }
}

// The queries, as far as the kind has them or they are not empty.
void print_queries(std::string& out, const Case& c) {
    const bool pair = c.kind == Case::Kind::Pair;
    if (c.kind != Case::Kind::Text || c.first != model::Query{})
        put(out, pair ? "first" : "call", model::print_call(c.first));
    if (pair || c.second != model::Query{}) put(out, "second", model::print_call(c.second));
    if (pair || c.metamorphic != model::MetamorphicRelation::Repeated) put(out, "relation", name(c.metamorphic));
    if (c.fed_back != -1) put(out, "fed-back", std::to_string(c.fed_back));
}

void print_side_effects(std::string& out, const Case& c) {
    if (c.kind == Case::Kind::SideEffects || c.act != model::SideEffects::Act::GetInfo) put(out, "act", name(c.act));
    if (c.fail_allocation != 0) put(out, "fail-allocation", std::to_string(c.fail_allocation));
    if (!c.env_provider.empty()) put(out, "env", quote(c.env_provider));
}

void print_actions(std::string& out, const Case& c) {
    std::vector<Action> before;
    for (const auto& a : c.actions) {
        out.append(print_action(before, a)).push_back('\n');
        before.push_back(a);
    }
}

// What the pair carries first, each exchange behind a line of its own, then what is judged.
void print_transfers(std::string& out, const Case& c) {
    print_setup(out, c.sequence);
    for (const auto& sequence : c.before) {
        out.append(kBefore).push_back('\n');
        print_operations(out, sequence);
    }
    if (!c.before.empty()) out.append(kThen).push_back('\n');
    print_operations(out, c.sequence.operations);
}

// Reads the lines of one file into a CaseFile.
class Reader {
public:
    Reader(CaseFile& out, CaseError& error) : out_(out), error_(error) {}

    bool read(std::string_view text) {
        for (std::size_t start = 0; start <= text.size();) {
            const auto end = std::min(text.find('\n', start), text.size());
            ++error_.line;
            if (!read_line(trim(text.substr(start, end - start)))) return false;
            start = end + 1;
        }
        if (!kind_seen_)
            return fail("", "the file does not say its kind: add a line \"kind = \" with one of " + all_kinds());
        if (!out_.shown.before.empty() && !then_seen_)
            return fail("", "the exchange that is judged is missing: add a line \"then\" and its operations");
        error_ = {};
        return true;
    }

private:
    bool fail(std::string_view token, std::string message) {
        error_.token = token;
        error_.message = std::move(message);
        return false;
    }

    bool read_line(std::string_view line) {
        if (line.empty() || line.front() == '#') return true;
        if (!header_seen_) {
            header_seen_ = true;
            return line == kHeader || fail(line, "the first line of a case file is \"" + std::string(kHeader) + "\"");
        }
        if (line == kBefore) return read_before();
        if (line == kThen) return read_then();
        if (is_operation(line)) return read_operation_line(line);
        if (is_action(line)) return read_action_line(line);
        const auto equals = line.find('=');
        if (equals == std::string_view::npos)
            return fail(line, "expected \"key = value\", an action or a comment that starts with #");
        return read_key(trim(line.substr(0, equals)), trim(line.substr(equals + 1)));
    }

    bool read_action_line(std::string_view line) {
        Action action;
        if (!parse_action(line, out_.shown.actions, action, error_)) return false;
        out_.shown.actions.push_back(std::move(action));
        return true;
    }

    bool read_before() {
        Case& c = out_.shown;
        if (then_seen_ || !c.sequence.operations.empty())
            return fail(kBefore, "what the pair carries first stands ahead of the operations that are judged");
        if (c.before.size() == kMostBefore)
            return fail(kBefore, "a case has at most " + std::to_string(kMostBefore) + " exchanges before its own");
        c.before.emplace_back();
        return true;
    }

    bool read_then() {
        if (out_.shown.before.empty()) return fail(kThen, "nothing stands before: add a line \"before\" ahead of it");
        if (then_seen_) return fail(kThen, "one exchange is judged; those ahead of it begin with \"before\"");
        return then_seen_ = true;
    }

    bool read_operation_line(std::string_view line) {
        Case& c = out_.shown;
        auto& operations = c.before.empty() || then_seen_ ? c.sequence.operations : c.before.back();
        return parse_operation(line, operations.emplace_back(), error_);
    }

    bool read_key(std::string_view key, std::string_view value) {
        Case& c = out_.shown;
        if (key == "clause") return read_clause(value);
        if (key == "kind") return kind_seen_ = true, word(find_kind(value), c.kind, value, all_kinds());
        if (key == "provider") return string(value, c.provider);
        if (key == "call" || key == "first") return call(value, c.first);
        if (key == "second") return call(value, c.second);
        if (key == "relation") return word(find_relation(value), c.metamorphic, value, all_relations());
        if (key == "fed-back") return number(value, c.fed_back);
        if (key == "act") return word(find_act(value), c.act, value, all_acts());
        if (key == "fail-allocation") return number(value, c.fail_allocation);
        if (key == "env") return string(value, c.env_provider);
        if (key == "group") return parse_group(value, c.group, error_);
        bool known = false;
        if (parse_exchange_key(key, value, c.sequence, error_, known) || known) return error_.message.empty();
        return read_string_key(key, value);
    }

    bool read_string_key(std::string_view key, std::string_view value) {
        StringProbe& s = out_.shown.string;
        if (key == "type")
            return model::parse_value(model::Family::fi_type, value, s.datatype) ||
                   fail(value, "expected a type of enum fi_type, such as FI_TYPE_CAPS, or its number");
        if (key == "function") return choice(value, "fi_tostr_r", "fi_tostr", s.reentrant);
        if (key == "length") return number(value, s.length);
        if (key == "value") return number(value, s.value);
        if (key == "info") return hints(value, s.info);
        if (key == "data") return choice(value, "null", "value", s.data_null);
        if (key == "concurrent") return choice(value, "yes", "no", s.concurrent);
        return fail(
            key,
            "no such key; known are clause, kind, provider, call, first, second, relation, fed-back, act, "
            "fail-allocation, env, group, type, function, length, value, info, data, concurrent, entry, format, "
            "transmit-flags, receive-flags, min-multi-recv, queue-size, selective, counters, actions, "
            "operations, before and "
            "then");
    }

    bool read_clause(std::string_view value) {
        const auto* found = model::find_clause(value);
        if (found == nullptr) return fail(value, "no clause has this id; selvage clauses lists them");
        out_.clause = found->clause;
        return true;
    }

    template <typename T>
    bool word(std::optional<T> found, T& out, std::string_view value, const std::string& known) {
        if (!found) return fail(value, "expected one of " + known);
        out = *found;
        return true;
    }

    bool choice(std::string_view value, std::string_view yes, std::string_view no, bool& out) {
        out = value == yes;
        return out || value == no || fail(value, "expected " + std::string(yes) + " or " + std::string(no));
    }

    bool string(std::string_view value, std::string& out) {
        return unquote(value, out) || fail(value, "expected a string in double quotes");
    }

    template <typename T>
    bool number(std::string_view value, T& out) {
        return read_number(value, out) || fail(value, "expected a number");
    }

    bool call(std::string_view value, model::Query& out) {
        model::TextError e;
        if (model::parse_call(value, out, e)) return true;
        return fail(value.substr(std::min(e.at, value.size())), e.message);
    }

    bool hints(std::string_view value, std::optional<model::Info>& out) {
        model::TextError e;
        if (model::parse_hints(value, out.emplace(), e)) return true;
        return fail(value.substr(std::min(e.at, value.size())), e.message);
    }

    CaseFile& out_;
    CaseError& error_;
    bool header_seen_ = false;
    bool kind_seen_ = false;
    bool then_seen_ = false;
};

// True if the first line that says something is the header.
bool starts_with_header(std::string_view text) {
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto line = trim(text.substr(0, end));
        if (!line.empty() && line.front() != '#') return line.starts_with("selvage-case");
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return false;
}

bool parse_bare_call(std::string_view text, CaseFile& out, CaseError& error) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        error = {.line = 1, .token = "", .message = "there is neither a case nor a call here"};
        return false;
    }
    model::TextError e;
    if (model::parse_call(text, out.shown.first, e)) return true;
    const auto at = std::min(e.at, text.size());
    error.line = 1;
    for (const char c : text.substr(0, at)) error.line += c == '\n' ? 1 : 0;
    error.token = text.substr(at, std::min<std::size_t>(40, text.find('\n', at) - at));
    error.message = e.message;
    return false;
}

}  // namespace

std::string CaseError::str() const {
    const std::string at = "line " + std::to_string(line) + ": ";
    return token.empty() ? at + message : at + "'" + token + "': " + message;
}

std::string print_case(const Case& c, std::optional<model::Clause> clause, std::string_view comment) {
    std::string out(kHeader);
    out.push_back('\n');
    print_comment(out, comment);
    if (clause) put(out, "clause", model::clause_text(*clause).id);
    put(out, "kind", name(c.kind));
    if (!c.provider.empty()) put(out, "provider", quote(c.provider));
    print_queries(out, c);
    print_side_effects(out, c);
    print_actions(out, c);
    print_string_probe(out, c);
    print_transfers(out, c);
    if (c.kind == Case::Kind::Group) put(out, "group", print_group(c.group));
    return out;
}

std::string print_setup(const Case& transfer) {
    Case bare;
    bare.kind = Case::Kind::Traffic;
    bare.first = transfer.first;
    bare.sequence = transfer.sequence;
    bare.sequence.operations.clear();
    return print_case(bare);
}

bool parse_case(std::string_view text, CaseFile& out, CaseError& error) {
    out = {};
    error = {};
    if (!starts_with_header(text)) return parse_bare_call(text, out, error);
    return Reader(out, error).read(text);
}

std::string describe(const Case& c) {
    std::string text = print_case(c);
    if (c.kind == Case::Kind::Call) return model::print_call(c.first);
    text.erase(0, kHeader.size() + 1);   // the header
    text.erase(0, text.find('\n') + 1);  // the kind
    if (!c.provider.empty()) text.erase(0, text.find('\n') + 1);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

}  // namespace selvage::conformance
