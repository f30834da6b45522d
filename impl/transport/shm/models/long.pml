/* Frames that come in pieces: impl/transport/shm/long_frame.h, shm_long.cc, shm_datapath.h.
 *
 * Models ShmTransport::send, send_long, send_pieces, make_room and offer_room of an endpoint, and drain, begin_long and
 * drain_pieces of its peer. Both endpoints send first: a long frame, a short one and a long one, and their applications
 * receive when all of these are sent.
 *
 *     here             in the code
 *     ring[e]          the ring that endpoint e reads: a channel, as ring.pml shows that it is one
 *     left             LongOutbound: pieces that are not published; 0: not active
 *     waiting          ShmPeer::waiting_for_room
 *     blocked          PeerState::blocked: the engine was told Again, and waits for Sink::room
 *     payload          of the long frame, in the application's memory: which frame's; 0 once it was given back
 *     missing          LongInbound: pieces that have not come; 0: RingPhase::Frames
 *
 * Abstracted: send_split, which publishes all of a shorter frame as send_long and send_pieces do where there is room for
 * it; a ring of two entries, a long frame of a header and three pieces; the lengths of both and what else is in
 * the ring are ring.pml's.
 *
 * Properties: pieces are of the frame that was begun, with the bytes that it had when it was sent, and nothing is among
 * them; frames come in order, and both endpoints send and take all of them though neither receives before (invalid end
 * state).
 *
 * Mutations: PASSES (a frame is published while one is not wholly in the ring), SENT_EARLY (the payload is given back
 * with the first piece); and, as deadlocks, WAITS_FOR_RECEIVE (pieces are left in the ring until the application receives),
 * NO_ROOM_AFTER_SENT (who waited behind a long frame isn't told of room).
 */
#define FRAMES 3
#define PIECES 3
#define IS_LONG(number) ((number) != 2)

mtype = { begins, piece, short_one };
chan ring[2] = [2] of { mtype, byte };
#define there ring[1 - me]
bool receives[2];

proctype endpoint(byte me) {
    byte next = 1, payload, left, expected = 1, missing, number;
    bool waiting, blocked;
    mtype type;

    do
    :: /* the engine has a frame to send */
        atomic {
            next <= FRAMES && !blocked ->
            if
#ifndef PASSES
            :: left > 0 -> blocked = true; waiting = true
#endif
            :: (left == 0 || !IS_LONG(next)) && full(there) -> blocked = true; waiting = true
#ifdef PASSES
            :: left > 0 && nfull(there) && !IS_LONG(next) -> there!short_one,next; next++
            :: left > 0 && IS_LONG(next) -> blocked = true; waiting = true
#endif
            :: left == 0 && nfull(there) && !IS_LONG(next) -> there!short_one,next; next++
            :: left == 0 && nfull(there) && IS_LONG(next) ->
                there!begins,next;
                left = PIECES;
#ifndef SENT_EARLY
                payload = next;
#endif
                next++;
                waiting = true
            fi
        }
    :: /* offer_room */
        atomic {
            waiting && nfull(there) ->
            if
            :: left > 0 ->
                there!piece,payload;
                left--;
                if
                :: left == 0 ->
                    payload = 0;
#ifdef NO_ROOM_AFTER_SENT
                    waiting = false
#endif
                :: else -> skip
                fi
            :: else -> waiting = false; blocked = false
            fi
        }
    :: /* drain, drain_pieces */
        atomic {
#ifdef WAITS_FOR_RECEIVE
            nempty(ring[me]) && (missing == 0 || receives[me]) ->
#else
            nempty(ring[me]) ->
#endif
            ring[me]?type,number;
            assert(number == expected);
            if
            :: missing > 0 -> assert(type == piece); missing--
            :: missing == 0 && type == begins -> missing = PIECES
            :: missing == 0 && type != begins -> assert(type == short_one)
            fi;
            if
            :: missing == 0 -> expected++
            :: else -> skip
            fi
        }
    :: atomic { !receives[me] && next > FRAMES && left == 0 -> receives[me] = true }
    :: receives[me] && expected > FRAMES -> break
    od
}

init {
    atomic {
        run endpoint(0);
        run endpoint(1)
    }
}
