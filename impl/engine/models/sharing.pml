/* A data path without locks on which who reads an event queue makes progress for a join: impl/endpoint/datapath.h
 * (share), impl/engine/engine_control.h, impl/events/eq.cc (end_join, drop_ended_joins).
 *
 * Models the threads that the application serialises as one, which joins, posts operations, makes progress and sleeps in
 * a read of a completion queue; a thread that reads the event queue; and the network.
 *
 *     here             in the code
 *     locked           ReceiveContext::lock
 *     shared           EngineBase::shared_: the application's thread locks
 *     sharers          EngineBase::sharers_: joins that are not over
 *     attached, over   JoinDrive in EventQueue::joins, JoinDrive::over
 *     inside           threads in the path
 *     frames           that have come and were not taken; so many that are taken end a join
 *     armed, bell      the transport is armed; its descriptor is readable
 *     woken            WaitObject::signal, of the queue in which the application sleeps
 *
 * Abstracted: that an arrival either is seen by who arms or makes the descriptor readable is wake.pml's; how sleepers arm again after another thread's progress is sleepers.pml's. The locks are mutexes, so that
 * there is no order of memory to be looked at.
 *
 * Properties: no two threads are in the path at once. When nothing can happen any more, no join waits while a frame lies
 * there, the application does not sleep beside one, and the reader looks at no descriptor in vain.
 *
 * Mutations: DRIVES_WITHOUT_JOIN (the reader does not look at sharers), ARMS_AFTER_JOIN (nor when it arms for who
 * sleeps), ENDS_WITHOUT_LOCK (the application stops to lock without having the lock), ENDS_EARLY (without a look at
 * sharers), NO_WAKE (of who sleeps when the join is over).
 */
#ifndef JOINS
#define JOINS 1
#endif
#define CALLS 3
#define FRAMES 4
#define ROUNDS 2

byte inside, sharers, frames, joins = JOINS;
bool locked, shared, attached, over;
byte joining; /* frames that the join waits for */
bool armed, bell, woken, asleep, reading;

inline lock() { atomic { !locked -> locked = true } }
inline unlock() { locked = false }
inline enter() { inside++; assert(inside == 1) }
inline leave() { inside-- }

inline take() {
    armed = false;
    if
    :: frames ->
        frames--;
        if
        :: joining == 1 -> atomic { joining = 0; sharers--; over = true }
        :: joining > 1 -> joining--
        :: else -> skip
        fi
    :: else -> skip
    fi
}

active proctype application() {
    bool locks;
    byte calls = CALLS;

end_calls:
    do
    :: joins && !joining && !attached ->
        joins--;
        shared = true;
        lock();
        enter();
        over = false;
        joining = ROUNDS;
        sharers++;
        leave();
        unlock();
        attached = true
    :: calls -> /* an operation */
        calls--;
        locks = shared;
        if
        :: locks -> lock()
        :: else -> skip
        fi;
        enter();
        leave();
        if
        :: locks -> unlock()
        :: else -> skip
        fi
    :: frames || bell || woken -> /* progress */
progress:
        bell = false;
        woken = false;
        locks = shared;
        if
        :: locks -> lock()
        :: else -> skip
        fi;
        enter();
        take();
        leave();
#ifdef ENDS_WITHOUT_LOCK
        if
        :: locks -> unlock(); if :: !sharers -> shared = false :: else -> skip fi
        :: else -> skip
        fi
#else
        if
#ifdef ENDS_EARLY
        :: locks -> shared = false; unlock()
#else
        :: locks -> if :: !sharers -> shared = false :: else -> skip fi; unlock()
#endif
        :: else -> skip
        fi
#endif
    :: calls -> /* a read that sleeps */
        calls--;
        locks = shared;
        if
        :: locks -> lock()
        :: else -> skip
        fi;
        enter();
        atomic { asleep = !frames; armed = asleep };
        leave();
        if
        :: locks -> unlock()
        :: else -> skip
        fi;
end_sleep:
        if
        :: bell || woken || !asleep -> asleep = false; goto progress
        fi
    od
}

active proctype reader() {
    bool moves, ended;

end_reads:
    do
    :: attached && (frames || over) ->
        reading = true;
        if
        :: atomic { !locked -> locked = true };
            moves = sharers > 0;
#ifdef DRIVES_WITHOUT_JOIN
            moves = true;
#endif
            if
            :: moves ->
                enter();
                take();
                leave()
            :: else -> skip
            fi;
            ended = moves && !sharers;
#ifndef NO_WAKE
            if
            :: ended -> woken = true
            :: else -> skip
            fi;
#endif
            unlock();
            /* Who sleeps has not armed it since. */
            lock();
            if
#ifdef ARMS_AFTER_JOIN
            :: moves ->
#else
            :: moves && sharers ->
#endif
                enter();
                atomic {
                    if
                    :: frames -> woken = true
                    :: else -> armed = true
                    fi
                };
                leave()
            :: else -> skip
            fi;
            unlock()
        :: locked -> skip
        fi;
        if
        :: over -> atomic { attached = false; over = false }
        :: else -> skip
        fi;
        reading = false
    od
}

active proctype network() {
    byte sent;

    do
    :: sent < FRAMES ->
        atomic {
            sent++;
            frames++;
            if
            :: armed -> bell = true
            :: else -> skip
            fi
        }
    :: else -> break
    od
}

active proctype end() {
    timeout;
    assert(!inside && !reading);
    assert(!(frames && joining));
    assert(!(frames && asleep))
}
