/* Answers in the slot of a question, and the ring that follows them: impl/transport/shm/bell.h draws the protocol; it is
 * in shm_answers.cc, shm_datapath.h and shm_transport.cc.
 *
 * Models, of who answers (the owner of the slot), send_answer, connect, join and wake_owner; of who asked (its sender),
 * await_answers, look_at_answers, take_answers, close_answers, close_all_answers, accept_hello, arm and disarm.
 *
 *     here          in the code
 *     ANSWERS       how many frames SlotControl::answers was given: the first words in it
 *     CLOSED        SlotControl::answers_closed
 *     HELLO         SlotControl::answered, in the slot that who answers has taken in the other region
 *     ATTENTION     RegionHeader::attention of that region; the state of the slot goes with it (slots.pml)
 *     RING          how many frames the ring of that slot was given (ring.pml)
 *     ARMED, bell   as in wake.pml
 *     awaited       ShmAnswers::awaited; accepted: Peer::in is there
 *
 * Abstracted: a frame is a line. The slot may have no room for answers at any time. Who asked looks no more at any
 * time, not after many looks. A progress that would find nothing is not made. No timer wakes a sleeper; that the region
 * can always be entered is assumed (the code asks again), and that the bell can be rung (wake.pml).
 *
 * Property: when nothing can happen any more, every frame was taken, and none of the ring before one of the answers.
 *
 * Mutations: ANSWER_WITHOUT_FENCE, CLOSE_WITHOUT_FENCE, CLOSE_LOOKS_FIRST, ARM_LEAVES_OPEN (a sleeper says that it looks
 * at answers), ENTERS_LATER (who finds the answers closed behind its frame enters with its next one only), NO_WAKE
 * (entering wakes nobody), FORGETS_COUNT (what the hello says of answers is not looked at), RING_FIRST.
 */
#define FRAMES 3

#define THREADS 2
#define WORDS 6
#define DEPTH 4
#include "../../../test/models/tso.pml"

#define ASKED 0
#define ANSWERING 1
#define ANSWERS 0
#define CLOSED 1
#define HELLO 2
#define ATTENTION 3
#define RING 4
#define ARMED 5

#ifdef ANSWER_WITHOUT_FENCE
#define fence_answer(t) skip
#else
#define fence_answer fence
#endif
#ifdef CLOSE_WITHOUT_FENCE
#define fence_close(t) skip
#else
#define fence_close fence
#endif

bool bell;
bool awaited = true, accepted;
byte answers_taken, ring_taken;
byte done;

#define WORK (ram[ATTENTION] || (awaited && ram[ANSWERS] != answers_taken) || (accepted && ram[RING] != ring_taken))

inline disarm() {
    armed = false;
    store(ASKED, ARMED, 0);
    bell = false
}

inline accept() {
    exchange(ASKED, ATTENTION, 0, seen);
    load(ASKED, HELLO, answered);
    seen = 0;
    d_step {
        accepted = true;
#ifndef FORGETS_COUNT
        awaited = awaited || answered > answers_taken
#endif
    }
}

inline take_answers() {
    if
    :: awaited ->
        load(ASKED, ANSWERS, seen);
        d_step {
            answers_taken = seen;
            seen = 0;
            awaited = !accepted
        }
    :: else -> skip
    fi
}

inline take_ring() {
    if
    :: accepted ->
        load(ASKED, RING, seen);
        d_step {
            assert(seen == ring_taken || answers_taken == answered);
            ring_taken = seen;
            seen = 0
        }
    :: else -> skip
    fi
}

inline progress() {
    load(ASKED, ATTENTION, seen);
    if
    :: seen -> accept()
    :: else -> skip
    fi;
    if
    :: armed -> disarm()
    :: else -> skip
    fi;
#ifdef RING_FIRST
    take_ring();
    take_answers();
#else
    take_answers();
    take_ring();
#endif
    waits = false
}

inline look_for_answers() {
    load(ASKED, ANSWERS, seen);
    if
    :: seen != answers_taken -> found = true
    :: else -> skip
    fi;
    seen = 0
}

inline close_answers() {
#ifdef CLOSE_LOOKS_FIRST
    look_for_answers();
    store(ASKED, CLOSED, 1);
    fence_close(ASKED);
#else
    store(ASKED, CLOSED, 1);
    fence_close(ASKED);
    look_for_answers();
#endif
    awaited = found
}

inline arm() {
    armed = true;
#ifndef ARM_LEAVES_OPEN
    if
    :: awaited -> close_answers()
    :: else -> skip
    fi;
#endif
    store(ASKED, ARMED, 1);
    membarrier(ASKED);
    load(ASKED, ATTENTION, seen);
    waits = found || seen;
    seen = 0;
    if
    :: accepted && !waits ->
        load(ASKED, RING, seen);
        waits = seen != ring_taken;
        seen = 0
    :: else -> skip
    fi;
    found = false;
    if
    :: waits -> disarm()
    :: else -> skip
    fi
}

active proctype asked() {
    byte seen, answered;
    bool armed, waits, sleeps, found;

    if
    :: sleeps = true
    :: skip
    fi;
end:
    do
    :: (armed && bell) || (!armed && WORK) -> progress()  /* if armed, it slept until now */
#ifndef ARM_LEAVES_OPEN
    :: !armed && awaited && !accepted -> close_answers(); found = false
#endif
    :: sleeps && !armed && !waits -> arm()
    od
}

inline wake() {
    load(ANSWERING, ARMED, seen);
    if
    :: seen ->
        exchange(ANSWERING, ARMED, 0, seen);
        if
        :: seen -> bell = true
        :: else -> skip
        fi
    :: else -> skip
    fi;
    seen = 0
}

inline enter() {
    entered = true;
    store(ANSWERING, HELLO, written);
    fetch_or(ANSWERING, ATTENTION, 1);
#ifndef NO_WAKE
    if
    :: written -> fence(ANSWERING); wake()
    :: else -> skip
    fi
#endif
}

active proctype answering() {
    byte seen, written, published;
    bool entered;
    bool writable = true;

    do
    :: written + published < FRAMES ->
        if
        :: writable ->
            load(ANSWERING, CLOSED, seen);
            writable = !seen;
            seen = 0
        :: writable -> writable = false  /* no room */
        :: else -> skip
        fi;
        if
        :: writable ->
            written++;
            store_release(ANSWERING, ANSWERS, written);
            fence_answer(ANSWERING);
            load(ANSWERING, CLOSED, seen);
            if
            :: seen ->
                writable = false;
                seen = 0;
#ifndef ENTERS_LATER
                enter()
#endif
            :: else -> skip
            fi
        :: else ->
            if
            :: !entered -> enter()
            :: else -> skip
            fi;
            published++;
            store_release(ANSWERING, RING, published);
            wake()
        fi
    :: else -> break
    od;
    done = written + published
}



active proctype observer() {
    timeout;
    assert(done == FRAMES);
    assert(answers_taken + ring_taken == FRAMES)
}
