/* Who was called and whose first link is dead lets the caller know: impl/transport/tcp/take_over.h, tcp_take_over.cc.
 *
 * Models TcpTransport::look_at_first, close_own_rails, first_ends, lose_rail, look_at_ends, ask_for_rail and look_at_links of
 * two endpoints that send to each other, with a first connection and one rail, on two links. Endpoint 0 calls.
 *
 *     here              in the code
 *     dead              links: nothing arrives by such a one, and nobody is notified
 *     on                the link of the first connection
 *     wire, inbox       of the first stream, by its sender: what the other end's kernel does not have, and what it has and
 *                       the other end has not read
 *     lost              FirstLink::lost
 *     up, rail_link     Rail::State::Up, and the link of the connection that the rail is or was
 *     given, arrived, read of that, a direction each: parts that the sender's kernel was given, that the receiver's kernel
 *                       has, and that the receiver has, as positions of the sender's stream
 *     closing, gone     an end has closed it, in order; its kernel knows it no more
 *     end_seen          the other's end, or a reset, has arrived at this end: POLLRDHUP
 *     longs, answered   SplitQueue: frames that were divided, and those that are answered
 *     taken, waits      SplitArrival::taken, in parts; active: nothing further is read of the first connection
 *     poked             FirstLink::poked: since the link has died
 *
 * Abstracted: a frame is short, or has one part on the rail. That streams go on where they were is modelled in rails.pml and
 * take_over.pml: here a call is answered in the same step, by a link that is not dead, and what is not on the other side is
 * sent again. Links die DEATHS times in all and return RETURNS times; a reset vanishes with a dead link, and LOSSES times by
 * a good one. Who has something on a dead link that is not acknowledged finds that out; of who was called, the kernel may do
 * so, too. Before an end resets its rails again, the other has found out, or has what it waits for, if it can
 * (caller_goes_on). What a kernel sends to a socket that is no more, a keepalive at least, brings a reset. A caller of whom
 * both connections are on a dead link, and who sends nothing, finds out by its kernel alone, after a minute
 * (nobody_can_tell). Left out: a link that returns after the kernel of who was called has given its connection up; the
 * caller's is reset then, which is the peer's end.
 *
 * Properties: each part is taken once, in order; when nothing can happen any more, all frames are there and answered, or both
 * links are dead. There is no cycle of states, so that this comes about in every schedule.
 *
 * Mutations: CLOSES_IN_ORDER (rails are closed and not reset: the end stands behind what the caller does not read),
 * TELLS_NOBODY (who was called waits), NO_PROBE (a caller that loses a rail sends nothing: a cycle), READS_FIRST (it looks at
 * the end of a rail when all before it is read), POKES_ONCE (rails that came up later are not reset), WAITS_WHEN_LOST (nor
 * when the kernel has ended the connection), NO_KEEPALIVE (a reset that vanished is never made up for), ASKS_BY_FIRST (rails
 * are asked for by the link of the first connection alone), ASKS_FOR_ITS_OWN (not when what they were given is not answered).
 */
#ifndef FRAMES_0
#define FRAMES_0 1
#endif
#ifndef FRAMES_1
#define FRAMES_1 2
#endif
#define FRAMES(e) ((e) == 0 -> FRAMES_0 : FRAMES_1)
#define MOST 2          /* splits that are not answered */
#ifndef DEATHS
#define DEATHS 2
#endif
#ifndef RETURNS
#define RETURNS 1
#endif
#ifndef LOSSES
#define LOSSES 0
#endif
#define ROOM 1          /* parts that a kernel takes */

#define SHORT 0
#define LONG 1
#define ANSWER 2
#define PROBE 3

#define other (1 - me)
#define unacked(e) (len(wire[e]) > 0)
#define drained (!waits[0] && !waits[1] && len(inbox[0]) == 0 && len(inbox[1]) == 0)

/* In the time between two resets, who calls finds out, or gets what it waits for. */
#define caller_goes_on (unacked(0) || (waits[0] && !dead[rail_link]))
#define nobody_can_tell (up[0] && rail_link == on)
#define parts_waited_for (waits[0] && read[1] == arrived[1])
#ifdef ASKS_FOR_ITS_OWN
#define parts_missing parts_waited_for
#else
#define parts_missing (parts_waited_for || answered[0] < longs[0])
#endif

chan wire[2] = [6] of { byte };
chan inbox[2] = [6] of { byte };
bool dead[2], lost[2], up[2], waits[2];
byte on, rail_link, given[2], arrived[2], read[2];
bool closing[2], gone[2], end_seen[2];
byte begun[2], longs[2], answered[2], taken[2], frames[2], deaths, returns, losses;
bool poked;

/* Discards what is not sent; the other end sees it at once, unless it vanishes. */
inline reset(e, vanishes) {
    gone[e] = true;
    closing[e] = false;
    given[e] = arrived[e];
    if
    :: !dead[rail_link] && !vanishes -> end_seen[1 - (e)] = true
    :: else
    fi
}

/* A kernel resets what has unread bytes; otherwise the end follows what is on its way. */
inline close_in_order(e) {
    if
    :: arrived[1 - (e)] > read[1 - (e)] -> reset(e, false)
    :: else -> closing[e] = true
    fi
}

inline begin_direction(e) {
    assert(answered[e] <= taken[1 - (e)] && taken[1 - (e)] <= longs[e]);
    given[e] = taken[1 - (e)];
    arrived[e] = taken[1 - (e)];
    read[e] = taken[1 - (e)];
    closing[e] = false;
    gone[e] = false;
    end_seen[e] = false
}

/* A call for the rail and its answer, by a link. What is left of the connection before is looked at no more. */
inline call_rail(link) {
    rail_link = link;
    begin_direction(0);
    begin_direction(1);
    up[0] = true;
    up[1] = true
}

/* By who calls, with what it sends on the first connection because of that. */
inline lose_rail_of_caller() {
    close_in_order(0);
    up[0] = false;
#ifndef NO_PROBE
    if
    :: len(wire[0]) == 0 -> wire[0]!PROBE
    :: else
    fi
#endif
}

inline lose_rail_of_called(vanishes) {
#ifdef CLOSES_IN_ORDER
    close_in_order(1);
#else
    reset(1, vanishes);
#endif
    up[1] = false
}

inline close_own_rails(vanishes) {
    poked = true;
    if
    :: up[1] -> lose_rail_of_called(vanishes)
    :: else
    fi
}

proctype endpoint(byte me) {
    byte kind;

end_idle:
    do
    :: d_step { /* a short frame */
        begun[me] < FRAMES(me) && len(wire[me]) < 3 ->
        wire[me]!SHORT;
        begun[me]++
    }
    :: d_step { /* send_split; without a rail a frame is not divided */
        up[me] && begun[me] < FRAMES(me) && longs[me] - answered[me] < MOST && len(wire[me]) < 3 ->
        wire[me]!LONG;
        begun[me]++;
        longs[me]++
    }
    :: d_step { /* push_rail */
        up[me] && given[me] < longs[me] && given[me] - arrived[me] < ROOM ->
        given[me]++
    }
    :: d_step { /* parse */
        !waits[me] && len(inbox[other]) > 0 ->
        inbox[other]?kind;
        if
        :: kind == SHORT -> frames[me]++
        :: kind == LONG -> waits[me] = true
        :: kind == ANSWER -> answered[me]++; assert(answered[me] <= longs[me])
        :: kind == PROBE
        fi;
        kind = 0
    }
    :: d_step { /* receive_split */
        waits[me] && up[me] && read[other] < arrived[other] ->
        assert(read[other] == taken[me]);
        read[other]++;
        taken[me]++;
        frames[me]++;
        waits[me] = false;
        wire[me]!ANSWER
    }
    :: d_step { /* look_at_links: the rail's link is dead */
        up[me] && dead[rail_link] && given[me] > arrived[me] ->
        if
        :: me == 0 -> lose_rail_of_caller()
        :: else -> lose_rail_of_called(false)
        fi
    }
    :: d_step { /* look_at_ends */
#ifdef READS_FIRST
        up[me] && end_seen[me] && read[other] == arrived[other] ->
#else
        up[me] && end_seen[me] ->
#endif
        if
        :: me == 0 -> lose_rail_of_caller()
        :: else -> lose_rail_of_called(false)
        fi
    }
    :: d_step { /* look_at_first, of who calls */
        me == 0 && !lost[0] && dead[on] && (unacked(0) || nobody_can_tell) ->
        lost[0] = true
    }
    :: d_step { /* call_first, admit_first, adopt_first, take_resume */
        me == 0 && lost[0] && drained && !(dead[0] && dead[1]) ->
        on = (dead[on] -> 1 - on : on);
        lost[0] = false;
        lost[1] = false;
        poked = false
    }
    :: d_step { /* call_rail: by its own link, or by the other */
        me == 0 && !up[0] && !(dead[0] && dead[1]) ->
        call_rail((dead[1] -> 0 : 1))
    }
    :: d_step { /* ask_for_rails: parts do not come, or are not answered; by the links in turn. Refused unless it is lost */
#ifdef ASKS_BY_FIRST
        me == 0 && up[0] && !up[1] && !end_seen[0] && parts_missing && !dead[on] ->
#else
        me == 0 && up[0] && !up[1] && !end_seen[0] && parts_missing && !(dead[0] && dead[1]) ->
#endif
        call_rail((dead[on] -> 1 - on : on))
    }
#ifndef TELLS_NOBODY
    :: d_step { /* look_at_first, of who was called */
#ifdef WAITS_WHEN_LOST
        me == 1 && up[1] && !lost[1] && dead[on] && unacked(1) &&
#else
        me == 1 && up[1] && dead[on] && unacked(1) &&
#endif
#ifdef POKES_ONCE
        !poked ->
#else
        (!poked || !caller_goes_on) ->
#endif
        close_own_rails(false)
    }
#if LOSSES
    :: d_step { /* the same, and the reset vanishes */
        me == 1 && up[1] && dead[on] && unacked(1) && (!poked || !caller_goes_on) && losses < LOSSES ->
        losses++;
        close_own_rails(true)
    }
#endif
    :: d_step { /* first_ends, first_stops: the kernel has given the connection up */
        me == 1 && !lost[1] && dead[on] && unacked(1) ->
        lost[1] = true;
        close_own_rails(false)
    }
#endif
    od
}

/* What kernels do. */
proctype kernel(byte me) {
    byte kind, c;

end_quiet:
    do
    :: d_step { /* of the first connection */
        !dead[on] && !lost[0] && !lost[1] && len(wire[me]) > 0 && len(inbox[me]) < 2 ->
        wire[me]?kind;
        inbox[me]!kind;
        kind = 0
    }
    :: d_step { /* of the rail, as long as there is room at the other end */
        !dead[rail_link] && !gone[me] && !gone[other] &&
            given[me] > arrived[me] &&
            arrived[me] - read[me] < ROOM ->
        arrived[me]++
    }
    :: d_step { /* the end behind it */
        closing[me] && !dead[rail_link] && given[me] == arrived[me] ->
        closing[me] = false;
        gone[me] = true;
        end_seen[other] = true
    }
#ifndef NO_KEEPALIVE
    :: d_step { /* a socket that is no more */
        up[me] && !dead[rail_link] && gone[other] && !end_seen[me] ->
        end_seen[me] = true
    }
#endif
    od
}

proctype links() {
end_links:
    do
    :: d_step { deaths < DEATHS && !dead[0] -> deaths++; dead[0] = true }
    :: d_step { deaths < DEATHS && !dead[1] -> deaths++; dead[1] = true }
    :: d_step { returns < RETURNS && dead[0] && !(lost[1] && on == 0) -> returns++; dead[0] = false }
    :: d_step { returns < RETURNS && dead[1] && !(lost[1] && on == 1) -> returns++; dead[1] = false }
    od
}

active proctype observer() {
    d_step {
        rail_link = 1;
        up[0] = true;
        up[1] = true
    };
    run endpoint(0);
    run endpoint(1);
    run kernel(0);
    run kernel(1);
    run links();
    timeout;
    assert((dead[0] && dead[1]) || (frames[0] == FRAMES_1 && frames[1] == FRAMES_0));
    assert((dead[0] && dead[1]) || (answered[0] == longs[0] && answered[1] == longs[1]))
}
