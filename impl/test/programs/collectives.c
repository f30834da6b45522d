/* Collective operations, as fi_collective(3) and fi_av_set(3) tell of them. Plain C, nothing but the interface: it runs
 * on any libfabric that offers FI_COLLECTIVE.
 *
 *   collectives PROVIDER FOLDER [MEMBERS] [automatic]
 *
 * FOLDER is where the libfabric that runs is expected. Each check is run by MEMBERS processes, with endpoints that are
 * opened for it; a line says what became of it. The result is 1 if one was not kept, 77 if FI_COLLECTIVE is not
 * offered.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "checks.h"

enum { kMembersMost = 64, kAddressMost = 256, kUnsupported = 76 };
#define LARGE ((size_t)60000) /* elements */

/* Of all members of a check. */
static struct shared {
    pthread_barrier_t meeting;
    char addresses[kMembersMost][kAddressMost];
    volatile int entered[kMembersMost];
    volatile int last;      /* the operation before the one in which a member is killed */
    struct timespec killed; /* when it was */
} * shared;

static const char* provider;
static int automatic, members = 4, self;
static struct fi_info* info;
static struct fid_fabric* fabric;
static struct fid_domain* domain;
static struct fid_eq* eq;
static struct fid_cq* cq;
static struct fid_av* av;
static struct fid_ep* ep;
static fi_addr_t addresses[kMembersMost];
static size_t address_size;
static uint64_t *from, *to; /* kMembersMost blocks of LARGE */

static void give_up(const char* what, long result) {
    const int unsupported = result == -FI_ENOSYS || result == -FI_EOPNOTSUPP;
    printf("    member %d: %s: %ld (%s)\n", self, what, result, fi_strerror((int)-result));
    fflush(stdout);
    _exit(unsupported ? kUnsupported : 1);
}
/* Posts, as often as it takes. */
#define POST(call)                                                             \
    do {                                                                       \
        long answer;                                                           \
        while ((answer = (long)(call)) == -FI_EAGAIN) fi_cq_read(cq, NULL, 0); \
        if (answer) give_up(#call, answer);                                    \
    } while (0)

static struct fi_info* wanted(void) {
    struct fi_info* hints = fi_allocinfo();
    struct fi_info* found = NULL;
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_MSG | FI_TAGGED | FI_COLLECTIVE;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->domain_attr->threading = FI_THREAD_SAFE;
    hints->domain_attr->data_progress = automatic ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL;
    hints->fabric_attr->prov_name = strdup(provider);
    const int on_machine = strncmp(provider, "tcp", 3) == 0;
    fi_getinfo(FI_VERSION(1, 17), on_machine ? "127.0.0.1" : NULL, on_machine ? "0" : NULL, on_machine ? FI_SOURCE : 0,
               hints, &found);
    fi_freeinfo(hints);
    return found;
}

static void meet(void) { pthread_barrier_wait(&shared->meeting); }

static void open_all(void) {
    struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_UNSPEC};
    struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_TAGGED, .size = 1024};
    struct fi_av_attr av_attr = {.type = FI_AV_TABLE, .count = kMembersMost};
    from = calloc(kMembersMost * LARGE, sizeof *from);
    to = calloc(kMembersMost * LARGE, sizeof *to);
    EXPECT(from && to);
    info = wanted();
    DO(fi_fabric(info->fabric_attr, &fabric, NULL));
    DO(fi_eq_open(fabric, &eq_attr, &eq, NULL));
    DO(fi_domain(fabric, info, &domain, NULL));
    DO(fi_cq_open(domain, &cq_attr, &cq, NULL));
    DO(fi_av_open(domain, &av_attr, &av, NULL));
    DO(fi_endpoint(domain, info, &ep, NULL));
    DO(fi_ep_bind(ep, &eq->fid, 0));
    DO(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
    DO(fi_ep_bind(ep, &av->fid, 0));
    DO(fi_enable(ep));
    address_size = kAddressMost;
    DO(fi_getname(&ep->fid, shared->addresses[self], &address_size));
    meet();
    for (int i = 0; i < members; ++i) {
        const char* text = shared->addresses[i];
        const void* address = info->addr_format == FI_ADDR_STR ? (const void*)&text : text;
        EXPECT(fi_av_insert(av, address, 1, &addresses[i], 0, NULL) == 1);
    }
}

static void close_all(void) {
    DO(fi_close(&ep->fid));
    DO(fi_close(&av->fid));
    DO(fi_close(&cq->fid));
    DO(fi_close(&domain->fid));
    DO(fi_close(&eq->fid));
    DO(fi_close(&fabric->fid));
    fi_freeinfo(info);
}

/* Each member whose number is a multiple. */
static struct fid_av_set* every(int stride) {
    struct fi_av_set_attr attr = {.count = (size_t)members,
                                  .start_addr = addresses[0],
                                  .end_addr = addresses[members - 1],
                                  .stride = (uint64_t)stride};
    struct fid_av_set* set;
    DO(fi_av_set(av, &attr, &set, NULL));
    return set;
}

static int named; /* the group, by the event of the last join */
static void await_join(struct fid_mc* mc, void* context) {
    struct fi_eq_entry entry;
    uint32_t event;
    ssize_t read;
    while ((read = fi_eq_read(eq, &event, &entry, sizeof entry, 0)) == -FI_EAGAIN) fi_cq_read(cq, NULL, 0);
    if (read == -FI_EAVAIL) {
        struct fi_eq_err_entry error = {0};
        fi_eq_readerr(eq, &error, 0);
        give_up("an error event", -error.err);
    }
    if (read < 0) give_up("fi_eq_read", read);
    EXPECT(event == FI_JOIN_COMPLETE);
    named = entry.fid == &mc->fid;
    EXPECT(entry.context == context);
}
static struct fid_mc* join(struct fid_av_set* set) {
    struct fid_mc* mc;
    fi_addr_t address;
    int context;
    DO(fi_av_set_addr(set, &address));
    DO(fi_join_collective(ep, address, set, 0, &mc, &context));
    await_join(mc, &context);
    return mc;
}
static fi_addr_t group; /* of all members */
static struct fid_av_set* all;
static struct fid_mc* all_mc;
static void join_all(void) {
    all = every(1);
    all_mc = join(all);
    group = fi_mc_addr(all_mc);
}
static void leave_all(void) {
    DO(fi_close(&all_mc->fid));
    DO(fi_close(&all->fid));
}

/* The next completion, which is of this context. */
static void await(void* context) {
    struct fi_cq_tagged_entry entry;
    ssize_t read;
    while ((read = fi_cq_read(cq, &entry, 1)) == -FI_EAGAIN) {
    }
    if (read == -FI_EAVAIL) {
        struct fi_cq_err_entry error = {0};
        fi_cq_readerr(cq, &error, 0);
        give_up("an error entry", -error.err);
    }
    if (read < 0) give_up("fi_cq_read", read);
    EXPECT(entry.op_context == context);
    EXPECT(entry.flags & FI_COLLECTIVE);
}

static const size_t counts[] = {1, 7, 512, 5000, LARGE};
#define FOR_EACH_COUNT(count) for (size_t at = 0, count = counts[0]; at < 5; count = counts[++at % 5])
static uint64_t value(int member, size_t index) { return (uint64_t)(member + 1) * 1000003 + index * 7; }
static uint64_t sum_of(size_t index) {
    uint64_t sum = 0;
    for (int m = 0; m < members; ++m) sum += value(m, index);
    return sum;
}

static void members_join(void) {
    join_all();
    leave_all();
}

static void a_join_names_its_group(void) {
    join_all();
    EXPECT(named);
    leave_all();
}

static void nobody_leaves_early(void) {
    int context;
    join_all();
    for (int round = 1; round <= 50; ++round) {
        if (round % members == self) usleep(2000);
        shared->entered[self] = round;
        POST(fi_barrier(ep, group, &context));
        await(&context);
        for (int m = 0; m < members; ++m) EXPECT(shared->entered[m] >= round);
    }
    leave_all();
}

static void barrier_with_flags(void) {
    int context;
    join_all();
    POST(fi_barrier2(ep, group, FI_COMPLETION, &context));
    await(&context);
    leave_all();
}

static void broadcasts(void) {
    int context;
    join_all();
    FOR_EACH_COUNT(count) {
        for (int root = 0; root < members; ++root) {
            for (size_t i = 0; i < count; ++i) from[i] = self == root ? value(root, i) : 0;
            POST(fi_broadcast(ep, from, count, NULL, group, addresses[root], FI_UINT64, 0, &context));
            await(&context);
            for (size_t i = 0; i < count; ++i) EXPECT(from[i] == value(root, i));
        }
    }
    leave_all();
}

static void allreduces(void) {
    int context;
    join_all();
    FOR_EACH_COUNT(count) {
        for (size_t i = 0; i < count; ++i) from[i] = value(self, i);
        POST(fi_allreduce(ep, from, count, NULL, to, NULL, group, FI_UINT64, FI_SUM, 0, &context));
        await(&context);
        for (size_t i = 0; i < count; ++i) EXPECT(to[i] == sum_of(i));
        for (size_t i = 0; i < count; ++i) EXPECT(from[i] == value(self, i));
    }
    leave_all();
}

static void reductions_of_doubles(void) {
    int context;
    double* mine = (double*)from;
    double* result = (double*)to;
    join_all();
    for (size_t i = 0; i < 1000; ++i) mine[i] = (double)((self + 1) * ((int)i % 5 - 2));
    POST(fi_allreduce(ep, mine, 1000, NULL, result, NULL, group, FI_DOUBLE, FI_MAX, 0, &context));
    await(&context);
    for (size_t i = 0; i < 1000; ++i) {
        const int sign = (int)i % 5 - 2;
        EXPECT(result[i] == (double)(sign > 0 ? members * sign : sign));
    }
    leave_all();
}

static void allgathers(void) {
    int context;
    join_all();
    FOR_EACH_COUNT(count) {
        for (size_t i = 0; i < count; ++i) from[i] = value(self, i);
        POST(fi_allgather(ep, from, count, NULL, to, NULL, group, FI_UINT64, 0, &context));
        await(&context);
        for (int m = 0; m < members; ++m) {
            for (size_t i = 0; i < count; ++i) EXPECT(to[(size_t)m * count + i] == value(m, i));
        }
    }
    leave_all();
}

static void scatters(void) {
    int context;
    join_all();
    FOR_EACH_COUNT(count) {
        for (int root = 0; root < members; ++root) {
            for (size_t i = 0; self == root && i < count * (size_t)members; ++i) from[i] = value(root, i);
            POST(fi_scatter(ep, from, count, NULL, to, NULL, group, addresses[root], FI_UINT64, 0, &context));
            await(&context);
            for (size_t i = 0; i < count; ++i) EXPECT(to[i] == value(root, (size_t)self * count + i));
        }
    }
    leave_all();
}

static void gathers(void) {
    int context;
    join_all();
    FOR_EACH_COUNT(count) {
        for (int root = 0; root < members; ++root) {
            for (size_t i = 0; i < count; ++i) from[i] = value(self, i);
            POST(fi_gather(ep, from, count, NULL, to, NULL, group, addresses[root], FI_UINT64, 0, &context));
            await(&context);
            for (int m = 0; self == root && m < members; ++m) {
                for (size_t i = 0; i < count; ++i) EXPECT(to[(size_t)m * count + i] == value(m, i));
            }
        }
    }
    leave_all();
}

static void alltoalls(void) {
    int context;
    join_all();
    FOR_EACH_COUNT(count) {
        for (int m = 0; m < members; ++m) {
            for (size_t i = 0; i < count; ++i) from[(size_t)m * count + i] = value(self, (size_t)m * count + i);
        }
        POST(fi_alltoall(ep, from, count, NULL, to, NULL, group, FI_UINT64, 0, &context));
        await(&context);
        for (int m = 0; m < members; ++m) {
            for (size_t i = 0; i < count; ++i) EXPECT(to[(size_t)m * count + i] == value(m, (size_t)self * count + i));
        }
    }
    leave_all();
}

static void reduces(void) {
    int context;
    join_all();
    FOR_EACH_COUNT(count) {
        for (int root = 0; root < members; ++root) {
            for (size_t i = 0; i < count; ++i) from[i] = value(self, i);
            POST(fi_reduce(ep, from, count, NULL, self == root ? to : NULL, NULL, group, addresses[root], FI_UINT64,
                           FI_SUM, 0, &context));
            await(&context);
            for (size_t i = 0; self == root && i < count; ++i) EXPECT(to[i] == sum_of(i));
        }
    }
    leave_all();
}

static void reduce_scatters(void) {
    int context;
    join_all();
    FOR_EACH_COUNT(count) {
        for (size_t i = 0; i < count * (size_t)members; ++i) from[i] = value(self, i);
        POST(fi_reduce_scatter(ep, from, count, NULL, to, NULL, group, FI_UINT64, FI_SUM, 0, &context));
        await(&context);
        for (size_t i = 0; i < count; ++i) EXPECT(to[i] == sum_of((size_t)self * count + i));
    }
    leave_all();
}

static void groups_at_once(void) {
    int context, other;
    struct fid_mc* mc = NULL;
    struct fid_av_set* even = every(2);
    join_all();
    if (self % 2 == 0) mc = join(even);
    for (int round = 0; round < 20; ++round) {
        /* In one order here, in the other there. */
        if (mc && self % 4) POST(fi_barrier(ep, fi_mc_addr(mc), &other));
        POST(fi_barrier(ep, group, &context));
        if (mc && self % 4 == 0) POST(fi_barrier(ep, fi_mc_addr(mc), &other));
        struct fi_cq_tagged_entry entry;
        for (int left = mc ? 2 : 1; left;) {
            const ssize_t read = fi_cq_read(cq, &entry, 1);
            if (read != -FI_EAGAIN && read != 1) give_up("fi_cq_read", read);
            left -= read == 1;
        }
    }
    if (mc) DO(fi_close(&mc->fid));
    DO(fi_close(&even->fid));
    leave_all();
}

static void a_group_is_joined_again(void) {
    for (int round = 0; round < 5; ++round) {
        int context;
        join_all();
        struct fid_mc* second = join(all);
        POST(fi_barrier(ep, fi_mc_addr(second), &context));
        await(&context);
        DO(fi_close(&second->fid));
        leave_all();
    }
}

static void many_are_under_way(void) {
    enum { kMany = 100 };
    int contexts[kMany];
    join_all();
    for (size_t i = 0; i < kMany; ++i) {
        from[i] = value(self, i);
        POST(fi_allreduce(ep, &from[i], 1, NULL, &to[i], NULL, group, FI_UINT64, FI_SUM, 0, &contexts[i]));
    }
    for (size_t i = 0; i < kMany; ++i) await(&contexts[i]);
    for (size_t i = 0; i < kMany; ++i) EXPECT(to[i] == sum_of(i));
    leave_all();
}

static void receives_get_no_collective_messages(void) {
    int context, taken, tagged;
    char bytes[2][64];
    struct fi_cq_tagged_entry entry;
    join_all();
    DO(fi_recv(ep, bytes[0], sizeof bytes[0], NULL, FI_ADDR_UNSPEC, &taken));
    DO(fi_trecv(ep, bytes[1], sizeof bytes[1], NULL, FI_ADDR_UNSPEC, 0, ~(uint64_t)0, &tagged));
    for (int round = 0; round < 20; ++round) {
        POST(fi_allreduce(ep, from, 1, NULL, to, NULL, group, FI_UINT64, FI_SUM, 0, &context));
        await(&context);
    }
    meet();
    const fi_addr_t next = addresses[(self + 1) % members];
    POST(fi_inject(ep, "plain", 6, next));
    POST(fi_tinject(ep, "tagged", 7, next, 5));
    for (int left = 2; left;) {
        const ssize_t read = fi_cq_read(cq, &entry, 1);
        if (read != -FI_EAGAIN && read != 1) give_up("fi_cq_read", read);
        if (read != 1) continue;
        EXPECT(entry.op_context == &taken || entry.op_context == &tagged);
        --left;
    }
    EXPECT(strcmp(bytes[0], "plain") == 0 && strcmp(bytes[1], "tagged") == 0);
    POST(fi_barrier(ep, group, &context));
    await(&context);
    leave_all();
}

static void what_is_supported_can_be_asked(void) {
    struct fi_collective_attr attr = {.op = FI_NOOP, .datatype = FI_VOID};
    DO(fi_query_collective(domain, FI_BARRIER, &attr, 0));
    attr = (struct fi_collective_attr){.op = FI_SUM, .datatype = FI_UINT64};
    DO(fi_query_collective(domain, FI_ALLREDUCE, &attr, 0));
    EXPECT(attr.datatype_attr.size == 8 && attr.datatype_attr.count && attr.max_members >= (size_t)members);
}

/* As many as are taken: the windows of the peers are full, or the context is. */
static void the_applications_messages_are_not_in_the_way(void) {
    enum { kSize = 1024, kMost = 30000 };
    static char bytes[kSize];
    int context, sent = 0, left = 0, own;
    struct fi_cq_tagged_entry entry;
    const fi_addr_t next = addresses[(self + 1) % members];
    join_all();
    for (int idle = 0; sent < kMost && idle < 200;) {
        const ssize_t posted = fi_send(ep, bytes, kSize, NULL, next, &own);
        idle = posted ? idle + 1 : 0;
        if (!posted) ++sent;
        while (posted == -FI_EAGAIN && fi_cq_read(cq, &entry, 1) == 1) ++left;
    }
    meet();
    POST(fi_allreduce(ep, from, 1, NULL, to, NULL, group, FI_UINT64, FI_SUM, 0, &context));
    for (;;) {
        const ssize_t read = fi_cq_read(cq, &entry, 1);
        if (read != -FI_EAGAIN && read != 1) give_up("fi_cq_read", read);
        if (read != 1) continue;
        if (entry.op_context == &context) break;
        ++left;
    }
    shared->entered[self] = sent;
    meet();
    const int expected = shared->entered[(self + members - 1) % members];
    int posted = 0, received = 0;
    while (received < expected || left < sent) {
        if (posted < expected && fi_recv(ep, bytes, kSize, NULL, FI_ADDR_UNSPEC, &context) == 0) ++posted;
        const ssize_t read = fi_cq_read(cq, &entry, 1);
        if (read != -FI_EAGAIN && read != 1) give_up("fi_cq_read", read);
        if (read == 1) entry.op_context == &own ? ++left : ++received;
    }
    POST(fi_barrier(ep, group, &context));
    await(&context);
    leave_all();
}

static void a_root_is_far_ahead(void) {
    enum { kMany = 600 };
    static int contexts[kMany];
    join_all();
    if (self) usleep(200000);
    for (size_t i = 0, done = 0; done < kMany;) {
        const size_t size = i % 3 ? 20 : 3000;
        uint64_t* const data = from + (i % kMany) * 3000;
        if (i < kMany) {
            for (size_t e = 0; e < size; ++e) data[e] = self ? 0 : value((int)i, e);
            const ssize_t posted = fi_broadcast(ep, data, size, NULL, group, addresses[0], FI_UINT64, 0, &contexts[i]);
            if (posted != -FI_EAGAIN) DO(posted);
            if (!posted) ++i;
            if (!posted && i < kMany) continue;
        }
        await(&contexts[done]);
        const size_t had = done % 3 ? 20 : 3000;
        for (size_t e = 0; e < had; ++e) EXPECT(from[done * 3000 + e] == value((int)done, e));
        ++done;
    }
    leave_all();
}

static void joins_cross(void) {
    struct fid_av_set *whole = every(1), *most = every(1);
    struct fid_mc *first = NULL, *second = NULL;
    fi_addr_t address;
    int context, in_most = self < members - 1;
    DO(fi_av_set_remove(most, addresses[members - 1]));
    for (int turn = 0; turn < 2; ++turn) {
        if ((turn + self) % 2) {
            DO(fi_av_set_addr(whole, &address));
            DO(fi_join_collective(ep, address, whole, 0, &first, NULL));
            usleep(1000);
        } else if (in_most) {
            DO(fi_av_set_addr(most, &address));
            DO(fi_join_collective(ep, address, most, 0, &second, NULL));
        }
    }
    await_join(first, NULL);
    if (in_most) await_join(second, NULL);
    if (in_most) POST(fi_barrier(ep, fi_mc_addr(second), &context));
    if (in_most) await(&context);
    POST(fi_barrier(ep, fi_mc_addr(first), &context));
    await(&context);
    DO(fi_close(&first->fid));
    if (in_most) DO(fi_close(&second->fid));
    DO(fi_close(&whole->fid));
    DO(fi_close(&most->fid));
}

static void members_that_disagree_get_an_error(void) {
    int context;
    struct fi_cq_tagged_entry entry;
    struct fi_cq_err_entry error = {0};
    ssize_t read;
    join_all();
    const size_t count = self ? 2 : 1;
    const ssize_t posted = fi_allreduce(ep, from, count, NULL, to, NULL, group, FI_UINT64, FI_SUM, 0, &context);
    EXPECT(!posted || posted == -FI_EINVAL); /* which others have noticed before */
    if (!posted) {
        while ((read = fi_cq_read(cq, &entry, 1)) == -FI_EAGAIN) {
        }
        EXPECT(read == -FI_EAVAIL && fi_cq_readerr(cq, &error, 0) == 1);
        EXPECT(error.op_context == &context && error.err == FI_EINVAL);
    }
    EXPECT(fi_barrier(ep, group, &context) == -FI_EINVAL);
    meet();
    leave_all();
    /* The members can meet anew. */
    join_all();
    POST(fi_barrier(ep, group, &context));
    await(&context);
    leave_all();
}

static void bad_calls_are_refused(void) {
    struct fid_mc* mc;
    fi_addr_t address;
    int context;
    join_all();
    DO(fi_av_set_addr(all, &address));
    EXPECT(fi_barrier(ep, addresses[0], &context) == -FI_EINVAL);
    EXPECT(fi_barrier(ep, address, &context) == -FI_EINVAL);
    EXPECT(fi_broadcast(ep, from, 1, NULL, group, FI_ADDR_UNSPEC, FI_UINT64, 0, &context) == -FI_EINVAL);
    EXPECT(fi_broadcast(ep, from, 1, NULL, group, addresses[0], FI_VOID, 0, &context) == -FI_EOPNOTSUPP);
    EXPECT(fi_allreduce(ep, from, 1, NULL, to, NULL, group, FI_DOUBLE, FI_BOR, 0, &context) == -FI_EOPNOTSUPP);
    EXPECT(fi_allreduce(ep, from, 1, NULL, to, NULL, group, FI_UINT64, FI_SUM, FI_PEEK, &context) == -FI_EBADFLAGS);
    EXPECT(fi_allgather(ep, from, SIZE_MAX / 8, NULL, to, NULL, group, FI_UINT64, 0, &context) == -FI_EMSGSIZE);
    EXPECT(fi_join_collective(ep, address + 77777, all, 0, &mc, NULL) == -FI_EINVAL);
    EXPECT(fi_join_collective(ep, address, NULL, 0, &mc, NULL) == -FI_EINVAL);
    EXPECT(fi_close(&ep->fid) == -FI_EBUSY);
    POST(fi_barrier(ep, group, &context));
    await(&context);
    leave_all();
}

static void a_set_says_what_its_groups_do(void) {
    struct fi_av_set_attr attr = {
        .start_addr = FI_ADDR_NOTAVAIL, .end_addr = FI_ADDR_NOTAVAIL, .flags = FI_UNIVERSE | FI_BARRIER_SET};
    struct fid_av_set* set;
    int context;
    DO(fi_av_set(av, &attr, &set, NULL));
    struct fid_mc* mc = join(set);
    EXPECT(fi_allgather(ep, from, 1, NULL, to, NULL, fi_mc_addr(mc), FI_UINT64, 0, &context) == -FI_EOPNOTSUPP);
    POST(fi_barrier(ep, fi_mc_addr(mc), &context));
    await(&context);
    DO(fi_close(&mc->fid));
    DO(fi_close(&set->fid));
}

static void the_application_brings_the_members_together(void) {
    struct fid_mc* mc;
    int context;
    all = every(1);
    meet();
    DO(fi_join_collective(ep, FI_ADDR_NOTAVAIL, all, 0, &mc, NULL));
    await_join(mc, NULL);
    for (size_t i = 0; i < 10; ++i) from[i] = value(self, i);
    POST(fi_allreduce(ep, from, 10, NULL, to, NULL, fi_mc_addr(mc), FI_UINT64, FI_SUM, 0, &context));
    await(&context);
    for (size_t i = 0; i < 10; ++i) EXPECT(to[i] == sum_of(i));
    DO(fi_close(&mc->fid));
    DO(fi_close(&all->fid));
}

/* Members that are killed. The others get an error, from a call or as an entry, and none of them waits for ever. */
static int victim; /* the member that is killed in this check, or -1 */
static void die_now(void) {
    clock_gettime(CLOCK_MONOTONIC, (struct timespec*)&shared->killed);
    raise(SIGKILL);
}
static void expect_soon(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    EXPECT(now.tv_sec - shared->killed.tv_sec < 10);
}
/* The result of an operation of that number: 0, or a negative errno. */
static long operate(int number) {
    static int context;
    const size_t size = number % 3 == 0 ? LARGE : 10;
    const fi_addr_t root = addresses[number % members];
    long posted;
    do {
        if (number % 5 == 0)
            posted = fi_barrier(ep, group, &context);
        else if (number % 5 == 1)
            posted = fi_allreduce(ep, from, size, NULL, to, NULL, group, FI_UINT64, FI_SUM, 0, &context);
        else if (number % 5 == 2)
            posted = fi_broadcast(ep, from, size, NULL, group, root, FI_UINT64, 0, &context);
        else if (number % 5 == 3)
            posted = fi_alltoall(ep, from, size, NULL, to, NULL, group, FI_UINT64, 0, &context);
        else
            posted = fi_gather(ep, from, size, NULL, to, NULL, group, root, FI_UINT64, 0, &context);
        if (posted == -FI_EAGAIN) fi_cq_read(cq, NULL, 0);
    } while (posted == -FI_EAGAIN);
    if (posted) return posted;
    if (victim == self && number == shared->last + 1) die_now();
    struct fi_cq_tagged_entry entry;
    ssize_t read;
    while ((read = fi_cq_read(cq, &entry, 1)) == -FI_EAGAIN) {
    }
    if (read == -FI_EAVAIL) {
        struct fi_cq_err_entry error = {0};
        EXPECT(fi_cq_readerr(cq, &error, 0) == 1);
        EXPECT(error.op_context == &context && error.err > 0);
        return -error.err;
    }
    EXPECT(read == 1 && entry.op_context == &context);
    return 0;
}
static void go_on_until_an_error(int last, int in_operation) {
    join_all();
    shared->last = in_operation ? last : -2;
    for (int number = 0;; ++number) {
        if (self == victim && number == last && !in_operation) die_now();
        const long result = operate(number);
        if (!result) continue;
        expect_soon();
        break;
    }
    EXPECT(fi_barrier(ep, group, NULL) < 0);
    leave_all();
}
static void one_is_killed_between_operations(void) { go_on_until_an_error(20 + victim, 0); }
static void one_is_killed_in_a_barrier(void) { go_on_until_an_error(19, 1); }
static void one_is_killed_in_a_long_allreduce(void) { go_on_until_an_error(20, 1); }
static void one_is_killed_in_a_long_gather(void) { go_on_until_an_error(8, 1); }
static void one_is_killed_before_it_joins(void) {
    struct fi_eq_entry entry;
    struct fi_eq_err_entry error = {0};
    struct fid_mc* mc;
    fi_addr_t address;
    uint32_t event;
    ssize_t read;
    if (self == victim) die_now();
    all = every(1);
    DO(fi_av_set_addr(all, &address));
    DO(fi_join_collective(ep, address, all, 0, &mc, NULL));
    while ((read = fi_eq_read(eq, &event, &entry, sizeof entry, 0)) == -FI_EAGAIN) {
    }
    EXPECT(read == -FI_EAVAIL);
    EXPECT(fi_eq_readerr(eq, &error, 0) == sizeof error);
    EXPECT(error.fid == &mc->fid && error.err > 0);
    expect_soon();
    DO(fi_close(&mc->fid));
    DO(fi_close(&all->fid));
}

static size_t members_of(struct fid_av_set* set) {
    /* A set tells of its members by what can be removed from it. */
    size_t count = 0;
    for (int i = 0; i < members; ++i) count += fi_av_set_remove(set, addresses[i]) == 0;
    return count;
}
static void sets_have_their_operations(void) {
    struct fid_av_set *first = every(1), *second = every(2);
    EXPECT(fi_av_set_insert(second, addresses[0]) != 0);
    EXPECT(fi_av_set_diff(first, second) == 0);
    EXPECT(members_of(first) == (size_t)(members / 2));
    EXPECT(fi_av_set_remove(first, addresses[0]) != 0);
    DO(fi_av_set_insert(first, addresses[1]));
    EXPECT(fi_av_set_union(first, second) == 0);
    EXPECT(fi_av_set_intersect(first, second) == 0);
    EXPECT(members_of(first) == (size_t)((members + 1) / 2));
    DO(fi_close(&first->fid));
    DO(fi_close(&second->fid));
    struct fi_av_set_attr attr = {
        .count = (size_t)members, .start_addr = FI_ADDR_NOTAVAIL, .end_addr = FI_ADDR_NOTAVAIL};
    DO(fi_av_set(av, &attr, &first, NULL));
    EXPECT(members_of(first) == 0);
    DO(fi_av_set_insert(first, addresses[1]));
    EXPECT(members_of(first) == 1);
    DO(fi_close(&first->fid));
    attr = (struct fi_av_set_attr){.start_addr = FI_ADDR_NOTAVAIL, .end_addr = FI_ADDR_NOTAVAIL, .flags = FI_UNIVERSE};
    DO(fi_av_set(av, &attr, &first, NULL));
    EXPECT(members_of(first) == (size_t)members);
    DO(fi_close(&first->fid));
}

static const struct check checks[] = {
    {"sets are united, intersected, subtracted", sets_have_their_operations},
    {"what is supported can be asked", what_is_supported_can_be_asked},
    {"members join a group", members_join},
    {"the event of a join names the group", a_join_names_its_group},
    {"nobody leaves a barrier before all have entered it", nobody_leaves_early},
    {"a barrier has flags", barrier_with_flags},
    {"a broadcast reaches all members", broadcasts},
    {"an allreduce gives all the sum", allreduces},
    {"an allreduce of doubles gives all the maximum", reductions_of_doubles},
    {"an allgather gives all the data of all", allgathers},
    {"a scatter gives each member its part", scatters},
    {"a gather gives the root the data of all", gathers},
    {"an alltoall gives each member its part of all", alltoalls},
    {"a reduce gives the root the sum", reduces},
    {"a reduce_scatter gives each member its part of the sum", reduce_scatters},
    {"groups do not disturb each other", groups_at_once},
    {"a group is joined again", a_group_is_joined_again},
    {"many operations are under way", many_are_under_way},
    {"receives get no message of a collective", receives_get_no_collective_messages},
    {"the application's messages are not in the way", the_applications_messages_are_not_in_the_way},
    {"a root is far ahead of the others", a_root_is_far_ahead},
    {"joins of groups cross", joins_cross},
    {"members that disagree get an error", members_that_disagree_get_an_error},
    {"bad calls are refused", bad_calls_are_refused},
    {"a set says what its groups do", a_set_says_what_its_groups_do},
    {"the application brings the members together", the_application_brings_the_members_together},
};
/* Each with each member in turn as the victim. */
static const struct check kills[] = {
    {"one is killed between operations", one_is_killed_between_operations},
    {"one is killed in a barrier", one_is_killed_in_a_barrier},
    {"one is killed in a long allreduce", one_is_killed_in_a_long_allreduce},
    {"one is killed in a long gather", one_is_killed_in_a_long_gather},
    {"one is killed before it joins", one_is_killed_before_it_joins},
};

static int run(const struct check* check) {
    pthread_barrierattr_t across;
    pid_t pids[kMembersMost];
    int worst = 0;
    pthread_barrierattr_init(&across);
    pthread_barrierattr_setpshared(&across, PTHREAD_PROCESS_SHARED);
    memset(shared, 0, sizeof *shared);
    pthread_barrier_init(&shared->meeting, &across, (unsigned)members);
    fflush(stdout);
    for (self = 0; self < members; ++self) {
        pids[self] = fork();
        if (pids[self]) continue;
        alarm(victim >= 0 ? 20 : 60);
        open_all();
        check->run();
        close_all();
        fflush(stdout);
        _exit(0);
    }
    for (int left = members; left; --left) {
        int status;
        const pid_t ended = wait(&status);
        const int result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        for (int i = 0; i < members; ++i) {
            if (pids[i] == ended) pids[i] = 0;
        }
        if (!result || worst || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)) continue;
        /* One that gave up leaves the others waiting. */
        worst = result;
        usleep(100000);
        for (int i = 0; i < members; ++i) {
            if (pids[i]) kill(pids[i], SIGKILL);
        }
    }
    if (victim >= 0 && !worst && victim < members - 1) return 0;
    printf("%-12s %s", !worst ? "kept" : worst == kUnsupported ? "not there" : "NOT KEPT", check->what);
    if (worst > 128) printf(" (%s)", strsignal(worst - 128));
    printf("\n");
    return worst != 0;
}

int main(int argc, char** argv) {
    int broken = 0;
    if (argc < 3 || !loaded_from(argv[2])) return 2;
    provider = argv[1];
    if (argc > 3) members = atoi(argv[3]);
    automatic = argc > 4 && strcmp(argv[4], "automatic") == 0;
    if (members < 1 || members > kMembersMost) return 2;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return 2;
    struct fi_info* found = wanted();
    if (!found) {
        printf("%s does not offer FI_COLLECTIVE\n", provider);
        return 77;
    }
    fi_freeinfo(found);
    victim = -1;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; ++i) {
        if (argc <= 5 || strstr(checks[i].what, argv[5])) broken |= run(&checks[i]);
    }
    for (size_t i = 0; i < sizeof kills / sizeof *kills && members > 1; ++i) {
        if (argc > 5 && !strstr(kills[i].what, argv[5])) continue;
        for (victim = 0; victim < members; ++victim) broken |= run(&kills[i]);
    }
    return broken;
}
