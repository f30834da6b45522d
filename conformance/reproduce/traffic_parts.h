// The parts of a C program about an exchange that are alike in all of them.
//
// What the parts take for granted (FORMAT, OPERATIONS, …) the program defines ahead of them.  Any thread.
#pragma once

#include <string_view>

namespace selvage::conformance::traffic_parts {

inline constexpr std::string_view kState = R"(#define REGION (2u << 20)

struct side {
	struct fid_ep *ep;
	struct fid_cq *queue[2]; /* receives, transmits */
	struct fid_av *av;
	struct fid_eq *eq;
	struct fid_cntr *counter[6];
	uint64_t counted[6]; /* by exchanges that are over */
	struct fid_mr *local, *regions[OPERATIONS + 1];
	int region_count;
	fi_addr_t peer, self;
	unsigned char *memory; /* its own buffers */
	unsigned char *target; /* what the other side writes and reads */
};
static struct side A, B;
static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_pep *pep;
static struct fid_eq *listening;
static struct fi_context2 context[OPERATIONS];
/* Where the pair does not open, nothing is posted. */
__attribute__((unused)) static unsigned char *buffer[OPERATIONS];
__attribute__((unused)) static long returned[OPERATIONS];
/* What was read from the queues, by operation; the last row is for contexts of nobody. */
static struct told {
	unsigned entries, errors;
	uint64_t flags, len, data, tag;
	fi_addr_t from; /* of the last entry */
	int err;
	size_t olen;
	int order, after; /* which entry it was of all, and how many calls had been made by then */
} told[OPERATIONS + 1];
/* Each entry of a buffer for many messages (FI_MULTI_RECV), in order. */
static struct part {
	int operation;
	uint64_t flags, len;
	unsigned char *at;
} parts[256];
static int part_count;
static int entries_read, calls_made;
static int early = -1; /* what LOOK saw when an entry was read: 1 is not as it should be */
)";

inline constexpr std::string_view kNeed = R"(static void need(long ret, const char *call)
{
	if (ret == 0)
		return;
	printf("%s: %s returned %ld\n", NEEDED == 1 ? "broken" : "cannot tell", call, ret);
	exit(NEEDED);
}
)";

inline constexpr std::string_view kOpen = R"(static void open_side(struct side *s, struct fi_info *with)
{
	struct fi_cq_attr cq = { .format = FORMAT, .wait_obj = FI_WAIT_NONE, .size = QUEUE_SIZE };
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

inline constexpr std::string_view kConnect =
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

inline constexpr std::string_view kRegions = R"(static uint64_t next_key = 1;

static struct fid_mr *region(struct side *s, void *at, size_t length, uint64_t access)
{
	struct fid_mr *mr = NULL;

	need(fi_mr_reg(domain, at, length, access, 0, next_key++, 0, &mr, NULL), "fi_mr_reg");
	if (info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
		need(fi_mr_bind(mr, &s->ep->fid, 0), "fi_mr_bind");
		need(fi_mr_enable(mr), "fi_mr_enable");
	}
	if (s->region_count <= OPERATIONS)
		s->regions[s->region_count++] = mr;
	return mr;
}
)";

inline constexpr std::string_view kClose = R"(/* Each object begins with its fid. */
static void close_object(void *object)
{
	if (object)
		fi_close(object);
}

static void close_all(void)
{
	struct side *s;
	int i;

	for (s = &A; s; s = s == &A ? &B : NULL) {
		if (!(info->domain_attr->mr_mode & FI_MR_ENDPOINT))
			close_object(s->ep);
		for (i = 0; i < s->region_count; i++)
			close_object(s->regions[i]);
		if (info->domain_attr->mr_mode & FI_MR_ENDPOINT)
			close_object(s->ep);
	}
	close_object(pep);
	for (s = &A; s; s = s == &A ? &B : NULL) {
		close_object(s->queue[0]);
		close_object(s->queue[1]);
		for (i = 0; i < 6; i++)
			close_object(s->counter[i]);
		close_object(s->av);
		close_object(s->eq);
	}
	close_object(listening);
	close_object(domain);
	close_object(fabric);
}
)";

inline constexpr std::string_view kRemote = R"(static uint64_t remote(const struct side *s, uint64_t offset)
{
	return (info->domain_attr->mr_mode & (FI_MR_VIRT_ADDR | FI_MR_BASIC) ? (uint64_t)(uintptr_t)s->target : 0) + offset;
}
)";

inline constexpr std::string_view kRead = R"(static struct told *row(const void *of)
{
	const struct fi_context2 *c = of;

	return c >= context && c < context + OPERATIONS ? &told[c - context] : &told[OPERATIONS];
}

static int read_queue(struct fid_cq *cq, const char *name)
{
	struct fi_cq_tagged_entry e = { 0 };
	struct fi_cq_err_entry failure = { 0 };
	struct told *t;
	fi_addr_t from = 0x5e1a6e00; /* stays if the library tells no source */
	ssize_t n = SOURCES ? fi_cq_readfrom(cq, &e, 1, &from) : fi_cq_read(cq, &e, 1);

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
	t->order = ++entries_read;
	t->after = calls_made;
	t->flags = FORMAT >= FI_CQ_FORMAT_MSG ? e.flags : 0;
	t->len = e.len;
	t->data = e.data;
	t->tag = e.tag;
	t->from = from;
	if (part_count < (int)(sizeof parts / sizeof *parts))
		parts[part_count++] = (struct part){ (int)(t - told), t->flags, e.len, e.buf };
	printf("%s: operation %d: flags 0x%llx, len %zu, data 0x%llx, tag 0x%llx\n", name, (int)(t - told) + 1,
	       (unsigned long long)e.flags, e.len, (unsigned long long)e.data, (unsigned long long)e.tag);
	LOOK(t - told);
	return 1;
}

static int poll_once(void)
{
	return read_queue(A.queue[0], "A receives") + read_queue(A.queue[1], "A transmits") +
	       read_queue(B.queue[0], "B receives") + read_queue(B.queue[1], "B transmits");
}

/* Until nothing has come for a third of a second, or for a moment: some things show only at another pace. */
static int hasty;

static void progress(void)
{
	int quiet, rounds = hasty ? 24 : 3000;

	for (quiet = 0; quiet < rounds; quiet++) {
		if (poll_once())
			quiet = 0;
		usleep(hasty ? 0 : 100);
	}
}
)";

inline constexpr std::string_view kCounts = R"(static void note_counts(struct side *s)
{
	int i;

	for (i = 0; i < 6; i++)
		if (s->counter[i])
			s->counted[i] = fi_cntr_read(s->counter[i]);
}
)";

inline constexpr std::string_view kMany =
    R"(/* How often the buffer of an operation was given back, and whether anything came of it afterwards. */
static int releases(int operation, int *late)
{
	int i, n = 0;

	for (*late = i = 0; i < part_count; i++) {
		if (parts[i].operation != operation)
			continue;
		*late |= n > 0;
		n += (parts[i].flags & FI_MULTI_RECV) != 0;
	}
	return n;
}

/* What is left of its `length` bytes behind the last message; -1: a message lies elsewhere, or on another. */
static long space_left(int operation, unsigned char *buffer, long length)
{
	long end = 0;
	int i, k;

	for (i = 0; i < part_count; i++) {
		const struct part *a = &parts[i];
		const long at = a->at - buffer;

		if (a->operation != operation || a->len == 0)
			continue;
		if (at < 0 || at + (long)a->len > length)
			return -1;
		for (k = 0; k < i; k++)
			if (parts[k].operation == operation && parts[k].len && a->at < parts[k].at + parts[k].len &&
			    parts[k].at < a->at + a->len)
				return -1;
		if (at + (long)a->len > end)
			end = at + (long)a->len;
	}
	return length - end;
}

)";

inline constexpr std::string_view kHolds = R"(/* A message with these bytes is in the buffer of an operation. */
static int holds(int operation, const unsigned char *bytes, size_t length)
{
	int i;

	for (i = 0; i < part_count; i++)
		if (parts[i].operation == operation && parts[i].len == length && memcmp(parts[i].at, bytes, length) == 0)
			return 1;
	return 0;
}
)";

inline constexpr std::string_view kFill = R"(/* Bytes of its own for each operation. */
static void fill(unsigned char *to, size_t length, int operation)
{
	size_t i;

	for (i = 0; i < length; i++)
		to[i] = i == 0 ? (unsigned char)(0x40 + operation) : (unsigned char)(i * 7 + (i >> 8) * 13 + (size_t)operation * 31);
}
)";

}  // namespace selvage::conformance::traffic_parts
