// See traffic_verdict.h.
//
// Which clause is broken plays no part here: what to compare stands in the evidence (model/judge/observed.h).
#include "conformance/reproduce/traffic_verdict.h"

#include <rdma/fabric.h>

#include <algorithm>
#include <optional>

#include "conformance/case/operations.h"
#include "conformance/reproduce/c_text.h"
#include "conformance/reproduce/check.h"
#include "conformance/reproduce/reproduce.h"
#include "conformance/reproduce/traffic_values.h"
#include "model/spec/clause.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

using model::Observable;
using model::Observed;
using model::Operation;
using model::Relation;
using model::Side;
using model::Transfer;

std::string quoted_index(std::size_t i) { return "[" + std::to_string(i) + "]"; }
std::string buffer_of(std::size_t i) { return "buffer" + quoted_index(i); }

std::string differ(const std::string& a, const std::string& b, std::uint64_t length) {
    return "memcmp(" + a + ", " + b + ", " + std::to_string(length) + ") != 0";
}

// The operations that the evidence names; none if one of them is not there.
std::vector<std::size_t> named(const Program& p) {
    std::vector<std::size_t> out;
    const auto count = p.shown().sequence.operations.size();
    for (const int i : p.evidence().observed.operations) {
        if (i < 0 || static_cast<std::size_t>(i) >= count) return {};
        out.push_back(static_cast<std::size_t>(i));
    }
    return out;
}

// A number that was seen, and what must be true for it to mean anything.
struct Number {
    std::string seen;
    std::string guard;
};

class Verdict {
public:
    explicit Verdict(Program& p) : p_(p), e_(p.shown().sequence), observed_(p.evidence().observed), about_(named(p)) {}

    void emit() {
        for (const model::Need& n : p_.needs()) {
            const std::string there = is_there(n);
            if (!there.empty())
                p_.main("\tif (!(" + there +
                        ")) {\n\t\tputs(\"cannot tell: the endpoints lack what the promise speaks of\");\n\t\treturn "
                        "77;\n\t}\n");
        }
        if (const auto condition = broken_when()) {
            if (!condition->empty())
                p_.main("\tif (" + *condition + ") {\n\t\tprintf(\"broken: " +
                        c::for_printf(model::print_evidence(p_.evidence())) + "\\n\");\n\t\treturn 1;\n\t}\n");
            p_.main("\tputs(\"kept\");\n\treturn 0;\n");
        } else {
            p_.main(std::string("\tputs(\"") + kCannotTell +
                    ": hold the lines above against the promise\");\n\treturn 77;\n");
        }
    }

private:
    // What a promise speaks of, where the endpoints of another library may lack it, as C; empty for other needs.
    static std::string is_there(const model::Need& n) {
        const auto member = [&n] { return c::plain_member("opened.info", n.field); };
        const auto value = [&n] { return c::value(model::row(n.field).family, n.value); };
        switch (n.kind) {
            case model::NeedKind::Above:
                return member() + " > " + value();
            case model::NeedKind::Has:
                return "(" + member() + " & (" + value() + ")) != 0";
            case model::NeedKind::Lacks:
                return "(" + member() + " & (" + value() + ")) == 0";
            case model::NeedKind::Is:
                return member() + " == " + value();
            default:
                return {};
        }
    }

    // When the promise is broken, as C; empty if coming here is enough to know that it is kept.
    std::optional<std::string> broken_when() {
        if (model::is_crash(p_.evidence())) {
            p_.part("close_all.c");
            p_.main("\tclose_all();\n");
            return std::string();
        }
        if (observed_.what == Observable::Opening) return std::string();
        const bool of_counters = observed_.what == Observable::Counter || observed_.what == Observable::Errors ||
                                 observed_.what == Observable::TransmitErrors;
        if (!of_counters && about_.size() != observed_.operations.size()) return std::nullopt;
        if (of_counters || about_.empty()) {
            const auto number = of_counters ? counter() : entry_number(row());
            if (!number) return std::nullopt;
            return guarded(*number);
        }
        if (auto condition = of_bytes()) return condition;
        if (auto condition = of_many()) return condition;
        if (observed_.what == Observable::Order) return out_of_order();
        if (observed_.what == Observable::Refusal) return went_through();
        auto number = call_number();
        if (!number) number = entry_number(row());
        if (!number) return std::nullopt;
        return guarded(*number);
    }

    [[nodiscard]] std::string guarded(const Number& n) const {
        return n.guard.empty() ? wrong(n.seen) : n.guard + " && " + wrong(n.seen);
    }

    // The value is not as it should be.
    [[nodiscard]] std::string wrong(const std::string& value) const {
        const auto& e = p_.evidence();
        std::string out = broken_number(e.relation, value, c::number(e.expected));
        for (const auto other : observed_.also) out += " && " + value + " != " + c::number(other);
        return out;
    }

    // Numbers of a call, and how many entries came of it.
    std::optional<Number> call_number() {
        const std::string returned = "returned" + quoted_index(about_[0]);
        switch (observed_.what) {
            case Observable::Returned:
                return Number{"(uint64_t)" + returned, ""};
            case Observable::Entries:
                return Number{row() + ".entries",
                              returned + " == 0" + (about_.size() > 1 ? " && " + succeeded(1) : "")};
            case Observable::RefusedEntries:
                return Number{row() + ".entries", returned + " != 0"};
            case Observable::Context:
                p_.part("contexts.c");
                return Number{"context_used(" + std::to_string(about_[0]) + ")", ""};
            default:
                return std::nullopt;
        }
    }

    // Numbers of the entries in one row of what was reported.
    std::optional<Number> entry_number(const std::string& row) {
        const std::string success = row + ".entries > " + row + ".errors", failure = row + ".errors";
        switch (observed_.what) {
            case Observable::Successes:
                return Number{"(" + row + ".entries - " + row + ".errors)", ""};
            case Observable::Queue:
                return Number{"(uint64_t)" + row + ".queue", row + ".entries"};
            case Observable::Error:
                return Number{"(uint64_t)" + row + ".error.err", failure};
            case Observable::ErrorData:
                return Number{row + ".error.err_data_size", failure};
            case Observable::Overflow:
                return Number{row + ".error.olen", failure};
            case Observable::Flags:
                return Number{row + ".last.flags", success};
            case Observable::Length:
                return Number{row + ".last.len", success};
            case Observable::Data:
                return Number{row + ".last.data", success};
            case Observable::Tag:
                return Number{row + ".last.tag", success};
            case Observable::CallsMade:
                return Number{"(uint64_t)" + row + ".after", success};
            case Observable::Source:
                return Number{"(uint64_t)" + row + ".last.source", success};
            default:
                return std::nullopt;
        }
    }

    std::optional<Number> counter() {
        const std::string side = model::name_of(observed_.side);
        p_.part("counts.c");
        if (observed_.what != Observable::Counter)
            return Number{"errors_of(" + side + ", " + (observed_.what == Observable::Errors ? "1" : "0") + ")", ""};
        return Number{"counted(" + side + ", " + std::to_string(static_cast<int>(observed_.counter)) + ")", ""};
    }

    // It must be refused or fail.  The error of an inject call belongs to no operation.
    [[nodiscard]] std::string went_through() const {
        const auto queue = model::number_of_queue(at(0).side, !is_receive(at(0)));
        std::string out = "returned" + quoted_index(about_[0]) + " == 0 && " + row() +
                          ".errors == 0 && completions[OPERATIONS + " + std::to_string(queue) + "].errors == 0";
        if (observed_.limit != model::Field::subject)
            out += " && " + c::number(bytes_of(at(0))) + " > " + c::plain_member("opened.info", observed_.limit);
        return out;
    }

    // AtLeast: its entry must come after that of the second, which must come; AtMost: before it.
    std::optional<std::string> out_of_order() {
        if (about_.size() < 2) return std::nullopt;
        const std::string first = row() + ".order", second = row(1) + ".order";
        if (p_.evidence().relation == Relation::AtMost)
            return first + " && " + second + " && " + first + " > " + second;
        return first + " && returned" + quoted_index(about_[1]) + " == 0 && (" + second + " == 0 || " + first + " < " +
               second + ")";
    }

    // Buffers for many messages.
    std::optional<std::string> of_many() {
        const bool many = observed_.what == Observable::Overlap || observed_.what == Observable::Releases ||
                          observed_.what == Observable::SpaceUnreleased || observed_.what == Observable::SpaceReleased;
        if (!many) return std::nullopt;
        p_.part("many.c");
        p_.declare("\tlong left;\n\tint released, late;\n");
        p_.main("\tleft = space_left(" + std::to_string(about_[0]) + ", " + buffer_of(about_[0]) + ", " +
                std::to_string(at(0).length) + ");\n\treleased = releases(" + std::to_string(about_[0]) +
                ", &late);\n\t(void)left, (void)released, (void)late;\n");
        switch (observed_.what) {
            case Observable::Overlap:
                return "left < 0";
            case Observable::Releases:
                return wrong("(uint64_t)released") + (p_.evidence().relation == Relation::AtMost ? " || late" : "");
            case Observable::SpaceUnreleased:
                return "released == 0 && left >= 0 && " + wrong("(uint64_t)left");
            default:
                return "released > 0 && left >= 0 && " + wrong("(uint64_t)left");
        }
    }

    std::optional<std::string> of_bytes() {
        const Operation& o = at(0);
        const std::string own = buffer_of(about_[0]);
        switch (observed_.what) {
            case Observable::Rest:
                return "late == 1";
            case Observable::BufferAtEntry:
            case Observable::PartnerAtEntry:
            case Observable::ResultAtEntry:
            case Observable::TargetAtEntry:
                return look_of_traffic(p_).empty() ? std::optional<std::string>() : "early == 1";
            case Observable::Behind:
                if (is_atomic(o)) return std::nullopt;
                p_.part("behind.c");
                return "is_touched(" + own + ", " + std::to_string(o.length) + ", " + std::to_string(room_for(o)) + ")";
            case Observable::Buffer:
                return of_message();
            case Observable::Result:
                return is_atomic(o) ? result_differs(p_, about_[0], room_for(o)) : differ(own, target_of(o), o.length);
            case Observable::Target:
                return of_target();
            default:
                return std::nullopt;
        }
    }

    // The bytes of the second's message must be in the buffer of the first, or must not.
    std::optional<std::string> of_message() {
        if (about_.size() < 2 || !is_receive(at(0)) || !is_send(at(1))) return std::nullopt;
        const bool must = p_.evidence().relation == Relation::Equals;
        const std::string sent = buffer_of(about_[1]);
        refill(1);
        if (holds_many(at(0))) {
            p_.part("holds.c");
            return (must ? "!" : "") + ("holds(" + std::to_string(about_[0])) + ", " + sent + ", " +
                   std::to_string(at(1).length) + ")";
        }
        const auto length = std::min(at(0).length, at(1).length);
        if (must) return differ(buffer_of(about_[0]), sent, length);
        if (length == 0) return std::nullopt;
        return succeeded(0) + " && !(" + differ(buffer_of(about_[0]), sent, length) + ")";
    }

    std::optional<std::string> of_target() {
        const Operation& o = at(0);
        const bool must = p_.evidence().relation == Relation::Equals;
        if (is_atomic(o)) return must ? std::optional(values_differ(p_, about_[0])) : std::nullopt;
        if (o.what != Transfer::Write) return std::nullopt;
        refill(0);
        const std::string differs = differ(buffer_of(about_[0]), target_of(o), o.length);
        return must ? differs : "!(" + differs + ")";
    }

    // The bytes that were sent may have been written over since.
    void refill(std::size_t k) {
        p_.main("\tfill(" + buffer_of(about_[k]) + ", " + std::to_string(at(k).length) + ", " +
                std::to_string(about_[k]) + ");\n");
    }

    [[nodiscard]] bool holds_many(const Operation& o) const {
        return o.what == Transfer::Recv &&
               ((o.form == model::CallForm::Message ? o.flags : e_.receive_flags) & FI_MULTI_RECV) != 0;
    }

    [[nodiscard]] const Operation& at(std::size_t k) const { return e_.operations[about_[k]]; }
    [[nodiscard]] std::string succeeded(std::size_t k) const { return row(k) + ".entries > " + row(k) + ".errors"; }

    // What was reported of an operation; of none, in the queue that the evidence names.
    [[nodiscard]] std::string row(std::size_t k = 0) const {
        if (!about_.empty()) return "completions" + quoted_index(about_[k]);
        return "completions[OPERATIONS + " +
               std::to_string(model::number_of_queue(observed_.side, observed_.transmits)) + "]";
    }

    Program& p_;
    const TransferSequence& e_;
    const Observed& observed_;
    const std::vector<std::size_t> about_;  // operations that the evidence names
};

}  // namespace

std::string look_of_traffic(const Program& p) {
    const auto about = named(p);
    if (about.empty()) return {};
    const auto& operations = p.shown().sequence.operations;
    const Operation& o = operations[about[0]];
    const std::string own = buffer_of(about[0]);
    const auto when = [&](const std::string& differs) {
        return "do { if ((operation) == " + std::to_string(about[0]) + " && early < 0) early = " + differs +
               "; } while (0)";
    };
    switch (p.evidence().observed.what) {
        case Observable::TargetAtEntry:
        case Observable::ResultAtEntry:
            return reaches_memory(o) && !is_atomic(o) ? when(differ(own, target_of(o), o.length)) : std::string();
        case Observable::PartnerAtEntry:
            return about.size() > 1 ? when(differ(own, buffer_of(about[1]), o.length)) : std::string();
        case Observable::BufferAtEntry:
            return is_receive(o) ? when(own + "[0] == 0xee") : std::string();
        default:
            return {};
    }
}

std::string rest_of_traffic(Program& p) {
    const auto about = named(p);
    if (p.evidence().observed.what != Observable::Rest || about.empty())
        return "\tusleep(2000000); /* no call is made */\n";
    const Operation& o = p.shown().sequence.operations[about[0]];
    const std::string at = o.what == Transfer::Write ? target_of(o) : buffer_of(about.size() > 1 ? about[1] : about[0]);
    p.declare("\tint n, late = 0;\n");
    return "\tfor (n = 0, late = 1; n < 20000 && late; n++) { /* no call is made */\n\t\tusleep(100);\n\t\tlate = " +
           differ(buffer_of(about[0]), at, o.length) + ";\n\t}\n";
}

void emit_traffic_verdict(Program& p) { Verdict(p).emit(); }

}  // namespace selvage::conformance
