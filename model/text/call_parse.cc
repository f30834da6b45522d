// Reads calls and hints.  The grammar is in docs/formats.md; each function here reads one of its rules.
#include <bitset>

#include "model/text/address_text.h"
#include "model/text/value_text.h"

namespace selvage::model {
namespace {

constexpr std::string_view kArguments = "version=, node=, service=, flags= or hints=";

std::string nearest_field(std::string_view path) {
    std::vector<std::string_view> paths;
    for (const auto& r : number_fields()) paths.push_back(r.path);
    for (const auto& r : text_fields()) paths.push_back(r.path);
    for (const auto& p : parts()) paths.push_back(p.path);
    return nearest(path, paths);
}

// A string in quotes, a bare word, or NULL.
bool read_text(Scanner& in, Text& out) {
    out.reset();
    if (in.peek() == '"') return in.quoted(out.emplace());
    const auto token = in.word();
    if (token.empty()) return in.expected("here stands a string in double quotes, or NULL");
    if (token != "NULL") out = token;
    return true;
}

// Takes the `=` after a name, with white space on either side.
bool read_equals(Scanner& in, std::string_view name) {
    in.skip_blank();
    if (!in.take('=')) return in.expected(shown(name) + " is followed by '=' and a value");
    in.skip_blank();
    return true;
}

// The inside of hints={…}: fields and parts, separated by commas.
class HintsReader {
public:
    HintsReader(Scanner& in, Info& out) : in_(in), out_(out) {}

    // Reads up to the closing brace, or up to the end of the text if `open_ended`.
    bool read(bool bare, bool open_ended) {
        out_ = Info{};
        if (!bare) out_.present = kAllParts;
        for (in_.skip_space(); !at_close(open_ended); in_.skip_space()) {
            if (!item()) return false;
            in_.skip_space();
            if (!in_.take(',') && !at_close(open_ended)) return in_.expected("fields are separated by ','");
        }
        if (!open_ended && !in_.take('}')) return in_.expected("the hints need a closing '}'");
        set_lengths();
        return true;
    }

private:
    [[nodiscard]] bool at_close(bool open_ended) const { return in_.end() || (!open_ended && in_.peek() == '}'); }

    bool item() {
        const auto at = in_.at();
        const auto path = in_.word();
        if (path.empty()) return in_.expected("here stands a field, such as caps=FI_MSG");
        if (const auto* part = find_part(path)) return part_item(at, *part);
        const auto* field = find_field(path);
        if (field == nullptr || field->part == Part::Call)
            return in_.fail(at, "unknown field " + shown(path) + "; the nearest: " + nearest_field(path));
        if (!read_equals(in_, path)) return false;
        if (seen_[index(field->field)]) return in_.fail(at, "the field " + shown(path) + " is given twice");
        seen_[index(field->field)] = true;
        return add_part(at, path, field->part) && value(*field);
    }

    // tx_attr=present, tx_attr=NULL
    bool part_item(std::size_t at, const PartRow& named) {
        const auto bit = static_cast<std::size_t>(named.part);
        if (!read_equals(in_, named.path)) return false;
        const auto value_at = in_.at();
        const auto token = in_.word();
        if (parts_[bit]) return in_.fail(at, "the part " + shown(named.path) + " is given twice");
        parts_[bit] = true;
        if (token == "present") {
            out_.add(named.part);
            return true;
        }
        if (token != "NULL")
            return in_.fail(value_at, "found " + shown(token) + ", but a part is 'present' or 'NULL'; its fields are " +
                                          "written " + std::string(named.path) + ".field=value");
        if (filled_[bit]) return contradiction(at, named.path);
        null_[bit] = true;
        out_.drop(named.part);
        return true;
    }

    bool add_part(std::size_t at, std::string_view path, Part part) {
        if (part == Part::Info) return true;
        const auto bit = static_cast<std::size_t>(part);
        if (null_[bit]) return contradiction(at, path);
        filled_[bit] = true;
        out_.add(part);
        return true;
    }

    bool contradiction(std::size_t at, std::string_view name) {
        return in_.fail(at, shown(name) + " contradicts what stands before: a part that is NULL has no fields");
    }

    bool value(const FieldRow& field) {
        if (field.form == Form::String) return read_text(in_, text(out_, field.field));
        if (field.form == Form::Bytes) return read_address(in_, text(out_, field.field));
        std::uint64_t number = 0;
        if (!read_number(in_, field, number)) return false;
        set(out_, field.field, number);
        return true;
    }

    // Bytes bring their length with them, unless it is given.
    void set_lengths() {
        for (const auto& r : text_fields())
            if (r.form == Form::Bytes && text(out_, r.field) && !seen_[index(r.partner)]) fit_length(out_, r.field);
    }

    static std::size_t index(Field f) { return static_cast<std::size_t>(f); }

    Scanner& in_;
    Info& out_;
    std::bitset<256> seen_;
    std::bitset<8> parts_, filled_, null_;
};

// {…} or bare{…}
bool read_braced(Scanner& in, Info& out) {
    const auto at = in.at();
    const auto word = in.word();
    if (!word.empty() && word != "bare")
        return in.fail(at, "found " + shown(word) + ", but hints are {...}, bare{...} or NULL");
    if (!in.take('{')) return in.expected("hints are {...}, bare{...} or NULL");
    return HintsReader(in, out).read(!word.empty(), false);
}

bool read_hints(Scanner& in, std::optional<Info>& out) {
    Scanner ahead = in;
    if (ahead.word() == "NULL") {
        in = ahead;
        return true;
    }
    Info info;
    if (!read_braced(in, info)) return false;
    out = std::move(info);
    return true;
}

// The arguments of a call, separated by white space.
class CallReader {
public:
    CallReader(Scanner& in, Query& out) : in_(in), out_(out) {}

    bool read() {
        out_ = Query{};
        in_.skip_space();
        while (!in_.end()) {
            if (!argument()) return false;
            if (!in_.skip_space() && !in_.end()) return in_.expected("arguments are separated by white space");
        }
        return true;
    }

private:
    bool argument() {
        const auto at = in_.at();
        const auto name = in_.word();
        if (name.empty()) return in_.expected("a call is made of " + std::string(kArguments));
        const auto which = find(name);
        if (which == kNames.size()) return unknown(at, name);
        if (!read_equals(in_, name)) return false;
        if (seen_[which]) return in_.fail(at, shown(name) + " is given twice");
        seen_[which] = true;
        switch (which) {
            case 0:
                return read_version(in_, out_.version);
            case 1:
                return read_text(in_, out_.node);
            case 2:
                return read_text(in_, out_.service);
            case 3:
                return read_value(in_, Family::getinfo_flags, out_.flags);
            default:
                return read_hints(in_, out_.hints);
        }
    }

    bool unknown(std::size_t at, std::string_view name) {
        std::string message = "unknown argument " + shown(name) + "; a call is made of " + std::string(kArguments);
        const auto* field = find_field(name);
        if ((field != nullptr && field->part != Part::Call) || find_part(name) != nullptr)
            message = "the field " + shown(name) + " belongs into the hints: hints={" + std::string(name) + "=...}";
        return in_.fail(at, message);
    }

    static constexpr std::array<std::string_view, 5> kNames{"version", "node", "service", "flags", "hints"};
    static std::size_t find(std::string_view name) {
        std::size_t i = 0;
        while (i < kNames.size() && kNames[i] != name) ++i;
        return i;
    }

    Scanner& in_;
    Query& out_;
    std::bitset<5> seen_;
};

// Hands out what was read only if all of it is right.
template <typename Value>
bool finish(Scanner& in, bool good, Value&& value, Value& out, TextError& error) {
    if (good) in.skip_space();
    if (good && !in.end()) good = in.expected("nothing may follow");
    if (!good)
        error = in.error();
    else
        out = std::forward<Value>(value);
    return good;
}

bool is_braced(Scanner ahead) {
    const auto word = ahead.word();
    return (word.empty() || word == "bare") && ahead.peek() == '{';
}

}  // namespace

bool parse_call(std::string_view text, Query& out, TextError& error) {
    Scanner in(text);
    Query query;
    const bool good = CallReader(in, query).read();
    return finish(in, good, std::move(query), out, error);
}

bool parse_hints(std::string_view text, Info& out, TextError& error) {
    Scanner in(text);
    Info info;
    in.skip_space();
    const bool good = is_braced(in) ? read_braced(in, info) : HintsReader(in, info).read(false, true);
    return finish(in, good, std::move(info), out, error);
}

}  // namespace selvage::model
