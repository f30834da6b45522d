// The bell: wakes an endpoint that sleeps in poll() because a frame was published.
//
// The protocols between a sender and the owner of its ring. In each, one side stores what it has to tell and then looks
// whether the other has to be woken for it, while the other stores that it has to be woken and then looks for the last
// time. A store may pass a later load, so both sides need a full fence between the two, or both see the old value and
// the news lies there until the sender comes again.
//
//   sender                                            owner
//   1. store the frame (release)                      1. store `armed`, or `cold` of this ring
//   2. fence                                          2. fence
//   3. load `armed` and `cold`: ring the bell,        3. load the first word of the next frame, `attention`: stay
//      raise the attention                               awake, keep the ring hot
//
// If the sender's load does not see the owner's store, then its fence comes before the owner's, and the owner's load
// sees the frame. The sender's fence would cost more than the rest of the message, so the owner makes it for all
// senders in its step 2: fence_senders(), a membarrier() that interrupts every processor which runs a process that
// registered for it. Where that is missing, on either side, senders fence themselves (RegionHeader::senders_fence,
// ShmTransport::fences_). An owner whose membarrier() is refused later keeps its rings hot, and sleeps for a
// millisecond at a time.
//
// Answers in the slot of a question (layout.h) are the same drawing with the sender of the slot as who looks, and with
// fences of both of their own, as it is made once for a peer (models/answers.pml):
//
//   owner (answers)                                   sender (asked)
//   1. store the answer (release)                     1. store `answers_closed`: before it sleeps, or has looked for
//                                                        long
//   2. fence                                          2. fence
//   3. load `answers_closed`: enter the sender's      3. load the first word of the next answer: go on looking
//      region, and wake it if it sleeps
//
// The hello of an owner that enters says how many lines of answers there are; the sender looks at these once more,
// before it takes anything from the owner's ring.
//
// What needs no such fence, because the side that looks goes on looking:
//   attention  An owner that is awake loads it in every progress. It takes the bits by an exchange (acquire), which
//   sees
//              all that who set one of them (fetch_or, release) had stored before: `state`, `slots_used`, `closed`, its
//              hello and its frames; also when others have set bits since, as theirs continue the release sequence.
//   closed     Stored (release) before the attention is raised; accept_hello() looks for itself, as that may have
//              happened before the ring had a peer. For an owner that sleeps it is what a frame is in the drawing
//              above: ShmTransport::release() fences between it and its look at `armed`.
//   refused    The sender's check_life() looks at it again and again.
//   left       Likewise. Stored (release) behind the last answer.
//   consumed   A sender that waits for room looks in every progress, and asleep every millisecond.
//   armed      Of many senders one rings: who takes the word to zero. If its datagram cannot be sent, it puts the word
//              back, by a compare-and-exchange with zero, so that it never replaces the word of a later sleep (each
//              sleep has its own). One that is killed in between leaves the owner to its timer.
//
// The bell is a socket that only processes of this user can send to (socket_file.h); what is received is thrown away, a
// bounded number at a time. A timer wakes a sleeper now and then to see that its peers live, as locks make no sound
// when they are dropped.
#pragma once

#include <atomic>

#include "impl/transport/shm/layout.h"

namespace selvage::impl::shm {

// Every access before it comes before every access after it. (Not atomic_thread_fence, which the thread sanitizer does
// not know.)
inline void full_fence() { __sync_synchronize(); }

// Registers this process for the fences of others. False: it cannot be.
bool fenced_by_others();
// This process can make the fences of others.
bool can_fence_others();
// A full fence here and in every sender, between any two of its accesses (the drawing above). False: it was refused,
// which can_fence_others() did not foresee.
bool fence_senders();

class Bell {
public:
    // Makes socket, timer and the descriptor over both; the region with this id is there. 0 or a negative errno.
    int open(const uint8_t (&instance)[kIdBytes]);
    void close();
    // In a child of fork(): the file stays, it is the parent's.
    void forget();
    bool is_open() const { return poll_ >= 0; }
    int descriptor() const { return poll_; }
    // Wakes after so many milliseconds; 0: never.
    void set_timer(unsigned milliseconds);
    // Forgets what has rung: at most so much at a time, as who rings may do so for ever. What is left wakes again.
    static constexpr int kSilencedMost = 16;
    void silence();
    int socket() const { return socket_; }

private:
    void close_descriptors();

    uint8_t instance_[kIdBytes] = {};  // while it is open
    int poll_ = -1;
    int socket_ = -1;
    int timer_ = -1;
    unsigned period_ = 0;
};

// Rings the bell of an endpoint that said it sleeps, through a socket of the caller's own bell if that is open. Rare;
// never blocks.
void ring_bell(RegionHeader& owner, const Bell& own);

}  // namespace selvage::impl::shm
