// An exchange between two endpoints as a C program: opens the pair, makes the calls in order, reads the queues, and
// looks at the operation that the evidence speaks of.
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <algorithm>

#include "conformance/case/traffic_text.h"
#include "conformance/reproduce/c_text.h"
#include "conformance/reproduce/check.h"
#include "conformance/reproduce/program.h"
#include "conformance/traffic/atomic.h"
#include "conformance/traffic/buffers.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

using model::CallForm;
using model::Family;
using model::Operation;
using model::Side;
using model::Transfer;

constexpr std::string_view kState = R"(#define REGION (2u << 20)

struct side {
	struct fid_ep *ep;
	struct fid_cq *queue[2]; /* receives, transmits */
	struct fid_av *av;
	struct fid_eq *eq;
	struct fid_cntr *counter[6];
	struct fid_mr *local, *mr;
	fi_addr_t peer, self;
	unsigned char *memory; /* its own buffers */
	unsigned char *target; /* what the other side writes and reads */
};
static struct side A, B;
static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fi_context2 context[OPERATIONS];
static unsigned char *buffer[OPERATIONS];
static long returned[OPERATIONS];
/* What was read from the queues, by operation; the last row is for contexts of nobody. */
static struct told {
	unsigned entries, errors;
	uint64_t flags, len, data, tag;
	int err;
	size_t olen;
} told[OPERATIONS + 1];
)";

constexpr std::string_view kNeed = R"(static void need(long ret, const char *call)
{
	if (ret == 0)
		return;
	printf("cannot tell: %s returned %ld\n", call, ret);
	exit(77);
}
)";

constexpr std::string_view kOpen = R"(static void open_side(struct side *s, struct fi_info *with)
{
	struct fi_cq_attr cq = { .format = FORMAT, .wait_obj = FI_WAIT_NONE, .size = 256 };
	struct fi_av_attr av = { .type = with->domain_attr->av_type ? with->domain_attr->av_type : FI_AV_MAP };

	s->memory = mmap(NULL, 64u << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	s->target = mmap(NULL, 2 * REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(fi_endpoint(domain, with, &s->ep, NULL), "fi_endpoint");
	need(fi_cq_open(domain, &cq, &s->queue[0], NULL), "fi_cq_open");
	need(fi_cq_open(domain, &cq, &s->queue[1], NULL), "fi_cq_open");
	need(fi_ep_bind(s->ep, &s->queue[0]->fid, FI_RECV | RECEIVE_SELECTIVE), "fi_ep_bind");
	need(fi_ep_bind(s->ep, &s->queue[1]->fid, FI_TRANSMIT | TRANSMIT_SELECTIVE), "fi_ep_bind");
	if (COUNTERS) {
		static const uint64_t kinds[] = { FI_SEND, FI_RECV, FI_READ, FI_WRITE, FI_REMOTE_READ, FI_REMOTE_WRITE };
		struct fi_cntr_attr attr = { .events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_NONE };
		int i;

		for (i = 0; i < (info->caps & FI_RMA_EVENT ? 6 : 4); i++) {
			if (!(info->caps & (i < 2 ? FI_MSG | FI_TAGGED : FI_RMA | FI_ATOMIC)))
				continue;
			need(fi_cntr_open(domain, &attr, &s->counter[i], NULL), "fi_cntr_open");
			need(fi_ep_bind(s->ep, &s->counter[i]->fid, kinds[i]), "fi_ep_bind");
		}
	}
	if (MULTI_RECV) {
		size_t least = MULTI_RECV;

		need(fi_setopt(&s->ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least), "fi_setopt");
	}
	if (with->ep_attr->type == FI_EP_MSG) {
		need(fi_ep_bind(s->ep, &s->eq->fid, 0), "fi_ep_bind");
	} else {
		need(fi_av_open(domain, &av, &s->av, NULL), "fi_av_open");
		need(fi_ep_bind(s->ep, &s->av->fid, 0), "fi_ep_bind");
	}
	need(fi_enable(s->ep), "fi_enable");
}
)";

constexpr std::string_view kConnect =
    R"(static void wait_event(struct fid_eq *eq, uint32_t wanted, struct fi_eq_cm_entry *entry)
{
	struct fi_eq_cm_entry unread;
	uint32_t event = 0;
	ssize_t n;
	int tries;

	for (tries = 0; tries < 50000; tries++) {
		n = fi_eq_read(eq, &event, entry, sizeof *entry, 0);
		if (n != -FI_EAGAIN)
			break;
		/* Some providers connect only when the queues of both sides are read. */
		if (A.eq != eq)
			fi_eq_read(A.eq, &event, &unread, sizeof unread, FI_PEEK);
		if (B.eq != eq)
			fi_eq_read(B.eq, &event, &unread, sizeof unread, FI_PEEK);
		if (A.ep)
			fi_cq_read(A.queue[0], NULL, 0);
		if (B.ep)
			fi_cq_read(B.queue[0], NULL, 0);
		usleep(100);
	}
	need(n > 0 && event == wanted ? 0 : -1, "the connection: fi_eq_read");
}

static fi_addr_t address(struct side *s, struct side *other)
{
	char name[512];
	size_t size = sizeof name;
	fi_addr_t out = FI_ADDR_UNSPEC;

	need(fi_getname(&other->ep->fid, name, &size), "fi_getname");
	need(fi_av_insert(s->av, name, 1, &out, 0, NULL) == 1 ? 0 : -1, "fi_av_insert");
	return out;
}

static void connect_sides(void)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_NONE };
	struct fi_eq_cm_entry entry = { 0 };
	struct fid_eq *listening;
	struct fid_pep *pep;
	char name[512];
	size_t size = sizeof name;

	if (info->ep_attr->type != FI_EP_MSG) {
		open_side(&A, info);
		open_side(&B, info);
		A.peer = address(&A, &B);
		A.self = address(&A, &A);
		B.peer = address(&B, &A);
		B.self = address(&B, &B);
		return;
	}
	A.peer = B.peer = A.self = B.self = FI_ADDR_UNSPEC;
	need(fi_eq_open(fabric, &attr, &listening, NULL), "fi_eq_open");
	need(fi_eq_open(fabric, &attr, &A.eq, NULL), "fi_eq_open");
	need(fi_eq_open(fabric, &attr, &B.eq, NULL), "fi_eq_open");
	need(fi_passive_ep(fabric, info, &pep, NULL), "fi_passive_ep");
	need(fi_pep_bind(pep, &listening->fid, 0), "fi_pep_bind");
	need(fi_listen(pep), "fi_listen");
	need(fi_getname(&pep->fid, name, &size), "fi_getname");
	open_side(&A, info);
	need(fi_connect(A.ep, name, NULL, 0), "fi_connect");
	wait_event(listening, FI_CONNREQ, &entry);
	entry.info->tx_attr->op_flags |= TRANSMIT_FLAGS;
	entry.info->rx_attr->op_flags |= RECEIVE_FLAGS;
	open_side(&B, entry.info);
	need(fi_accept(B.ep, NULL, 0), "fi_accept");
	wait_event(B.eq, FI_CONNECTED, &entry);
	wait_event(A.eq, FI_CONNECTED, &entry);
}
)";

constexpr std::string_view kRegions = R"(static uint64_t next_key = 1;

static struct fid_mr *region(struct side *s, void *at, size_t length, uint64_t access)
{
	struct fid_mr *mr = NULL;

	need(fi_mr_reg(domain, at, length, access, 0, next_key++, 0, &mr, NULL), "fi_mr_reg");
	if (info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
		need(fi_mr_bind(mr, &s->ep->fid, 0), "fi_mr_bind");
		need(fi_mr_enable(mr), "fi_mr_enable");
	}
	return mr;
}
)";

constexpr std::string_view kRemote = R"(static uint64_t remote(const struct side *s, uint64_t offset)
{
	return (info->domain_attr->mr_mode & (FI_MR_VIRT_ADDR | FI_MR_BASIC) ? (uint64_t)(uintptr_t)s->target : 0) + offset;
}
)";

constexpr std::string_view kRead = R"(static struct told *row(const void *of)
{
	const struct fi_context2 *c = of;

	return c >= context && c < context + OPERATIONS ? &told[c - context] : &told[OPERATIONS];
}

static int read_queue(struct fid_cq *cq, const char *name)
{
	struct fi_cq_tagged_entry e = { 0 };
	struct fi_cq_err_entry failure = { 0 };
	struct told *t;
	ssize_t n = fi_cq_read(cq, &e, 1);

	if (n == -FI_EAVAIL && fi_cq_readerr(cq, &failure, 0) > 0) {
		t = row(failure.op_context);
		t->entries++;
		t->errors++;
		t->err = failure.err;
		t->olen = failure.olen;
		t->flags = failure.flags;
		t->len = failure.len;
		printf("%s: operation %d failed: err %d, olen %zu, len %zu\n", name, (int)(t - told) + 1, failure.err,
		       failure.olen, failure.len);
		return 1;
	}
	if (n != 1)
		return 0;
	t = row(e.op_context);
	t->entries++;
	t->flags = FORMAT >= FI_CQ_FORMAT_MSG ? e.flags : 0;
	t->len = e.len;
	t->data = e.data;
	t->tag = e.tag;
	printf("%s: operation %d: flags 0x%llx, len %zu, data 0x%llx, tag 0x%llx\n", name, (int)(t - told) + 1,
	       (unsigned long long)e.flags, e.len, (unsigned long long)e.data, (unsigned long long)e.tag);
	return 1;
}

static int poll_once(void)
{
	return read_queue(A.queue[0], "A receives") + read_queue(A.queue[1], "A transmits") +
	       read_queue(B.queue[0], "B receives") + read_queue(B.queue[1], "B transmits");
}

/* Until nothing has come for a third of a second. */
static void progress(void)
{
	int quiet;

	for (quiet = 0; quiet < 3000; quiet++) {
		if (poll_once())
			quiet = 0;
		usleep(100);
	}
}
)";

constexpr std::string_view kFill = R"(/* Bytes of its own for each operation. */
static void fill(unsigned char *to, size_t length, int operation)
{
	size_t i;

	for (i = 0; i < length; i++)
		to[i] = i == 0 ? (unsigned char)(0x40 + operation) : (unsigned char)(i * 7 + (i >> 8) * 13 + (size_t)operation * 31);
}
)";

std::string flags_text(std::uint64_t flags) { return flags == 0 ? "0" : c::value(Family::op_flags, flags); }

class Traffic {
public:
    explicit Traffic(Program& p) : p_(p), e_(p.shown().exchange) {}

    void emit() {
        for (const char* h :
             {"rdma/fi_domain.h", "rdma/fi_endpoint.h", "rdma/fi_eq.h", "rdma/fi_cm.h", "rdma/fi_rma.h",
              "rdma/fi_tagged.h", "rdma/fi_atomic.h", "stdlib.h", "string.h", "unistd.h", "sys/mman.h", "stdint.h"})
            p_.include(h);
        p_.hints(p_.shown().first, "hints");
        p_.helper(settings());
        for (const auto part : {kState, kNeed, kOpen, kConnect, kRegions, kRead}) p_.helper(part);
        for (const Operation& o : e_.operations) {
            if (reaches_memory(o)) p_.helper(kRemote);
            if (is_send(o) || o.what == Transfer::Write) p_.helper(kFill);
        }
        p_.declare("\tstruct fi_info *list = NULL;\n\tvoid *object = NULL;\n\tint n, ret;\n");
        open();
        for (std::size_t i = 0; i < e_.operations.size(); ++i) lay(i);
        for (std::size_t i = 0; i < e_.operations.size(); ++i) call(i);
        p_.main("\n\tprogress();\n");
        verdict();
    }

private:
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
               define("COUNTERS", e_.counters ? "1" : "0") + define("MULTI_RECV", std::to_string(e_.min_multi_recv));
    }

    void open() {
        p_.main("\tsetvbuf(stdout, NULL, _IOLBF, 0);\n\talarm(20); /* a call that does not return */\n");
        p_.main("\tret = fi_getinfo(" + c::getinfo_arguments(p_.shown().first, "hints") + ", &list);\n");
        p_.main("\tneed(ret, \"fi_getinfo\");\n\tfor (info = list, n = " + std::to_string(e_.entry) +
                "; info && n > 0; n--)\n\t\tinfo = info->next;\n\tneed(info ? 0 : -1, \"fi_getinfo\");\n");
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

    static std::string side(Side s) { return s == Side::A ? "A" : "B"; }
    static std::string quoted_index(std::size_t i) { return "[" + std::to_string(i) + "]"; }

    void lay(std::size_t i) {
        const Operation& o = e_.operations[i];
        if (o.what >= Transfer::Cancel) return;
        std::uint64_t& used = used_[static_cast<std::size_t>(o.side)];
        const std::uint64_t room = (bytes_of(o) + 191) / 64 * 64;
        const std::uint64_t parts = o.what == Transfer::CompareAtomic ? 3 : o.what == Transfer::FetchAtomic ? 2 : 1;
        const std::string at = "buffer" + quoted_index(i);
        p_.main("\t" + at + " = " + side(o.side) + ".memory + " + std::to_string(used) + ";\n");
        if (is_receive(o) || o.what == Transfer::Read)
            p_.main("\tmemset(" + at + ", 0xee, " + std::to_string(room) + ");\n");
        else if (!is_atomic(o))
            p_.main("\tfill(" + at + ", " + std::to_string(o.length) + ", " + std::to_string(i) + ");\n");
        else
            p_.main("\tmemset(" + at + ", 1, " + std::to_string(bytes_of(o)) + ");\n");
        used += room * parts;
        rooms_.resize(e_.operations.size());
        rooms_[i] = room;
    }

    [[nodiscard]] std::string own_context(std::size_t i) const {
        const Operation& o = e_.operations[i];
        const auto of = o.of >= 0 && o.of < static_cast<int>(i) ? static_cast<std::size_t>(o.of) : i;
        return "&context" + quoted_index(of);
    }

    void call(std::size_t i) {
        const Operation& o = e_.operations[i];
        p_.main("\n\t/* " + std::to_string(i + 1) + ": " + print_operation(o) + " */\n");
        if (o.what == Transfer::Progress) return p_.main("\tprogress();\n");
        if (o.what == Transfer::Cancel)
            return p_.main("\tfi_cancel(&" + side(o.side) + ".ep->fid, " + own_context(i) + ");\n");
        const std::string made = expression(i);
        p_.main("\tfor (n = 0; n < 100000; n++) {\n\t\treturned" + quoted_index(i) + " = " + made +
                ";\n\t\tif (returned" + quoted_index(i) + " != -FI_EAGAIN)\n\t\t\tbreak;\n\t\tpoll_once();\n\t}\n");
        p_.main("\tprintf(\"" + std::to_string(i + 1) + ": " + c::for_printf(print_operation(o)) +
                ": returned %ld\\n\", returned" + quoted_index(i) + ");\n");
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
            const bool peeks = (o.flags & (FI_PEEK | FI_DISCARD)) != 0;
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

    // Numbers of operations that the evidence names, from 0.
    [[nodiscard]] std::vector<std::size_t> named() const {
        std::vector<std::size_t> out;
        const std::string& note = p_.evidence().note;
        for (std::size_t at = note.find("operation "); at != std::string::npos; at = note.find("operation ", at + 1)) {
            const auto n = std::strtoul(note.c_str() + at + 10, nullptr, 10);
            if (n >= 1 && n <= e_.operations.size()) out.push_back(n - 1);
        }
        return out;
    }

    void broken_if(const std::string& condition) {
        p_.main("\tif (" + condition + ") {\n\t\tprintf(\"broken: " +
                c::for_printf(model::print_evidence(p_.evidence())) + "\\n\");\n\t\treturn 1;\n\t}\n");
    }

    // The number that the clause compares, as C.
    [[nodiscard]] std::string number(std::size_t operation) const {
        const std::string row = "told" + quoted_index(operation) + ".";
        const auto id = p_.id();
        if (id.starts_with("cq.flags") || id.ends_with("told-flags")) return row + "flags";
        if (id.starts_with("cq.len")) return row + "len";
        if (id.starts_with("cq.data") || id.ends_with("data.carried") || id.ends_with("data.value"))
            return row + "data";
        if (id.starts_with("cq.tag")) return row + "tag";
        if (id.starts_with("cq.olen")) return row + "olen";
        if (id.starts_with("endpoint.cancel.code") || id.ends_with("call.succeeds")) return row + "err";
        return row + "entries";
    }

    [[nodiscard]] std::string compared(const std::string& value) const {
        const auto& e = p_.evidence();
        const std::string wanted = c::number(e.wanted);
        switch (e.relation) {
            case model::Relation::Differs:
                return value + " == " + wanted;
            case model::Relation::Contains:
                return "(" + value + " & " + wanted + ") != " + wanted;
            case model::Relation::Within:
                return "(" + value + " & ~" + wanted + ") != 0";
            case model::Relation::AtLeast:
                return value + " < " + wanted;
            case model::Relation::AtMost:
                return value + " > " + wanted;
            default:
                return value + " != " + wanted;
        }
    }

    // Bytes: what a receive has must be what the send sent, what a write left at the target what it wrote.
    bool compares_bytes(const std::vector<std::size_t>& about) {
        const auto id = p_.id();
        const bool content = id.ends_with(".whole") || id.ends_with("match.order") || id.ends_with("level.target") ||
                             id.ends_with("match.tag") || id.ends_with("boundaries");
        if (!content || about.empty()) return false;
        const Operation& o = e_.operations[about[0]];
        const std::string own = "buffer" + quoted_index(about[0]);
        if (is_receive(o) && about.size() > 1 && is_send(e_.operations[about[1]])) {
            const auto n = std::min(o.length, e_.operations[about[1]].length);
            broken_if("memcmp(" + own + ", buffer" + quoted_index(about[1]) + ", " + std::to_string(n) + ") != 0");
            return true;
        }
        if (is_atomic(o) || !reaches_memory(o)) return false;
        broken_if("memcmp(" + own + ", " + side(peer_of(o.side)) + ".target + " + std::to_string(o.offset) + ", " +
                  std::to_string(o.length) + ") != 0");
        return true;
    }

    void verdict() {
        const auto about = named();
        const auto id = p_.id();
        const auto& e = p_.evidence();
        if (id.ends_with("comes-back")) {
            // To have come here is enough.
        } else if (id == "cq.error.code") {
            for (std::size_t i = 0; i <= e_.operations.size(); ++i)
                broken_if("told" + quoted_index(i) + ".errors && told" + quoted_index(i) + ".err <= 0");
        } else if (!about.empty() && e.field == model::Field::call_return) {
            const Operation& o = e_.operations[about[0]];
            if (o.what < Transfer::Cancel) broken_if(compared("(uint64_t)returned" + quoted_index(about[0])));
        } else if (!about.empty() && id.find(".access.") != std::string_view::npos && !id.ends_with("untouched")) {
            broken_if("returned" + quoted_index(about[0]) + " == 0 && told" + quoted_index(about[0]) + ".errors == 0");
        } else if (!about.empty() && (id == "endpoint.selective.silent" || id.ends_with("inject.silent"))) {
            broken_if("told" + quoted_index(about[0]) + ".entries > told" + quoted_index(about[0]) + ".errors");
        } else if (!about.empty() && (id.ends_with(".told") || id.ends_with("unselected") || id.ends_with(".comes") ||
                                      id.ends_with("completion.selected") || id.ends_with("cancel.ends"))) {
            broken_if("returned" + quoted_index(about[0]) + " == 0 && told" + quoted_index(about[0]) + ".entries == 0");
        } else if (id.starts_with("cntr.count") && e.relation != model::Relation::Happens) {
            count_verdict();
        } else if (about.size() > 1 && id.ends_with("data.carried")) {
            const std::string row = "told" + quoted_index(about[0]);
            broken_if("!(" + row + ".flags & FI_REMOTE_CQ_DATA) || " + row +
                      ".data != " + c::number(e_.operations[about[1]].data));
        } else if (!about.empty() && id.starts_with("cq.flags") && e.relation == model::Relation::Differs) {
            broken_if("told" + quoted_index(about[0]) + ".flags & " + c::number(e.wanted));
        } else if (!about.empty() && id.starts_with("cq.level.") &&
                   e.note.find("nothing ever matched") != std::string::npos) {
            broken_if("told" + quoted_index(about[0]) + ".entries > told" + quoted_index(about[0]) + ".errors");
        } else if (!about.empty() && id == "rma.access.untouched" && e_.operations[about[0]].what == Transfer::Write) {
            const Operation& o = e_.operations[about[0]];
            broken_if("memcmp(buffer" + quoted_index(about[0]) + ", " + side(peer_of(o.side)) + ".target + " +
                      std::to_string(o.offset) + ", " + std::to_string(o.length) + ") == 0");
        } else if (compares_bytes(about)) {
            // said
        } else if (!about.empty() && e.field == model::Field::completion && e.relation != model::Relation::Happens) {
            broken_if(compared(number(about[0])));
        } else {
            p_.main("\tputs(\"cannot tell by itself: hold the lines above against the promise\");\n\treturn 77;\n");
            return;
        }
        p_.main("\tputs(\"kept\");\n\treturn 0;\n");
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
        broken_if(compared("fi_cntr_read(" + who + ".counter" + quoted_index(at) + ")"));
    }

    Program& p_;
    const Exchange& e_;
    std::uint64_t used_[2] = {64, 64};
    std::vector<std::uint64_t> rooms_;
};

}  // namespace

void emit_traffic(Program& p) { Traffic(p).emit(); }

}  // namespace selvage::conformance
