static struct completion* row(uint64_t of, int queue) {
    const struct context* c = (const struct context*)(uintptr_t)of;
    const int is_ours = c >= context && c < context + OPERATIONS && owner[c - context];

    return is_ours ? &completions[owner[c - context] - 1] : &completions[OPERATIONS + queue];
}

static void note(int queue, const struct entry* e) {
    static const char* const names[] = {"A receives", "A transmits", "B receives", "B transmits"};
    struct completion* t = row(e->context, queue);
    const int operation = (int)(t - completions);

    t->entries++;
    t->queue = queue;
    printf("%s: operation %d", names[queue], operation < OPERATIONS ? operation + 1 : 0);
    if (e->failed) {
        t->errors++;
        t->error = *e;
        printf(" failed: err %d, olen %llu, len %llu\n", (int)e->err, (unsigned long long)e->olen,
               (unsigned long long)e->len);
        return;
    }
    t->last = *e;
    t->order = ++entries_read;
    t->after = calls_made;
    if (part_count < (int)(sizeof parts / sizeof *parts))
        parts[part_count++] = (struct part){operation, e->flags, e->len, (unsigned char*)(uintptr_t)e->buffer};
    printf(": flags 0x%llx, len %llu, data 0x%llx, tag 0x%llx\n", (unsigned long long)e->flags,
           (unsigned long long)e->len, (unsigned long long)e->data, (unsigned long long)e->tag);
    LOOK(operation);
}

static struct side* idle; /* makes no call for now */

static int poll_queue(struct side* s, int transmits) {
    const long n = s == idle ? 0 : on(s, READ_QUEUE, (uint64_t)transmits);
    long i;

    for (i = 0; i < n; i++) note((s == B) * 2 + transmits, &shared->entries[i]);
    return n > 0;
}

static int poll_once(void) { return poll_queue(A, 0) + poll_queue(A, 1) + poll_queue(B, 0) + poll_queue(B, 1); }

/* Until nothing has come for a third of a second, or for a moment: some things show only at another pace. */
static int hasty;

static void progress(void) {
    int quiet, rounds = hasty ? 24 : 800;

    for (quiet = 0; quiet < rounds; quiet++) {
        if (poll_once()) quiet = 0;
        usleep(hasty ? 0 : quiet < 500 ? 100 : 1000);
    }
    calls_made++;
}
