/* What tso.pml promises, by the usual litmus tests: store buffering, message passing, and forwarding.
 *
 * Two threads each store a word and then load the other's. With a fence between the two on both sides, or membarrier on
 * one, at least one of them sees the other's store. Both also store a second word after the first, and load them in the
 * other order: who sees the second sees the first. A thread sees its own stores at once.
 *
 * Mutations: NO_FENCE (on neither side), ONE_FENCE (on one side only, without membarrier); where stores reorder,
 * RELAXED (no release store).
 */
#define THREADS 2
#define WORDS 4
#define DEPTH 2
#include "tso.pml"

#define MINE(t) (t)
#define FLAG(t) (2 + (t))
#define OTHER_THREAD(t) (1 - (t))

#ifdef RELAXED
#define store_flag store
#else
#define store_flag store_release
#endif

byte finished, saw;

active [THREADS] proctype thread() {
    byte me = _pid - THREADS;
    byte word, flag;

    store(me, MINE(me), 1);
    store_flag(me, FLAG(me), 1);
    load(me, MINE(me), word);
    assert(word == 1);
#ifdef MEMBARRIER
    if
    :: me == 0 -> membarrier(me)
    :: me == 1 -> skip
    fi;
#elif defined(ONE_FENCE)
    if
    :: me == 0 -> fence(me)
    :: me == 1 -> skip
    fi;
#elif !defined(NO_FENCE)
    fence(me);
#endif
    load(me, FLAG(OTHER_THREAD(me)), flag);
    load(me, MINE(OTHER_THREAD(me)), word);
    assert(!flag || word);
    d_step {
        saw = saw + word;
        finished++
    }
}

active proctype observer() {
    finished == THREADS;
    assert(saw)
}
