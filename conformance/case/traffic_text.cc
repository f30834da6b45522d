// See traffic_text.h.
#include "conformance/case/traffic_text.h"

#include <array>

#include "conformance/case/action_text.h"
#include "conformance/case/names.h"
#include "conformance/case/quoted.h"
#include "model/text/call_text.h"
#include "model/text/value_text.h"

namespace selvage::conformance {
namespace {

using model::Family;
using Form = model::CallForm;
using model::CallForm;
using model::Operation;
using model::Side;
using model::Transfer;

struct CallRow {
    std::string_view name;
    Transfer what;
    CallForm form;
};

constexpr std::array kCalls = {
    CallRow{"send", Transfer::Send, CallForm::Plain},
    CallRow{"sendv", Transfer::Send, CallForm::Vector},
    CallRow{"sendmsg", Transfer::Send, CallForm::Message},
    CallRow{"inject", Transfer::Send, CallForm::Inject},
    CallRow{"senddata", Transfer::Send, CallForm::Data},
    CallRow{"injectdata", Transfer::Send, CallForm::InjectData},
    CallRow{"recv", Transfer::Recv, CallForm::Plain},
    CallRow{"recvv", Transfer::Recv, CallForm::Vector},
    CallRow{"recvmsg", Transfer::Recv, CallForm::Message},
    CallRow{"tsend", Transfer::TaggedSend, CallForm::Plain},
    CallRow{"tsendv", Transfer::TaggedSend, CallForm::Vector},
    CallRow{"tsendmsg", Transfer::TaggedSend, CallForm::Message},
    CallRow{"tinject", Transfer::TaggedSend, CallForm::Inject},
    CallRow{"tsenddata", Transfer::TaggedSend, CallForm::Data},
    CallRow{"tinjectdata", Transfer::TaggedSend, CallForm::InjectData},
    CallRow{"trecv", Transfer::TaggedRecv, CallForm::Plain},
    CallRow{"trecvv", Transfer::TaggedRecv, CallForm::Vector},
    CallRow{"trecvmsg", Transfer::TaggedRecv, CallForm::Message},
    CallRow{"write", Transfer::Write, CallForm::Plain},
    CallRow{"writev", Transfer::Write, CallForm::Vector},
    CallRow{"writemsg", Transfer::Write, CallForm::Message},
    CallRow{"inject_write", Transfer::Write, CallForm::Inject},
    CallRow{"writedata", Transfer::Write, CallForm::Data},
    CallRow{"inject_writedata", Transfer::Write, CallForm::InjectData},
    CallRow{"read", Transfer::Read, CallForm::Plain},
    CallRow{"readv", Transfer::Read, CallForm::Vector},
    CallRow{"readmsg", Transfer::Read, CallForm::Message},
    CallRow{"atomic", Transfer::Atomic, CallForm::Plain},
    CallRow{"atomicv", Transfer::Atomic, CallForm::Vector},
    CallRow{"atomicmsg", Transfer::Atomic, CallForm::Message},
    CallRow{"inject_atomic", Transfer::Atomic, CallForm::Inject},
    CallRow{"fetch_atomic", Transfer::FetchAtomic, CallForm::Plain},
    CallRow{"fetch_atomicv", Transfer::FetchAtomic, CallForm::Vector},
    CallRow{"fetch_atomicmsg", Transfer::FetchAtomic, CallForm::Message},
    CallRow{"compare_atomic", Transfer::CompareAtomic, CallForm::Plain},
    CallRow{"compare_atomicv", Transfer::CompareAtomic, CallForm::Vector},
    CallRow{"compare_atomicmsg", Transfer::CompareAtomic, CallForm::Message},
    CallRow{"cancel", Transfer::Cancel, CallForm::Plain},
    CallRow{"trigger", Transfer::Trigger, CallForm::Plain},
    CallRow{"trigger_error", Transfer::TriggerError, CallForm::Plain},
    CallRow{"trigger_set", Transfer::TriggerSet, CallForm::Plain},
    CallRow{"cancel_work", Transfer::CancelWork, CallForm::Plain},
    CallRow{"flush_work", Transfer::FlushWork, CallForm::Plain},
};

// How the number of a key is spelt.
struct KeyRow {
    std::string_view key;
    std::uint64_t Operation::*member;
    Family family;
    bool hexadecimal;
};
constexpr std::array kKeys = {
    KeyRow{"length", &Operation::length, Family::none, false},
    KeyRow{"pieces", &Operation::pieces, Family::none, false},
    KeyRow{"target-pieces", &Operation::target_pieces, Family::none, false},
    KeyRow{"tag", &Operation::tag, Family::none, true},
    KeyRow{"ignore", &Operation::ignore, Family::none, true},
    KeyRow{"data", &Operation::data, Family::none, true},
    KeyRow{"offset", &Operation::offset, Family::none, false},
    KeyRow{"access", &Operation::region_access, Family::caps, false},
    KeyRow{"type", &Operation::datatype, Family::datatype, false},
    KeyRow{"op", &Operation::op, Family::atomic_op, false},
    KeyRow{"count", &Operation::count, Family::none, false},
    KeyRow{"threshold", &Operation::threshold, Family::none, false},
    KeyRow{"flags", &Operation::flags, Family::op_flags, false},
};

constexpr std::string_view kProgress = "progress";
constexpr std::string_view kRest = "rest";
constexpr std::string_view kAlone = "alone";

std::string_view take_word(std::string_view& line) {
    while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    const auto end = std::min(line.find(' '), line.size());
    const auto word = line.substr(0, end);
    line.remove_prefix(end);
    return word;
}

const CallRow* find_call(std::string_view name) {
    for (const auto& c : kCalls)
        if (c.name == name) return &c;
    return nullptr;
}

std::string nearest_call(std::string_view name) {
    std::vector<std::string_view> names;
    names.reserve(std::size(kCalls));
    for (const auto& c : kCalls) names.push_back(c.name);
    return model::nearest(name, names);
}

bool read_value(std::string_view text, Family family, std::uint64_t& out) {
    if (text == "max") return out = ~std::uint64_t{0}, true;
    if (family != Family::none) return model::parse_value(family, text, out);
    return model::parse_plain(text, out);
}

std::string print_value(std::uint64_t value, Family family, bool hexadecimal) {
    if (value == ~std::uint64_t{0}) return "max";
    if (family != Family::none) return model::print_value(family, value);
    return hexadecimal ? model::print_hex(value) : std::to_string(value);
}

// Which of an operation's keys are always printed.
bool always(const KeyRow& key, const Operation& o) {
    const bool counted = o.what >= Transfer::Atomic && o.what <= Transfer::CompareAtomic;
    const bool carries = o.what < Transfer::Atomic;
    return (key.member == &Operation::length && carries) ||
           (counted &&
            (key.member == &Operation::datatype || key.member == &Operation::op || key.member == &Operation::count));
}

bool read_option(std::string_view word, Operation& out, CaseError& error) {
    if (word == "from-peer") return out.from_any = false, true;
    if (word == "from-other") return out.from_other = true;
    if (word == "bad-key") return out.bad_key = true;
    if (word == "deferred") return out.deferred = true;
    if (word == kAlone) return out.rest = true;
    const auto equals = word.find('=');
    const auto key = word.substr(0, equals);
    const auto value = equals == std::string_view::npos ? std::string_view{} : word.substr(equals + 1);
    if (key == "of") return read_number(value, out.of) || fail(error, value, "expected the number of an operation");
    for (const auto& k : kKeys) {
        if (k.key != key) continue;
        return read_value(value, k.family, out.*k.member) || fail(error, value, "no such value");
    }
    return fail(
        error, key,
        "known are length=, pieces=, target-pieces=, tag=, ignore=, data=, offset=, access=, type=, op=, count=, "
        "threshold=, flags=, of=, from-peer, from-other, bad-key, deferred and alone");
}

struct SetupKey {
    std::string_view key;
    std::uint64_t TransferSequence::*member;
    Family family;
};
constexpr std::array kSetupKeys = {
    SetupKey{"format", &TransferSequence::format, Family::cq_format},
    SetupKey{"transmit-flags", &TransferSequence::transmit_flags, Family::op_flags},
    SetupKey{"receive-flags", &TransferSequence::receive_flags, Family::op_flags},
    SetupKey{"min-multi-recv", &TransferSequence::min_multi_recv, Family::none},
    SetupKey{"queue-size", &TransferSequence::queue_size, Family::none},
    SetupKey{"processes", &TransferSequence::processes, Family::none},
};

}  // namespace

std::string_view call_name(Transfer what, CallForm form) {
    if (what == Transfer::Progress) return kProgress;
    for (const auto& c : kCalls)
        if (c.what == what && c.form == form) return c.name;
    return {};
}

bool is_operation(std::string_view line) {
    return line == kProgress || line == kRest || line.starts_with("A ") || line.starts_with("B ");
}

bool parse_operation(std::string_view line, Operation& out, CaseError& error) {
    out = {};
    if (line == kProgress) return true;
    if (line == kRest) return out.rest = true;
    out.side = take_word(line) == "A" ? Side::A : Side::B;
    const auto word = take_word(line);
    const auto* call = find_call(word);
    if (call == nullptr) return fail(error, word, "no such operation; near are " + nearest_call(word));
    out.what = call->what;
    out.form = call->form;
    for (auto option = take_word(line); !option.empty(); option = take_word(line))
        if (!read_option(option, out, error)) return false;
    const bool may_wait =
        out.form == CallForm::Message || out.what == Transfer::Trigger || out.what == Transfer::TriggerSet;
    return !out.deferred || may_wait || fail(error, word, "deferred are calls with a message, trigger and trigger_set");
}

std::string print_operation(const Operation& o) {
    if (o.what == Transfer::Progress) return std::string(o.rest ? kRest : kProgress);
    std::string out = o.side == Side::A ? "A " : "B ";
    out += call_name(o.what, o.form);
    const Operation plain;
    for (const auto& k : kKeys) {
        if (o.*k.member == plain.*k.member && !always(k, o)) continue;
        out.append(" ").append(k.key).append("=").append(print_value(o.*k.member, k.family, k.hexadecimal));
    }
    if (o.of != plain.of) out += " of=" + std::to_string(o.of);
    if (!o.from_any) out += " from-peer";
    if (o.from_other) out += " from-other";
    if (o.bad_key) out += " bad-key";
    if (o.deferred) out += " deferred";
    if (o.rest) out.append(" ").append(kAlone);
    return out;
}

void print_setup(std::string& out, const TransferSequence& e) {
    const TransferSequence plain;
    const auto put = [&out](std::string_view key, std::string_view value) {
        out.append(key).append(" = ").append(value).push_back('\n');
    };
    if (e.entry != plain.entry) put("entry", std::to_string(e.entry));
    for (const auto& k : kSetupKeys)
        if (e.*k.member != plain.*k.member) put(k.key, print_value(e.*k.member, k.family, false));
    if (e.selective_transmit || e.selective_receive)
        put("selective", !e.selective_receive ? "transmit" : !e.selective_transmit ? "receive" : "both");
    if (e.counters) put("counters", "yes");
}

void print_operations(std::string& out, const std::vector<Operation>& operations) {
    for (const auto& o : operations) out.append(print_operation(o)).push_back('\n');
}

bool parse_exchange_key(std::string_view key, std::string_view value, TransferSequence& out, CaseError& error,
                        bool& known) {
    known = true;
    for (const auto& k : kSetupKeys)
        if (k.key == key) return read_value(value, k.family, out.*k.member) || fail(error, value, "no such value");
    if (key == "entry") return read_number(value, out.entry) || fail(error, value, "expected a number");
    if (key == "counters") {
        out.counters = value == "yes";
        return out.counters || value == "no" || fail(error, value, "expected yes or no");
    }
    if (key == "selective") {
        out.selective_transmit = value == "transmit" || value == "both";
        out.selective_receive = value == "receive" || value == "both";
        return out.selective_transmit || out.selective_receive || value == "no" ||
               fail(error, value, "expected transmit, receive, both or no");
    }
    known = false;
    return false;
}

}  // namespace selvage::conformance
