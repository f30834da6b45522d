// Which process fills a slot, by the kernel's word.
//
// Reading a sender's memory (process_vm_readv) takes its process id, and a number in shared memory is only what
// somebody wrote there. So a sender that would like to be read sends one datagram to its owner's socket, and the kernel
// adds the id of the process that sent it (SCM_CREDENTIALS), as the owner's own namespace knows it. The owner reads
// from no process that has not introduced itself. Who reads long transfers introduces itself likewise, so that its
// sender may write a part of them (shared_pull.h).
//
// Processes of this user can send to the socket (socket_file.h): an introduction that names a slot or an instance that
// is not there is thrown away by whoever takes it, and so is one of another user, who may be root.
#pragma once

#include <sys/types.h>

#include "impl/transport/shm/layout.h"

namespace selvage::impl::shm {

struct Introduction {
    uint32_t slot;               // that the sender holds, as it says
    uint8_t instance[kIdBytes];  // who it says it is
    pid_t process;               // the kernel's word; of this user
};

class Introductions {
public:
    // The socket of the endpoint with this instance id. 0 or a negative errno; without it, nothing is ever taken.
    int open(const uint8_t (&instance)[kIdBytes]);
    void close();
    // In a child of fork(): the file stays, it is the parent's.
    void forget();
    // False: there is none (now), or only other things in the first few datagrams. Never blocks.
    bool take(Introduction* out) const;

    enum class Introduced : uint8_t { Yes, Later, Never };
    // Introduces this process, as the sender `self` in a slot, to the owner of this id. Never blocks.
    static Introduced introduce(const uint8_t (&owner)[kIdBytes], uint32_t slot, const uint8_t (&self)[kIdBytes]);

private:
    uint8_t instance_[kIdBytes] = {};  // while it is open
    int socket_ = -1;
};

}  // namespace selvage::impl::shm
