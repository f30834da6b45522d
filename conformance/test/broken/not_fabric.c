/* A library that is no libfabric: it has one of its functions and lacks fi_getinfo. */
unsigned fi_version(void) { return 1u << 16 | 17u; }
