/* A library whose constructor crashes: opening it must happen in a child process. */
#include <stdlib.h>

__attribute__((constructor)) static void crash(void) { abort(); }

unsigned fi_version(void) { return 1u << 16 | 17u; }
