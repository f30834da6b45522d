/* A buffer of `length` bytes that ends where memory begins that nobody may touch. */
static char* guarded(size_t length) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (length + page - 1) / page * page + page;
    char* start = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (start == MAP_FAILED || mprotect(start + size, page, PROT_NONE)) exit(77);
    memset(start, 'Z', size);
    return start + size - length;
}
