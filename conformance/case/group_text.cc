// See group_text.h.
#include "conformance/case/group_text.h"

#include <array>

#include "conformance/case/action_text.h"
#include "conformance/case/names.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

using model::Family;
using model::GroupScript;

struct KeyRow {
    std::string_view key;
    std::uint64_t GroupScript::*member;
    Family family;
};
constexpr std::array kKeys = {
    KeyRow{"members", &GroupScript::members, Family::none},
    KeyRow{"operation", &GroupScript::operation, Family::collective_op},
    KeyRow{"type", &GroupScript::datatype, Family::datatype},
    KeyRow{"op", &GroupScript::op, Family::atomic_op},
    KeyRow{"count", &GroupScript::count, Family::none},
    KeyRow{"root", &GroupScript::root, Family::none},
};

bool read(std::string_view text, Family family, std::uint64_t& out) {
    return family == Family::none ? read_number(text, out) : model::parse_value(family, text, out);
}

bool read_word(std::string_view word, GroupScript& out, CaseError& error) {
    const auto equals = word.find('=');
    if (equals == std::string_view::npos) return fail(error, word, "expected key=value");
    const auto key = word.substr(0, equals), value = word.substr(equals + 1);
    for (const KeyRow& k : kKeys)
        if (k.key == key) return read(value, k.family, out.*k.member) || fail(error, value, "no such value");
    if (key == "late") return read_number(value, out.late) || fail(error, value, "expected a number");
    if (key == "what") {
        const auto call = find_object_call(value);
        if (!call) return fail(error, value, "no such call");
        out.call = *call;
        return true;
    }
    if (key != "set")
        return fail(error, key, "known are members=, what=, set=, operation=, type=, op=, count=, root=, late=");
    const auto set = find_address_set(value);
    if (!set) return fail(error, value, "no such set");
    out.set = *set;
    return true;
}

bool is_possible(const GroupScript& s) {
    const auto members = static_cast<std::int64_t>(s.members);
    return s.members >= 1 && s.members <= model::kMostMembers && s.root < s.members && s.late < members &&
           s.count >= 1 && s.count <= model::kMostGroupCount &&
           (s.act == model::GroupAct::NamedContexts || s.act == model::GroupAct::Calls || members > 1);
}

}  // namespace

std::string print_group(const GroupScript& s) {
    std::string out(name(s.act));
    const GroupScript plain;
    if (s.act == model::GroupAct::Calls) out.append(" what=").append(name(s.call));
    if (s.set != plain.set) out.append(" set=").append(name(s.set));
    for (const KeyRow& k : kKeys) {
        if (s.*k.member == plain.*k.member && k.key != "members") continue;
        out.append(" ").append(k.key).append("=");
        out += k.family == Family::none ? std::to_string(s.*k.member) : model::print_value(k.family, s.*k.member);
    }
    if (s.late >= 0) out += " late=" + std::to_string(s.late);
    return out;
}

bool parse_group(std::string_view line, GroupScript& out, CaseError& error) {
    out = {};
    bool first = true;
    while (!line.empty()) {
        const auto end = std::min(line.find(' '), line.size());
        const auto word = line.substr(0, end);
        line.remove_prefix(std::min(end + 1, line.size()));
        if (word.empty()) continue;
        if (!first) {
            if (!read_word(word, out, error)) return false;
            continue;
        }
        first = false;
        const auto act = find_group_act(word);
        if (!act)
            return fail(
                error, word,
                "expected collective, named-contexts, multicast, unknown-sender, user-ids, other-keys or calls");
        out.act = *act;
    }
    return is_possible(out) ||
           fail(error, line, "there are at most 4 members, of which root and late are numbers from 0");
}

}  // namespace selvage::conformance
