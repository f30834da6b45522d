/* Buffered receives and variable messages, as fi_msg(3) and fi_tagged(3) tell of them. Plain C, nothing but the
 * interface: it runs on any libfabric that has FI_VARIABLE_MSG.
 *
 *   buffered PROVIDER FOLDER [automatic]
 *
 * FOLDER is where the libfabric that runs is expected. Each check is a process of its own with two endpoints that are
 * opened for it; a line says what became of it. The result is 1 if one was not kept, 77 if nobody has the capability.
 */
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <stdint.h>

#include "pair_checks.h"

enum { kSizes = 7, kMost = 1 << 20, kRounds = 200 };
static const size_t sizes[kSizes] = {0, 1, 100, 4096, 20000, 300000, kMost};

struct side {
    struct fid_ep* ep;
    struct fid_cq* cq;
    struct fid_av* av;
    fi_addr_t peer;
    size_t sent;
};

static struct fi_info* info;
static struct fid_fabric* fabric;
static struct fid_domain* domain;
static struct side a, b;
static unsigned char from[kMost], to[kMost];
static size_t first_bytes; /* FI_OPT_BUFFERED_MIN */

static struct fi_info* wanted(void) {
    struct fi_info* hints = fi_allocinfo();
    struct fi_info* found = NULL;
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_MSG | FI_TAGGED | FI_VARIABLE_MSG;
    hints->domain_attr->threading = FI_THREAD_SAFE;
    hints->domain_attr->data_progress = automatic ? FI_PROGRESS_AUTO : FI_PROGRESS_UNSPEC;
    hints->fabric_attr->prov_name = strdup(provider);
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    const int result =
        fi_getinfo(FI_VERSION(1, 17), strcmp(provider, "shm") ? "127.0.0.1" : NULL, NULL, 0, hints, &found);
    fi_freeinfo(hints);
    return result ? NULL : found;
}

static void open_side(struct side* side) {
    struct fi_cq_attr cq = {.size = 1024, .format = FI_CQ_FORMAT_TAGGED};
    struct fi_av_attr av = {.type = FI_AV_TABLE};
    DO(fi_endpoint(domain, info, &side->ep, side));
    DO(fi_cq_open(domain, &cq, &side->cq, NULL));
    DO(fi_av_open(domain, &av, &side->av, NULL));
    DO(fi_ep_bind(side->ep, &side->cq->fid, FI_TRANSMIT | FI_RECV));
    DO(fi_ep_bind(side->ep, &side->av->fid, 0));
    DO(fi_setopt(&side->ep->fid, FI_OPT_ENDPOINT, FI_OPT_BUFFERED_MIN, &first_bytes, sizeof first_bytes));
    DO(fi_enable(side->ep));
}

static void insert(struct side* side, struct side* peer) {
    char name[256];
    size_t length = sizeof name;
    DO(fi_getname(&peer->ep->fid, name, &length));
    EXPECT(fi_av_insert(side->av, name, 1, &side->peer, 0, NULL) == 1);
}

static void open_all(void) {
    info = wanted();
    EXPECT(info);
    DO(fi_fabric(info->fabric_attr, &fabric, NULL));
    DO(fi_domain(fabric, info, &domain, NULL));
    open_side(&a);
    open_side(&b);
    insert(&a, &b);
    insert(&b, &a);
    for (size_t i = 0; i < kMost; ++i) from[i] = (unsigned char)(i * 7 + (i >> 8));
}

/* The next entry of one side; sends that the other has done are counted. */
static struct fi_cq_tagged_entry next_of(struct side* side) {
    struct fi_cq_tagged_entry entry, other;
    for (;;) {
        ssize_t got = fi_cq_read(side->cq, &entry, 1);
        if (got == 1) return entry;
        if (got != -FI_EAGAIN) give_up("fi_cq_read", got);
        struct side* peer = side == &a ? &b : &a;
        got = fi_cq_read(peer->cq, &other, 1);
        if (got == 1 && (other.flags & FI_SEND)) ++peer->sent;
    }
}
static void wait_sent(size_t count) {
    while (a.sent < count) {
        if (next_of(&a).flags & FI_SEND) ++a.sent;
    }
}

static void send_to_b(size_t size, uint64_t tag, int tagged) {
    ssize_t result;
    do {
        result = tagged ? fi_tsend(a.ep, from, size, NULL, a.peer, tag, NULL)
                        : fi_send(a.ep, from, size, NULL, a.peer, NULL);
        if (result == -FI_EAGAIN) fi_cq_read(b.cq, NULL, 0), fi_cq_read(a.cq, NULL, 0);
    } while (result == -FI_EAGAIN);
    DO(result);
}

static ssize_t finish(void* notice, int tagged, size_t size, uint64_t flags) {
    struct iovec range = {to, size};
    struct fi_msg message = {.msg_iov = &range, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = notice};
    struct fi_msg_tagged with_tag = {.msg_iov = &range, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = notice};
    return tagged ? fi_trecvmsg(b.ep, &with_tag, flags) : fi_recvmsg(b.ep, &message, flags);
}

static size_t limit_of(struct side* side) {
    size_t limit = 0, length = sizeof limit;
    DO(fi_getopt(&side->ep->fid, FI_OPT_ENDPOINT, FI_OPT_BUFFERED_LIMIT, &limit, &length));
    return limit;
}

/* What a notice has to say of a message; returns it. */
static struct fi_recv_context* noticed(const struct fi_cq_tagged_entry* entry, size_t size, int tagged) {
    struct fi_recv_context* notice = entry->op_context;
    const size_t limit = limit_of(&b);
    const size_t there = size <= limit ? size : first_bytes;
    EXPECT(entry->flags & FI_RECV);
    EXPECT(!(entry->flags & FI_CLAIM));
    EXPECT(!(entry->flags & FI_MORE) == (size <= limit));
    EXPECT(entry->len == size);
    EXPECT(notice->ep == (tagged ? NULL : b.ep));
    EXPECT(memcmp(entry->buf, from, there < size ? there : size) == 0);
    return notice;
}

static void claim_each(int tagged) {
    static int mark;
    for (int i = 0; i < kSizes; ++i) {
        if (tagged) DO(fi_trecv(b.ep, NULL, 0, NULL, FI_ADDR_UNSPEC, 9, 0, &mark));
        send_to_b(sizes[i], 9, tagged);
        struct fi_cq_tagged_entry entry = next_of(&b);
        struct fi_recv_context* notice = noticed(&entry, sizes[i], tagged);
        EXPECT(notice->context == (tagged ? (void*)&mark : NULL));
        notice->context = (void*)&sizes[i];
        memset(to, 0, sizeof to);
        DO(finish(notice, tagged, sizeof to, FI_CLAIM));
        entry = next_of(&b);
        EXPECT(entry.op_context == (void*)&sizes[i]);
        EXPECT(entry.flags & FI_CLAIM);
        EXPECT(!(entry.flags & FI_MORE));
        EXPECT(entry.len == sizes[i]);
        EXPECT(memcmp(to, from, sizes[i]) == 0);
    }
    wait_sent(kSizes);
}
static void claims(void) { claim_each(0); }
static void tagged_claims(void) { claim_each(1); }

static void discards(void) {
    for (int round = 0; round < kRounds; ++round) {
        const size_t size = sizes[round % (kSizes - 1)];
        send_to_b(size, 0, 0);
        struct fi_cq_tagged_entry entry = next_of(&b);
        DO(finish(noticed(&entry, size, 0), 0, 0, round % 2 ? FI_DISCARD : FI_DISCARD | FI_CLAIM));
    }
    wait_sent(kRounds);
}

static void order(void) {
    size_t outstanding = 0;
    void* notices[kRounds];
    for (int i = 0; i < 40; ++i) send_to_b(sizes[i % (kSizes - 1)], 0, 0);
    for (int i = 0; i < 40; ++i) {
        struct fi_cq_tagged_entry entry = next_of(&b);
        notices[outstanding++] = noticed(&entry, sizes[i % (kSizes - 1)], 0);
    }
    while (outstanding) DO(finish(notices[--outstanding], 0, 0, FI_DISCARD));
    wait_sent(40);
}

static void tags_in_any_order(void) {
    for (uint64_t tag = 0; tag < 20; ++tag) send_to_b(100 + tag * 3000, tag, 1);
    for (uint64_t tag = 20; tag-- > 0;) {
        DO(fi_trecv(b.ep, NULL, 0, NULL, FI_ADDR_UNSPEC, tag, 0, NULL));
        struct fi_cq_tagged_entry entry = next_of(&b);
        EXPECT(entry.tag == tag);
        void* notice = noticed(&entry, 100 + tag * 3000, 1);
        DO(finish(notice, 1, sizeof to, FI_CLAIM));
        entry = next_of(&b);
        EXPECT(entry.tag == tag);
        EXPECT(entry.flags & FI_CLAIM);
        EXPECT(memcmp(to, from, entry.len) == 0);
    }
    wait_sent(20);
}

static void posted_receives(void) {
    static int mark;
    DO(fi_recv(b.ep, to, sizeof to, NULL, FI_ADDR_UNSPEC, &mark));
    send_to_b(300000, 0, 0);
    const struct fi_cq_tagged_entry entry = next_of(&b);
    EXPECT(entry.op_context == &mark);
    EXPECT(memcmp(to, from, 300000) == 0);
    wait_sent(1);
}

static void wrong_claims(void) {
    struct fi_context none = {{0}};
    send_to_b(100, 0, 0);
    struct fi_cq_tagged_entry entry = next_of(&b);
    struct fi_recv_context* notice = noticed(&entry, 100, 0);
    EXPECT(finish(&none, 0, sizeof to, FI_CLAIM) < 0);
    EXPECT(finish(NULL, 0, sizeof to, FI_DISCARD) < 0);
    EXPECT(finish(notice, 1, sizeof to, FI_CLAIM) < 0);
    DO(finish(notice, 0, sizeof to, FI_DISCARD));
    EXPECT(finish(notice, 0, sizeof to, FI_DISCARD) < 0);
}

static void closing(void) {
    for (int i = 0; i < 20; ++i) send_to_b(sizes[i % (kSizes - 1)], 0, 0);
    const struct fi_cq_tagged_entry entry = next_of(&b);
    noticed(&entry, sizes[0], 0);
    DO(fi_close(&b.ep->fid));
    DO(fi_close(&a.ep->fid));
    DO(fi_close(&a.cq->fid));
    DO(fi_close(&b.cq->fid));
    DO(fi_close(&a.av->fid));
    DO(fi_close(&b.av->fid));
    DO(fi_close(&domain->fid));
}

static const struct check checks[] = {
    {"a message is notified and claimed, at every size", claims},
    {"a tagged one, with the context of its tag", tagged_claims},
    {"messages are discarded, with and without FI_CLAIM", discards},
    {"notices come in the order of the messages, and end in any", order},
    {"tags meet messages that came before, in any order", tags_in_any_order},
    {"a receive that was posted takes the message", posted_receives},
    {"a claim of no message is refused", wrong_claims},
    {"an endpoint is closed with notices that nobody claimed", closing},
};
static const struct check with_first_bytes[] = {
    {"FI_OPT_BUFFERED_MIN bytes of a long message come along", claims},
    {"tagged ones, too", tagged_claims},
};

int main(int argc, char** argv) {
    const int status = begin_checks(argc, argv, "has no variable messages");
    if (status) return status;
    int broken = run_checks(checks, sizeof checks / sizeof *checks, open_all);
    first_bytes = 2000;
    broken |= run_checks(with_first_bytes, sizeof with_first_bytes / sizeof *with_first_bytes, open_all);
    return broken;
}
