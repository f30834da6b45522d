/* What a few endpoints of one process do together, by a fixed script: collective operations on sets of addresses,
   messages to receive contexts that are named, to multicast groups, and from senders that nobody knows.

   C: the kit drives a library by this code, and the C programs of findings carry it as text, so that they make the same
   calls.  Nothing here is global.  The library under test may do anything: only for child processes of the kit.  One
   thread. */
#pragma once

#include <netinet/in.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    MEMBERS = 4, /* at most */
    VALUES = 64, /* of a member's result, or so many of them, evenly chosen */
    ROUNDS = 2,
    GROUP_NAME = 512,   /* bytes of an address, which may be shorter */
    GROUP_CONTEXT = 64, /* of an operation: a struct fi_context2 fits */
    GROUP_CONTEXTS = 4, /* of a member: a join, a collective, a send, a receive */
    OBJECTS = 16
};

/* CALLS: a flag that no header has.  Bits 60 to 63 are the provider's (rdma/fabric.h), so that one may know them. */
#define CALL_NO_SUCH_FLAG (1ULL << 23)

/* What the members do. */
enum group_act { COLLECTIVE, NAMED_CONTEXTS, MULTICAST, UNKNOWN_SENDER, USER_IDS, OTHER_KEYS, CALLS };

/* CALLS: which ones, on objects that nothing else uses.  The first member alone has facts. */
enum object_call {
    CALL_QUEUE_WAIT,            /* fi_cq_sread of an empty queue, with a time */
    CALL_QUEUE_LOOK,            /* the same with a time of 0 */
    CALL_QUEUE_SIGNAL,          /* fi_cq_signal while another thread waits in fi_cq_sread */
    CALL_COUNTER_WAIT,          /* fi_cntr_wait for more than the counter counts, with a time */
    CALL_TRY_WAIT,              /* fi_trywait on an event queue that holds an event */
    CALL_CLOSE_EVENTS,          /* fi_close of an event queue that an endpoint is bound to */
    CALL_CLOSE_POLL_SET,        /* fi_close of a poll set with a completion queue in it */
    CALL_CLOSE_WAIT_SET,        /* fi_close of a wait set that a completion queue waits with */
    CALL_CLOSE_REGION,          /* fi_close of a memory region that is bound to a counter */
    CALL_CLOSE_COUNTER,         /* fi_close of the counter */
    CALL_REGION_FLAGS,          /* fi_mr_reg with a flag that no header has */
    CALL_REGION_INTERFACE,      /* fi_mr_regattr with another iface, without FI_HMEM */
    CALL_REGION_RAW_KEY,        /* fi_mr_raw_attr with room for less than the key */
    CALL_LOWEST_INDEX,          /* fi_av_insert into a table with a gap */
    CALL_SHORT_LOOKUP,          /* fi_av_lookup with room for four bytes */
    CALL_INSERT_STATUS,         /* fi_av_insert with FI_SYNC_ERR */
    CALL_INSERT_SYMMETRIC,      /* fi_av_insertsym of two nodes with two services */
    CALL_INSERT_STRING,         /* fi_av_insertsvc of an address as a string */
    CALL_INSERT_WITHOUT_EVENTS, /* fi_av_insert into a vector with FI_EVENT and no event queue */
    CALL_INSERT_EVENT,          /* fi_av_insert into a vector with FI_EVENT */
    CALL_VECTOR_CONTEXT,        /* the context of an address vector */
    CALL_SHORT_NAME,            /* fi_getname with room for four bytes */
    CALL_PEER_TO_PEER,          /* fi_setopt of FI_OPT_FI_HMEM_P2P to FI_HMEM_P2P_REQUIRED */
    CALL_TRIGGER_VARIABLES,     /* fi_getopt of FI_OPT_XPU_TRIGGER */
    CALL_OPERATION_FLAGS,       /* fi_control with FI_GETOPSFLAG on an endpoint */
    CALL_ENABLE_TO_SEND,        /* fi_enable without a queue for what is sent */
    CALL_ENABLE_TO_RECEIVE,     /* fi_enable without a queue for what is received */
    CALL_OTHER_DOMAIN,          /* fi_ep_bind of a completion queue of another domain */
    CALL_SHARED_UNBOUND,        /* fi_enable without the shared receive context */
    CALL_MANY_BUFFERS,          /* fi_recvv with more buffers than rx_attr.iov_limit */
    CALL_LISTEN_ALONE,          /* fi_listen without an event queue */
    CALL_BACKLOG,               /* fi_control with FI_BACKLOG on a passive endpoint */
    CALL_LONG_CONNECT_DATA,     /* fi_connect with more data than FI_OPT_CM_DATA_SIZE */
    CALL_SHARED_TWICE,          /* fi_ep_bind of a second shared receive context */
    CALL_INSERT_UNKNOWN,        /* fi_av_insertsvc of a name that no node has */
    OBJECT_CALLS
};

/* How the set of addresses is made.  Addresses are numbered as members are. */
enum set_recipe {
    SET_RANGE,     /* from the first to the last, with a stride of 1 */
    SET_UNIVERSE,  /* FI_UNIVERSE */
    SET_STRIDE,    /* the same with a stride of 2 */
    SET_INSERT,    /* empty, then each from the last to the first */
    SET_REMOVE,    /* SET_RANGE without the first */
    SET_UNION,     /* all but the first, and the first two */
    SET_INTERSECT, /* all but the first, then the first; of these the first two */
    SET_DIFF       /* the same, without the second */
};

struct group_script {
    enum group_act act;
    enum object_call call;
    int members; /* endpoints; of NAMED_CONTEXTS: contexts of the one that is scalable */
    enum set_recipe set;
    unsigned joins; /* bit m: member m is in the set */
    enum fi_collective_op operation;
    enum fi_datatype datatype;
    enum fi_op op;
    size_t count;         /* elements that each member contributes or gets */
    int root, late;       /* members; late: calls when all others have waited for a while; -1: nobody */
    int hasty;            /* what may not come is waited for an eighth of the time */
    void (*looked)(void); /* called after each look at the queues; NULL: nobody wants to know */
    /* A clock in milliseconds that stands while the machine lets no thread of the process run; NULL: millis_now() */
    int64_t (*available_millis)(void);
};

/* What was seen of one member.  Numbers that were never there stay 0. */
enum group_fact {
    SET_RETURNED,   /* the first call on a set that failed */
    ADDR_RETURNED,  /* fi_av_set_addr */
    QUERY_RETURNED, /* fi_query_collective */
    JOIN_RETURNED,  /* fi_join_collective, fi_join */
    JOINED,         /* events FI_JOIN_COMPLETE */
    JOIN_ERROR,     /* err of an event of error */
    JOINED_EARLY,   /* events before the late member called */
    JOIN_FID,       /* 1: the event's fid is that of the group */
    JOIN_CONTEXT,   /* 1: its context is that of the call */
    RETURNED,       /* by the call of the operation */
    ENTRIES,        /* of success, with its context */
    ERRORS,         /* of error */
    ERROR,          /* err of the last of these */
    EARLY,          /* entries of both kinds before the late member called */
    GROUP_ADDRESS,  /* 1: fi_mc_addr gives one */
    CLOSED,         /* fi_close of the group */
    OPEN_RETURNED,  /* the first call that failed while a receive context was opened */
    SEND_RETURNED,  /* by the call that sends to a member */
    MESSAGES,       /* receives that are complete */
    MESSAGE,        /* what the last of them brought */
    SOURCE,         /* the address that fi_cq_readfrom returned with it */
    SOURCE_KNOWN,   /* 1: the source of an unknown sender is in the entry of error */
    STORED,         /* CALLS: what the call stored, or how long it took in milliseconds */
    FACTS
};

struct group_round {
    int64_t fact[MEMBERS][FACTS];
    uint64_t value[MEMBERS][VALUES]; /* of the result, as numbers */
    int began;                       /* its set was made, and its operation called where all joined */
    int posted;
};

struct group_seen {
    const char* failed; /* the call ahead of all rounds that failed, and what it returned; NULL: none did */
    int64_t ret;
    struct group_round round[ROUNDS]; /* COLLECTIVE: first on the plain set, which is SET_RANGE, then on the script's */
    int volatile doing;               /* calls made */
};

/* An endpoint with what is its own. */
struct member {
    struct fid_ep* ep;
    struct fid_eq* eq;
    struct fid_cq* cq;
    struct fid_av* av;
    struct fid_av_set* set;
    struct fid_mc* mc;
    fi_addr_t address[MEMBERS]; /* of all members, in its own vector */
    fi_addr_t group;
    char name[GROUP_NAME];
    size_t name_length;
    unsigned char context[GROUP_CONTEXTS][GROUP_CONTEXT];
    unsigned char *from, *to; /* MEMBERS times `count` elements each */
    uint64_t message[2];      /* sent, received */
};

struct group {
    const struct group_script* script;
    struct fi_info* info;
    struct fid_fabric* fabric;
    struct fid_domain* domain;
    struct member member[MEMBERS]; /* NAMED_CONTEXTS: receive contexts */
    struct member sender;          /* NAMED_CONTEXTS: a plain endpoint, and these: */
    struct fid_ep *scalable, *transmit;
    struct fid_av* av;
    struct fid_domain* other;    /* OTHER_KEYS, CALLS: a second one */
    struct fid* object[OBJECTS]; /* CALLS: what is open, in the order of opening */
    int objects;
    struct group_seen* seen;
};

/* Runs the script on endpoints that are opened with `info` on its fabric, and closes them.  What was seen is written as
   it happens, so that it is there if the process ends. */
void run_group(struct fid_fabric* fabric, struct fi_info* info, const struct group_script* script,
               struct group_seen* seen);

/* Opens the domain and all members, which know each other's addresses.  @return whether all went well */
int open_group(struct group* g);
int open_member(struct group* g, struct member* x, int rx_ctx_bits);
/* MULTICAST: the second has the port of the group.  REQUIRES: addresses are of IPv4 */
int open_at_port_of_group(struct group* g, int m);
void close_group(struct group* g);
/* Notes the first call that failed.  @return whether it went well */
int went_well(struct group* g, int64_t ret, const char* call);
/* Makes the set of member m by this recipe.  @return what the first call that failed returned */
int make_set(struct group* g, int m, enum set_recipe recipe);
/* Reads the queues of all members once.  @param early whether somebody has not called yet */
void poll_group(struct group* g, struct group_round* r, int early);
/* Polls for so many milliseconds, or until `done` says that all has come. */
void wait_group(struct group* g, struct group_round* r, int early, int millis,
                int (*done)(const struct group*, const struct group_round*));
/* Element i of what member m gives. */
uint64_t input_of(int m, size_t i);
/* Which element of a result of `total` elements value k is. */
size_t place_of(size_t k, size_t total);
/* Whether each member but the first has a message. */
int all_have_messages(const struct group* g, const struct group_round* r);
/* @return whether the operation is complete at all members */
int run_collective(struct group* g, int round, enum set_recipe recipe, unsigned joins);
void run_contexts(struct group* g);
void run_multicast(struct group* g);
void run_unknown_sender(struct group* g);
void run_user_ids(struct group* g);
void run_other_keys(struct group* g);
void run_calls(struct group* g);
/* CALLS: keeps an object for close_group.  @param object where its address is stored, NULL: nothing is to be closed
   @return whether it was opened */
int opened(struct group* g, int64_t ret, const void* object);
/* CALLS: an endpoint with all that it needs, not enabled; or without queues for some directions. */
int open_alone(struct group* g, struct member* x, uint64_t directions);
int open_named(struct group* g, struct member* x);
/* CALLS: ahead of the call that is judged, and behind it. */
void begin_call(struct group* g);
void note_call(struct group* g, int64_t returned, int64_t stored);
/* CALLS: an object that was closed while it was in use leaves the others alone. */
void note_close(struct group* g, int64_t returned);
int64_t millis_now(void);
/* By the clock of the script. */
int64_t millis_of(const struct group* g);
void wait_calls(struct group* g);
void close_calls(struct group* g);
void vector_calls(struct group* g);
void region_calls(struct group* g);
void endpoint_calls(struct group* g);
void connection_calls(struct group* g);
/* The first sends to member m, which has posted a receive. */
void send_to_member(struct group* g, struct group_round* r, int m, uint64_t value);
void receive_at(struct group* g, struct group_round* r, int m);

#ifdef __cplusplus
}
#endif
