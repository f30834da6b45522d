// See violation.h.
#include "impl/test/faults/violation.h"

#include <cstdarg>
#include <cstdio>

namespace selvage::impl::test {

void violated(const char* format, ...) {
    char where[200], text[400];
    va_list rest;
    va_start(rest, format);
    vsnprintf(text, sizeof text, format, rest);
    va_end(rest);
    note_violation(where, sizeof where);
    printf("%s: %s\n", where, text);
    fflush(stdout);
}

}  // namespace selvage::impl::test
