// An exchange between two endpoints as a C program: opens the pair, makes the calls in order, reads the queues, and
// looks at the operation that the evidence speaks of.
#include <rdma/fabric.h>

#include <algorithm>
#include <cctype>

#include "conformance/case/operations.h"
#include "conformance/case/traffic_text.h"
#include "conformance/reproduce/c_text.h"
#include "conformance/reproduce/check.h"
#include "conformance/reproduce/program.h"
#include "conformance/reproduce/traffic_values.h"
#include "conformance/reproduce/traffic_verdict.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

using model::CallForm;
using model::Family;
using model::Operation;
using model::Side;
using model::Transfer;

std::string number_text(std::uint64_t n) { return std::to_string(n); }
std::string quoted_index(std::size_t i) { return "[" + std::to_string(i) + "]"; }
std::string side(Side s) { return model::name_of(s); }

// An initializer of a structure, of the members that are not zero.
class Initializer {
public:
    Initializer& put(std::string_view member, const std::string& value, bool is_set = true) {
        if (!is_set) return *this;
        constexpr std::size_t kWidth = 60;  // behind what stands ahead of it
        const std::string text = "." + std::string(member) + " = " + value;
        if (!text_.empty()) text_ += line_ + text.size() > kWidth ? ",\n\t\t" : ", ";
        line_ = text_.ends_with('\t') ? text.size() : line_ + text.size();
        text_ += text;
        return *this;
    }
    Initializer& put(std::string_view member, std::uint64_t n) { return put(member, c::number(n), n != 0); }
    Initializer& put(std::string_view member, Family family, std::uint64_t n) {
        return put(member, c::value(family, n), n != 0);
    }
    [[nodiscard]] std::string text() const { return "{" + text_ + "}"; }

private:
    std::string text_;
    std::size_t line_ = 0;  // characters of the last one
};

// The function of the runtime that posts it.
std::string post_of(const Operation& o) {
    if (o.what == Transfer::Cancel) return "post_cancel";
    if (o.deferred || o.what >= Transfer::CancelWork) return "post_work";
    if (moves_counter(o)) return "post_trigger";
    if (is_atomic(o)) return "post_atomic";
    if (reaches_memory(o)) return "post_rma";
    return o.what == Transfer::TaggedSend || o.what == Transfer::TaggedRecv ? "post_tagged" : "post_message";
}

class Traffic {
public:
    explicit Traffic(Program& p) : p_(p), e_(p.shown().sequence), rooms_(e_.operations.size()) {}

    void begin() {
        p_.hints(p_.shown().first, "hints");
        for (const auto part :
             {"side.h", "open.c", "connect.c", "regions.c", "post.c", "read.c", "counters.c", "close.c"})
            p_.part(part);
        for (const Operation& o : e_.operations)
            if (o.what != Transfer::Progress) p_.part(post_of(o) + ".c");
        p_.helper(settings());
        for (const auto part :
             {"state.c", "need.c", "steps.c", apart() ? "apart.c" : "together.c", "pair.c", "entries.c"})
            p_.part(part);
        for (const Operation& o : e_.operations) {
            if (o.what != Transfer::Progress) p_.part("carry_out.c");
            if (o.what != Transfer::Progress && o.rest) p_.part("alone.c");
            if (reaches_memory(o)) p_.part("region.c");
            if (is_send(o) || o.what == Transfer::Write || o.what == Transfer::Read) p_.part("fill.c");
        }
        open();
    }

    /// The operations from `first` to `last`, until nothing comes of them any more.  The arenas are theirs alone.
    void carry(std::size_t first, std::size_t last, bool judged) {
        used_[0] = used_[1] = kGuard;
        for (std::size_t i = first; i < last; ++i) fill_source(i);
        for (std::size_t i = first; i < last; ++i) lay(i);
        for (const Side s : {Side::A, Side::B})
            p_.main("\tmust(" + side(s) + ", COVER, " + number_text(used_[static_cast<std::size_t>(s)]) + ");\n");
        note_counts();
        for (std::size_t i = first; i < last; ++i) call(i);
        p_.main("\n\tprogress();\n");
        if (judged)
            p_.main("\tif (hasty) {\n\t\thasty = 0;\n\t\tprogress();\n\t}\n");
        else
            note_counts();
    }

    /// What was read so far belongs to exchanges that are over.
    void forget() {
        p_.main(
            "\tmemset(completions, 0, sizeof completions);\n\tpart_count = entries_read = calls_made = 0;\n\tearly = "
            "-1;\n"
            "\tputs(\"and now:\");\n");
    }

private:
    // As the kit does: ahead of an exchange, and behind it.
    void note_counts() {
        if (!e_.counters && std::none_of(e_.operations.begin(), e_.operations.end(), is_deferred_transfer)) return;
        p_.part("counts.c");
        p_.main("\tnote_counts();\n");
    }

    // What a case is opened with, and what its program looks at.
    std::string settings() {
        const auto define = [](const char* name, const std::string& value) {
            return "#define " + std::string(name) + " " + value + "\n";
        };
        const auto selective = [](bool is) { return is ? std::string("FI_SELECTIVE_COMPLETION") : std::string(); };
        Initializer setup;
        setup.put("format", Family::cq_format, e_.format)
            .put("queue_size", e_.queue_size)
            .put("receive_selective", selective(e_.selective_receive), e_.selective_receive)
            .put("transmit_selective", selective(e_.selective_transmit), e_.selective_transmit)
            .put("receive_flags", Family::op_flags, e_.receive_flags)
            .put("transmit_flags", Family::op_flags, e_.transmit_flags)
            .put("counters", e_.counters ? 1 : 0)
            .put("min_multi_recv", e_.min_multi_recv);
        return define("OPERATIONS", number_text(std::max<std::size_t>(e_.operations.size(), 1))) +
               define("PROCESSES", apart() ? "2" : "1") +
               define("NEEDED", observes(model::Observable::Opening) ? "1" : "77") + define("LOOK(operation)", look()) +
               "static const struct setup set_up = " + setup.text() +
               ";\n\n/* The entry that both sides are opened with. */\nstatic int query(struct fi_info **entry)\n{\n"
               "\tint n, ret = fi_getinfo(" +
               c::getinfo_arguments(p_.shown().first, "hints") + ", entry);\n\n\tfor (n = " + std::to_string(e_.entry) +
               "; ret == 0 && *entry && n > 0; n--)\n\t\t*entry = (*entry)->next;\n" + "\treturn ret;\n}\n";
    }

    [[nodiscard]] bool apart() const { return e_.processes > 1; }
    [[nodiscard]] bool observes(model::Observable what) const { return p_.evidence().observed.what == what; }

    [[nodiscard]] std::string look() const {
        const std::string at_entry = look_of_traffic(p_);
        return at_entry.empty() ? "((void)(operation), (void)early)" : at_entry;
    }

    void open() {
        p_.take_arguments("Run: ./a.out, or ./a.out hasty, which waits less long between the operations");
        p_.main("\thasty = argc > 1 && strcmp(argv[1], \"hasty\") == 0;\n");
        p_.main("\tsetvbuf(stdout, NULL, _IOLBF, 0);\n\talarm(" + std::to_string(20 + p_.shown().before.size()) +
                "); /* a call that does not return */\n\tbegin();\n" + (apart() ? "\tpart();\n" : "") +
                "\topen_pair();\n");
        if (!observes(model::Observable::Context)) return;
        p_.part("contexts.c");
        p_.main("\tfill_contexts();\n");
    }

    // What a read finds, ahead of the values that atomic operations must find.
    void fill_source(std::size_t i) {
        const Operation& o = e_.operations[i];
        if (o.what != Transfer::Read || !is_inside(o)) return;
        p_.main("\tfill(" + target_of(o) + ", " + number_text(o.length) + ", " + number_text(i) + ");\n");
    }

    void lay(std::size_t i) {
        const Operation& o = e_.operations[i];
        if (o.what >= Transfer::Cancel) return;
        std::uint64_t& used = used_[static_cast<std::size_t>(o.side)];
        const std::uint64_t room = rooms_[i] = room_for(o);
        const std::uint64_t parts = o.what == Transfer::CompareAtomic ? 3 : o.what == Transfer::FetchAtomic ? 2 : 1;
        const std::string at = "buffer" + quoted_index(i);
        p_.main("\t" + at + " = " + side(o.side) + "->arena + " + number_text(used) + ";\n");
        if (is_receive(o) || o.what == Transfer::Read)
            p_.main("\tmemset(" + at + ", 0xee, " + number_text(room) + ");\n");
        if (is_send(o) || o.what == Transfer::Write)
            p_.main("\tfill(" + at + ", " + number_text(o.length) + ", " + number_text(i) + ");\n");
        if (is_atomic(o) && is_inside(o)) {
            declare_values(p_, i);
            p_.main(lay_values(p_, i, room));
        }
        used += room * parts;
    }

    /// Its target is there: not one that lies outside on purpose.
    static bool is_inside(const Operation& o) {
        constexpr std::uint64_t kTarget = 2U << 21;  // 2 * REGION
        return bytes_of(o) <= kTarget && o.offset <= kTarget - bytes_of(o);
    }

    // The operation whose context one is posted with.
    [[nodiscard]] std::size_t context_of(std::size_t i) const {
        const Operation& o = e_.operations[i];
        if (o.of < 0 || o.of >= static_cast<int>(i)) return i;
        const auto of = static_cast<std::size_t>(o.of);
        return cancels(e_.operations[of]) ? of : context_of(of);
    }

    void call(std::size_t i) {
        const Operation& o = e_.operations[i];
        p_.main("\n\t/* " + number_text(i + 1) + ": " + print_operation(o) + " */\n");
        if (o.what == Transfer::Progress && o.rest) return p_.main(rest_of_traffic(p_) + "\tcalls_made++;\n");
        if (o.what == Transfer::Progress) return p_.main("\tprogress();\n");
        p_.main("\tcarry_out" + std::string(o.rest ? "_alone(" : "(") + number_text(i) + ", " + side(o.side) + ", " +
                post_of(o) + ", (struct operation)" + described(i) + ");\n");
        if ((o.form == CallForm::Inject || o.form == CallForm::InjectData) && bytes_of(o) > 0)
            p_.main("\tmemset(buffer" + quoted_index(i) + ", 0x9b, " + number_text(bytes_of(o)) +
                    "); /* it is ours again */\n");
    }

    // What the call is given, as an initializer.
    [[nodiscard]] std::string described(std::size_t i) const {
        const Operation& o = e_.operations[i];
        const std::string buffer = "buffer" + quoted_index(i);
        const bool in_pieces = o.form == CallForm::Vector || o.form == CallForm::Message;
        const bool fetches = o.what == Transfer::FetchAtomic || o.what == Transfer::CompareAtomic;
        std::string call(call_name(o.what, o.form));
        std::transform(call.begin(), call.end(), call.begin(), [](unsigned char l) { return std::toupper(l); });
        Initializer out;
        out.put("call", call);
        if (o.what < Transfer::Cancel) out.put("buffer", buffer);
        out.put("result", buffer + " + " + number_text(rooms_[i]), fetches)
            .put("compare", buffer + " + " + number_text(2 * rooms_[i]), o.what == Transfer::CompareAtomic)
            .put("length", bytes_of(o))
            .put("pieces", in_pieces && o.pieces > 1 ? o.pieces : 0)
            .put("source", o.from_other ? "SELF" : "PEER", is_receive(o) && (o.from_other || !o.from_any))
            .put("tag", o.tag)
            .put("ignore", o.ignore)
            .put("data", o.data)
            .put("flags", Family::op_flags, o.flags)
            .put("threshold", o.threshold);
        if (moves_counter(o)) out.put("count", o.count);
        if (reaches_memory(o)) {
            const std::uint64_t access = o.region_access & (FI_REMOTE_READ | FI_REMOTE_WRITE);
            out.put("target", "region(" + side(peer_of(o.side)) + ", " + c::value(Family::caps, access) + ")")
                .put("offset", o.offset)
                .put("target_pieces", o.target_pieces > 1 ? o.target_pieces : 0)
                .put("bad_key", o.bad_key ? 1 : 0);
        }
        if (is_atomic(o))
            out.put("datatype", c::value(Family::datatype, o.datatype))
                .put("op", c::value(Family::atomic_op, o.op))
                .put("count", o.count);
        return out.put("context", "&context" + quoted_index(context_of(i)), context_of(i) != i).text();
    }

    Program& p_;
    const TransferSequence& e_;
    static constexpr std::uint64_t kGuard = 64;  // bytes ahead of the first buffer
    std::uint64_t used_[2] = {kGuard, kGuard};
    std::vector<std::uint64_t> rooms_;
};

}  // namespace

// What the pair carries first has the numbers behind those of the operations that are judged: the verdict speaks of the
// latter alone.
void emit_traffic(Program& p) {
    const Case judged = p.shown();
    Case all = judged;
    for (const auto& sequence : judged.before) {
        const auto first = static_cast<int>(all.sequence.operations.size());
        for (Operation o : sequence) {
            if (o.of >= 0) o.of += first;
            all.sequence.operations.push_back(o);
        }
    }
    p.show(all);
    Traffic traffic(p);
    traffic.begin();
    std::size_t first = judged.sequence.operations.size();
    for (const auto& sequence : judged.before) {
        traffic.carry(first, first + sequence.size(), false);
        first += sequence.size();
    }
    if (!judged.before.empty()) traffic.forget();
    traffic.carry(0, judged.sequence.operations.size(), true);
    p.show(judged);
    emit_traffic_verdict(p);
}

}  // namespace selvage::conformance
