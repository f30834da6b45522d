/* What is handed over with an operation, and bytes behind it that are nobody's. */
struct context {
    struct fi_context2 own;
    unsigned char behind[64];
};
typedef int64_t post_call(struct side*, const struct operation*, struct arguments*);
/* What both sides look at, wherever they are. */
static struct shared {
    struct side side[2];
    struct entry entries[BATCH];
    uint64_t counters[2 * COUNTERS];
    struct context context[OPERATIONS];
    post_call* post[OPERATIONS];
    struct operation operation[OPERATIONS];
    struct arguments arguments[OPERATIONS];
} * shared;
static struct side *A, *B;
static struct opened opened; /* of this process */
static struct context* context;
static int owner[OPERATIONS]; /* of a context: the operation that was posted with it last, from 1 on */
/* Where the pair does not open, nothing is posted. */
__attribute__((unused)) static unsigned char* buffer[OPERATIONS];
__attribute__((unused)) static long returned[OPERATIONS];
/* The queues, as entries are counted. */
enum { A_RECEIVES, A_TRANSMITS, B_RECEIVES, B_TRANSMITS, QUEUES };
/* What was read from the queues, by operation; behind them, by queue, what has the context of none. */
static struct completion {
    uint64_t entries, errors;
    struct entry last, error; /* the last success, the last error */
    int queue;
    int order, after; /* of the last success: which entry it was of all, and how many calls had been made by then */
} completions[OPERATIONS + QUEUES];
/* Each entry of a buffer for many messages (FI_MULTI_RECV), in order. */
static struct part {
    int operation;
    uint64_t flags, len;
    unsigned char* at;
} parts[256];
static int part_count;
static int entries_read, calls_made;
static int early = -1; /* what LOOK saw when an entry was read: 1 is not as it should be */

static void* mapped(size_t size) {
    const int flags = (PROCESSES == 2 ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_NORESERVE;

    return mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
}

static void begin(void) {
    int i;

    shared = mapped(sizeof *shared);
    context = shared->context;
    A = &shared->side[0];
    B = &shared->side[1];
    for (i = 0; i < 2; i++) {
        shared->side[i].setup = &set_up;
        shared->side[i].in = &opened;
        shared->side[i].arena = mapped(ARENA);
        shared->side[i].target = mapped(2 * REGION);
    }
}
