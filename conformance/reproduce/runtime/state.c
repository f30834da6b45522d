#define REGION (2u << 20)

struct side {
    struct fid_ep* ep;
    struct fid_cq* queue[2]; /* receives, transmits */
    struct fid_av* av;
    struct fid_eq* eq;
    struct fid_cntr* counter[6];
    uint64_t counted[6]; /* by exchanges that are over */
    struct fid_mr *local, *regions[OPERATIONS + 1];
    int region_count;
    fi_addr_t peer, self;
    unsigned char* memory; /* its own buffers */
    unsigned char* target; /* what the other side writes and reads */
};
static struct side A, B;
static struct fi_info* info;
static struct fid_fabric* fabric;
static struct fid_domain* domain;
static struct fid_pep* pep;
static struct fid_eq* listening;
/* What is handed over with an operation, and bytes behind it that are nobody's. */
static struct context {
    struct fi_context2 own;
    unsigned char behind[64];
} context[OPERATIONS];
/* Where the pair does not open, nothing is posted. */
__attribute__((unused)) static unsigned char* buffer[OPERATIONS];
__attribute__((unused)) static long returned[OPERATIONS];
/* The queues, as entries are counted. */
enum { A_RECEIVES, A_TRANSMITS, B_RECEIVES, B_TRANSMITS, QUEUES };
/* What was read from the queues, by operation; behind them, by queue, what has the context of none. */
static struct completion {
    uint64_t entries, errors;
    uint64_t flags, len, data, tag; /* of the last entry, as all that follows */
    fi_addr_t from;
    int err, queue;
    size_t olen, err_data_size;
    int order, after; /* which entry it was of all, and how many calls had been made by then */
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
