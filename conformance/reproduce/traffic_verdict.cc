// See traffic_verdict.h.
#include "conformance/reproduce/traffic_verdict.h"

#include <rdma/fabric.h>
#include <rdma/fi_eq.h>

#include <algorithm>

#include "conformance/case/operations.h"
#include "conformance/reproduce/c_text.h"
#include "conformance/reproduce/check.h"
#include "conformance/reproduce/traffic_parts.h"
#include "conformance/reproduce/traffic_values.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

using model::Operation;
using model::Side;
using model::Transfer;

constexpr std::string_view kNoLook = "((void)(operation), (void)early)";
bool is_looked_at(std::string_view look) { return look != kNoLook; }

std::string side_name(Side s) { return s == Side::A ? "A" : "B"; }
std::string quoted_index(std::size_t i) { return "[" + std::to_string(i) + "]"; }

// Numbers of operations that the evidence names, from 0.
std::vector<std::size_t> named(const Program& p) {
    std::vector<std::size_t> out;
    const std::string& note = p.evidence().note;
    for (std::size_t at = note.find("operation "); at != std::string::npos; at = note.find("operation ", at + 1)) {
        const auto n = std::strtoul(note.c_str() + at + 10, nullptr, 10);
        if (n >= 1 && n <= p.shown().sequence.operations.size()) out.push_back(n - 1);
    }
    return out;
}

// Clauses of other pages that say of transfers what one on transfers says, and are seen to be broken in the same way.
std::string_view like(const Program& p) {
    const std::string_view id = p.id();
    if (id == "getinfo.caps.rma-event-completes") {
        const bool reads = p.evidence().note.find("reads") != std::string::npos;
        return reads ? "cntr.count.remote-read" : "cntr.count.remote-write";
    }
    struct Alike {
        std::string_view id, like;
    };
    constexpr Alike kAlike[] = {
        {"getinfo.caps.source-data", "cq.source.told"},
        {"getinfo.caps.directed-recv-matches", "endpoint.selective.silent"},
        {"getinfo.caps.fence-orders", "msg.fence.order"},
        {"domain.rm.rma-unmatched", "rma.access.key"},
        {"domain.rm.rma-overrun", "rma.access.bounds"},
        {"domain.rm.target-datagram", "msg.call.succeeds"},
        {"getinfo.caps.msg-operations", "msg.call.succeeds"},
        {"getinfo.caps.tagged-operations", "msg.call.succeeds"},
        {"getinfo.caps.rma-operations", "msg.call.succeeds"},
        {"getinfo.caps.atomic-operations", "msg.call.succeeds"},
        {"getinfo.caps.read-initiates", "msg.call.succeeds"},
        {"getinfo.caps.write-initiates", "msg.call.succeeds"},
        {"getinfo.caps.remote-read-serves", "msg.call.succeeds"},
        {"getinfo.caps.remote-write-serves", "msg.call.succeeds"},
        {"getinfo.caps.send-transfers", "msg.call.succeeds"},
        {"getinfo.caps.recv-transfers", "msg.call.succeeds"},
        {"domain.caps.loopback", "msg.call.succeeds"},
        {"domain.mr.local-registration", "msg.call.succeeds"},
        {"domain.rm.target-reliable-enabled", "msg.call.succeeds"},
        {"domain.rm.overrun-datagram", "cq.len.received"},
        {"domain.rm.overrun-reliable", "cq.len.received"},
        {"domain.mr.scalable-offsets", "rma.write.whole"},
    };
    for (const Alike& a : kAlike)
        if (a.id == id) return a.like;
    return id;
}

class Verdict {
public:
    explicit Verdict(Program& p) : p_(p), e_(p.shown().sequence), id_(like(p)), about_(named(p)) {}

    void emit() {
        if (of_rests() || of_sources() || of_many() || of_values() || of_calls() || of_entries() || of_counters() ||
            of_order() || of_memory() || of_numbers()) {
            p_.main("\tputs(\"kept\");\n\treturn 0;\n");
        } else {
            p_.main("\tputs(\"cannot tell by itself: hold the lines above against the promise\");\n\treturn 77;\n");
        }
    }

private:
    // Each of these says what makes the promise broken, if it knows the clause.

    // What had not come when the rest was over.
    bool of_rests() {
        if (id_ != "domain.progress.auto" || about_.empty()) return false;
        broken_if("late == 1");
        return true;
    }

    // Whom fi_cq_readfrom told.
    bool of_sources() {
        if (!id_.starts_with("cq.source.") || about_.empty()) return false;
        const std::string wrong =
            row(0) + ".entries > " + row(0) + ".errors && " + row(0) + ".from != " + side_name(at(0).side) + ".peer";
        broken_if(id_ == "cq.source.told" ? wrong : wrong + " && " + row(0) + ".from != FI_ADDR_NOTAVAIL");
        return true;
    }

    // Buffers for many messages.
    bool of_many() {
        if (!id_.starts_with("msg.multi-recv.") || about_.empty()) return false;
        const std::string i = std::to_string(about_[0]);
        const std::string buffer = "buffer" + quoted_index(about_[0]);
        if (id_.ends_with(".whole")) {
            if (about_.size() < 2) return false;
            const std::string sent = std::to_string(at(1).length);
            p_.main("\tfill(buffer" + quoted_index(about_[1]) + ", " + sent + ", " + std::to_string(about_[1]) +
                    ");\n");
            broken_if("!holds(" + i + ", buffer" + quoted_index(about_[1]) + ", " + sent + ")");
            return true;
        }
        p_.declare("\tlong left;\n\tint released, late;\n");
        p_.main("\tleft = space_left(" + i + ", " + buffer + ", " + std::to_string(at(0).length) +
                ");\n\treleased = releases(" + i + ", &late);\n\t(void)left, (void)released, (void)late;\n");
        if (id_.ends_with(".packed")) broken_if("left < 0");
        if (id_.ends_with(".released-once")) broken_if("released > 1 || late");
        if (id_.ends_with(".release-due")) broken_if("released == 0 && left >= 0 && left < MULTI_RECV");
        if (id_.ends_with(".kept")) broken_if("released > 0 && left >= MULTI_RECV + 4096 /* alignment */");
        if (id_.ends_with(".release-told")) broken_if("released == 0");
        return true;
    }

    // What an atomic operation left at its target.
    bool of_values() {
        const bool left = id_.starts_with("atomic.update.") || id_ == "atomic.inject.stored";
        if (!left || about_.empty() || !is_atomic(at(0))) return false;
        broken_if(values_differ(p_, about_[0]));
        return true;
    }

    // What calls returned, and that they did.
    bool of_calls() {
        if (id_ == "endpoint.open.each-answer") return true;  // coming here is enough
        if (id_.ends_with("comes-back") || id_ == "domain.close.child") {
            p_.helper(traffic_parts::kClose);
            p_.main("\tclose_all();\n");
            return true;
        }
        if (about_.empty() || p_.evidence().field != model::Field::call_return) return false;
        if (at(0).what >= Transfer::Cancel) return true;
        std::string also;  // what is beyond a limit may fail instead
        if (id_.ends_with(".limit")) also += " && " + row(0) + ".errors == 0";
        if (id_.ends_with("inject.limit"))
            also += " && " + c::number(bytes_of(at(0))) + " > info->tx_attr->inject_size";
        broken_if(compared("(uint64_t)returned" + quoted_index(about_[0])) + also);
        return true;
    }

    // Which entries came.
    bool of_entries() {
        if (id_ == "cq.error.code") {
            for (std::size_t i = 0; i <= e_.operations.size(); ++i)
                broken_if("told" + quoted_index(i) + ".errors && told" + quoted_index(i) + ".err <= 0");
            return true;
        }
        if (id_ == "rma.data.told") {
            broken_if("told[OPERATIONS].entries < " + c::number(p_.evidence().expected));
            return true;
        }
        if (about_.empty()) return false;
        const std::string returned = "returned" + quoted_index(about_[0]);
        const bool unmatched = p_.evidence().note.find("nothing ever matched") != std::string::npos;
        if (id_.find(".access.") != std::string_view::npos && !id_.ends_with("untouched")) {
            broken_if(returned + " == 0 && " + row(0) + ".errors == 0");
        } else if (id_ == "endpoint.selective.silent" || id_.ends_with("inject.silent") || id_ == "tagged.peek.found" ||
                   unmatched) {
            broken_if(row(0) + ".entries > " + row(0) + ".errors");
        } else if ((id_.ends_with(".told") && id_ != "cq.overrun.told") || id_.ends_with("unselected") ||
                   id_.ends_with(".comes") || id_.ends_with("completion.selected") || id_.ends_with("cancel.ends")) {
            broken_if(returned + " == 0 && " + row(0) + ".entries == 0");
        } else if (id_ == "endpoint.cancel.unasked") {
            broken_if(row(0) + ".err == FI_ECANCELED");
        } else if (id_ == "tagged.peek.leaves-message" && about_.size() > 1) {
            broken_if(row(0) + ".entries && " + row(1) + ".entries == 0");
        } else if (id_.ends_with("data.carried") && about_.size() > 1) {
            broken_if(succeeded(0) + " && (!(" + row(0) + ".flags & FI_REMOTE_CQ_DATA) || " + row(0) +
                      ".data != " + c::number(at(1).data) + ")");
        } else if (id_ == "tagged.peek.nothing") {
            broken_if(failed_but_with({"FI_ENOMSG", "FI_ETRUNC"}));
        } else if (id_.ends_with("call.succeeds")) {
            broken_if(failed_but_with(errors_that_may_be()));
        } else if (id_.starts_with("cq.flags") && p_.evidence().relation == model::Relation::Differs) {
            broken_if(row(0) + ".flags & " + c::number(p_.evidence().expected));
        } else if (id_ == "cq.flags.fetching-atomic") {
            broken_if(succeeded(0) + " && !(" + row(0) + ".flags & (FI_READ | FI_WRITE))");
        } else if (const auto flags = flags_of_others(); !flags.empty()) {
            broken_if(succeeded(0) + " && " + row(0) + ".flags & (" + flags + ")");
        } else {
            return false;
        }
        return true;
    }

    // An error entry came, with none of these.
    [[nodiscard]] std::string failed_but_with(const std::vector<std::string>& errors) const {
        std::string out = row(0) + ".errors";
        for (const auto& e : errors) out += " && " + row(0) + ".err != " + e;
        return out;
    }

    // Of the named operation: of a peek that nothing is there, of a cancelled one that it was.
    [[nodiscard]] std::vector<std::string> errors_that_may_be() const {
        std::vector<std::string> out;
        if (at(0).what == Transfer::TaggedRecv && (at(0).flags & FI_PEEK) != 0) out.emplace_back("FI_ENOMSG");
        const auto cancelled = [&](const Operation& o) {
            return o.what == Transfer::Cancel && o.of == static_cast<int>(about_[0]);
        };
        if (std::any_of(e_.operations.begin(), e_.operations.end(), cancelled)) out.emplace_back("FI_ECANCELED");
        return out;
    }

    // Flags that an entry may not have, where the evidence gives no number.
    [[nodiscard]] std::string flags_of_others() const {
        const bool told = p_.evidence().field == model::Field::operation;
        if (!told) return {};
        if (id_ == "cq.flags.read") return "FI_READ";
        if (id_ == "cq.flags.write") return "FI_WRITE";
        if (id_ == "cq.flags.remote-unasked") return "FI_REMOTE_READ | FI_REMOTE_WRITE";
        if (id_ == "cq.flags.remote-cq-data") return "FI_REMOTE_CQ_DATA";
        return id_ == "cq.flags.multi-recv" ? "FI_MULTI_RECV" : "";
    }

    bool of_counters() {
        if (id_.starts_with("cntr.error."))
            error_count_verdict();
        else if (id_.starts_with("cntr.count") && p_.evidence().relation != model::Relation::Happens)
            count_verdict();
        else
            return false;
        return true;
    }

    // When entries came.
    bool of_order() {
        if (is_looked_at(look_of_traffic(p_))) {
            broken_if("early == 1");
            return true;
        }
        if (about_.size() < 2) return false;
        if (id_.starts_with("cq.order.") || id_.ends_with("fence.order")) {
            const std::string first = row(0) + ".order", second = row(1) + ".order";
            const bool late = id_ == "cq.order.transmit";
            broken_if(first + " && " + second + " && " + first + (late ? " > " : " < ") + second);
            return true;
        }
        if (id_ != "cq.level.match") return false;
        broken_if(row(0) + ".entries > " + row(0) + ".errors && " + row(0) + ".after <= " + std::to_string(about_[1]));
        return true;
    }

    bool of_memory() {
        if (about_.empty()) return false;
        if (id_.ends_with("match.order") || id_.ends_with("match.tag")) return took_another();
        if (id_ != "rma.access.untouched" || at(0).what != Transfer::Write) return compares_bytes(about_);
        broken_if("memcmp(buffer" + quoted_index(about_[0]) + ", " + side_name(peer_of(at(0).side)) + ".target + " +
                  std::to_string(at(0).offset) + ", " + std::to_string(at(0).length) + ") == 0");
        return true;
    }

    // The comparison that the evidence is.
    bool of_numbers() {
        const auto& e = p_.evidence();
        if (about_.empty() || e.field != model::Field::completion || e.relation == model::Relation::Happens)
            return false;
        const std::string member = number(about_[0]);
        const std::string there = member.ends_with(".entries")                            ? ""
                                  : member.ends_with(".err") || member.ends_with(".olen") ? row(0) + ".errors && "
                                                                                          : succeeded(0) + " && ";
        broken_if(there + compared(member));
        return true;
    }

    [[nodiscard]] const Operation& at(std::size_t k) const { return e_.operations[about_[k]]; }
    [[nodiscard]] std::string row(std::size_t k) const { return "told" + quoted_index(about_[k]); }

    [[nodiscard]] std::string succeeded(std::size_t k) const { return row(k) + ".entries > " + row(k) + ".errors"; }

    void broken_if(const std::string& condition) {
        p_.main("\tif (" + condition + ") {\n\t\tprintf(\"broken: " +
                c::for_printf(model::print_evidence(p_.evidence())) + "\\n\");\n\t\treturn 1;\n\t}\n");
    }

    // The number that the clause compares, as C.
    [[nodiscard]] std::string number(std::size_t operation) const {
        const std::string row = "told" + quoted_index(operation) + ".";
        const auto id = id_;
        if (id.starts_with("cq.flags") || id.ends_with("told-flags")) return row + "flags";
        if (id.starts_with("cq.len") || id == "cq.overrun.told" || id == "tagged.peek.length" ||
            id.ends_with("match.boundaries"))
            return row + "len";
        if (id.starts_with("cq.data") || id.ends_with("data.carried") || id.ends_with("data.value"))
            return row + "data";
        if (id.starts_with("cq.tag") || id == "tagged.peek.tag") return row + "tag";
        if (id.starts_with("cq.olen")) return row + "olen";
        if (id.starts_with("endpoint.cancel.code")) return row + "err";
        return row + "entries";
    }

    [[nodiscard]] std::string compared(const std::string& value) const {
        const auto& e = p_.evidence();
        const std::string expected = c::number(e.expected);
        switch (e.relation) {
            case model::Relation::Differs:
                return value + " == " + expected;
            case model::Relation::Contains:
                return "(" + value + " & " + expected + ") != " + expected;
            case model::Relation::Within:
                return "(" + value + " & ~" + expected + ") != 0";
            case model::Relation::AtLeast:
                return value + " < " + expected;
            case model::Relation::AtMost:
                return value + " > " + expected;
            default:
                return value + " != " + expected;
        }
    }

    // The evidence names a receive and the send whose message it took; that message was not for it.
    bool took_another() {
        if (about_.size() < 2 || !is_receive(at(0)) || !is_send(at(1))) return false;
        const std::string sent = "buffer" + quoted_index(about_[1]);
        const std::string length = std::to_string(at(1).length);
        p_.main("\tfill(" + sent + ", " + length + ", " + std::to_string(about_[1]) + ");\n");
        if (holds_many(at(0))) {
            p_.helper(traffic_parts::kHolds);
            broken_if("holds(" + std::to_string(about_[0]) + ", " + sent + ", " + length + ")");
            return true;
        }
        const auto n = std::min(at(0).length, at(1).length);
        if (n == 0) return false;
        broken_if(row(0) + ".entries > " + row(0) + ".errors && memcmp(buffer" + quoted_index(about_[0]) + ", " + sent +
                  ", " + std::to_string(n) + ") == 0");
        return true;
    }

    [[nodiscard]] bool holds_many(const Operation& o) const {
        return o.what == Transfer::Recv &&
               ((o.form == model::CallForm::Message ? o.flags : e_.receive_flags) & FI_MULTI_RECV) != 0;
    }

    // Bytes: what a receive has must be what the send sent, what a write left at the target what it wrote.
    bool compares_bytes(const std::vector<std::size_t>& about) {
        const auto id = id_;
        const bool content = id.ends_with(".whole") || id.ends_with("level.target");
        if (!content || about.empty()) return false;
        const Operation& o = e_.operations[about[0]];
        const std::string own = "buffer" + quoted_index(about[0]);
        if (is_receive(o) && about.size() > 1 && is_send(e_.operations[about[1]])) {
            const auto n = std::min(o.length, e_.operations[about[1]].length);
            p_.main("\tfill(buffer" + quoted_index(about[1]) + ", " + std::to_string(e_.operations[about[1]].length) +
                    ", " + std::to_string(about[1]) + ");\n");
            broken_if("memcmp(" + own + ", buffer" + quoted_index(about[1]) + ", " + std::to_string(n) + ") != 0");
            return true;
        }
        if (is_atomic(o) || !reaches_memory(o)) return false;
        if (o.what == Transfer::Write)
            p_.main("\tfill(" + own + ", " + std::to_string(o.length) + ", " + std::to_string(about[0]) + ");\n");
        broken_if("memcmp(" + own + ", " + side_name(peer_of(o.side)) + ".target + " + std::to_string(o.offset) + ", " +
                  std::to_string(o.length) + ") != 0");
        return true;
    }

    // Errors that the counters of a side tell of: of all kinds, or of transmits alone.
    void error_count_verdict() {
        const std::string who = p_.evidence().note.starts_with("A") ? "A" : "B";
        std::string sum;
        for (const int at : {0, 1, 2, 3}) {
            if (at == 1 && p_.id() == "cntr.error.counted") continue;
            const std::string counter = who + ".counter[" + std::to_string(at) + "]";
            sum += (sum.empty() ? "" : " + ") + ("(" + counter + " ? fi_cntr_readerr(" + counter + ") : 0)");
        }
        broken_if(compared("(" + sum + ")"));
    }

    void count_verdict() {
        const auto id = p_.id();
        const std::size_t at = id.ends_with(".send")          ? 0
                               : id.ends_with(".recv")        ? 1
                               : id.ends_with(".read")        ? 2
                               : id.ends_with(".write")       ? 3
                               : id.ends_with(".remote-read") ? 4
                                                              : 5;
        const std::string who = p_.evidence().note.starts_with("A") ? "A" : "B";
        const std::string now = "fi_cntr_read(" + who + ".counter" + quoted_index(at) + ")";
        const bool first = p_.shown().before.empty();
        broken_if(compared(first ? now : "(" + now + " - " + who + ".counted" + quoted_index(at) + ")"));
    }

    Program& p_;
    const TransferSequence& e_;
    const std::string_view id_;
    const std::vector<std::size_t> about_;  // operations that the evidence names
};

}  // namespace

std::string look_of_traffic(const Program& p) {
    const auto about = named(p);
    const auto id = p.id();
    const std::string nothing(kNoLook);
    if (about.empty()) return nothing;
    const auto& operations = p.shown().sequence.operations;
    const Operation& o = operations[about[0]];
    const std::string own = "buffer" + quoted_index(about[0]);
    const auto when = [&](const std::string& differs) {
        return "do { if ((operation) == " + std::to_string(about[0]) + " && early < 0) early = " + differs +
               "; } while (0)";
    };
    const auto differ = [&](const std::string& a, const std::string& b, std::uint64_t n) {
        return when("memcmp(" + a + ", " + b + ", " + std::to_string(n) + ") != 0");
    };
    if ((id == "cq.level.delivery-write" || id == "cq.level.returned-data") && reaches_memory(o) && !is_atomic(o))
        return differ(own, side_name(peer_of(o.side)) + ".target + " + std::to_string(o.offset), o.length);
    if (id == "cq.level.delivery-send" && about.size() > 1)
        return differ(own, "buffer" + quoted_index(about[1]), o.length);
    if (id == "cq.level.target" && is_receive(o)) return when(own + "[0] == 0xee");
    return nothing;
}

std::string rest_of_traffic(Program& p) {
    const auto about = named(p);
    if (p.id() != "domain.progress.auto" || about.empty()) return "\tusleep(2000000); /* no call is made */\n";
    const Operation& o = p.shown().sequence.operations[about[0]];
    const std::string sent = "buffer" + quoted_index(about[0]);
    const std::string at = o.what == Transfer::Write
                               ? side_name(peer_of(o.side)) + ".target + " + std::to_string(o.offset)
                               : "buffer" + quoted_index(about.size() > 1 ? about[1] : about[0]);
    p.declare("\tint late = 0;\n");
    return "\tfor (n = 0, late = 1; n < 20000 && late; n++) { /* no call is made */\n\t\tusleep(100);\n\t\tlate = "
           "memcmp(" +
           sent + ", " + at + ", " + std::to_string(o.length) + ") != 0;\n\t}\n";
}

void emit_traffic_verdict(Program& p) { Verdict(p).emit(); }

}  // namespace selvage::conformance
