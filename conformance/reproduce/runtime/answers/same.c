static int same(const char* a, const char* b) { return a && b ? strcmp(a, b) == 0 : a == b; }
