/* Memory as x86 processors show it to each other (x86-TSO), for the models of protocols between threads or processes.
 *
 * Each thread has a store buffer, first in, first out. A store goes into it and reaches `ram` later, at any time: the
 * process store_buffer of the thread moves it there, one store per step. A load takes the newest store of the thread's
 * own buffer to that word, or else `ram`. A fence waits until the buffer is empty; a locked instruction does so and then
 * reads and writes `ram` in one step. membarrier empties the buffers of all other threads, one after the other.
 *
 * With STORES_REORDER the stores of a thread to different words reach `ram` in any order, but a release store comes
 * after all that precede it, as on processors with weaker rules; loads stay in program order there, too. This finds
 * missing release stores, which x86 forgives.
 *
 * Before including this file a model defines
 *     THREADS   of the program that it models; thread t is the process with _pid THREADS + t if it is declared next
 *     WORDS     of shared memory, all zero at first; words are named by their index
 *     DEPTH     of a store buffer. A store waits while it is full, which hides what a longer buffer would allow: as many
 *               as a thread stores between two of its fences, where the order of that many matters.
 *
 * Every operation is one indivisible step. `t` is the number of the thread that makes it.
 */
typedef Buffer {
    byte length;
    byte word[DEPTH];
    byte value[DEPTH];
#ifdef STORES_REORDER
    bool release[DEPTH]
#endif
}

byte ram[WORDS];
Buffer buffer[THREADS];

byte tso_i;  /* zero between steps */
byte tso_j;

/* The store at place `at` of a buffer reaches memory. In a d_step. */
inline tso_commit(t, at) {
    ram[buffer[t].word[at]] = buffer[t].value[at];
    tso_i = at + 1;
    do
    :: tso_i < buffer[t].length ->
        buffer[t].word[tso_i - 1] = buffer[t].word[tso_i];
        buffer[t].value[tso_i - 1] = buffer[t].value[tso_i];
#ifdef STORES_REORDER
        buffer[t].release[tso_i - 1] = buffer[t].release[tso_i];
#endif
        tso_i++
    :: else -> break
    od;
    buffer[t].length--;
    buffer[t].word[buffer[t].length] = 0;
    buffer[t].value[buffer[t].length] = 0;
#ifdef STORES_REORDER
    buffer[t].release[buffer[t].length] = 0;
#endif
    tso_i = 0
}

#ifdef STORES_REORDER
/* The store at place n of a buffer may pass those before it. */
#define OTHER(t, n, m) (buffer[t].word[n] != buffer[t].word[m])
#define PASSES(t, n) (buffer[t].length > n && !buffer[t].release[n] && OTHER(t, n, 0))
#endif

active [THREADS] proctype store_buffer() {
end:
    do
    :: d_step { buffer[_pid].length > 0 -> tso_commit(_pid, 0) }
#ifdef STORES_REORDER
#if DEPTH > 6
#error "store_buffer: add an alternative for each place of a buffer"
#endif
    :: d_step { PASSES(_pid, 1) -> tso_commit(_pid, 1) }
#if DEPTH > 2
    :: d_step { PASSES(_pid, 2) && OTHER(_pid, 2, 1) -> tso_commit(_pid, 2) }
#endif
#if DEPTH > 3
    :: d_step { PASSES(_pid, 3) && OTHER(_pid, 3, 1) && OTHER(_pid, 3, 2) -> tso_commit(_pid, 3) }
#endif
#if DEPTH > 4
    :: d_step {
        PASSES(_pid, 4) && OTHER(_pid, 4, 1) && OTHER(_pid, 4, 2) && OTHER(_pid, 4, 3) -> tso_commit(_pid, 4)
    }
#endif
#if DEPTH > 5
    :: d_step {
        PASSES(_pid, 5) && OTHER(_pid, 5, 1) && OTHER(_pid, 5, 2) && OTHER(_pid, 5, 3) && OTHER(_pid, 5, 4) ->
        tso_commit(_pid, 5)
    }
#endif
#endif
    od
}

/* A plain or relaxed store. */
inline store(t, to, what) {
    d_step {
        buffer[t].length < DEPTH ->
        buffer[t].word[buffer[t].length] = to;
        buffer[t].value[buffer[t].length] = what;
        buffer[t].length++
    }
}

/* Stores that precede it in the program reach memory before it. */
inline store_release(t, to, what) {
    d_step {
        buffer[t].length < DEPTH ->
        buffer[t].word[buffer[t].length] = to;
        buffer[t].value[buffer[t].length] = what;
#ifdef STORES_REORDER
        buffer[t].release[buffer[t].length] = true;
#endif
        buffer[t].length++
    }
}

/* Any load: the processor keeps their order. */
inline load(t, from, into) {
    d_step {
        into = ram[from];
        tso_j = 0;
        do
        :: tso_j < buffer[t].length ->
            if
            :: buffer[t].word[tso_j] == from -> into = buffer[t].value[tso_j]
            :: else -> skip
            fi;
            tso_j++
        :: else -> break
        od;
        tso_j = 0
    }
}

/* mfence. Also a system call that takes a lock of the kernel. */
inline fence(t) { buffer[t].length == 0 }

/* Locked instructions. */
inline exchange(t, at, what, old) {
    d_step {
        buffer[t].length == 0 ->
        old = ram[at];
        ram[at] = what
    }
}
inline compare_exchange(t, at, old, what) {
    d_step { buffer[t].length == 0 -> ram[at] = (ram[at] == (old) -> (what) : ram[at]) }
}
inline fetch_or(t, at, bits) { d_step { buffer[t].length == 0 -> ram[at] = ram[at] | (bits) } }
inline fetch_add(t, at, number) { d_step { buffer[t].length == 0 -> ram[at] = ram[at] + (number) } }

/* All that a thread stored is in memory. In a d_step. */
inline tso_drain(t) {
    do
    :: buffer[t].length > 0 -> tso_commit(t, 0)
    :: else -> break
    od;
    tso_i = 0
}

/* membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED): the caller's fence, and one of every other thread somewhen before it
 * returns. */
inline membarrier(t) {
    fence(t);
    d_step { tso_drain(0) };
    d_step { tso_drain(1) }
#if THREADS > 2
    ;
    d_step { tso_drain(2) }
#endif
#if THREADS > 3
#error "membarrier: add a line per thread"
#endif
}
