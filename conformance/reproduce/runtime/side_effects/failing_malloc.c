/* The allocator of this program and of the library: the one that counts down to zero fails. */
extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);

static volatile long countdown;

static int fails(void) { return countdown > 0 && --countdown == 0; }

void* malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }

void* calloc(size_t n, size_t size) { return fails() ? NULL : __libc_calloc(n, size); }

void* realloc(void* old, size_t size) { return fails() ? NULL : __libc_realloc(old, size); }
