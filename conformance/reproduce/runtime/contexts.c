/* Whether memory at the context of an operation was written. */
static void fill_contexts(void) { memset(context, 0xc5, OPERATIONS * sizeof *context); }

static size_t context_used(int operation) {
    const unsigned char* at = (const unsigned char*)&context[operation];
    size_t n = sizeof context[operation];

    while (n > 0 && at[n - 1] == 0xc5) n--;
    return n;
}
