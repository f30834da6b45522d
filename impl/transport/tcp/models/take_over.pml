/* The first connection's stream goes on over another link: impl/transport/tcp/take_over.h.
 *
 * Models TcpTransport::push_kept, begin_take_over, step_first, admit_first, take_resume and lose_first of two endpoints
 * that send to each other. Endpoint 0 calls.
 *
 *     here              in the code
 *     conn              the connection that carries frames: Peer::tx and rx; 0: none
 *     sent, acked, read of a connection, a direction each: bytes that the sender's kernel was given, that the receiver's
 *                       kernel has, and that the receiver has, all as positions of the sender's stream
 *     next, oldest      KeptBytes: what is sent next, and the oldest byte that can still be sent again
 *     taken             FirstLink::received: what was read of the other's stream
 *     hello, answer     the handshake of a call, and what the called has of the caller's stream
 *     resume            of a connection: the Resume frame, first on it: 1 on its way, 2 with the other's kernel, 3 read;
 *                       has: what it says
 *     calling           FirstLink::calling: from the first suspicion until a call was answered
 *     dial              the call that is under way, or 0
 *     confirmed         FirstLink::confirmed: endpoint 1 has read the Resume frame
 *     gone              the connection, or its link: nothing arrives any more
 *     closed            an end has closed it, which the other may see
 *
 * Abstracted: a frame is a byte. A link breaks at any time, BREAKS times; endpoint 0 takes a good connection for broken
 * DOUBTS times, and gives a call up that would have been answered GIVES_UP times. Calls may arrive in any order. What the
 * kernel says to be acknowledged may be known late.
 *
 * Properties: each frame is taken once, in order; what a peer asks to be sent again is still there; no connection that is
 * closed for another one is taken for the end of the peer; when nothing can happen any more, all frames are there.
 *
 * Mutations: STATES_EARLY (the caller says in its hello what it has, and the other goes on there), UNDRAINED (it says what
 * it has, with more in the old socket), FORGETS_WHILE_CALLING (what arrives after the other has looked for the last time is
 * acknowledged, and lost), RESUMES_AT_SENT, OLD_CALL_COUNTS, ENDS_COUNT_WHILE_CALLING and ENDS_COUNT_UNCONFIRMED (the end of
 * a connection that was left is taken for the peer's).
 */
#define FRAMES 2
#define KEPT 1
#define BREAKS 1
#define DOUBTS 1
#define GIVES_UP 1
#define CALLS 4

#define at(c, d) ((c) * 2 + (d))
#define other (1 - me)

chan hello = [2] of { byte, byte };
chan answer = [1] of { byte, byte };
byte sent[12], acked[12], read[12];
byte resume[6], has[6];
bool gone[6], closed[6];
byte conn[2], next[2], oldest[2], taken[2];
byte dial, calls, newest, admitted, old, breaks, doubts, given_up;
bool calling, confirmed, swapped;

inline take_all(c) {
    do
    :: read[at(c, other)] < acked[at(c, other)] ->
        assert(read[at(c, other)] == taken[me]);
        read[at(c, other)]++;
        taken[me]++
    :: else -> break
    od
}

inline drain(c) {
#ifdef UNDRAINED
    skip
#else
    if
    :: me == 1 && resume[c] == 2 -> resume[c] = 3
    :: else
    fi;
    take_all(c)
#endif
}

/* The stream goes on at `position`, on connection `c`. */
inline go_on(c, position) {
    assert(oldest[me] <= position && position <= next[me]);
#ifndef RESUMES_AT_SENT
    next[me] = position;
#endif
    sent[at(c, me)] = next[me];
    acked[at(c, me)] = next[me];
    read[at(c, me)] = next[me]
}

proctype endpoint(byte me) {
    byte number, position;

end_idle:
    do
    :: d_step { /* push_kept */
        conn[me] && (me == 0 -> !calling : confirmed) && next[me] < FRAMES && next[me] - oldest[me] < KEPT ->
        assert(next[me] >= oldest[me]);
        next[me]++;
        sent[at(conn[me], me)]++
    }
    :: d_step { /* KeptBytes::forget, by what the kernel says */
        conn[me] &&
#ifdef FORGETS_WHILE_CALLING
        (me == 0 || confirmed) &&
#else
        (me == 0 -> !calling : confirmed) &&
#endif
        oldest[me] < acked[at(conn[me], me)] ->
        oldest[me] = acked[at(conn[me], me)]
    }
    :: d_step { /* receive */
        conn[me] && (me == 0 || confirmed) && read[at(conn[me], other)] < acked[at(conn[me], other)] ->
        assert(read[at(conn[me], other)] == taken[me]);
        read[at(conn[me], other)]++;
        taken[me]++
    }
    :: d_step { /* take_resume */
        me == 1 && !confirmed && resume[conn[1]] == 2 ->
        resume[conn[1]] = 3;
        confirmed = true;
#ifndef STATES_EARLY
        go_on(conn[1], has[conn[1]])
#endif
    }
    :: d_step { /* lose_first: the connection has ended; of who is not about to leave it, that is the peer's end */
        conn[me] && closed[conn[me]] &&
#ifdef ENDS_COUNT_WHILE_CALLING
        me == 0 ->
#else
#ifdef ENDS_COUNT_UNCONFIRMED
        me == 1 ->
#else
        (me == 0 -> !calling : confirmed) ->
#endif
#endif
        assert(false)
    }
    :: d_step { /* begin_take_over */
        me == 0 && !dial && nfull(hello) && (calling || gone[conn[0]] || doubts < DOUBTS) ->
        if
        :: !calling && !gone[conn[0]] -> doubts++
        :: else
        fi;
        calling = true;
        calls++;
        assert(calls <= CALLS);
        dial = calls;
        hello!dial, taken[0]
    }
    :: d_step { /* call_first_again: the call has failed, or takes too long */
        me == 0 && dial && (gone[dial] || given_up < GIVES_UP) ->
        if
        :: !gone[dial] -> given_up++
        :: else
        fi;
        closed[dial] = true;
        gone[dial] = true;
        dial = 0
    }
    :: d_step { /* step_first: the answer */
        me == 0 && len(answer) > 0 ->
        answer?number, position;
        if
        :: number == dial ->
            drain(conn[0]);
            closed[conn[0]] = true;
            gone[conn[0]] = true;
            conn[0] = dial;
            dial = 0;
            calling = false;
            resume[conn[0]] = 1;
            has[conn[0]] = taken[0];
            go_on(conn[0], position)
        :: else
        fi;
        number = 0;
        position = 0
    }
    :: d_step { /* calls by two links: the second one is seen first */
        me == 1 && len(hello) > 1 && !swapped ->
        swapped = true;
        hello?number, position;
        hello!number, position;
        number = 0;
        position = 0
    }
    :: d_step { /* admit_first: reads what there is, and answers */
        me == 1 && !admitted && len(hello) > 0 && len(answer) == 0 ->
        hello?number, position;
        if
#ifdef OLD_CALL_COUNTS
        :: true ->
#else
        :: number > newest ->
#endif
            newest = number;
            admitted = number;
            old = conn[1];
            drain(old);
            conn[1] = 0;
            confirmed = false;
#ifdef STATES_EARLY
            go_on(number, position);
            confirmed = true;
#endif
            if
            :: !gone[number] -> answer!number, taken[1]
            :: else
            fi
#ifndef OLD_CALL_COUNTS
        :: else
#endif
        fi;
        number = 0;
        position = 0
    }
    :: d_step { /* and closes the old connection, to which something may have come meanwhile */
        me == 1 && admitted ->
        closed[old] = true;
        gone[old] = true;
        conn[1] = admitted;
        admitted = 0;
        old = 0
    }
    od
}

/* What was sent arrives in its order, until the link breaks. */
proctype link(byte c) {
end_link:
    do
    :: d_step { !gone[c] && resume[c] == 1 -> resume[c] = 2 }
    :: d_step { !gone[c] && resume[c] > 1 && acked[at(c, 0)] < sent[at(c, 0)] -> acked[at(c, 0)]++ }
    :: d_step { !gone[c] && acked[at(c, 1)] < sent[at(c, 1)] -> acked[at(c, 1)]++ }
    :: d_step {
        !gone[c] && breaks < BREAKS && (c == conn[0] || c == dial) ->
        breaks++;
        gone[c] = true
    }
    od
}

active proctype observer() {
    d_step {
        calls = 1;
        newest = 1;
        conn[0] = 1;
        conn[1] = 1;
        confirmed = true;
        resume[1] = 3
    };
    run endpoint(0);
    run endpoint(1);
    run link(1);
    run link(2);
    run link(3);
    run link(4);
    timeout;
    assert(taken[0] == FRAMES && taken[1] == FRAMES)
}
