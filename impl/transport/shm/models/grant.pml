/* Large reads that copy out of the target's memory, and regions that are closed meanwhile.
 *
 * The target answers a large read with a grant: where the bytes lie, and what the counter `revocations` in its region's
 * header was. The reader copies them (process_vm_readv), then loads the counter. If it is another by then, the bytes
 * are thrown away, and the reader asks for them in segments, which the target refuses. A grant that stands
 * (engine/read_grants.h) is used again in the same way, without asking; the reader's second turn is that.
 *
 *     here              in the code
 *     REMOVED           the memory region has left the domain's table; under the domain's lock, table_lock
 *     REVOCATIONS       RegionHeader::revocations
 *     GRANT             the frame that answers the read; GRANTED_AT: the counter in it
 *     MEMORY(n)         the application's bytes: OLD, and NEW after fi_close
 *     server, closer    two threads of the target: one makes progress, the other calls fi_close and then uses the memory
 *
 * Property: a read never succeeds with a byte that was stored after fi_close returned.
 *
 * The counter is loaded before the table is searched; loaded after, it may already count the close of the very region
 * that was found. It is incremented after the region has left the table, by an instruction that also keeps stores which
 * follow from being seen before it. A locked instruction of x86 does; where stores reorder, a release store or a
 * release increment does not (it orders what precedes it), and a fence is needed. Likewise the reader's load must come
 * after its copy: an acquire load does not keep what precedes it there, but x86 does, as loads keep their order.
 *
 * Mutations: COUNTER_BEFORE_COPY, INCREMENT_AFTER_RETURN, INCREMENT_BEFORE_REMOVAL, GRANT_LOADS_LATE; where stores
 * reorder, INCREMENT_IS_STORE.
 */
#define THREADS 3
#define WORDS 6
#define DEPTH 4
#include "../../../test/models/tso.pml"

#define SERVER 0
#define CLOSER 1
#define READER 2

#define REMOVED 0
#define REVOCATIONS 1
#define GRANT 2
#define GRANTED_AT 3
#define MEMORY(n) (4 + (n))
#define OLD 0
#define NEW 7

bool table_lock;

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
    :: else -> skip  /* refused, FI_ENOKEY */
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

active proctype closer() {
    byte counter;

#ifdef INCREMENT_BEFORE_REMOVAL
    increment();
#endif
    atomic { !table_lock && buffer[CLOSER].length == 0 -> table_lock = true };
    store(CLOSER, REMOVED, 1);
    atomic { buffer[CLOSER].length == 0 -> table_lock = false };
#if !defined(INCREMENT_BEFORE_REMOVAL) && !defined(INCREMENT_AFTER_RETURN)
    increment();
#endif
    /* fi_close returns. */
    store(CLOSER, MEMORY(0), NEW);
    store(CLOSER, MEMORY(1), NEW)
#ifdef INCREMENT_AFTER_RETURN
    ;
    increment()
#endif
}

active proctype reader() {
    byte at, now, bytes, more;
    bool again;

end:
    ram[GRANT] == 1;
    load(READER, GRANTED_AT, at);
read_it:
#ifdef COUNTER_BEFORE_COPY
    load(READER, REVOCATIONS, now);
#endif
    load(READER, MEMORY(0), bytes);
    load(READER, MEMORY(1), more);
#ifndef COUNTER_BEFORE_COPY
    load(READER, REVOCATIONS, now);
#endif
    if
    :: now == at ->
        assert(bytes == OLD && more == OLD);
        if
        :: !again -> again = true; goto read_it
        :: else -> skip
        fi
    :: else -> skip  /* once more, in segments */
    fi
}
