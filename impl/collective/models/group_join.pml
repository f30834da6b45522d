/* How members of a group find each other: impl/collective/collectives.cc (enter, leave, aborted, refusal).
 *
 * Models fi_join_collective of the same members again and again. The number of a group is made of how many groups of
 * these members a member has entered, so members that have entered more or fewer (one was opened late, or again) speak
 * of different groups.
 *
 *     here                 in the code
 *     entered              Joins::count: groups that this member has entered
 *     at                   the group that it is in, by that number
 *     arrived[k]           whose messages of group k have come (kept, or received by the join)
 *     aborted[k]           early_: an abort of a group that is not entered yet
 *     MEMBER, USE          messages of the join, and of an operation
 *     ABORT                FrameOp::CollectiveAbort
 *
 * Abstracted: the rounds of a join (each member sends to each other one); what is announced is answered as what comes
 * whole. A member may give up as often as `patience` says, and its abort reaches any number of the others
 * (abort_some). An application that sees its join or its operation fail leaves, and joins again.
 *
 * Property: nobody waits in a join for ever. In the end all members are in one group.
 *
 * Mutation: REFUSES_SILENTLY (a message of a group that was left goes without an answer). Early aborts need not be
 * remembered for the property: they spare a member an attempt.
 */
#define NONE 255
#define MOST 6 /* groups */

#ifndef MEMBERS
#define MEMBERS 3
#endif
#ifndef PATIENCE
#define PATIENCE 1
#endif
#ifndef BEFORE
#define BEFORE 1 /* groups that a member may have entered before, of which the others know nothing */
#endif

mtype = { MEMBER, USE, ABORT };
chan link[MEMBERS * MEMBERS] = [5] of { mtype, byte }; /* from one to another: MEMBERS * from + to */
byte patience = PATIENCE;
byte group[MEMBERS] = NONE; /* that a member has joined */

#define NEXT(distance) ((me + distance) % MEMBERS)
#define ALL_OTHERS ((1 << MEMBERS) - 1 - (1 << me))

inline send_to_others(kind, number) {
    other = 0;
    do
    :: other < MEMBERS ->
        if
        :: other != me -> link[MEMBERS * me + other]!kind,number
        :: else -> skip
        fi;
        other++
    :: else -> break
    od
}

/* The aborts of who gives up, as far as it reaches the others. */
inline abort_some(number) {
    other = 0;
    do
    :: other < MEMBERS ->
        if
        :: other != me -> link[MEMBERS * me + other]!ABORT,number
        :: true -> skip
        fi;
        other++
    :: else -> break
    od
}

inline take(from) {
    link[MEMBERS * from + me]?kind,number;
    if
    :: kind == ABORT && number == at -> failed = true
    :: kind == ABORT && number >= entered -> aborted[number] = true
    :: kind == ABORT && number < entered && number != at -> skip
    :: kind == MEMBER && (number == at || number >= entered) -> arrived[number] = arrived[number] | (1 << from)
    :: kind == USE && (number == at || number >= entered) -> skip
    :: kind != ABORT && number < entered && number != at ->
#ifdef REFUSES_SILENTLY
        skip
#else
        link[MEMBERS * me + from]!ABORT,number
#endif
    fi;
    kind = 0;
    number = 0
}

active [MEMBERS] proctype member() {
    byte me = _pid, entered, at = NONE, other, number;
    byte arrived[MOST];
    bool aborted[MOST];
    bool failed;
    mtype kind;

    if
    :: entered = 0
    :: me == 0 -> entered = BEFORE
    fi;
enter:
    atomic {
        assert(entered < MOST);
        at = entered;
        entered++;
        failed = aborted[at]
    }
    send_to_others(MEMBER, at);
end_waits:
    do
    :: failed ->
        group[me] = NONE;
        send_to_others(ABORT, at);
        break
    :: !failed && group[me] == NONE && arrived[at] == ALL_OTHERS ->
        group[me] = at;
        send_to_others(USE, at)
#if PATIENCE
    :: atomic { !failed && patience && group[me] == NONE && arrived[at] != ALL_OTHERS -> patience-- };
        abort_some(at);
        break
#endif
    :: atomic { nempty(link[MEMBERS * NEXT(1) + me]) -> take(NEXT(1)) }
#if MEMBERS > 2
    :: atomic { nempty(link[MEMBERS * NEXT(2) + me]) -> take(NEXT(2)) }
#endif
    od;
    at = NONE;
    failed = false;
    goto enter
}

/* Nothing more can happen. */
active proctype end() {
    timeout;
    assert(group[0] != NONE && group[0] == group[1] && group[0] == group[MEMBERS - 1])
}
