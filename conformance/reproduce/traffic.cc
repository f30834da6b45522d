// An exchange between two endpoints as a C program: opens the pair, makes the calls in order, reads the queues, and
// looks at the operation that the evidence speaks of.
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <algorithm>

#include "conformance/case/atomic_values.h"
#include "conformance/case/operations.h"
#include "conformance/case/traffic_text.h"
#include "conformance/reproduce/c_text.h"
#include "conformance/reproduce/check.h"
#include "conformance/reproduce/program.h"
#include "conformance/reproduce/runtime_parts.h"
#include "conformance/reproduce/traffic_values.h"
#include "conformance/reproduce/traffic_verdict.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

using namespace runtime;
using model::CallForm;
using model::Family;
using model::Operation;
using model::Side;
using model::Transfer;

std::string flags_text(std::uint64_t flags) { return flags == 0 ? "0" : c::value(Family::op_flags, flags); }

class Traffic {
public:
    explicit Traffic(Program& p) : p_(p), e_(p.shown().sequence), counts_(e_.counters && !p.shown().before.empty()) {}

    void begin() {
        for (const char* h :
             {"rdma/fi_domain.h", "rdma/fi_endpoint.h", "rdma/fi_eq.h", "rdma/fi_cm.h", "rdma/fi_rma.h",
              "rdma/fi_tagged.h", "rdma/fi_atomic.h", "stdlib.h", "string.h", "unistd.h", "sys/mman.h", "stdint.h"})
            p_.include(h);
        p_.hints(p_.shown().first, "hints");
        p_.helper(settings());
        for (const auto part : {kState, kNeed, kOpen, kConnect, kRegions, kRead}) p_.helper(part);
        if (observes(model::Observable::Context)) {
            p_.helper(kContexts);
            p_.main("\tfill_contexts();\n");
        }
        for (const Operation& o : e_.operations) {
            if (reaches_memory(o)) p_.helper(kRemote);
            if (is_send(o) || o.what == Transfer::Write || o.what == Transfer::Read) p_.helper(kFill);
        }
        p_.declare("\tstruct fi_info *list = NULL;\n\tvoid *object = NULL;\n\tint n, ret;\n");
        open();
    }

    /// The operations from `first` to `last`, until nothing comes of them any more.  The arenas are theirs alone.
    void carry(std::size_t first, std::size_t last) {
        used_[0] = used_[1] = kGuard;
        note_counts();
        for (std::size_t i = first; i < last; ++i) fill_source(i);
        for (std::size_t i = first; i < last; ++i) lay(i);
        for (std::size_t i = first; i < last; ++i) call(i, first);
        p_.main("\n\tcalls_made = " + std::to_string(last - first) + ";\n\tprogress();\n");
        if (first == 0) p_.main("\tif (hasty) {\n\t\thasty = 0;\n\t\tprogress();\n\t}\n");
    }

    /// What was read so far belongs to exchanges that are over.
    void forget() {
        note_counts();
        p_.main(
            "\tmemset(completions, 0, sizeof completions);\n\tpart_count = entries_read = calls_made = 0;\n\tearly = "
            "-1;\n"
            "\tputs(\"and now:\");\n");
    }

private:
    void note_counts() {
        if (!counts_) return;
        p_.helper(kCounts);
        p_.main("\tnote_counts(&A);\n\tnote_counts(&B);\n");
    }

    std::string settings() {
        const auto define = [](const char* name, const std::string& value) {
            return "#define " + std::string(name) + " " + value + "\n";
        };
        return define("OPERATIONS", std::to_string(std::max<std::size_t>(e_.operations.size(), 1))) +
               define("FORMAT", c::value(Family::cq_format, e_.format)) +
               define("TRANSMIT_SELECTIVE", e_.selective_transmit ? "FI_SELECTIVE_COMPLETION" : "0") +
               define("RECEIVE_SELECTIVE", e_.selective_receive ? "FI_SELECTIVE_COMPLETION" : "0") +
               define("TRANSMIT_FLAGS", "(" + flags_text(e_.transmit_flags) + ")") +
               define("RECEIVE_FLAGS", "(" + flags_text(e_.receive_flags) + ")") +
               define("QUEUE_SIZE", std::to_string(e_.queue_size != 0 ? e_.queue_size : 256)) +
               define("COUNTERS", e_.counters ? "1" : "0") + define("MULTI_RECV", std::to_string(e_.min_multi_recv)) +
               define("SOURCES", observes(model::Observable::Source) ? "1" : "0") +
               define("NEEDED", observes(model::Observable::Opening) ? "1" : "77") + define("LOOK(operation)", look());
    }

    [[nodiscard]] bool observes(model::Observable what) const { return p_.evidence().observed.what == what; }

    [[nodiscard]] std::string look() const {
        const std::string at_entry = look_of_traffic(p_);
        return at_entry.empty() ? "((void)(operation), (void)early)" : at_entry;
    }

    void open() {
        p_.take_arguments("Run: ./a.out, or ./a.out hasty, which waits less long between the operations");
        p_.main("\thasty = argc > 1 && strcmp(argv[1], \"hasty\") == 0;\n");
        p_.main("\tsetvbuf(stdout, NULL, _IOLBF, 0);\n\talarm(" + std::to_string(20 + p_.shown().before.size()) +
                "); /* a call that does not return */\n");
        p_.main("\tret = fi_getinfo(" + c::getinfo_arguments(p_.shown().first, "hints") + ", &list);\n");
        p_.main("\tif (ret != 0)\n\t\treturn 77;\n\tfor (info = list, n = " + std::to_string(e_.entry) +
                "; info && n > 0; n--)\n\t\tinfo = info->next;\n\tif (!info)\n\t\treturn 77;\n");
        p_.main(
            "\tinfo->tx_attr->op_flags |= TRANSMIT_FLAGS;\n\tinfo->rx_attr->op_flags |= RECEIVE_FLAGS;\n"
            "\tneed(fi_fabric(info->fabric_attr, &fabric, NULL), \"fi_fabric\");\n"
            "\tneed(fi_domain(fabric, info, &domain, NULL), \"fi_domain\");\n"
            "\tconnect_sides();\n"
            "\tif (info->domain_attr->mr_mode & (FI_MR_LOCAL | FI_MR_BASIC) || info->mode & FI_LOCAL_MR) {\n"
            "\t\tA.local = region(&A, A.memory, 64u << 20, FI_SEND | FI_RECV | FI_READ | FI_WRITE);\n"
            "\t\tB.local = region(&B, B.memory, 64u << 20, FI_SEND | FI_RECV | FI_READ | FI_WRITE);\n\t}\n"
            "\t(void)object;\n");
    }

    static std::string side(Side s) { return model::name_of(s); }
    static std::string quoted_index(std::size_t i) { return "[" + std::to_string(i) + "]"; }

    // What a read finds, ahead of the values that atomic operations must find.
    void fill_source(std::size_t i) {
        const Operation& o = e_.operations[i];
        if (o.what != Transfer::Read || !is_inside(o)) return;
        p_.main("\tfill(" + target_of(o) + ", " + std::to_string(o.length) + ", " + std::to_string(i) + ");\n");
    }

    void lay(std::size_t i) {
        const Operation& o = e_.operations[i];
        if (o.what >= Transfer::Cancel) return;
        std::uint64_t& used = used_[static_cast<std::size_t>(o.side)];
        const std::uint64_t room = room_for(o);
        const std::uint64_t parts = o.what == Transfer::CompareAtomic ? 3 : o.what == Transfer::FetchAtomic ? 2 : 1;
        const std::string at = "buffer" + quoted_index(i);
        p_.main("\t" + at + " = " + side(o.side) + ".memory + " + std::to_string(used) + ";\n");
        if (is_receive(o) || o.what == Transfer::Read)
            p_.main("\tmemset(" + at + ", 0xee, " + std::to_string(room) + ");\n");
        if (is_send(o) || o.what == Transfer::Write)
            p_.main("\tfill(" + at + ", " + std::to_string(o.length) + ", " + std::to_string(i) + ");\n");
        if (is_atomic(o) && is_inside(o)) {
            declare_values(p_, i);
            p_.main(lay_values(p_, i, room));
        }
        used += room * parts;
        rooms_.resize(e_.operations.size());
        rooms_[i] = room;
    }

    /// Its target is there: not one that lies outside on purpose.
    static bool is_inside(const Operation& o) {
        constexpr std::uint64_t kTarget = 2U << 21;  // 2 * REGION
        return bytes_of(o) <= kTarget && o.offset <= kTarget - bytes_of(o);
    }

    [[nodiscard]] std::string own_context(std::size_t i) const {
        const Operation& o = e_.operations[i];
        const auto of = o.of >= 0 && o.of < static_cast<int>(i) ? static_cast<std::size_t>(o.of) : i;
        return "&context" + quoted_index(of);
    }

    void call(std::size_t i, std::size_t first) {
        const Operation& o = e_.operations[i];
        p_.main("\n\t/* " + std::to_string(i + 1) + ": " + print_operation(o) + " */\n");
        if (i > first) p_.main("\tcalls_made = " + std::to_string(i - first) + ";\n");
        if (o.what == Transfer::Progress && o.rest) return p_.main(rest_of_traffic(p_));
        if (o.what == Transfer::Progress) return p_.main("\tprogress();\n");
        if (o.what == Transfer::Cancel)
            return p_.main("\tfi_cancel(&" + side(o.side) + ".ep->fid, " + own_context(i) + ");\n");
        const std::string made = expression(i);
        p_.main("\tfor (n = 0; n < 100000; n++) {\n\t\treturned" + quoted_index(i) + " = " + made +
                ";\n\t\tif (returned" + quoted_index(i) + " != -FI_EAGAIN)\n\t\t\tbreak;\n\t\tpoll_once();\n\t}\n");
        p_.main("\tprintf(\"" + std::to_string(i + 1) + ": " + c::for_printf(print_operation(o)) +
                ": returned %ld\\n\", returned" + quoted_index(i) + ");\n");
        if ((o.form == CallForm::Inject || o.form == CallForm::InjectData) && bytes_of(o) > 0)
            p_.main("\tmemset(buffer" + quoted_index(i) + ", 0x9b, " + std::to_string(bytes_of(o)) +
                    "); /* it is ours again */\n");
    }

    // What a vector or message call is given.
    std::string vector(std::size_t i) {
        const Operation& o = e_.operations[i];
        const std::uint64_t pieces = std::max<std::uint64_t>(o.pieces, 1);
        const std::string name = "iov" + std::to_string(i);
        std::string text = "\tstruct iovec " + name + "[] = {";
        p_.declare("\tvoid *desc" + std::to_string(i) + quoted_index(pieces) + ";\n");
        for (std::uint64_t k = 0; k < pieces; ++k) {
            const std::uint64_t each = o.length / pieces;
            const std::uint64_t n = k + 1 < pieces ? each : o.length - each * (pieces - 1);
            text += " { buffer" + quoted_index(i) + " + " + std::to_string(each * k) + ", " + std::to_string(n) + " },";
            p_.main("\tdesc" + std::to_string(i) + quoted_index(k) + " = " + descriptor(o) + ";\n");
        }
        text.back() = ' ';
        p_.main(text + "};\n");
        return name;
    }

    static std::string descriptor(const Operation& o) {
        return "(" + side(o.side) + ".local ? fi_mr_desc(" + side(o.side) + ".local) : NULL)";
    }

    std::string expression(std::size_t i) {
        const Operation& o = e_.operations[i];
        const std::string ep = side(o.side) + ".ep";
        const std::string dest = side(o.side) + ".peer";
        const std::string source = o.from_other ? side(o.side) + ".self"
                                   : o.from_any ? std::string("FI_ADDR_UNSPEC")
                                                : dest;
        const std::string to = is_receive(o) ? source : dest;
        const std::string name = "fi_" + std::string(call_name(o.what, o.form));
        const bool tagged = o.what == Transfer::TaggedSend || o.what == Transfer::TaggedRecv;
        const std::string buffer = "buffer" + quoted_index(i);
        const std::string tag = tagged ? ", " + c::number(o.tag) : "";
        const std::string ignore = o.what == Transfer::TaggedRecv ? ", " + c::number(o.ignore) : "";
        const std::string context = ", " + own_context(i);
        if (reaches_memory(o)) return reach(i, name, ep, dest);
        if (o.form == CallForm::Message) {
            const std::string iov = vector(i);
            const std::string n = std::to_string(i);
            const bool peeks = (o.flags & FI_DISCARD) != 0 || ((o.flags & FI_PEEK) != 0 && o.length == 0);
            p_.main("\tstruct fi_msg" + std::string(tagged ? "_tagged" : "") + " msg" + n +
                    " = { .msg_iov = " + (peeks ? "NULL" : iov) + ", .desc = desc" + n + ", .iov_count = " +
                    (peeks ? "0" : std::to_string(std::max<std::uint64_t>(o.pieces, 1))) + ", .addr = " + to +
                    (tagged ? ", .tag = " + c::number(o.tag) + ", .ignore = " + c::number(o.ignore) : "") +
                    ", .context = " + own_context(i) + ", .data = " + c::number(o.data) + " };\n");
            if (peeks) p_.main("\t(void)" + iov + ";\n");
            return name + "(" + ep + ", &msg" + n + ", " + flags_text(o.flags) + ")";
        }
        if (o.form == CallForm::Vector) {
            const std::string iov = vector(i);
            return name + "(" + ep + ", " + iov + ", desc" + std::to_string(i) + ", " +
                   std::to_string(std::max<std::uint64_t>(o.pieces, 1)) + ", " + to + tag + ignore + context + ")";
        }
        std::string out = name + "(" + ep + ", " + buffer + ", " + std::to_string(o.length);
        const bool injects = o.form == CallForm::Inject || o.form == CallForm::InjectData;
        if (!injects) out += ", " + descriptor(o);
        if (o.form == CallForm::Data || o.form == CallForm::InjectData) out += ", " + c::number(o.data);
        return out + ", " + to + tag + ignore + (injects ? "" : context) + ")";
    }

    std::string reach(std::size_t i, const std::string& name, const std::string& ep, const std::string& dest) {
        const Operation& o = e_.operations[i];
        const Side target = peer_of(o.side);
        const std::string n = std::to_string(i);
        const std::uint64_t access = o.region_access & (FI_REMOTE_READ | FI_REMOTE_WRITE);
        p_.declare("\tstruct fid_mr *mr" + n + ";\n\tuint64_t at" + n + ", key" + n + ";\n");
        p_.main("\tmr" + n + " = region(&" + side(target) + ", " + side(target) + ".target, REGION, " +
                (access != 0 ? c::value(Family::caps, access) : std::string("FI_SEND | FI_RECV")) + ");\n");
        p_.main("\tat" + n + " = remote(&" + side(target) + ", " + std::to_string(o.offset) + ");\n\tkey" + n +
                " = fi_mr_key(mr" + n + ")" + (o.bad_key ? " + 0x10000 /* that no region has */" : "") + ";\n");
        const std::string where = dest + ", at" + n + ", key" + n;
        const std::string context = ", " + own_context(i);
        const std::string buffer = "buffer" + quoted_index(i);
        const std::string kind =
            is_atomic(o) ? ", " + c::value(Family::datatype, o.datatype) + ", " + c::value(Family::atomic_op, o.op)
                         : "";
        const std::string length = std::to_string(is_atomic(o) ? o.count : o.length);
        const std::string desc = descriptor(o);
        if (o.form == CallForm::Message && !is_atomic(o)) {
            const std::string iov = vector(i);
            p_.main("\tstruct fi_rma_iov rma" + n + " = { at" + n + ", " + length + ", key" + n + " };\n");
            p_.main("\tstruct fi_msg_rma msg" + n + " = { .msg_iov = " + iov + ", .desc = desc" + n +
                    ", .iov_count = " + std::to_string(std::max<std::uint64_t>(o.pieces, 1)) + ", .addr = " + dest +
                    ", .rma_iov = &rma" + n + ", .rma_iov_count = 1, .context = " + own_context(i) +
                    ", .data = " + c::number(o.data) + " };\n");
            return name + "(" + ep + ", &msg" + n + ", " + flags_text(o.flags) + ")";
        }
        if (o.form == CallForm::Vector && !is_atomic(o)) {
            const std::string iov = vector(i);
            return name + "(" + ep + ", " + iov + ", desc" + n + ", " +
                   std::to_string(std::max<std::uint64_t>(o.pieces, 1)) + ", " + where + context + ")";
        }
        if (is_atomic(o) && o.form == CallForm::Vector) return reach_in_pieces(i, name, ep, where + kind + context);
        const auto room = std::to_string(rooms_[i]);
        const std::string plain =
            "fi_" +
            std::string(call_name(o.what, is_atomic(o) && o.form != CallForm::Inject ? CallForm::Plain : o.form));
        const bool injects = o.form == CallForm::Inject || o.form == CallForm::InjectData;
        std::string out = plain + "(" + ep + ", " + buffer + ", " + length;
        if (!injects) out += ", " + desc;
        if (o.what == Transfer::CompareAtomic) out += ", " + buffer + " + 2 * " + room + ", " + desc;
        if (o.what == Transfer::FetchAtomic || o.what == Transfer::CompareAtomic)
            out += ", " + buffer + " + " + room + ", " + desc;
        if (o.form == CallForm::Data || o.form == CallForm::InjectData) out += ", " + c::number(o.data);
        return out + ", " + where + kind + (injects ? "" : context) + ")";
    }

    // Ranges of values, as many as the operation has pieces.
    std::string values_in_pieces(std::size_t i, const std::string& name, std::uint64_t behind) {
        const Operation& o = e_.operations[i];
        const std::uint64_t pieces = std::max<std::uint64_t>(o.pieces, 1);
        const std::uint64_t size = datatype_size(o.datatype);
        const std::string array = name + std::to_string(i);
        std::string text = "\tstruct fi_ioc " + array + "[] = {";
        for (std::uint64_t k = 0; k < pieces; ++k) {
            const std::uint64_t each = o.count / pieces;
            const std::uint64_t n = k + 1 < pieces ? each : o.count - each * (pieces - 1);
            text += " { buffer" + quoted_index(i) + " + " + std::to_string(behind + each * k * size) + ", " +
                    std::to_string(n) + " },";
        }
        text.back() = ' ';
        p_.main(text + "};\n");
        return array;
    }

    std::string reach_in_pieces(std::size_t i, const std::string& name, const std::string& ep,
                                const std::string& rest) {
        const Operation& o = e_.operations[i];
        const std::string pieces = std::to_string(std::max<std::uint64_t>(o.pieces, 1));
        const std::string desc = "desc" + std::to_string(i);
        p_.declare("\tvoid *" + desc + "[" + pieces + "];\n");
        p_.main("\tfor (n = 0; n < " + pieces + "; n++)\n\t\t" + desc + "[n] = " + descriptor(o) + ";\n");
        const auto part = [&](const char* what, std::uint64_t behind) {
            return ", " + values_in_pieces(i, what, behind) + ", " + desc + ", " + pieces;
        };
        std::string out = name + "(" + ep + part("ioc", 0);
        if (o.what == Transfer::CompareAtomic) out += part("compares", 2 * rooms_[i]);
        if (o.what != Transfer::Atomic) out += part("results", rooms_[i]);
        return out + ", " + rest + ")";
    }

    Program& p_;
    const TransferSequence& e_;
    const bool counts_;                          // counters stand where earlier exchanges have left them
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
        traffic.carry(first, first + sequence.size());
        first += sequence.size();
    }
    if (!judged.before.empty()) traffic.forget();
    traffic.carry(0, judged.sequence.operations.size());
    p.show(judged);
    emit_traffic_verdict(p);
}

}  // namespace selvage::conformance
