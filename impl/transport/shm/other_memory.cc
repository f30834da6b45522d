// See other_memory.h.
#include "impl/transport/shm/other_memory.h"

#include <sys/uio.h>

#include <cerrno>
#include <cstring>

namespace selvage::impl::shm {
namespace {

using Move = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);

int move(Move move, pid_t process, Rest& there, Rest& here) {
    for (size_t left = here.bytes(); left;) {
        const ssize_t moved = move(process, here.ranges(), here.count(), there.ranges(), there.count(), 0);
        if (moved < 0 && errno == EINTR) continue;
        if (moved <= 0) return moved ? -errno : -FI_EIO;
        left -= static_cast<size_t>(moved);
        here.skip(static_cast<size_t>(moved));
        there.skip(static_cast<size_t>(moved));
    }
    return 0;
}

}  // namespace

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

int read_from(pid_t process, Rest& there, Rest& here) { return move(process_vm_readv, process, there, here); }
int write_to(pid_t process, Rest& there, Rest& here) { return move(process_vm_writev, process, there, here); }

bool has_id(pid_t process, uint64_t address, const uint8_t (&id)[kIdBytes]) {
    uint8_t seen[kIdBytes];
    const iovec own{.iov_base = seen, .iov_len = sizeof seen};
    const iovec its{.iov_base = reinterpret_cast<void*>(address), .iov_len = sizeof seen};
    Rest there(&its, 1), here(&own, 1);
    return read_from(process, there, here) == 0 && memcmp(seen, id, sizeof seen) == 0;
}

}  // namespace selvage::impl::shm
