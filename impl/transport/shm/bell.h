// The bell: wakes an endpoint that sleeps in poll() because a frame was published.
//
// A sender must not publish without seeing that the owner sleeps while the owner goes to sleep without seeing the
// frame. Owner: store `armed`, fence, look at the rings. Sender: publish, fence, look at `armed`. The sender's fence
// would cost more than the rest of the message, so the owner makes it for the senders: membarrier() interrupts every
// processor that runs a process which registered for it. Where that is missing, on either side, senders fence
// themselves (RegionHeader::senders_fence).
//
// The socket of an endpoint has an abstract name made of its random instance id. Anybody on the machine can send to it
// and so wake it for nothing; what is received is thrown away. A timer wakes a sleeper now and then to see that its
// peers live, as locks make no sound when they are dropped.
#ifndef SELVAGE_IMPL_TRANSPORT_SHM_BELL_H
#define SELVAGE_IMPL_TRANSPORT_SHM_BELL_H

#include <atomic>

#include "impl/transport/shm/layout.h"

namespace selvage::impl::shm {

// Every access before it comes before every access after it. (Not atomic_thread_fence, which the thread sanitizer does
// not know.)
inline void full_fence() { __sync_synchronize(); }

// This process is registered for the fences of others. The first call registers it.
bool fenced_by_others();
// This process can make the fences of others.
bool can_fence_others();
// Every store that another (registered) process did before its last load is visible after it.
void fence_senders();

class Bell {
public:
    // Makes socket, timer and the descriptor over both. 0 or a negative errno.
    int open(const uint8_t (&instance)[kIdBytes]);
    void close();
    bool is_open() const { return poll_ >= 0; }
    int descriptor() const { return poll_; }
    // Wakes after so many milliseconds; 0: never.
    void set_timer(unsigned milliseconds);
    // Forgets what has rung.
    void silence();
    int socket() const { return socket_; }

private:
    int poll_ = -1;
    int socket_ = -1;
    int timer_ = -1;
    unsigned period_ = 0;
};

// Rings the bell of an endpoint that said it sleeps, through a socket of the caller's own bell if that is open. Rare;
// never blocks.
void ring_bell(RegionHeader& owner, const Bell& own);

}  // namespace selvage::impl::shm

#endif
