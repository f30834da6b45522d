/* A program for the recorder's tests. Linked to the system's libfabric; runs on any.
 *   recorded getinfo            one query
 *   recorded fork               one query, then one in a child
 *   recorded kill               one query, then SIGKILL
 *   recorded transfer PROVIDER  two endpoints: a tagged message each way, a remote write, counters
 *   recorded atomics PROVIDER   the same endpoints: each form of atomics, and which are valid
 *   recorded threads PROVIDER   the same endpoints: one thread waits in fi_cq_sread, the other sends
 * Exit status: 0 done, 77 the provider is not there, 1 something failed (one line on stderr). */
#define _GNU_SOURCE
#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void check(long got, const char* call) {
    if (got == 0) return;
    fprintf(stderr, "%s: %ld (%s)\n", call, got, fi_strerror((int)-got));
    exit(1);
}
#define CHECK(call) check((long)(call), #call)

static int query(void) {
    struct fi_info* list = NULL;
    const int got = fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, NULL, &list);
    if (got == 0) fi_freeinfo(list);
    return got;
}

struct side {
    struct fid_ep* ep;
    struct fid_cq* cq;
    struct fid_av* av;
    struct fid_cntr* cntr;
    fi_addr_t peer;
    char name[256];
    size_t name_size;
};

static enum fi_wait_obj wait_object = FI_WAIT_NONE;

static void open_side(struct side* s, struct fid_domain* domain, struct fi_info* info) {
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = wait_object};
    struct fi_av_attr av = {.type = FI_AV_TABLE};
    struct fi_cntr_attr cntr = {.events = FI_CNTR_EVENTS_COMP};
    CHECK(fi_endpoint(domain, info, &s->ep, NULL));
    CHECK(fi_cq_open(domain, &cq, &s->cq, NULL));
    CHECK(fi_av_open(domain, &av, &s->av, NULL));
    CHECK(fi_cntr_open(domain, &cntr, &s->cntr, NULL));
    CHECK(fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV));
    CHECK(fi_ep_bind(s->ep, &s->av->fid, 0));
    CHECK(fi_ep_bind(s->ep, &s->cntr->fid, FI_SEND | FI_WRITE));
    CHECK(fi_enable(s->ep));
    s->name_size = sizeof s->name;
    CHECK(fi_getname(&s->ep->fid, s->name, &s->name_size));
}

/* Both queues are read, whichever side waits. */
static void wait_for(struct side* sides, int which, void* context) {
    for (;;) {
        for (int i = 0; i < 2; ++i) {
            struct fi_cq_tagged_entry entry;
            const ssize_t got = fi_cq_read(sides[i].cq, &entry, 1);
            if (got == 1 && i == which && entry.op_context == context) return;
            if (got < 0 && got != -FI_EAGAIN) {
                fprintf(stderr, "fi_cq_read: %zd\n", got);
                exit(1);
            }
        }
    }
}

static void close_side(struct side* s) {
    CHECK(fi_close(&s->ep->fid));
    CHECK(fi_close(&s->cq->fid));
    CHECK(fi_close(&s->av->fid));
    CHECK(fi_close(&s->cntr->fid));
}

/* Two endpoints of a domain. */
struct pair {
    struct fi_info* info;
    struct fid_fabric* fabric;
    struct fid_domain* domain;
    struct side sides[2];
};

static int open_pair(struct pair* p, const char* provider, uint64_t caps, enum fi_threading threading) {
    struct fi_info* hints = fi_allocinfo();
    memset(p, 0, sizeof *p);
    hints->caps = caps;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->threading = threading;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->fabric_attr->prov_name = strdup(provider);
    const int found = fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &p->info);
    fi_freeinfo(hints);
    if (found != 0) return 77;
    CHECK(fi_fabric(p->info->fabric_attr, &p->fabric, NULL));
    CHECK(fi_domain(p->fabric, p->info, &p->domain, NULL));
    for (int i = 0; i < 2; ++i) open_side(&p->sides[i], p->domain, p->info);
    for (int i = 0; i < 2; ++i)
        if (fi_av_insert(p->sides[i].av, p->sides[1 - i].name, 1, &p->sides[i].peer, 0, NULL) != 1) return 1;
    return 0;
}

static void close_pair(struct pair* p) {
    for (int i = 0; i < 2; ++i) close_side(&p->sides[i]);
    CHECK(fi_close(&p->domain->fid));
    CHECK(fi_close(&p->fabric->fid));
    fi_freeinfo(p->info);
}

static int atomics(const char* provider) {
    struct pair p;
    const int opened = open_pair(&p, provider, FI_TAGGED | FI_RMA | FI_ATOMIC, FI_THREAD_UNSPEC);
    if (opened != 0) return opened;
    static uint64_t words[64]; /* target 0.., operands 16.., compared 24.., results 32.. */
    struct fid_mr* mr = NULL;
    struct fi_context2 contexts[9];
    size_t valid = 0;
    CHECK(fi_mr_reg(p.domain, words, sizeof words,
                    FI_REMOTE_WRITE | FI_REMOTE_READ | FI_SEND | FI_RECV | FI_WRITE | FI_READ, 0, 4712, 0, &mr, NULL));
    void* desc = fi_mr_desc(mr);
    const uint64_t base = (p.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0 ? (uint64_t)(uintptr_t)words : 0;
    const uint64_t key = fi_mr_key(mr);
    struct fid_ep* ep = p.sides[0].ep;
    const fi_addr_t peer = p.sides[0].peer;
    words[16] = words[17] = 5;
    CHECK(fi_atomicvalid(ep, FI_UINT64, FI_SUM, &valid));
    CHECK(fi_fetch_atomicvalid(ep, FI_UINT64, FI_SUM, &valid));
    CHECK(fi_compare_atomicvalid(ep, FI_UINT64, FI_CSWAP, &valid));
    struct fi_ioc from = {&words[16], 2}, with = {&words[24], 2}, to = {&words[32], 2};
    struct fi_rma_ioc at = {base, 2, key};
    struct fi_msg_atomic msg = {&from, &desc, 1, peer, &at, 1, FI_UINT64, FI_SUM, &contexts[2], 0};
    int n = 0;
#define POST(call)                                                              \
    do {                                                                        \
        ssize_t got = 0;                                                        \
        while ((got = (call)) == -FI_EAGAIN) {                                  \
            struct fi_cq_tagged_entry ignored;                                  \
            for (int k = 0; k < 2; ++k) fi_cq_read(p.sides[k].cq, &ignored, 1); \
        }                                                                       \
        check(got, #call);                                                      \
    } while (0)
#define ATOMIC(call)                        \
    do {                                    \
        POST(call);                         \
        wait_for(p.sides, 0, &contexts[n]); \
        ++n;                                \
    } while (0)
    ATOMIC(fi_atomic(ep, &words[16], 2, desc, peer, base, key, FI_UINT64, FI_SUM, &contexts[n]));
    ATOMIC(fi_atomicv(ep, &from, &desc, 1, peer, base, key, FI_UINT64, FI_SUM, &contexts[n]));
    ATOMIC(fi_atomicmsg(ep, &msg, 0));
    POST(fi_inject_atomic(ep, &words[16], 2, peer, base, key, FI_UINT64, FI_SUM));
    ATOMIC(
        fi_fetch_atomic(ep, &words[16], 2, desc, &words[32], desc, peer, base, key, FI_UINT64, FI_SUM, &contexts[n]));
    ATOMIC(fi_fetch_atomicv(ep, &from, &desc, 1, &to, &desc, 1, peer, base, key, FI_UINT64, FI_SUM, &contexts[n]));
    msg.context = &contexts[n];
    ATOMIC(fi_fetch_atomicmsg(ep, &msg, &to, &desc, 1, 0));
    ATOMIC(fi_compare_atomic(ep, &words[16], 2, desc, &words[24], desc, &words[32], desc, peer, base, key, FI_UINT64,
                             FI_CSWAP, &contexts[n]));
    ATOMIC(fi_compare_atomicv(ep, &from, &desc, 1, &with, &desc, 1, &to, &desc, 1, peer, base, key, FI_UINT64, FI_CSWAP,
                              &contexts[n]));
    msg.context = &contexts[n];
    msg.op = FI_CSWAP;
    ATOMIC(fi_compare_atomicmsg(ep, &msg, &with, &desc, 1, &to, &desc, 1, 0));
    if (words[32] != 35) return 1; /* seven sums before it */
    CHECK(fi_close(&mr->fid));
    close_pair(&p);
    puts("added");
    return 0;
}

#define MESSAGES 50

static void* receiver(void* of) {
    struct side* s = of;
    for (int i = 0; i < MESSAGES; ++i) {
        struct fi_cq_tagged_entry entry;
        ssize_t got = 0;
        while ((got = fi_cq_sread(s->cq, &entry, 1, NULL, 50)) == -FI_EAGAIN) continue;
        if (got != 1) return "failed";
    }
    return NULL;
}

static int threads(const char* provider) {
    struct pair p;
    wait_object = FI_WAIT_UNSPEC;
    const int opened = open_pair(&p, provider, FI_TAGGED, FI_THREAD_SAFE);
    if (opened != 0) return opened;
    static char memory[MESSAGES][64];
    static struct fi_context2 contexts[MESSAGES];
    pthread_t thread;
    void* why = NULL;
    for (int i = 0; i < MESSAGES; ++i)
        CHECK(fi_trecv(p.sides[1].ep, memory[i], 64, NULL, FI_ADDR_UNSPEC, (uint64_t)i, 0, &contexts[i]));
    CHECK(pthread_create(&thread, NULL, receiver, &p.sides[1]));
    for (int i = 0; i < MESSAGES; ++i) {
        long got = 0;
        while ((got = fi_tinject(p.sides[0].ep, "hello", 6, p.sides[0].peer, (uint64_t)i)) == -FI_EAGAIN) {
            struct fi_cq_tagged_entry ignored;
            fi_cq_read(p.sides[0].cq, &ignored, 1);
        }
        check(got, "fi_tinject");
    }
    while (pthread_tryjoin_np(thread, &why) != 0) {
        struct fi_cq_tagged_entry ignored;
        fi_cq_read(p.sides[0].cq, &ignored, 1);
        usleep(1000);
    }
    if (why != NULL) return 1;
    close_pair(&p);
    puts("received");
    return 0;
}

static int transfer(const char* provider) {
    struct fi_info* hints = fi_allocinfo();
    struct fi_info* info = NULL;
    struct fid_fabric* fabric = NULL;
    struct fid_domain* domain = NULL;
    struct fid_mr* mr = NULL;
    struct side sides[2];
    struct fi_context2 contexts[4];
    static char memory[8192];
    memset(sides, 0, sizeof sides);
    hints->caps = FI_TAGGED | FI_RMA;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->fabric_attr->prov_name = strdup(provider);
    if (fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info) != 0) return 77;
    CHECK(fi_fabric(info->fabric_attr, &fabric, NULL));
    CHECK(fi_domain(fabric, info, &domain, NULL));
    for (int i = 0; i < 2; ++i) open_side(&sides[i], domain, info);
    for (int i = 0; i < 2; ++i)
        if (fi_av_insert(sides[i].av, sides[1 - i].name, 1, &sides[i].peer, 0, NULL) != 1) return 1;
    CHECK(fi_mr_reg(domain, memory, sizeof memory, FI_REMOTE_WRITE | FI_REMOTE_READ | FI_SEND | FI_RECV | FI_WRITE, 0,
                    4711, 0, &mr, NULL));
    void* desc = fi_mr_desc(mr);
    for (int i = 0; i < 2; ++i) {
        char* const from = memory + 1024 * i;
        char* const to = memory + 4096 + 1024 * i;
        for (int j = 0; j < 1000; ++j) from[j] = (char)(i + j);
        CHECK(fi_trecv(sides[1 - i].ep, to, 1024, desc, FI_ADDR_UNSPEC, 7, 0, &contexts[0]));
        ssize_t got = 0;
        while ((got = fi_tsend(sides[i].ep, from, 1000, desc, sides[i].peer, 7, &contexts[1])) == -FI_EAGAIN) {
            struct fi_cq_tagged_entry ignored;
            for (int k = 0; k < 2; ++k) fi_cq_read(sides[k].cq, &ignored, 1);
        }
        CHECK(got);
        wait_for(sides, 1 - i, &contexts[0]);
        if (memcmp(from, to, 1000) != 0) return 1;
    }
    const uint64_t base = (info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0 ? (uint64_t)(uintptr_t)memory : 0;
    CHECK(fi_write(sides[0].ep, memory, 512, desc, sides[0].peer, base + 6144, fi_mr_key(mr), &contexts[2]));
    while (fi_cntr_read(sides[0].cntr) < 2) {
        struct fi_cq_tagged_entry ignored;
        for (int k = 0; k < 2; ++k) fi_cq_read(sides[k].cq, &ignored, 1);
    }
    if (memcmp(memory, memory + 6144, 512) != 0) return 1;
    CHECK(fi_close(&mr->fid));
    for (int i = 0; i < 2; ++i) close_side(&sides[i]);
    CHECK(fi_close(&domain->fid));
    CHECK(fi_close(&fabric->fid));
    fi_freeinfo(info);
    fi_freeinfo(hints);
    puts("transferred");
    return 0;
}

int main(int argc, char** argv) {
    const char* const mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "transfer") == 0 && argc > 2) return transfer(argv[2]);
    if (strcmp(mode, "atomics") == 0 && argc > 2) return atomics(argv[2]);
    if (strcmp(mode, "threads") == 0 && argc > 2) return threads(argv[2]);
    printf("query %d\n", query());
    fflush(stdout);
    if (strcmp(mode, "kill") == 0) raise(SIGKILL);
    if (strcmp(mode, "fork") == 0) {
        int status = 0;
        const pid_t child = fork();
        if (child == 0) _exit(query() == 0 ? 0 : 1);
        waitpid(child, &status, 0);
        printf("child %d\n", status);
    }
    return 0;
}
