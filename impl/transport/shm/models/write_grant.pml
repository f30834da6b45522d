/* Writes into the target's memory under a grant that stands, and regions that are closed meanwhile
 * (shm_granted_write.cc).
 *
 * The target answers a write with a grant: where the region lies, and what the counter `revocations` in its region's
 * header was. From then on the writer says that it writes, loads the counter, writes (process_vm_writev) if it is the
 * same, and says that it does no more. fi_close counts, and waits for who says that he writes. The writer may die at any
 * step.
 *
 *     here              in the code
 *     REMOVED           the memory region has left the domain's table; under the domain's lock, table_lock
 *     REVOCATIONS       RegionHeader::revocations
 *     WRITING           SlotControl::writing
 *     GRANT             the frame that answers the write; GRANTED_AT: the counter in it
 *     MEMORY(n)         the application's bytes: WRITTEN by the writer, NEW after fi_close
 *     held              the lock of the writer's slot, which the kernel drops after its last system call
 *     server, closer    two threads of the target: one makes progress, the other calls fi_close and then uses the memory
 *
 * Properties: what the target stored after fi_close returned stays there; and fi_close returns (no invalid end state).
 *
 * A grant is used twice. The stores of a system call are those of the processor that makes it, and reach memory as late
 * as any. The closer's wait for the lock stands for its looks at it from time to time.
 *
 * Mutations: LOOKS_FIRST, WRITING_IS_STORED, CLEARS_EARLY, WAITS_FIRST, WAITS_NOT, INCREMENT_IS_STORE,
 * INCREMENT_BEFORE_REMOVAL, GRANT_LOADS_LATE; without an end, WAITS_FOR_THE_DEAD; where stores reorder, CLEARS_RELAXED.
 */
#define THREADS 3
#define WORDS 7
#define DEPTH 4
#include "../../../test/models/tso.pml"

#define SERVER 0
#define CLOSER 1
#define WRITER 2

#define REMOVED 0
#define REVOCATIONS 1
#define WRITING 2
#define GRANT 3
#define GRANTED_AT 4
#define MEMORY(n) (5 + (n))
#define WRITTEN 1
#define NEW 7

bool table_lock;
bool held = true;
bool writes = true;  /* the writer is not at its end */

active proctype server() {
    byte removed, at;

#ifndef GRANT_LOADS_LATE
    load(SERVER, REVOCATIONS, at);
#endif
    atomic { !table_lock && buffer[SERVER].length == 0 -> table_lock = true };
    load(SERVER, REMOVED, removed);
    atomic { buffer[SERVER].length == 0 -> table_lock = false };
#ifdef GRANT_LOADS_LATE
    load(SERVER, REVOCATIONS, at);
#endif
    if
    :: !removed ->
        store(SERVER, GRANTED_AT, at);
        store_release(SERVER, GRANT, 1)
    :: else -> store_release(SERVER, GRANT, 2)  /* refused, FI_ENOKEY */
    fi
}

inline increment() {
#ifdef INCREMENT_IS_STORE
    load(CLOSER, REVOCATIONS, counter);
    store_release(CLOSER, REVOCATIONS, counter + 1);
    counter = 0
#else
    fetch_add(CLOSER, REVOCATIONS, 1)
#endif
}

inline await_writer() {
    do
    :: atomic { ram[WRITING] == 0 -> break }
#ifndef WAITS_FOR_THE_DEAD
    :: atomic { !held -> break }
#endif
    od
}

active proctype closer() {
    byte counter;

#ifdef INCREMENT_BEFORE_REMOVAL
    increment();
#endif
    atomic { !table_lock && buffer[CLOSER].length == 0 -> table_lock = true };
    store(CLOSER, REMOVED, 1);
    atomic { buffer[CLOSER].length == 0 -> table_lock = false };
#ifdef WAITS_FIRST
    await_writer();
#endif
#ifndef INCREMENT_BEFORE_REMOVAL
    increment();
#endif
#if !defined(WAITS_FIRST) && !defined(WAITS_NOT)
    await_writer();
#endif
    /* fi_close returns. */
    store(CLOSER, MEMORY(0), NEW);
    store(CLOSER, MEMORY(1), NEW);
    fence(CLOSER);
    atomic { !writes && buffer[WRITER].length == 0 -> assert(ram[MEMORY(0)] == NEW && ram[MEMORY(1)] == NEW) }
}

/* At any step. */
#define MAY_DIE if :: skip :: goto gone fi

active proctype writer() {
    byte at, now, old;
    bool again;

    ram[GRANT] != 0;
    if
    :: ram[GRANT] == 2 -> goto gone
    :: else -> skip
    fi;
    load(WRITER, GRANTED_AT, at);
write_it:
    MAY_DIE;
#ifdef LOOKS_FIRST
    load(WRITER, REVOCATIONS, now);
#endif
#ifdef WRITING_IS_STORED
    store(WRITER, WRITING, 1);
#else
    exchange(WRITER, WRITING, 1, old);
    old = 0;
#endif
    MAY_DIE;
#ifndef LOOKS_FIRST
    load(WRITER, REVOCATIONS, now);
#endif
#ifdef CLEARS_EARLY
    store_release(WRITER, WRITING, 0);
#endif
    if
    :: now == at ->
        MAY_DIE;
        store(WRITER, MEMORY(0), WRITTEN);
        MAY_DIE;
        store(WRITER, MEMORY(1), WRITTEN);
        MAY_DIE
    :: else -> again = true
    fi;
#ifdef CLEARS_RELAXED
    store(WRITER, WRITING, 0);
#else
#ifndef CLEARS_EARLY
    store_release(WRITER, WRITING, 0);
#endif
#endif
    now = 0;
    if
    :: !again -> again = true; goto write_it
    :: else -> skip
    fi;
gone:
    atomic { buffer[WRITER].length == 0 -> held = false; writes = false }
}
