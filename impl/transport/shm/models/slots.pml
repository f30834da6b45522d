/* Senders that come and go: impl/transport/shm/region.cc, shm_transport.cc.
 *
 * Models, of a sender, RemoteSlot::enter with take_slot and set_up, one frame, say_closed and leave; of the owner,
 * handle_attention, notice, accept, mark_failed, take_down, release, look_around and OwnRegion::free_slot.
 *
 *     here            in the code
 *     STATE(n)        RegionHeader::state[n]: FREE or READY
 *     USED            RegionHeader::slots_used
 *     ATTENTION       RegionHeader::attention: one bit for all slots, as for slots that are 64 apart
 *     HELLO(n)        what write_hello stores; who it is
 *     PUBLISHED(n)    the first frame in the ring of slot n; who sent it
 *     CLOSED(n)       SlotControl::closed
 *     slot_lock[n]    the sender holds the record lock of slot n
 *     known[n]        by_slot_[n]; refused[n]: SlotControl::refused
 *     taken[n]        the owner has taken the frame out of the ring of slot n
 *
 * Abstracted: record locks are system calls, and so fences. A sender waits for a free slot (the code asks again); what
 * makes the file longer, and its lock, is left out. The ring has one frame; that it is polled or raises the owner's attention is wake.pml's. The
 * owner looks at a slot whose sender it refused when that sender has gone (look_around, a timer in the code); it never
 * finds a new sender by looking, so that attention which is lost is seen to be lost.
 *
 * Property: every sender is accepted, with its own hello, its frame is taken, and it is seen to close; nothing that an
 * earlier sender left in a slot is taken for the next one's. In the end every slot is free. A sender may wait for its
 * frame to be taken before it closes, so attention that is lost is not made good by closing. The owner may drop one
 * sender at any time, which goes on until it sees that.
 *
 * Mutations: ATTENTION_BEFORE_READY, USED_AFTER_ATTENTION, CLOSED_AFTER_ATTENTION, USED_BEFORE_EXCHANGE (the owner
 * loads slots_used before it takes the attention), FREE_WITHOUT_LOCK (the owner frees a slot whose sender still holds
 * it), LOCK_WITHOUT_LOOK (a sender takes a slot that was free before it had the lock), COUNT_IS_STORED (slots_used is
 * loaded and stored, not exchanged); where stores reorder, READY_RELAXED.
 */
#define SENDERS 2
#define LIVES 3  /* two of the first sender, one of the other */
#define SLOTS 2

#define THREADS (SENDERS + 1)
#define WORDS (4 * SLOTS + 2)
#define DEPTH 4  /* hello, used, state, attention */
#include "../../../test/models/tso.pml"

#define OWNER 0
#define STATE(n) (n)
#define HELLO(n) (SLOTS + (n))
#define PUBLISHED(n) (2 * SLOTS + (n))
#define CLOSED(n) (3 * SLOTS + (n))
#define USED (4 * SLOTS)
#define ATTENTION (4 * SLOTS + 1)
#define FREE 0
#define READY 1

#ifdef READY_RELAXED
#define publish_ready store
#else
#define publish_ready store_release
#endif

bool slot_lock[SLOTS];
bool known[SLOTS];
bool refused[SLOTS];
bool taken[SLOTS];
byte accepted, departed, dropped;

/* The owner's memory of a slot goes back to the file system, whatever its buffer holds. */
inline free_slot(n) {
    d_step {
        buffer[OWNER].length == 0 ->
        ram[HELLO(n)] = 0;
        ram[PUBLISHED(n)] = 0;
        ram[CLOSED(n)] = 0;
        refused[n] = false;
        taken[n] = false
    };
    store_release(OWNER, STATE(n), FREE)
}

inline let_go(n) {
    d_step {
        known[n] = false;
        who[n] = 0
    };
    fence(OWNER);
    if
#ifndef FREE_WITHOUT_LOCK
    :: slot_lock[n] -> refused[n] = true
    :: !slot_lock[n] -> free_slot(n)
#else
    :: free_slot(n)
#endif
    fi
}

inline drain(n) {
    load(OWNER, PUBLISHED(n), word);
    assert(word == who[n]);
    d_step {
        taken[n] = true;
        word = 0
    }
}

/* mark_failed and take_down. */
inline end_peer(n) {
    drain(n);
    departed++;
    let_go(n)
}

inline accept(n) {
    load(OWNER, HELLO(n), word);
    assert(word != 0);
    d_step {
        who[n] = word;
        known[n] = true;
        accepted++;
        word = 0
    }
}

inline notice(n) {
    load(OWNER, STATE(n), word);
    if
    :: word == READY && !refused[n] ->
        if
        :: !known[n] -> accept(n)
        :: else -> skip
        fi;
        load(OWNER, CLOSED(n), word);
        if
        :: word -> end_peer(n)
        :: else -> skip
        fi
    :: else -> skip
    fi;
    word = 0
}

active proctype owner() {
    byte word, used;
    byte who[SLOTS];

end:
    do
    :: ram[ATTENTION] ->
#ifdef USED_BEFORE_EXCHANGE
        load(OWNER, USED, used);
#endif
        exchange(OWNER, ATTENTION, 0, word);
#ifndef USED_BEFORE_EXCHANGE
        load(OWNER, USED, used);
#endif
        word = 0;
        if
        :: used > 0 -> notice(0)
        :: else -> skip
        fi;
        if
        :: used > 1 -> notice(1)
        :: else -> skip
        fi;
        used = 0
    :: known[0] && !taken[0] && ram[PUBLISHED(0)] -> drain(0)
    :: known[1] && !taken[1] && ram[PUBLISHED(1)] -> drain(1)
    :: known[0] && !dropped -> dropped++; let_go(0)
    :: refused[0] && !slot_lock[0] -> free_slot(0)
    :: refused[1] && !slot_lock[1] -> free_slot(1)
    od
}

/* take_slot: looks, locks, and looks again. */
inline try_slot(n) {
    load(me, STATE(n), word);
    if
    :: word == FREE ->
        if
        :: atomic { !slot_lock[n] && buffer[me].length == 0 -> slot_lock[n] = true };
#ifndef LOCK_WITHOUT_LOOK
            load(me, STATE(n), word);
#endif
            if
            :: word == FREE -> slot = n; got = true
            :: else -> atomic { buffer[me].length == 0 -> slot_lock[n] = false }
            fi
        :: slot_lock[n] -> skip
        fi
    :: else -> skip
    fi;
    word = 0
}

/* count_slot: only where it is less, a compare-and-exchange, which is repeated until it is not. */
inline count_used(value) {
    load(me, USED, word);
    if
#ifdef COUNT_IS_STORED
    :: word < value -> store(me, USED, value)
#else
    :: word < value ->
        d_step {
            buffer[me].length == 0 ->
            if
            :: ram[USED] < value -> ram[USED] = value
            :: else -> skip
            fi
        }
#endif
    :: else -> skip
    fi;
    word = 0
}

active [SENDERS] proctype sender() {
    byte life, slot, word;
    bool got;
    byte me = _pid - THREADS;  /* its thread; the owner is 0 */

    do
    :: life < LIVES - me ->
        life++;
        /* enter */
        do
        :: !got && ram[STATE(0)] == FREE && !slot_lock[0] -> try_slot(0)
        :: !got && ram[STATE(1)] == FREE && !slot_lock[1] -> try_slot(1)
        :: got -> got = false; break
        od;
        store(me, HELLO(slot), (me << 4) | life);
#ifdef ATTENTION_BEFORE_READY
        fetch_or(me, ATTENTION, 1);
#endif
#ifdef USED_AFTER_ATTENTION
        publish_ready(me, STATE(slot), READY);
        fetch_or(me, ATTENTION, 1);
#endif
        count_used(slot + 1);
#ifndef USED_AFTER_ATTENTION
        publish_ready(me, STATE(slot), READY);
#ifndef ATTENTION_BEFORE_READY
        fetch_or(me, ATTENTION, 1);
#endif
#endif
        store_release(me, PUBLISHED(slot), (me << 4) | life);
        if
        :: skip
        :: skip -> taken[slot] || refused[slot]
        fi;
        /* say_closed, leave */
#ifdef CLOSED_AFTER_ATTENTION
        fetch_or(me, ATTENTION, 1);
        store_release(me, CLOSED(slot), 1);
#else
        store_release(me, CLOSED(slot), 1);
        fetch_or(me, ATTENTION, 1);
#endif
        atomic {
            buffer[me].length == 0 ->
            slot_lock[slot] = false;
            slot = 0
        }
    :: else -> break
    od
}

active proctype observer() {
    timeout;
    assert(accepted == LIVES);
    assert(departed + dropped == LIVES);
    assert(ram[STATE(0)] == FREE && ram[STATE(1)] == FREE)
}
