/* A byte between `from` and `to` is not as it was before any operation. */
static int is_touched(const unsigned char* at, size_t from, size_t to) {
    while (from < to)
        if (at[from++] != 0xee) return 1;
    return 0;
}
