// See context_id.h.
#include "impl/net/context_id.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace selvage::impl {

void write_context(uint16_t context, char (&out)[8]) {
    out[0] = '\0';
    if (context) snprintf(out, sizeof out, is_transmit_context(context) ? "/t%u" : "/%u", context & 0x7fffu);
}

bool add_context(uint16_t context, char (&text)[kShmTextMax]) {
    char end[8];
    write_context(context, end);
    const size_t length = strnlen(text, sizeof text);
    if (length + strlen(end) >= sizeof text) return false;
    memcpy(text + length, end, strlen(end) + 1);
    return true;
}

bool take_context(char (&text)[kShmTextMax], uint16_t* context) {
    *context = 0;
    char* end = static_cast<char*>(memchr(text, '\0', sizeof text));
    if (!end) return false;
    char* slash = strchr(text + std::min<size_t>(kShmScheme.size(), static_cast<size_t>(end - text)), '/');
    if (!slash) return true;
    const bool transmits = slash[1] == 't';
    const char* digits = slash + (transmits ? 2 : 1);
    uint16_t index = 0;
    const auto [stop, error] = std::from_chars(digits, end, index);
    if (error != std::errc() || stop != end || index >= kContextsMax || (*digits == '0' && end - digits > 1)) {
        return false;
    }
    if (!transmits && !index) return false;
    memset(slash, 0, static_cast<size_t>(end - slash));
    *context = transmits ? transmit_context(index) : receive_context(index);
    return true;
}

}  // namespace selvage::impl
