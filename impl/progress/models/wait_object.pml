/* Threads that sleep until a counter or queue has something for them: impl/progress/wait.h, wait.cc, wait_block.h, cntr.h,
 * cq.h.
 *
 * Models block() with want, generation, the look, wait and unwant of a waiter; of a writer, what it publishes, wanted
 * and signal. Waiters sleep on the futex; with DESCRIPTORS, on the event (wait_on_descriptors, raise, reset). With
 * NATIVE, an application that blocks outside the library takes the place of the second waiter (prepare_native).
 *
 *     here             in the code
 *     VALUE            Counter::value, or entries in the queue
 *     LOCK             with QUEUE: CompletionQueue::ring_lock, under which a queue is written and looked at
 *     WANTED           WaitObject::own_wanted_
 *     GENERATION       generation_
 *     SLEEPERS         sleepers_
 *     RAISED           event_.raised_
 *     event            what the descriptor of event_ holds
 *     NATIVE_RAISED    native_event_.raised_
 *     native_event     what the descriptor of native_event_ holds
 *     mutex, polling   lock_, polling_
 *
 * Abstracted: no deadline, interruption or spinning; nothing else is attached, so that advance() and arm() do nothing.
 * Each waiter waits for another value, as fi_cntr_wait does.
 *
 * Property: when nothing can happen any more, no waiter sleeps though what it waits for is there.
 *
 * The application has an event of its own. With one for both (SHARED_EVENT, as it once was) a thread that waits for more
 * than there is takes the event back before it sleeps again, and if the application has not run since, it sleeps in
 * poll() though what it waits for is there.
 *
 * Mutations: LOOK_BEFORE_WANT, GENERATION_AFTER_LOOK, COUNT_RELAXED (a store for a locked instruction); with QUEUE,
 * LOOK_WITHOUT_LOCK; with DESCRIPTORS, RESET_FORGETS_FIRST (raised_ is cleared before the event is read), RESET_BY_ALL
 * (every thread that polls takes the event back), with NATIVE, SHARED_EVENT.
 */
#define THREADS 3
#define WORDS 7
#define DEPTH 2
#include "../../test/models/tso.pml"

#define WRITER 0

#define VALUE 0
#define LOCK 1
#define WANTED 2
#define GENERATION 3
#define SLEEPERS 4
#define RAISED 5
#define NATIVE_RAISED 6

#ifndef LAST
#define LAST 2  /* what the writer counts up to */
#endif
#ifndef OTHER_LEAST
#define OTHER_LEAST 1  /* what the second waiter waits for */
#endif

bool asleep[THREADS];  /* on the futex */
bool event, native_event, mutex;
byte polling;

inline acquire(t) { d_step { buffer[t].length == 0 && ram[LOCK] == 0 -> ram[LOCK] = 1 } }
inline unlock(t) { store_release(t, LOCK, 0) }
/* Of the C library: both are locked instructions or system calls. */
inline acquire_mutex(t) { d_step { buffer[t].length == 0 && !mutex -> mutex = true } }
inline unlock_mutex(t) { d_step { buffer[t].length == 0 -> mutex = false } }

inline raise(t, raised, which) {
    exchange(t, raised, 1, old);
    if
    :: !old -> which = true
    :: old -> skip
    fi;
    old = 0
}

/* With the mutex held. */
inline reset(t, raised, which) {
    load(t, raised, old);
    if
    :: old ->
#ifdef RESET_FORGETS_FIRST
        exchange(t, raised, 0, old);
        which = false
#else
        which = false;
        exchange(t, raised, 0, old)
#endif
    :: !old -> skip
    fi;
    old = 0
}

inline signal(t) {
    fetch_add(t, GENERATION, 1);
#ifdef DESCRIPTORS
    raise(t, RAISED, event)
#if defined(NATIVE) && !defined(SHARED_EVENT)
    ;
    raise(t, NATIVE_RAISED, native_event)
#endif
#else
    load(t, SLEEPERS, old);
    if
    :: old ->
        d_step {
            asleep[1] = false;
            asleep[2] = false
        }
    :: !old -> skip
    fi;
    old = 0
#endif
}

inline publish(t) {
#ifdef QUEUE
    acquire(t);
    value++;
    store(t, VALUE, value);
    unlock(t)
#else
    value++;
#ifdef COUNT_RELAXED
    store(t, VALUE, value)
#else
    exchange(t, VALUE, value, old)
#endif
#endif
}

active proctype writer() {
    byte value, old;

    do
    :: value < LAST ->
        publish(WRITER);
        load(WRITER, WANTED, old);
        if
        :: old -> signal(WRITER)
        :: !old -> skip
        fi;
        old = 0
    :: else -> break
    od
}

inline look(t) {
#if defined(QUEUE) && !defined(LOOK_WITHOUT_LOCK)
    acquire(t);
    load(t, VALUE, now);
    unlock(t)
#else
    load(t, VALUE, now)
#endif
}

inline want(t) { fetch_add(t, WANTED, 1) }

inline wait_on_futex(t) {
    fetch_add(t, SLEEPERS, 1);
    /* The kernel compares and sleeps in one step. */
    d_step { buffer[t].length == 0 -> asleep[t] = ram[GENERATION] == seen };
end_asleep:
    !asleep[t];
    fetch_add(t, SLEEPERS, 255)
}

inline wait_on_descriptors(t) {
    acquire_mutex(t);
#ifdef RESET_BY_ALL
    polling++;
    reset(t, RAISED, event);
#else
    polling++;
    if
    :: polling == 1 -> reset(t, RAISED, event)
    :: else -> skip
    fi;
#endif
    unlock_mutex(t);
    load(t, GENERATION, now);
    if
    :: now == seen ->
end_polling:
        event
    :: else -> skip
    fi;
    acquire_mutex(t);
    polling--;
    unlock_mutex(t)
}

inline block(t, least) {
    do
    ::
#ifdef LOOK_BEFORE_WANT
        look(t);
        looked = now >= least;
        want(t);
        load(t, GENERATION, seen);
#elif defined(GENERATION_AFTER_LOOK)
        want(t);
        look(t);
        looked = now >= least;
        load(t, GENERATION, seen);
#else
        want(t);
        load(t, GENERATION, seen);
        look(t);
        looked = now >= least;
#endif
        now = 0;
        if
        :: looked -> break
        :: !looked ->
            load(t, GENERATION, now);
            if
            :: now != seen -> skip
            :: now == seen ->
#ifdef DESCRIPTORS
                wait_on_descriptors(t)
#else
                wait_on_futex(t)
#endif
            fi;
            now = 0
        fi;
        fetch_add(t, WANTED, 255)
    od;
    fetch_add(t, WANTED, 255)
}

byte least;
bool done[THREADS];

active proctype waiter() {
    byte seen, now, old;
    bool looked;

    if
    :: least = LAST
    :: least = LAST + 1  /* in vain */
    fi;
    block(1, least);
    done[1] = true
}

#ifdef NATIVE
#ifdef SHARED_EVENT
#define APPLICATION_EVENT event
#else
#define APPLICATION_EVENT native_event
#endif

/* fi_trywait, and then poll() on the descriptor. */
active proctype application() {
    byte now, old;
    bool native;

    do
    :: look(2);
        if
        :: now -> break
        :: !now -> skip
        fi;
        acquire_mutex(2);
        if
        :: !native ->
            want(2);
            native = true
        :: native -> skip
        fi;
        if
#ifdef SHARED_EVENT
        :: polling == 0 -> reset(2, RAISED, event)
        :: else -> skip
#else
        :: reset(2, NATIVE_RAISED, native_event)
#endif
        fi;
        unlock_mutex(2);
        look(2);
        if
        :: now -> break
        :: !now ->
end_polling:
            APPLICATION_EVENT
        fi
    od;
    done[2] = true
}
#else
active proctype other_waiter() {
    byte seen, now, old;
    bool looked;

    block(2, OTHER_LEAST);
    done[2] = true
}
#endif

active proctype observer() {
    timeout;
    assert(done[1] || least > LAST);
    assert(done[2])
}
