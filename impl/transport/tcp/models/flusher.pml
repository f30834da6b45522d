/* The flusher sleeps when nothing is deferred: impl/transport/tcp/flusher.h, flusher.cc.
 *
 * Models Deferring::note_deferred and note_flushed of a transport, and Flusher::loop and wake.
 *
 *     here             in the code
 *     DEFERRED         Deferring::deferred_
 *     SLEEPS           Deferring::flusher_sleeps_
 *     mutex, waits     Flusher::lock_, and that the thread waits on wake_
 *
 *     lies             frames were deferred and not given to the socket since
 *
 * Abstracted: one transport; a tick that finds something deferred flushes it, at the first look. Between two ticks the
 * thread waits with a limit, which is left out. What is done under the lock that guards the send buffers is one step.
 *
 * Property: when nothing can happen any more, no frame lies there.
 *
 * Mutations: DEFERRED_RELAXED, SLEEPS_RELAXED (a store for a locked instruction), LOOKS_FIRST (the flusher looks, then
 * says that it sleeps), WAKE_WITHOUT_LOCK.
 */
#define THREADS 2
#define WORDS 2
#define DEPTH 3
#include "../../../test/models/tso.pml"

#define OWNER 0
#define FLUSHER 1

#define DEFERRED 0
#define SLEEPS 1
#define TIMES 2

bool mutex, waits, lies;

inline acquire_mutex(t) { d_step { buffer[t].length == 0 && !mutex -> mutex = true } }
inline unlock_mutex(t) { d_step { buffer[t].length == 0 -> mutex = false } }

active proctype owner() {
    byte times, old;

    do
    :: times < TIMES ->
        times++;
        lies = true;
#ifdef DEFERRED_RELAXED
        store(OWNER, DEFERRED, 1);
#else
        exchange(OWNER, DEFERRED, 1, old);
#endif
        load(OWNER, SLEEPS, old);
        if
        :: old ->
#ifndef WAKE_WITHOUT_LOCK
            acquire_mutex(OWNER);
#endif
            waits = false;
#ifndef WAKE_WITHOUT_LOCK
            unlock_mutex(OWNER)
#endif
        :: !old -> skip
        fi;
        old = 0
    :: times -> /* progress flushes, too */
        d_step {
            buffer[OWNER].length == 0 ->
            lies = false
        };
        store(OWNER, DEFERRED, 0)
    :: times == TIMES -> break
    od
}

active proctype flusher() {
    byte word;

    acquire_mutex(FLUSHER);
    do
    :: /* a tick */
        load(FLUSHER, DEFERRED, word);
        if
        :: word ->
            d_step {
                buffer[FLUSHER].length == 0 ->
                lies = false
            }
        :: !word ->
#ifdef LOOKS_FIRST
            load(FLUSHER, DEFERRED, word);
#endif
#ifdef SLEEPS_RELAXED
            store(FLUSHER, SLEEPS, 1);
#else
            exchange(FLUSHER, SLEEPS, 1, word);
            word = 0;
#endif
#ifndef LOOKS_FIRST
            load(FLUSHER, DEFERRED, word);
#endif
            if
            :: !word ->
                /* pthread_cond_wait */
                d_step {
                    buffer[FLUSHER].length == 0 ->
                    waits = true;
                    mutex = false
                };
end_waits:
                d_step {
                    !waits && !mutex ->
                    mutex = true
                }
            :: word -> skip
            fi;
            store(FLUSHER, SLEEPS, 0)
        fi;
        word = 0
    od
}

active proctype observer() {
    timeout;
    assert(!lies)
}
