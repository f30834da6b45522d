// See other_memory.h.
#include "impl/transport/shm/other_memory.h"

#include <sys/uio.h>

#include <cerrno>
#include <cstring>

namespace selvage::impl::shm {

size_t Rest::bytes() const {
    size_t sum = 0;
    for (size_t i = first_; i < count_; ++i) sum += ranges_[i].iov_len;
    return sum;
}

void Rest::skip(size_t bytes) {
    while (first_ < count_ && bytes >= ranges_[first_].iov_len) bytes -= ranges_[first_++].iov_len;
    if (!bytes) return;
    ranges_[first_].iov_base = static_cast<std::byte*>(ranges_[first_].iov_base) + bytes;
    ranges_[first_].iov_len -= bytes;
}

int read_from(pid_t process, Rest& there, Rest& here) {
    for (size_t left = here.bytes(); left;) {
        const ssize_t got = process_vm_readv(process, here.ranges(), here.count(), there.ranges(), there.count(), 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return got ? -errno : -FI_EIO;
        left -= static_cast<size_t>(got);
        here.skip(static_cast<size_t>(got));
        there.skip(static_cast<size_t>(got));
    }
    return 0;
}

int write_to(pid_t process, Rest& here, Rest& there) {
    for (size_t left = here.bytes(); left;) {
        const ssize_t put = process_vm_writev(process, here.ranges(), here.count(), there.ranges(), there.count(), 0);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return put ? -errno : -FI_EIO;
        left -= static_cast<size_t>(put);
        here.skip(static_cast<size_t>(put));
        there.skip(static_cast<size_t>(put));
    }
    return 0;
}

bool has_id(pid_t process, uint64_t address, const uint8_t (&id)[kIdBytes]) {
    uint8_t seen[kIdBytes];
    const iovec own{.iov_base = seen, .iov_len = sizeof seen};
    const iovec its{.iov_base = reinterpret_cast<void*>(address), .iov_len = sizeof seen};
    Rest there(&its, 1), here(&own, 1);
    return read_from(process, there, here) == 0 && memcmp(seen, id, sizeof seen) == 0;
}

}  // namespace selvage::impl::shm
