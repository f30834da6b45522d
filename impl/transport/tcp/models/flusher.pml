/* The flusher sleeps when nothing is deferred: impl/transport/tcp/flusher.h, flusher.cc.
 *
 * Models Deferring::note_deferred and note_flushed of two transports, and Flusher::loop, collect and set_timer.
 *
 *     here             in the code
 *     DEFERRED(t)      Deferring::deferred_ of transport t; noted: what its owner last stored there
 *     SLEEPS           Deferring::flusher_sleeps_
 *     timer            Flusher::timer_ is set, or has run down and was not seen
 *
 *     lies             frames were deferred and not given to the socket since
 *
 * Abstracted: a tick that finds something deferred flushes it, at the first look. Between two ticks the thread waits with a
 * limit, which is left out; so is how long the timer takes.
 *
 * Property: when nothing can happen any more, no frame lies there.
 *
 * Mutations: DEFERRED_RELAXED, SLEEPS_RELAXED (a store for a locked instruction), LOOKS_FIRST (the flusher looks, then
 * says that it sleeps), CLAIMS_FIRST (an owner takes it on itself to set the timer, then says that something is deferred).
 */
#define THREADS 3
#define WORDS 3
#define DEPTH 3
#include "../../../test/models/tso.pml"

#define FLUSHER 2

#define DEFERRED(t) (t)
#define SLEEPS 2
#define TIMES 2

bool timer;
bool lies[2];

inline set_timer_if_it_sleeps(t) {
    load(t, SLEEPS, old);
    if
    :: old ->
        exchange(t, SLEEPS, 0, old);
        if
        :: old -> timer = true
        :: !old -> skip
        fi
    :: !old -> skip
    fi
}

proctype owner(byte me) {
    byte times, old;
    bool noted;

    do
    :: times < TIMES ->
        times++;
        lies[me] = true;
        if
        :: !noted ->
#ifdef CLAIMS_FIRST
            set_timer_if_it_sleeps(me);
#endif
#ifdef DEFERRED_RELAXED
            store(me, DEFERRED(me), 1);
#else
            exchange(me, DEFERRED(me), 1, old);
#endif
            noted = true;
#ifndef CLAIMS_FIRST
            set_timer_if_it_sleeps(me)
#endif
        :: noted -> skip
        fi;
        old = 0
    :: times -> /* progress flushes, too */
        d_step {
            buffer[me].length == 0 ->
            lies[me] = false
        };
        store(me, DEFERRED(me), 0);
        noted = false
    :: times == TIMES -> break
    od
}

proctype flusher() {
    byte first, second;

    do
    :: /* a tick */
        load(FLUSHER, DEFERRED(0), first);
        load(FLUSHER, DEFERRED(1), second);
        if
        :: first || second ->
            d_step {
                buffer[FLUSHER].length == 0 ->
                if :: first -> lies[0] = false :: else -> skip fi;
                if :: second -> lies[1] = false :: else -> skip fi
            }
        :: !first && !second ->
#ifdef LOOKS_FIRST
            load(FLUSHER, DEFERRED(0), first);
            load(FLUSHER, DEFERRED(1), second);
#endif
#ifdef SLEEPS_RELAXED
            store(FLUSHER, SLEEPS, 1);
#else
            exchange(FLUSHER, SLEEPS, 1, first);
            first = 0;
#endif
#ifndef LOOKS_FIRST
            load(FLUSHER, DEFERRED(0), first);
            load(FLUSHER, DEFERRED(1), second);
#endif
            if
            :: !first && !second ->
end_waits:
                d_step {
                    timer && buffer[FLUSHER].length == 0 ->
                    timer = false
                }
            :: first || second -> skip
            fi;
            store(FLUSHER, SLEEPS, 0)
        fi;
        first = 0; second = 0
    od
}

init {
    atomic {
        run owner(0);
        run owner(1);
        run flusher()
    }
}

active proctype observer() {
    timeout;
    assert(!lies[0] && !lies[1])
}
