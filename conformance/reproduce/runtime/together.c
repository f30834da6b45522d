static long on(struct side* s, enum step step, uint64_t n) { return perform(s, step, n); }
