/* Rings that the owner does not poll, and an owner that sleeps: impl/transport/shm/bell.h draws both protocols; they are
 * in shm_transport.cc, shm_datapath.h and bell.cc.
 *
 * Models, of a sender, ShmTransport::send, owner_sleeps, wake_owner, RemoteSlot::raise_attention and ring_bell; of the
 * owner, progress, handle_attention, notice, make_hot, cool_rings, arm, something_waits and disarm.
 *
 *     here             in the code
 *     PUBLISHED(s)     how many frames the ring of sender s was given: the first words in it (ring.pml checks the ring)
 *     COLD(s)          SlotControl::cold
 *     ATTENTION        RegionHeader::attention, bit s
 *     ARMED            RegionHeader::armed; 1 for the number of any sleep
 *     bell             the owner's socket has something to receive
 *     taken, hot       Inbound: frames taken out, hot
 *     armed, waits     ShmTransport::armed_; the last arm() found something
 *
 * Abstracted: any rings become cold whenever they are found empty, not after many polls, nor only where others are hot.
 * A progress that would find nothing is not made: the owner waits until one would. When something_waits() found
 * something, the owner makes progress before it calls arm() again, as all callers do. An owner may also be one that
 * never sleeps. No timer wakes it, nobody dies, and membarrier() is not refused. A sender whose datagram cannot be sent
 * has another frame to publish; this happens once.
 *
 * Property: when nothing can happen any more, every frame was taken.
 *
 * By default the owner makes the senders' fences (membarrier); with SENDERS_FENCE, senders fence themselves and the
 * owner makes its own only (RegionHeader::senders_fence).
 *
 * Mutations: COLD_WITHOUT_SENDERS_FENCE (rings are cooled with the owner's own fence only), COLD_LOOKS_FIRST,
 * ARM_WITHOUT_SENDERS_FENCE, ARM_LOOKS_FIRST, NOTICE_BEFORE_EXCHANGE (the bits are taken after the slots were looked
 * at), BELL_NOT_PUT_BACK (who could not send the datagram leaves ARMED zero); with SENDERS_FENCE, NO_FENCE.
 */
#ifndef SENDERS
#define SENDERS 2
#endif
/* Frames that each sender publishes. */
#ifndef FRAMES_0
#define FRAMES_0 1
#endif
#ifndef FRAMES_1
#define FRAMES_1 1
#endif

#define THREADS (SENDERS + 1)
#define WORDS (2 * SENDERS + 2)
#define DEPTH 6  /* what the owner stores between two fences at most: COLD, ARMED, COLD of two */
#include "../../../test/models/tso.pml"

#define OWNER 0
#define PUBLISHED(s) (s)
#define COLD(s) (SENDERS + (s))
#define ATTENTION (2 * SENDERS)
#define ARMED (2 * SENDERS + 1)

#ifdef SENDERS_FENCE
#define fence_senders fence
#else
#define fence_senders membarrier
#endif
#ifdef COLD_WITHOUT_SENDERS_FENCE
#define fence_cold fence
#else
#define fence_cold fence_senders
#endif
#ifdef ARM_WITHOUT_SENDERS_FENCE
#define fence_armed fence
#else
#define fence_armed fence_senders
#endif

#define FRAMES(me) (me == 1 -> FRAMES_0 : FRAMES_1)

bool bell, failed;
byte taken[SENDERS];
bool hot[SENDERS] = true;

#define WAITS(s) (hot[s] && ram[PUBLISHED(s)] != taken[s])
#if SENDERS > 1
#define WORK (ram[ATTENTION] || WAITS(0) || WAITS(1))
#define HOT hot[0] || hot[1]
#define EACH(step) step(0); step(1)
#else
#define WORK (ram[ATTENTION] || WAITS(0))
#define HOT hot[0]
#define EACH(step) step(0)
#endif

inline disarm() {
    armed = false;
    store(OWNER, ARMED, 0);
    bell = false
}

inline notice(s) {
    if
    :: (bits & (1 << s)) && !hot[s] ->
        store(OWNER, COLD(s), 0);
        hot[s] = true
    :: else -> skip
    fi
}

inline handle_attention() {
#ifdef NOTICE_BEFORE_EXCHANGE
    load(OWNER, ATTENTION, bits);
#else
    exchange(OWNER, ATTENTION, 0, bits);
#endif
    EACH(notice);
#ifdef NOTICE_BEFORE_EXCHANGE
    exchange(OWNER, ATTENTION, 0, bits);
#endif
    bits = 0
}

inline drain(s) {
    if
    :: hot[s] ->
        load(OWNER, PUBLISHED(s), seen);
        d_step {
            taken[s] = seen;
            seen = 0
        }
    :: else -> skip
    fi
}

inline progress() {
    load(OWNER, ATTENTION, bits);
    if
    :: bits -> handle_attention()
    :: else -> skip
    fi;
    if
    :: armed -> disarm()
    :: else -> skip
    fi;
    EACH(drain);
    waits = false
}

/* Of the hot rings, those of which `due` has the bit. */
inline cool(s) {
    if
    :: due & (1 << s) -> store(OWNER, COLD(s), 1)
    :: else -> skip
    fi
}

inline look_into(s) {
    if
    :: due & (1 << s) ->
        load(OWNER, PUBLISHED(s), seen);
        if
        :: seen != taken[s] -> due = due & ~(1 << s)
        :: else -> skip
        fi;
        seen = 0
    :: else -> skip
    fi
}

inline keep_hot(s) {
    if
    :: cooled & ~due & (1 << s) -> store(OWNER, COLD(s), 0)
    :: else -> skip
    fi;
    hot[s] = hot[s] && !(due & (1 << s))
}

inline cool_rings() {
    cooled = due;
#ifdef COLD_LOOKS_FIRST
    EACH(look_into);
#endif
    EACH(cool);
    fence_cold(OWNER);
#ifndef COLD_LOOKS_FIRST
    EACH(look_into);
#endif
    EACH(keep_hot);
    d_step {
        due = 0;
        cooled = 0
    }
}

inline look_at(s) {
    load(OWNER, PUBLISHED(s), seen);
    if
    :: seen != taken[s] ->
        waits = true;
        if
        :: !hot[s] ->
            store(OWNER, COLD(s), 0);
            hot[s] = true
        :: else -> skip
        fi
    :: else -> skip
    fi;
    seen = 0
}

inline something_waits() {
    load(OWNER, ATTENTION, bits);
    if
    :: bits -> waits = true
    :: else -> EACH(look_at)
    fi;
    bits = 0
}

inline arm() {
    armed = true;
#ifdef ARM_LOOKS_FIRST
    something_waits();
    store(OWNER, ARMED, 1);
    fence_armed(OWNER);
#else
    store(OWNER, ARMED, 1);
    fence_armed(OWNER);
    something_waits();
#endif
    if
    :: waits -> disarm()
    :: else -> skip
    fi
}

active proctype owner() {
    byte bits, seen, due, cooled;
    bool armed, waits, sleeps;

    if
    :: sleeps = true
    :: skip
    fi;
end:
    do
    :: (armed && bell) || (!armed && WORK) -> progress()  /* if armed, it slept until now */
    :: !armed && (HOT) ->
        if
        :: hot[0] -> due = 1
#if SENDERS > 1
        :: hot[1] -> due = 2
        :: hot[0] && hot[1] -> due = 3
#endif
        fi;
        cool_rings()
    :: sleeps && !armed && !waits -> arm()
    od
}

active [SENDERS] proctype sender() {
    byte frame, is_cold, is_armed;
    byte me = _pid - THREADS;  /* its thread; the owner is 0 */

    do
    :: frame < FRAMES(me) ->
        frame++;
        store_release(me, PUBLISHED(me - 1), frame);
#if defined(SENDERS_FENCE) && !defined(NO_FENCE)
        fence(me);
#endif
        load(me, ARMED, is_armed);
        load(me, COLD(me - 1), is_cold);
        if
        :: is_armed || is_cold ->
            load(me, COLD(me - 1), is_cold);
            if
            :: is_cold -> fetch_or(me, ATTENTION, 1 << (me - 1))
            :: else -> skip
            fi;
            load(me, ARMED, is_armed);
            if
            :: is_armed ->
                exchange(me, ARMED, 0, is_armed);
                if
                :: is_armed -> bell = true
#if FRAMES_0 > 1
                :: is_armed && frame < FRAMES(me) && !failed ->
                    failed = true;
#ifndef BELL_NOT_PUT_BACK
                    compare_exchange(me, ARMED, 0, 1)
#endif
#endif
                :: else -> skip
                fi
            :: else -> skip
            fi
        :: else -> skip
        fi;
        d_step {
            is_armed = 0;
            is_cold = 0
        }
    :: else -> break
    od
}

active proctype observer() {
    timeout;
    assert(taken[0] == FRAMES_0);
#if SENDERS > 1
    assert(taken[1] == FRAMES_1)
#endif
}
