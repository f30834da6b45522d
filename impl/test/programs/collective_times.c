/* How long collectives take, by the interface's and by MPI's: the same loops over both.
 *
 *   impl_collective_times PROVIDER MEMBERS [PASSES]         forks the members; prints a line for each operation and
 * size mpirun -n MEMBERS impl_collective_times_mpi [PASSES]    the same, built with -DWITH_MPI; mpirun's options for a
 * provider are in mpi_test.sh
 *
 * A time is the least of the passes: each the mean of as many operations as take some milliseconds.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kSizes = 6, kOperations = 5 };
static const size_t sizes[kSizes] = {8, 256, 4096, 32768, 262144, 1 << 20}; /* bytes of a member */
static const char* const names[kOperations] = {"barrier", "broadcast", "allreduce", "allgather", "alltoall"};
static int self, members;
static char *from, *to;
static void operate(int operation, size_t size);

#ifdef WITH_MPI
#include <mpi.h>

static void operate(int operation, size_t size) {
    const int bytes = (int)size;
    switch (operation) {
        case 0:
            MPI_Barrier(MPI_COMM_WORLD);
            break;
        case 1:
            MPI_Bcast(from, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
            break;
        case 2:
            MPI_Allreduce(from, to, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            break;
        case 3:
            MPI_Allgather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, MPI_COMM_WORLD);
            break;
        default:
            MPI_Alltoall(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, MPI_COMM_WORLD);
    }
}
#else
#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { kMembersMost = 64, kAddressMost = 256 };
static struct {
    pthread_barrier_t meeting;
    char addresses[kMembersMost][kAddressMost];
} * shared;
static struct fid_ep* ep;
static struct fid_cq* cq;
static fi_addr_t group, addresses[kMembersMost];
static int shares_processors;

#define DO(call)                                                             \
    do {                                                                     \
        const long returned = (long)(call);                                  \
        if (returned < 0) {                                                  \
            fprintf(stderr, "%s: %s\n", #call, fi_strerror((int)-returned)); \
            exit(1);                                                         \
        }                                                                    \
    } while (0)

static void operate(int operation, size_t size) {
    struct fi_cq_tagged_entry entry;
    const size_t count = size / 8;
    ssize_t posted, read;
    do {
        switch (operation) {
            case 0:
                posted = fi_barrier(ep, group, NULL);
                break;
            case 1:
                posted = fi_broadcast(ep, from, count, NULL, group, addresses[0], FI_UINT64, 0, NULL);
                break;
            case 2:
                posted = fi_allreduce(ep, from, count, NULL, to, NULL, group, FI_DOUBLE, FI_SUM, 0, NULL);
                break;
            case 3:
                posted = fi_allgather(ep, from, count, NULL, to, NULL, group, FI_UINT64, 0, NULL);
                break;
            default:
                posted = fi_alltoall(ep, from, count, NULL, to, NULL, group, FI_UINT64, 0, NULL);
        }
    } while (posted == -FI_EAGAIN);
    DO(posted);
    /* Open MPI gives the processor up, too, where processes share it (mpi_yield_when_idle). */
    while ((read = fi_cq_read(cq, &entry, 1)) == -FI_EAGAIN) {
        if (shares_processors) sched_yield();
    }
    DO(read);
}

static void open_all(const char* provider) {
    struct fi_info *hints = fi_allocinfo(), *info;
    struct fid_fabric* fabric;
    struct fid_domain* domain;
    struct fid_av* av;
    struct fid_av_set* set;
    struct fid_mc* mc;
    struct fid_eq* eq;
    struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_UNSPEC};
    struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_TAGGED, .size = 1024};
    struct fi_av_attr av_attr = {.type = FI_AV_TABLE, .count = kMembersMost};
    struct fi_av_set_attr set_attr = {
        .start_addr = FI_ADDR_NOTAVAIL, .end_addr = FI_ADDR_NOTAVAIL, .flags = FI_UNIVERSE};
    struct fi_eq_entry joined;
    fi_addr_t address;
    uint32_t event;
    size_t length = kAddressMost;
    const int on_machine = strncmp(provider, "tcp", 3) == 0;
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_MSG | FI_COLLECTIVE;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->fabric_attr->prov_name = strdup(provider);
    DO(fi_getinfo(FI_VERSION(1, 17), on_machine ? "127.0.0.1" : NULL, on_machine ? "0" : NULL,
                  on_machine ? FI_SOURCE : 0, hints, &info));
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
    DO(fi_getname(&ep->fid, shared->addresses[self], &length));
    pthread_barrier_wait(&shared->meeting);
    for (int i = 0; i < members; ++i) {
        const char* text = shared->addresses[i];
        DO(fi_av_insert(av, info->addr_format == FI_ADDR_STR ? (const void*)&text : text, 1, &addresses[i], 0, NULL));
    }
    DO(fi_av_set(av, &set_attr, &set, NULL));
    DO(fi_av_set_addr(set, &address));
    DO(fi_join_collective(ep, address, set, 0, &mc, NULL));
    ssize_t read;
    while ((read = fi_eq_read(eq, &event, &joined, sizeof joined, 0)) == -FI_EAGAIN) fi_cq_read(cq, NULL, 0);
    DO(read);
    group = fi_mc_addr(mc);
}
#endif

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void measure(int passes) {
    from = calloc(1, sizes[kSizes - 1] * (size_t)members);
    to = calloc(1, sizes[kSizes - 1] * (size_t)members);
    memset(from, 1, sizes[kSizes - 1] * (size_t)members);
    memset(to, 1, sizes[kSizes - 1] * (size_t)members);
    for (int operation = 0; operation < kOperations; ++operation) {
        for (int size = 0; size < (operation ? kSizes : 1); ++size) {
            const int count = sizes[size] <= 4096 ? 400 : sizes[size] <= 32768 ? 100 : 20;
            double least = 1e12;
            for (int pass = 0; pass <= passes; ++pass) {
                operate(0, 0);
                const double begin = now();
                for (int i = 0; i < count; ++i) operate(operation, sizes[size]);
                const double each = (now() - begin) / count;
                if (pass && each < least) least = each; /* the first is not counted */
            }
            if (!self) printf("%-10s %8zu %10.2f us\n", names[operation], operation ? sizes[size] : 0, least);
        }
    }
    operate(0, 0);
}

#ifdef WITH_MPI
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &self);
    MPI_Comm_size(MPI_COMM_WORLD, &members);
    measure(argc > 1 ? atoi(argv[1]) : 10);
    MPI_Finalize();
    return 0;
}
#else
int main(int argc, char** argv) {
    pthread_barrierattr_t across;
    if (argc < 3) return 2;
    members = atoi(argv[2]);
    if (members < 1 || members > kMembersMost) return 2;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_barrierattr_init(&across);
    pthread_barrierattr_setpshared(&across, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->meeting, &across, (unsigned)members);
    for (int i = 1; i < members && !self; ++i) {
        if (fork() == 0) self = i;
    }
    shares_processors = members > sysconf(_SC_NPROCESSORS_ONLN);
    open_all(argv[1]);
    measure(argc > 3 ? atoi(argv[3]) : 10);
    fflush(stdout);
    if (self) _exit(0);
    while (wait(NULL) > 0) {
    }
    return 0;
}
#endif
