/* What is done to a side (side.h), in the order in which it is done; behind that, what other cases have to do.

   C: the kit drives a library by this code, and the C programs of findings carry side.h and the .c files beside it as
   text, so that they make the same calls.  Nothing here is global.

   The library under test may do anything: only for child processes of the kit.  One thread. */
#pragma once

#include "conformance/runtime/side.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Notes what a call returned.  @return whether that is 0 */
int works(struct side* s, int64_t ret, const char* call);
/* Makes the flags of a set-up the defaults of endpoints that are opened with this entry. */
void add_defaults(struct fi_info* info, const struct setup* setup);

/* Opens and enables it.  REQUIRES: setup, in, arena and target are set, all else is 0.  Of a connected one that
   listens: as far as fi_listen.  Then its name is known. */
struct outcome open_side(struct side* s, int listens);
/* Opens the endpoint itself with its queues and counters. */
int open_endpoint(struct side* s, struct fi_info* info);
/* Makes a peer known (fi_av_insert), or begins to connect to it.  @param peer NAME bytes */
struct outcome connect_side(struct side* s, const char* peer);
/* Connected ones: reads the event queues once.  @return -FI_EAGAIN, and what is waited for, until it is connected */
struct outcome poll_connection(struct side* s);
/* Makes the descriptor of its buffers one of their first `used` bytes at least.  While nothing is under way. */
struct outcome cover(struct side* s, size_t used);
/* The region of its target for these remote accesses, registered when it is first asked for. */
const struct region* region_of(struct side* s, uint64_t access);

/* Each posts one operation by a call of its family.  @return what the call returned */
int64_t post_message(struct side* s, const struct operation* o, struct arguments* a);
int64_t post_tagged(struct side* s, const struct operation* o, struct arguments* a);
int64_t post_rma(struct side* s, const struct operation* o, struct arguments* a);
int64_t post_atomic(struct side* s, const struct operation* o, struct arguments* a);
/* Cancels whatever has its context. */
int64_t post_cancel(struct side* s, const struct operation* o, struct arguments* a);
/* Moves the counter that operations with FI_TRIGGER and deferred work wait for. */
int64_t post_trigger(struct side* s, const struct operation* o, struct arguments* a);
/* Queues an operation (of a ...msg call, or of post_trigger) as deferred work; cancels or flushes what is queued. */
int64_t post_work(struct side* s, const struct operation* o, struct arguments* a);
/* The counter that is waited for, which is opened when it is first asked for; NULL: it could not be. */
struct fid_cntr* trigger_of(struct side* s);
/* Of an operation with FI_TRIGGER: makes a condition of its context, which is as long as a struct fi_context2. */
void name_trigger(struct side* s, const struct operation* o);
/* For those: the bytes of one value (1 where there are none), the pieces of a buffer, and those of a target. */
size_t value_size(const struct operation* o);
void name_pieces(const struct side* s, const struct operation* o, struct arguments* a);
void name_target(const struct operation* o, struct arguments* a);
/* Of an atomic operation, behind those: its values, and those that it fetches and compares. */
void name_values(const struct operation* o, struct arguments* a);

/* Reads the queue of receives or of transmits once.  @return how many entries came: at most BATCH; negative: what
   s->outcome says is wrong with the queue itself */
int read_queue(struct side* s, int transmits, struct entry* out);
/* fi_cq_readerr.  The entries of 1.20 and newer are longer than the structure of older headers: what they have more is
   left out. */
ssize_t read_queue_error(struct fid_cq* cq, struct fi_cq_err_entry* out);
/* The successes of each counter, then its errors; zeros where there is none. */
void read_counters(const struct side* s, uint64_t out[2 * COUNTERS]);

/* Closes the endpoint and its regions, so that the peer's can be closed ahead of the queues; then what is left.  What
   closing returns is not looked at. */
void close_side(struct side* s);
void close_queues(struct side* s);

/* Whether two of them point to the same memory. */
int shares(const struct fi_info* a, const struct fi_info* b);
/* What fi_set_ops is given by the name of the memory override: complete (0), without callbacks (1), or of a size that
   leaves no room for them (2).  The library may keep the pointer. */
void* override_ops(int which);
/* Whether an event queue reports, before long, the end of a registration. */
int registration_reported(struct fid_eq* eq);
/* Posts receives of 8 bytes until one is refused, or `most` are posted, which is at most 4160.
   @param posted, those that were accepted  @return 0, or what the call that was refused returned */
ssize_t post_receives(struct fid_ep* ep, size_t most, size_t* posted);
/* Registers `count` pieces of `memory`, each of 64 bytes, by fi_mr_regv or by fi_mr_regattr.  REQUIRES: count <= 64
   @return what the call returns */
int register_vectors(struct fid_domain* domain, char* memory, size_t count, int by_attributes, uint64_t access,
                     uint64_t key, struct fid_mr** mr);

#ifdef __cplusplus
}
#endif
