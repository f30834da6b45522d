/* Parts of `size` bytes, of which the first `used` count: a long double has padding. */
static int same_values(const unsigned char* a, const unsigned char* b, size_t all, size_t size, size_t used) {
    size_t at;

    for (at = 0; at < all; at += size)
        if (memcmp(a + at, b + at, used) != 0) return 0;
    return 1;
}
