// See other_memory.h.
#include "impl/transport/shm/other_memory.h"

#include <sys/uio.h>

#include <cerrno>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "impl/base/copy.h"

namespace selvage::impl::shm {
namespace {

bool is_zen_3_or_4() {
#if defined(__x86_64__)
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx) || ebx != signature_AMD_ebx || ecx != signature_AMD_ecx) return false;
    constexpr unsigned kFamily = 0x19, kBase = 0xf;
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (eax >> 8 & kBase) + (eax >> 20 & 0xff) == kFamily;
#else
    return false;
#endif
}

// Shorter ones are copied before a buffer would pay.
constexpr size_t kAsideMin = 2 * 1024;
constexpr size_t kAsideMost = 32 * 1024;

bool is_slow(const iovec& to, const iovec& from) {
    return std::min(to.iov_len, from.iov_len) >= kAsideMin && is_just_ahead(to.iov_base, from.iov_base);
}

// By way of a buffer, which lies just ahead of neither: what both ranges have in common, as far as it has room. Answers
// as the system calls do, which find all pages of the other's range first, however few are copied.
ssize_t read_aside(pid_t process, const iovec& from, const iovec& to) {
    std::byte buffer[kAsideMost + kLine];
    std::byte* copy = buffer + (is_just_ahead(buffer, from.iov_base) ? kLine : 0);
    const size_t size = std::min({to.iov_len, from.iov_len, kAsideMost});
    const iovec own{.iov_base = copy, .iov_len = size}, its{.iov_base = from.iov_base, .iov_len = size};
    const ssize_t got = process_vm_readv(process, &own, 1, &its, 1, 0);
    if (got > 0) copy_by_words(static_cast<std::byte*>(to.iov_base), copy, static_cast<size_t>(got));
    return got;
}

ssize_t write_aside(pid_t process, const iovec& from, const iovec& to) {
    std::byte buffer[kAsideMost + kLine];
    std::byte* copy = buffer + (is_just_ahead(to.iov_base, buffer) ? kLine : 0);
    const size_t size = std::min({to.iov_len, from.iov_len, kAsideMost});
    copy_by_words(copy, static_cast<const std::byte*>(from.iov_base), size);
    const iovec own{.iov_base = copy, .iov_len = size}, its{.iov_base = to.iov_base, .iov_len = size};
    return process_vm_writev(process, &own, 1, &its, 1, 0);
}

// As many bytes as `here` has, some by each call.
template <typename Move>
int move_all(Rest& here, Rest& there, Move move) {
    for (size_t left = here.bytes(); left;) {
        const ssize_t moved = move(here.ranges()[0], there.ranges()[0]);
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

bool goes_aside() {
    static const bool slow = is_zen_3_or_4();
    return slow;
}

int read_from(pid_t process, Rest& there, Rest& here, bool aside) {
    return move_all(here, there, [&](const iovec& to, const iovec& from) {
        if (aside && is_slow(to, from)) return read_aside(process, from, to);
        return process_vm_readv(process, here.ranges(), here.count(), there.ranges(), there.count(), 0);
    });
}

int write_to(pid_t process, Rest& here, Rest& there, bool aside) {
    return move_all(here, there, [&](const iovec& from, const iovec& to) {
        if (aside && is_slow(to, from)) return write_aside(process, from, to);
        return process_vm_writev(process, here.ranges(), here.count(), there.ranges(), there.count(), 0);
    });
}

bool has_id(pid_t process, uint64_t address, const uint8_t (&id)[kIdBytes]) {
    uint8_t seen[kIdBytes];
    const iovec own{.iov_base = seen, .iov_len = sizeof seen};
    const iovec its{.iov_base = reinterpret_cast<void*>(address), .iov_len = sizeof seen};
    Rest there(&its, 1), here(&own, 1);
    return read_from(process, there, here) == 0 && memcmp(seen, id, sizeof seen) == 0;
}

}  // namespace selvage::impl::shm
