static struct completion* row(const void* of, int queue) {
    const struct context* c = of;

    return c >= context && c < context + OPERATIONS ? &completions[c - context] : &completions[OPERATIONS + queue];
}

static void print_row(int queue, const struct completion* t) {
    static const char* const names[] = {"A receives", "A transmits", "B receives", "B transmits"};

    printf("%s: ", names[queue]);
    if (t < completions + OPERATIONS)
        printf("operation %d", (int)(t - completions) + 1);
    else
        printf("no operation");
}

static int read_queue(struct fid_cq* cq, int queue) {
    struct fi_cq_tagged_entry e = {0};
    struct fi_cq_err_entry failure = {0};
    struct completion* t;
    fi_addr_t from = 0x5e1a6e00; /* stays if the library tells no source */
    ssize_t n = SOURCES ? fi_cq_readfrom(cq, &e, 1, &from) : fi_cq_read(cq, &e, 1);

    if (n == -FI_EAVAIL && fi_cq_readerr(cq, &failure, 0) > 0) {
        t = row(failure.op_context, queue);
        t->entries++;
        t->errors++;
        t->queue = queue;
        t->err = failure.err;
        t->olen = failure.olen;
        t->err_data_size = failure.err_data_size;
        t->flags = failure.flags;
        t->len = failure.len;
        print_row(queue, t);
        printf(" failed: err %d, olen %zu, len %zu\n", failure.err, failure.olen, failure.len);
        return 1;
    }
    if (n != 1) return 0;
    t = row(e.op_context, queue);
    t->entries++;
    t->queue = queue;
    t->order = ++entries_read;
    t->after = calls_made;
    t->flags = FORMAT >= FI_CQ_FORMAT_MSG ? e.flags : 0;
    t->len = e.len;
    t->data = e.data;
    t->tag = e.tag;
    t->from = from;
    if (part_count < (int)(sizeof parts / sizeof *parts))
        parts[part_count++] = (struct part){(int)(t - completions), t->flags, e.len, e.buf};
    print_row(queue, t);
    printf(": flags 0x%llx, len %zu, data 0x%llx, tag 0x%llx\n", (unsigned long long)e.flags, e.len,
           (unsigned long long)e.data, (unsigned long long)e.tag);
    LOOK(t - completions);
    return 1;
}

static int poll_once(void) {
    return read_queue(A.queue[0], A_RECEIVES) + read_queue(A.queue[1], A_TRANSMITS) +
           read_queue(B.queue[0], B_RECEIVES) + read_queue(B.queue[1], B_TRANSMITS);
}

/* Until nothing has come for a third of a second, or for a moment: some things show only at another pace. */
static int hasty;

static void progress(void) {
    int quiet, rounds = hasty ? 24 : 800;

    for (quiet = 0; quiet < rounds; quiet++) {
        if (poll_once()) quiet = 0;
        usleep(hasty ? 0 : quiet < 500 ? 100 : 1000);
    }
}
