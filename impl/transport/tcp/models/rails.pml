/* Parts of frames that come by a rail, and the first connection: impl/transport/tcp/rails.h.
 *
 * Models TcpTransport::send_split, push_rail, receive_split, take_split_ack, lose_rail, call_rail, ask_for_rail,
 * admit_rail, step_rail and look_at_return of two endpoints that send to each other, one rail. Endpoint 0 calls.
 *
 *     here              in the code
 *     first             the first connection, a direction each: Split frames and SplitAcks, in order
 *     rail              the rail's socket, a direction each: numbers of parts, in order, and the call that it came of
 *     hello, answer     the handshake of a call: its number, the parts that the other end has of the stream, and
 *                       whether it only asks (RailCall::asks); answer 0 is a refusal
 *     call, up          the call that the rail came of; Rail::State::Up
 *     dial              the call that is under way, or 0: Rail::dial; moving: it is Rail::is_moving's
 *     broken            connections, by their calls
 *     begun, answered   SplitQueue::end_, first_
 *     sent, furthest    Stream::sent, furthest, in parts
 *     taken             SplitArrival::taken, in parts; whole: SplitArrival::whole
 *     waits             SplitArrival::active: the next frame of the first connection is not looked at
 *
 * Abstracted: a part is taken in one piece; the part on the first connection is left out, as it comes with its frame. A
 * connection breaks at any time, BREAKS times, with whatever is in it, the answer included. Nobody is told: an end
 * notices if it has sent something that was not answered, or waits for an answer. Endpoint 0 asks at any time whether the
 * rail is still there, ASKS times, and as often as it likes when the rail is broken, but only while it waits for parts. At
 * any time, RETURNS times, it calls a rail that is up by another link, and gives such a call up GIVES_UP times, though it
 * would have been answered. It may go on sending by the old connection meanwhile, which the code does not.
 *
 * Properties: each part is taken once, in the order of the frames; when nothing can happen any more, all frames are whole
 * and answered, in both directions.
 *
 * Mutations: RESUMES_AT_ANSWERED (goes on where the answers end), RESUMES_AT_SENT (where the sender was),
 * FORGETS_FURTHEST (what was sent before a resumption cannot have come), NEVER_ASKS (who has lost the rail would have to
 * tell, and that would stand behind the frame for whose parts the other one waits), ASKS_AND_READS (what comes by the
 * old connection is taken while a call is under way that has said what was there before), MOVES_AND_READS (the same, of a
 * rail that goes to another link).
 */
#define FRAMES 2
#define MOST 2          /* splits that are not answered */
#ifndef BREAKS
#define BREAKS 2
#endif
#define ASKS 1
#ifndef RETURNS
#define RETURNS 0
#endif
#ifndef GIVES_UP
#define GIVES_UP 0
#endif
#define CALLS 11

#define SPLIT 0
#define ANSWER 1

chan first[2] = [6] of { byte, byte };
chan rail[2] = [3] of { byte, byte };
chan hello = [1] of { byte, byte, bool };
chan answer = [1] of { byte, byte };
byte begun[2], answered[2], sent[2], furthest[2], taken[2], whole[2], call[2];
bool waits[2], owed[2], up[2];
bool broken[CALLS + 1];
bool moving;
byte dial, calls, asks, returns, given_up;

#define other (1 - me)

#ifdef FORGETS_FURTHEST
#define most sent[me]
#else
#define most furthest[me]
#endif

inline drain(pipe) {
    do
    :: len(pipe) > 0 -> pipe?any, any
    :: else -> break
    od;
    any = 0
}

inline resume(where) {
#ifdef RESUMES_AT_ANSWERED
    sent[me] = answered[me]
#else
#ifdef RESUMES_AT_SENT
    skip
#else
    sent[me] = where
#endif
#endif
}

/* A call that was given up may be answered still, by who does not know it: it takes the place of the last one. */
inline begin_call(only_asks) {
    calls++;
    assert(calls <= CALLS);
    dial = calls;
    if
    :: len(hello) > 0 -> hello?any, any, flag
    :: else
    fi;
    hello!calls, taken[0], only_asks
}

inline end_call() {
    broken[dial] = true;
    if
    :: call[1] == dial -> drain(rail[1])
    :: else
    fi;
    dial = 0;
    moving = false;
    drain(answer)
}

proctype endpoint(byte me) {
    byte number, where, any;
    bool flag;

end_idle:
    do
    :: d_step { /* send_split */
        begun[me] < FRAMES && begun[me] - answered[me] < MOST && nfull(first[me]) ->
        first[me]!SPLIT, begun[me];
        begun[me]++
    }
    :: d_step { /* push_rail: what is sent into a broken connection is gone */
        up[me] && sent[me] < begun[me] && nfull(rail[me]) ->
        if
        :: !broken[call[me]] -> rail[me]!call[me], sent[me]
        :: else
        fi;
        sent[me]++;
        if
        :: furthest[me] < sent[me] -> furthest[me] = sent[me]
        :: else
        fi
    }
    :: d_step { /* parse: the next frame, unless one is being put together */
        !waits[me] && first[other]?[SPLIT, number] ->
        first[other]?SPLIT, number;
        assert(number == whole[me]);
        waits[me] = true
    }
    :: d_step { /* take_split_ack */
        !waits[me] && first[other]?[ANSWER, number] ->
        first[other]?ANSWER, number;
        assert(number <= most);
        answered[me] = number;
        if
        :: sent[me] < number -> sent[me] = number
        :: else
        fi
    }
    :: d_step { /* receive_split; a call that asks has said what was there before, so it is given up */
#ifdef MOVES_AND_READS
        waits[me] && up[me] && rail[other]?[eval(call[me]), number] ->
#else
        waits[me] && up[me] && !(me == 0 && moving) && rail[other]?[eval(call[me]), number] ->
#endif
        rail[other]?eval(call[me]), number;
        assert(number == taken[me]);
        taken[me]++;
        whole[me]++;
        owed[me] = true;
        waits[me] = false;
#ifndef ASKS_AND_READS
        if
        :: me == 0 && dial && !moving -> end_call()
        :: else
        fi
#endif
    }
    :: d_step { /* send_control */
        owed[me] && nfull(first[me]) ->
        first[me]!ANSWER, whole[me];
        owed[me] = false
    }
    :: d_step { /* lose_rail: what was sent is not acknowledged */
        up[me] && broken[call[me]] && answered[me] < begun[me] ->
        up[me] = false;
        if
        :: me == 0 && dial -> end_call()
        :: else
        fi
    }
    :: d_step { /* call_rail */
        me == 0 && !up[0] && !dial ->
        begin_call(false)
    }
    :: d_step { /* step_rail: the call has failed */
        me == 0 && dial && broken[dial] ->
        moving = false;
        dial = 0
    }
#if RETURNS
    :: d_step { /* look_at_return: by another link */
        me == 0 && up[0] && !dial && returns < RETURNS ->
        returns++;
        moving = true;
        begin_call(false)
    }
#endif
#if GIVES_UP
    :: d_step { /* put_off_return: it takes too long */
        me == 0 && moving && given_up < GIVES_UP ->
        given_up++;
        end_call()
    }
#endif
#ifndef NEVER_ASKS
    :: d_step { /* ask_for_rail */
        me == 0 && up[0] && waits[0] && !dial && len(rail[1]) == 0 && (broken[call[0]] || asks < ASKS) ->
        if
        :: !broken[call[0]] -> asks++
        :: else
        fi;
        begin_call(true)
    }
#endif
    :: d_step { /* admit_rail: the old connection is closed, with whatever is in it */
        me == 1 && len(hello) > 0 && len(answer) == 0 ->
        hello?number, where, flag;
        if
        :: flag && up[1] ->
            if
            :: !broken[number] -> answer!0, 0
            :: else
            fi
        :: !(flag && up[1]) && (where < answered[1] || where > most) ->
            assert(broken[number])
        :: else ->
            resume(where);
            broken[call[1]] = true;
            drain(rail[0]);
            drain(rail[1]);
            call[1] = number;
            up[1] = true;
            if
            :: !broken[number] -> answer!number, taken[1]
            :: else
            fi
        fi;
        number = 0;
        where = 0;
        flag = false
    }
    :: d_step { /* step_rail: the answer */
        me == 0 && dial && len(answer) > 0 ->
        answer?number, where;
        if
        :: number == 0 -> calls--
        :: else ->
            assert(number == dial && answered[0] <= where && where <= most);
            resume(where);
            call[0] = number;
            up[0] = true
        fi;
        dial = 0;
        moving = false;
        number = 0;
        where = 0
    }
    od
}

/* A connection breaks, with whatever is in it: the one that the caller has, or that of its call. */
proctype link() {
    byte breaks, any;

end_whole:
    do
    :: d_step {
        breaks < BREAKS && up[0] && !broken[call[0]] ->
        breaks++;
        broken[call[0]] = true;
        drain(rail[0]);
        if
        :: call[1] == call[0] -> drain(rail[1])
        :: else
        fi
    }
    :: d_step {
        breaks < BREAKS && dial && !broken[dial] ->
        breaks++;
        broken[dial] = true;
        drain(answer);
        if
        :: call[1] == dial -> drain(rail[1])
        :: else
        fi
    }
    od
}

active proctype observer() {
    run endpoint(0);
    run endpoint(1);
    run link();
    timeout;
    assert(answered[0] == FRAMES && answered[1] == FRAMES)
}
