/* Whether operations of a group come in pieces or whole: impl/collective/piece_choice.h
 * (CollectiveOperation::takes_word, Collectives::begin_divided, finish_divided).
 *
 *     here                 in the code
 *     class[k]             piece_class() of operation k, which all members call alike
 *     whole[c]             Group::whole
 *     to[...]              messages of a first round from one member to another: how its sender does the operation,
 *                          and CollectiveOperation::kNextIsWhole
 *     posted               calls of the application, which may be ahead of what is under way
 *     plan                 Shape::whole of an operation
 *
 * Abstracted: what is measured (the first member decides as it likes), and all rounds but the first.
 *
 * Property: both ends of each message do its operation in the same form, so that it is as long as its receive; nobody
 * waits for ever.
 *
 * Mutations: PLANS_EARLY (an operation comes as its class did when it was posted), TAKES_ANY (each member's word
 * counts), DECIDES_FOR_ITSELF (the word is about the operation that it comes with).
 */
#ifndef MEMBERS
#define MEMBERS 3
#endif
#ifndef OPERATIONS
#define OPERATIONS 3
#endif
#define CLASSES 2

chan to[MEMBERS * MEMBERS] = [OPERATIONS] of { bit, bit };
bit class[OPERATIONS];

typedef Member {
    bit whole[CLASSES];
    bit plan[OPERATIONS];
};
Member at[MEMBERS];

proctype member(byte self) {
    byte posted = 0, k = 0, m;
    bit word, theirs, said;
    do
    :: posted < OPERATIONS ->
        atomic {
            at[self].plan[posted] = at[self].whole[class[posted]];
            posted++;
        }
    :: k < posted ->
        word = 0;
        if
        :: self == 0 -> if :: word = 1 :: word = 0 fi
        :: else
        fi;
        atomic {
#ifndef PLANS_EARLY
            at[self].plan[k] = at[self].whole[class[k]];
#endif
#ifdef DECIDES_FOR_ITSELF
            if :: self == 0 -> at[self].plan[k] = word :: else fi;
#endif
            m = 0;
            do
            :: m == MEMBERS -> break
            :: m < MEMBERS && m != self -> to[self * MEMBERS + m] ! at[self].plan[k], word; m++
            :: m == self -> m++
            od
        }
        m = 0;
        do
        :: m == MEMBERS -> break
        :: m == self -> m++
        :: m < MEMBERS && m != self ->
            atomic {
                to[m * MEMBERS + self] ? theirs, said;
                assert(theirs == at[self].plan[k]);
#ifdef TAKES_ANY
                if :: self != 0 -> word = said :: else fi;
#else
                if :: m == 0 -> word = said :: else fi;
#endif
                m++
            }
        od;
        atomic {
            at[self].whole[class[k]] = word;
            k++
        }
    :: k == OPERATIONS -> break
    od
}

init {
    byte i = 0;
    atomic {
        do
        :: i < OPERATIONS -> if :: class[i] = 0 :: class[i] = 1 fi; i++
        :: i == OPERATIONS -> break
        od;
        i = 0;
        do
        :: i < MEMBERS -> run member(i); i++
        :: i == MEMBERS -> break
        od
    }
}
