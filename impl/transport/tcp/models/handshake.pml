/* Connections until frames flow: impl/transport/net/wire.h, dial.cc, acceptor.cc, impl/transport/tcp/tcp_setup.cc.
 *
 * Models Dial::take, Acceptor::take, TcpTransport::judge, admit and step_dial of two endpoints of reliable datagrams that
 * both send to the other. Each has or has not a key, and is of this release or of one before, which knows no welcome
 * without a proof.
 *
 *     here                 in the code
 *     phase, way           Peer::phase, and the connection that is tx and rx
 *     dial                 Peer::dial
 *     calls                TcpTransport::sequence_; `known` is Peer::sequence
 *     stage                PendingConnection::state
 *     up, down             what is on a connection: from who called, and to him
 *     left, cut            the caller has closed it, or the listener
 *
 * Abstracted: endpoint 0 has the lower instance. A step is what is done under the setup lock. The listener may close one
 * connection that has not proved itself, as it does when there are too many; nothing else is lost, so that no call is newer
 * than a connection that is up. A call that was put off is made again at any time.
 *
 * Properties: an endpoint is up only with one that has the same key; each frame is taken once, in order; and in the
 * end both have taken all, or both were told that the keys differ.
 *
 * Mutations: KEYLESS_IS_TRUSTED (who says that he has no key is welcome where there is one), CHALLENGE_IS_AN_ERROR (to who
 * said that he has none), FRAMES_BEHIND_HELLO (sent before the welcome), BOTH_COUNT, NEITHER_COUNTS (calls that cross),
 * OLD_CALL_COUNTS (a call that is older than the connection is taken for a new one).
 */
#define FRAMES 2
#define TRIES 2
#define CALLS 4
#define NONE 7

#define DOWN 0
#define DIALING 1
#define UP 2
#define FAILED 3

#define HELLO 1     /* with the call's number */
#define KEYLESS 2   /* a hello that says so */
#define CHALLENGE 3
#define PROOF 4     /* with the key */
#define WELCOME 5   /* with the calls that the listener made */
#define CROSSED 6
#define OTHER_KEY 7
#define FRAME 8

#define NEW 0
#define PROVING 1
#define TAKEN 2
#define OVER 3

chan up[CALLS] = [5] of { byte, byte };
chan down[CALLS] = [5] of { byte, byte };
bool left[CALLS], cut[CALLS];
byte stage[CALLS], number[CALLS]; /* number: of the hello */

byte phase[2], way[2], dial[2], calls[2], known[2], sent[2], taken[2];
bool key[2], older[2];
bool evicted;

#define other (1 - me)
#define caller_of(c) (c / TRIES)

inline cut_off(c) { stage[c] = OVER; cut[c] = true }

inline welcome(c) {
    if
    :: left[c] -> cut_off(c)
    :: true -> /* also if it has left, and the end is still on its way */
        if :: dial[me] != NONE -> left[dial[me]] = true; dial[me] = NONE :: else -> skip fi;
        assert(key[me] == key[other]);
        phase[me] = UP; way[me] = c; known[me] = number[c];
        stage[c] = TAKEN;
        down[c]!WELCOME,calls[me]
    fi
}

/* REQUIRES: whoever calls has proved that he has the key. */
inline admit(c) {
    if
    :: phase[me] == UP ->
#ifdef OLD_CALL_COUNTS
        phase[me] = DOWN; welcome(c)
#else
        assert(number[c] <= known[me]);
        down[c]!CROSSED,0; stage[c] = OVER
#endif
#ifdef BOTH_COUNT
    :: else -> welcome(c)
#else
#ifdef NEITHER_COUNTS
    :: phase[me] != UP && dial[me] != NONE -> down[c]!CROSSED,0; stage[c] = OVER
#else
    :: phase[me] != UP && dial[me] != NONE && caller_of(c) > me -> down[c]!CROSSED,0; stage[c] = OVER
#endif
    :: else -> welcome(c)
#endif
    fi
}

inline hear_call(c) {
    up[c]?note,value;
    if
    :: stage[c] == NEW ->
        number[c] = value;
        if
        :: note == KEYLESS && !older[me] ->
            if
#ifndef KEYLESS_IS_TRUSTED
            :: key[me] -> down[c]!OTHER_KEY,0; stage[c] = OVER
            :: else -> admit(c)
#else
            :: true -> admit(c)
#endif
            fi
        :: else -> down[c]!CHALLENGE,0; stage[c] = PROVING
        fi
    :: stage[c] == PROVING ->
        if
        :: note == PROOF && value == key[me] -> admit(c)
        :: note == PROOF && value != key[me] -> down[c]!OTHER_KEY,0; stage[c] = OVER
#ifdef FRAMES_BEHIND_HELLO
        :: note == FRAME -> cut_off(c)
#endif
        fi
    :: stage[c] == TAKEN ->
        take_frame(c)
    :: stage[c] == OVER
    fi;
    note = 0; value = 0
}

inline take_frame(c) {
    assert(note == FRAME && way[me] == c && value == taken[me]);
    taken[me]++
}

inline hear_answer(c) {
    down[c]?note,value;
    if
    :: note == CHALLENGE ->
#ifdef CHALLENGE_IS_AN_ERROR
        if
        :: !older[me] && !key[me] -> left[c] = true; dial[me] = NONE
        :: else -> up[c]!PROOF,key[me]
        fi
#else
        up[c]!PROOF,key[me]
#endif
    :: note == WELCOME -> phase[me] = UP; way[me] = c; known[me] = value; dial[me] = NONE
    :: note == CROSSED -> left[c] = true; dial[me] = NONE
    :: note == OTHER_KEY -> assert(key[me] != key[other]); left[c] = true; dial[me] = NONE; phase[me] = FAILED
    fi;
    note = 0; value = 0
}

inline send_hello(c) {
    if
    :: older[me] || key[me] -> up[c]!HELLO,calls[me]
    :: else -> up[c]!KEYLESS,calls[me]
    fi
}

#define first_of(e) (e * TRIES)

proctype endpoint(byte me) {
    byte note, value;

    do
    :: atomic {
        (phase[me] == DOWN || phase[me] == DIALING) && dial[me] == NONE && calls[me] < TRIES ->
        dial[me] = first_of(me) + calls[me];
        calls[me]++;
        phase[me] = DIALING;
        send_hello(dial[me]);
#ifdef FRAMES_BEHIND_HELLO
        if :: sent[me] == 0 -> up[dial[me]]!FRAME,0; sent[me] = 1 :: else -> skip fi
#endif
    }
    :: atomic { nempty(up[first_of(other)]) -> hear_call(first_of(other)) }
    :: atomic { nempty(up[first_of(other) + 1]) -> hear_call(first_of(other) + 1) }
    :: atomic {
        !evicted && nempty(up[first_of(other)]) && stage[first_of(other)] < TAKEN ->
        evicted = true; cut_off(first_of(other))
    }
    :: atomic { dial[me] != NONE && nempty(down[dial[me]]) -> hear_answer(dial[me]) }
    :: atomic { dial[me] != NONE && empty(down[dial[me]]) && cut[dial[me]] -> left[dial[me]] = true; dial[me] = NONE }
    :: atomic {
        phase[me] == UP && caller_of(way[me]) == me && nempty(down[way[me]]) ->
        down[way[me]]?note,value;
        take_frame(way[me]);
        note = 0; value = 0
    }
    :: atomic {
        phase[me] == UP && sent[me] < FRAMES ->
        if
        :: caller_of(way[me]) == me -> up[way[me]]!FRAME,sent[me]
        :: else -> down[way[me]]!FRAME,sent[me]
        fi;
        sent[me]++
    }
    :: atomic { phase[me] == FAILED && phase[other] == FAILED -> break }
    :: atomic { taken[me] == FRAMES && sent[me] == FRAMES && taken[other] == FRAMES -> break }
    od
}

init {
    atomic {
        dial[0] = NONE; dial[1] = NONE; way[0] = NONE; way[1] = NONE;
        if :: key[0] = true :: key[0] = false fi;
        if :: key[1] = true :: key[1] = false fi;
        if :: older[0] = true :: older[0] = false fi;
        if :: older[1] = true :: older[1] = false fi;
        run endpoint(0);
        run endpoint(1)
    }
}
