// See random.h.
#include "impl/base/random.h"

#include <sys/random.h>

#include <cerrno>

namespace selvage::impl {

int draw_random(void* bytes, size_t size) {
    auto* at = static_cast<unsigned char*>(bytes);
    while (size) {
        const ssize_t got = getrandom(at, size, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return got < 0 ? -errno : -EIO;
        at += got;
        size -= static_cast<size_t>(got);
    }
    return 0;
}

}  // namespace selvage::impl
