/* The way to a peer: impl/transport/near/near_transport.h, near_transport.cc.
 *
 * Models NearTransport::open, close and find_peer between a sender and the endpoints that listen, one after the other,
 * at one address.
 *
 *     here                 in the code
 *     listener             who is bound to the port (TcpTransport::open, close)
 *     region               whose region has the name (ShmTransport::open_at, close)
 *     way, chosen          the peer that find_peer returned, PeerBase::way_chosen
 *     called               the listener has connected to the sender by tcp: there is a tcp peer that was not chosen
 *     memory, socket       frames on their way: who they are for, and their number
 *
 * Abstracted: the listener may or may not make a region (another release, a full /dev/shm). A peer that is down is told
 * before the address is looked up again, and what was on its way to it is lost. The address vector may change at any
 * time, and then the peer is looked up again. Within one way frames keep their order (models of their own).
 *
 * Properties: an endpoint takes frames only while it is the one that listens at the address; and as long as
 * nothing is told, it takes all of them in the order in which they were sent.
 *
 * Mutations: FORGETS_CHOICE (a peer that is looked up again is chosen again), CALLED_IS_CHOSEN (who has called is sent to by tcp,
 * whatever was chosen), REGION_BEFORE_PORT, REGION_AFTER_PORT.
 */
#define NONE 0
#define MEMORY 1
#define SOCKET 2
#define ENDPOINTS 2
#define FRAMES 3

byte listener, region; /* 1, 2: which endpoint; 0: nobody */
byte way, peer;        /* the sender's, while it has one; the endpoint that it leads to */
bool called;
byte sent, taken; /* since the peer was chosen */
byte total;
chan memory = [2] of { byte, byte };
chan socket = [2] of { byte, byte };

/* Everything that was on its way to the endpoint is gone, and the sender is told. */
inline down(endpoint) {
    d_step {
        if
        :: way != NONE && peer == endpoint ->
            way = NONE; sent = 0; taken = 0;
            do
            :: len(memory) > 0 -> memory?_,_
            :: len(socket) > 0 -> socket?_,_
            :: else -> break
            od
        :: else -> skip
        fi;
        called = false
    }
}

inline take(channel) {
    d_step {
        channel?whose,number;
        assert(whose == me);
        assert(listener == me);
        assert(number == taken);
        taken++;
        whose = 0; number = 0
    }
}

proctype endpoint(byte me; bool shares) {
    bool open = true;
    byte whose, number;

#ifdef REGION_BEFORE_PORT
    if
    :: shares -> atomic { region == 0 -> region = me }
    :: !shares -> skip
    fi;
    atomic { listener == 0 -> listener = me };
#else
    atomic { listener == 0 -> listener = me };
    if
    :: shares -> atomic { region == 0 -> region = me }
    :: !shares -> skip
    fi;
#endif
    do
    :: atomic { open && !called -> called = true }
    :: atomic { open && peer == me && nempty(memory) -> take(memory) }
    :: atomic { open && peer == me && nempty(socket) -> take(socket) }
    :: open -> open = false
    :: !open -> break
    od;
#ifdef REGION_AFTER_PORT
    atomic { listener = 0; if :: way == SOCKET -> down(me) :: else -> skip fi };
    if
    :: shares -> atomic { region = 0; down(me) }
    :: !shares -> skip
    fi
#else
    if
    :: shares -> atomic { region = 0; if :: way == MEMORY -> down(me) :: else -> skip fi }
    :: !shares -> skip
    fi;
    atomic { listener = 0; down(me) }
#endif
}

inline choose() {
    if
    :: region -> way = MEMORY; peer = region
    :: !region && listener -> way = SOCKET; peer = listener
    :: else -> skip
    fi
}

active proctype sender() {
    bool shares;

    if
    :: shares = true
    :: shares = false
    fi;
    run endpoint(1, shares);
    if
    :: shares = true
    :: shares = false
    fi;
    run endpoint(2, shares);
    do
    :: atomic { way == NONE && total < FRAMES -> choose() }
    :: atomic {  /* looked up again */
            way != NONE && total < FRAMES ->
#ifdef FORGETS_CHOICE
            if :: way == SOCKET -> choose() :: else -> skip fi
#endif
#ifdef CALLED_IS_CHOSEN
            if :: called && listener == peer -> way = SOCKET :: else -> skip fi
#endif
            skip
       }
    :: atomic {
            way == MEMORY && total < FRAMES && nfull(memory) ->
            assert(listener == peer);
            memory!peer,sent; sent++; total++
       }
    :: atomic {
            way == SOCKET && total < FRAMES && nfull(socket) ->
            socket!peer,sent; sent++; total++
       }
    :: total == FRAMES -> break
    od
}
