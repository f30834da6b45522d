// The memory of another process, as far as the kernel lets us read and write it (process_vm_readv, process_vm_writev).
// No address in it is ever followed here. No state; any thread.
#pragma once

#include <sys/types.h>

#include <algorithm>
#include <cerrno>

#include "impl/engine/memory.h"
#include "impl/transport/shm/layout.h"

namespace selvage::impl::shm {

// What is left of some ranges.
class Rest {
public:
    Rest(const iovec* ranges, size_t count) : count_(std::min(count, kMost)) { std::copy_n(ranges, count_, ranges_); }
    void add(const iovec& range) { ranges_[count_++] = range; }
    const iovec* ranges() const { return ranges_ + first_; }
    size_t count() const { return count_ - first_; }
    size_t bytes() const;
    void skip(size_t bytes);

private:
    static constexpr size_t kMost = Resolved::kPieces;
    iovec ranges_[kMost + 1];
    size_t count_;
    size_t first_ = 0;
};

// The kernel copies by strings, which this processor is slow at where the destination lies just ahead (base/copy.h):
// what does so goes by way of a buffer, 32 KiB at a time.
bool goes_aside();

// As many bytes as `here` has. 0, or a negative errno; then some of it may have been read.
int read_from(pid_t process, Rest& there, Rest& here, bool aside = goes_aside());

// All of `here` to `there`, which is as long. 0, or a negative errno; then some of it may have been written. Who may
// write, and when: shared_pull.h, shm_granted_write.cc.
int write_to(pid_t process, Rest& here, Rest& there, bool aside = goes_aside());

// What they answered says of that process, and not of one transfer alone, as a bad address of the application's or a
// shortage does.
constexpr bool concerns_process(int error) { return error != -EFAULT && error != -ENOMEM; }

// This id lies there in that process.
bool has_id(pid_t process, uint64_t address, const uint8_t (&id)[kIdBytes]);

}  // namespace selvage::impl::shm
