/* Long transfers that the receiver and its sender copy together (shared_pull.h).
 *
 * The receiver opens a transfer by a new generation in `claims`. Both claim chunks there by a compare-and-exchange, the
 * receiver at the front, the sender at the back. The receiver leaves when nothing is left and the sender has finished
 * what it claimed, or is gone; then it uses its memory for something else, and opens the next transfer. The sender may
 * die at any step.
 *
 *     here              in the code
 *     CLAIMS            SharedPullWords::claims: CLAIM(generation, first, end)
 *     WHERE             the ranges and the number of chunks: here the number of the transfer that they belong to
 *     FINISHED          SharedPullWords::finished: generation and number of chunks
 *     receiving         the transfer of which the receiver is in pull(); 0: its memory is for something else
 *     copied            by whom each of its chunks was
 *     held              the lock of the sender's slot, which the kernel drops after its last system call
 *
 * Properties: nothing is written but chunks of the transfer that the receiver is in, and each of these is copied by
 * exactly one of both, unless the sender died; and both always come to an end (no invalid end state).
 *
 * A write of the sender is two steps, as a chunk is not written at once, and it may die between any two. The receiver's
 * wait for the lock stands for its looks at it from time to time.
 *
 * Mutations: LEAVES_EARLY, LEAVES_HELD, CLAIM_HAS_NO_GENERATION, FINISHED_HAS_NO_GENERATION, CLAIM_IS_STORED,
 * OPENS_FIRST, LOOKS_LATE, FINISHES_EARLY; where stores reorder, OPENS_RELAXED.
 */
#define THREADS 2
#define WORDS 3
#define DEPTH 4
#include "../../../test/models/tso.pml"

#define RECEIVER 0
#define SENDER 1

#define CLAIMS 0
#define WHERE 1
#define FINISHED 2

#define CHUNKS 3
#define TRANSFERS 2

/* Two bits each. */
#ifdef CLAIM_HAS_NO_GENERATION
#define CLAIM(generation, first, end) ((first) | (end) << 2)
#else
#define CLAIM(generation, first, end) ((first) | (end) << 2 | (generation) << 4)
#endif
#define FIRST(claim) ((claim) & 3)
#define END(claim) ((claim) >> 2 & 3)
#define GENERATION(claim) ((claim) >> 4)
#ifdef FINISHED_HAS_NO_GENERATION
#define DONE(generation, chunks) (chunks)
#else
#define DONE(generation, chunks) ((chunks) | (generation) << 2)
#endif

byte receiving;
byte copied[CHUNKS];
bool held = true;

/* A chunk of a transfer, by one of both. */
inline copy(transfer, chunk) {
    d_step {
        assert(receiving == transfer && copied[chunk] == 0);
        copied[chunk] = 1
    }
}

/* The claims, if they are as they were seen. If not, they are seen anew. */
inline claim(t, seen, next, won) {
    d_step {
        buffer[t].length == 0 ->
        won = (ram[CLAIMS] == seen);
        if
        :: won -> ram[CLAIMS] = next
        :: else -> skip
        fi;
        seen = ram[CLAIMS]
    }
}

active proctype receiver() {
    byte generation, taken, seen;
    bool won, lost;

    do
    :: generation < TRANSFERS && !lost ->
        d_step {
            generation++;
            receiving = generation
        }
#ifndef OPENS_FIRST
        store(RECEIVER, WHERE, generation);
#endif
#ifdef OPENS_RELAXED
        store(RECEIVER, CLAIMS, CLAIM(generation, 0, CHUNKS));
#else
        store_release(RECEIVER, CLAIMS, CLAIM(generation, 0, CHUNKS));
#endif
#ifdef OPENS_FIRST
        store(RECEIVER, WHERE, generation);
#endif
        load(RECEIVER, CLAIMS, seen);
        do
        :: taken < END(seen) ->
            claim(RECEIVER, seen, CLAIM(generation, taken + 1, END(seen)), won);
            if
            :: won ->
                copy(generation, taken);
                taken++
            :: else -> skip
            fi
        :: else -> break
        od;
        /* Those from END(seen) on are the sender's. */
#ifndef LEAVES_EARLY
        if
        :: END(seen) == CHUNKS -> skip
        :: END(seen) < CHUNKS && ram[FINISHED] == DONE(generation, CHUNKS - END(seen)) -> skip
#ifdef LEAVES_HELD
        :: END(seen) < CHUNKS -> lost = true
#else
        :: END(seen) < CHUNKS && !held -> lost = true
#endif
        fi;
#endif
        atomic {
            assert(lost || copied[0] + copied[1] + copied[2] == CHUNKS);
            receiving = 0;
            copied[0] = 0;
            copied[1] = 0;
            copied[2] = 0;
            taken = 0;
            seen = 0
        }
    :: else -> break
    od
}

/* At any step. */
#define MAY_DIE if :: skip :: goto gone fi

active proctype sender() {
    byte seen, generation, where, done;
    bool won;

end:
    do
    :: FIRST(ram[CLAIMS]) < END(ram[CLAIMS]) ->
#ifdef LOOKS_LATE
        load(SENDER, WHERE, where);
#endif
        load(SENDER, CLAIMS, seen);
        MAY_DIE;
#ifndef LOOKS_LATE
        load(SENDER, WHERE, where);
#endif
        d_step {
            generation = GENERATION(seen);
#ifdef CLAIM_HAS_NO_GENERATION
            generation = where;
#endif
            done = 0
        }
        do
        :: GENERATION(seen) == GENERATION(CLAIM(generation, 0, 0)) && FIRST(seen) < END(seen) ->
            MAY_DIE;
#ifdef CLAIM_IS_STORED
            store(SENDER, CLAIMS, CLAIM(generation, FIRST(seen), END(seen) - 1));
            seen = CLAIM(generation, FIRST(seen), END(seen) - 1);
            won = true;
#else
            claim(SENDER, seen, CLAIM(generation, FIRST(seen), END(seen) - 1), won);
#endif
            if
            :: won ->
                done++;
#ifdef FINISHES_EARLY
                store_release(SENDER, FINISHED, DONE(generation, done));
#endif
                MAY_DIE;
                assert(receiving == where);
                MAY_DIE;
                copy(where, END(seen));
                MAY_DIE;
#ifndef FINISHES_EARLY
                store_release(SENDER, FINISHED, DONE(generation, done))
#endif
            :: else -> skip
            fi
        :: else -> break
        od;
        atomic {
            seen = 0;
            generation = 0;
            where = 0;
            done = 0;
            won = false
        }
    od;
gone:
    held = false
}
