#include <ctype.h>

/* Whether all bytes of a text print, or are white space. */
static int printable(const char* at) {
    for (; at && *at; at++) {
        if (isprint((unsigned char)*at) || isspace((unsigned char)*at)) continue;
        printf("broken: promised: printable characters; seen: byte %#x\n", (unsigned char)*at);
        return 0;
    }
    return 1;
}
