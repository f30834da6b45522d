/* A thread that sleeps on an endpoint's descriptor while another makes progress on it: impl/progress/progressive.h,
 * progress_list.cc.
 *
 * Models, of a thread that sleeps, block() with add_sleeper, arm, the sleep, remove_sleeper and its own progress; of
 * one that does not, advance(): progress, after_progress and attend.
 *
 *     here             in the code
 *     SLEEPING         Progressive::attention_ & kSleepers
 *     LIST_LOCK        Progressive::sleepers_lock_
 *     LOCK             the endpoint's lock: Engine::progress tries it, Engine::arm takes it
 *     published        frames that arrived; taken: those that were handled
 *     armed            the transport is armed (ShmTransport::armed_)
 *     rings            whoever publishes rings the bell (RegionHeader::armed)
 *     bell             the descriptor is readable
 *     woken            Sleeper::wake was called
 *
 * Abstracted: that an arrival either is seen by arm() or rings the bell is wake.pml's, and one step here. Both threads
 * use wait objects of their own, which are wait_object.pml's.
 *
 * Property: when nothing can happen any more, the sleeper does not sleep while a frame lies there.
 *
 * Mutations: NO_AFTER_PROGRESS, SLEEPING_LOADED_FIRST (before the progress), REGISTERS_LATE (the sleeper arms before
 * it registers), NO_WAKE (who cannot arm again wakes nobody).
 */
#define THREADS 2
#define WORDS 3
#define DEPTH 3
#include "../../test/models/tso.pml"

#define SLEEPER 0
#define MOVER 1

#define SLEEPING 0
#define LOCK 1
#define LIST_LOCK 2

#define FRAMES 2
#define ROUNDS 2

byte published, taken;
bool armed, rings, bell, woken, asleep;

inline acquire(t, which) { d_step { buffer[t].length == 0 && ram[which] == 0 -> ram[which] = 1 } }
inline unlock(t, which) { store_release(t, which, 0) }

/* True when it sleeps until the bell is rung. */
inline arm(t, done) {
    acquire(t, LOCK);
    armed = true;
    rings = true;
    if
    :: published != taken ->
        armed = false;
        rings = false;
        bell = false
    :: else -> done = true
    fi;
    unlock(t, LOCK)
}

inline progress(t) {
    exchange(t, LOCK, 1, old);
    if
    :: !old ->
        if
        :: armed ->
            armed = false;
            rings = false;
            bell = false
        :: else -> skip
        fi;
        taken = published;
        unlock(t, LOCK)
    :: old -> skip
    fi;
    old = 0
}

inline set_sleeping(t, what) {
    acquire(t, LIST_LOCK);
    store(t, SLEEPING, what);
    unlock(t, LIST_LOCK)
}

active proctype sleeper() {
    byte old;
    bool done;

    do
    :: taken < FRAMES ->
#ifndef REGISTERS_LATE
        set_sleeping(SLEEPER, 1);
#endif
        arm(SLEEPER, done);
#ifdef REGISTERS_LATE
        set_sleeping(SLEEPER, 1);
#endif
        if
        :: done ->
            asleep = true;
end_asleep:
            d_step {
                bell || woken ->
                woken = false;
                asleep = false
            }
        :: !done -> skip
        fi;
        done = false;
        set_sleeping(SLEEPER, 0);
        progress(SLEEPER)
    :: else -> break
    od
}

active proctype mover() {
    byte round, old, sleeping;
    bool done;

    do
    :: round < ROUNDS ->
        round++;
#ifdef SLEEPING_LOADED_FIRST
        load(MOVER, SLEEPING, sleeping);
#endif
        progress(MOVER);
        /* after_progress */
#ifdef NO_AFTER_PROGRESS
        sleeping = 0;
#elif !defined(SLEEPING_LOADED_FIRST)
        load(MOVER, SLEEPING, sleeping);
#endif
        if
        :: sleeping ->
            arm(MOVER, done);
            if
            :: !done ->
                acquire(MOVER, LIST_LOCK);
#ifndef NO_WAKE
                load(MOVER, SLEEPING, sleeping);
                woken = woken || sleeping;
#endif
                unlock(MOVER, LIST_LOCK)
            :: done -> skip
            fi
        :: !sleeping -> skip
        fi;
        d_step {
            sleeping = 0;
            done = false
        }
    :: else -> break
    od
}

active proctype sender() {
    do
    :: published < FRAMES ->
        d_step {
            published++;
            bell = bell || rings;
            rings = false
        }
    :: else -> break
    od
}

active proctype observer() {
    timeout;
    assert(!asleep || taken == published)
}
