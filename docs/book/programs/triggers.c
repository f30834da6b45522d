// Chapter 10: operations that wait for counters.
#include <rdma/fi_trigger.h>
#include "endpoint.h"

static struct fid_cntr* open_counter(struct endpoint* e) {
    struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP};
    struct fid_cntr* counter;
    expect(fi_cntr_open(e->domain, &attr, &counter, NULL), 0, "fi_cntr_open");
    return counter;
}

// An endpoint whose receives are counted.
static struct endpoint open_counted(struct fid_cntr** received) {
    struct endpoint e = open_domain(choose(FI_MSG | FI_TRIGGER));
    add_endpoint(&e);
    //! [counter]
    *received = open_counter(&e);
    expect(fi_ep_bind(e.ep, &(*received)->fid, FI_RECV), 0, "binding the counter");
    //! [counter]
    expect(fi_enable(e.ep), 0, "fi_enable");
    return e;
}

int main(void) {
    struct fid_cntr *at_a, *at_b;
    struct endpoint a = open_counted(&at_a), b = open_counted(&at_b);
    const fi_addr_t to_b = meet(&a, &b), to_a = meet(&b, &a);
    struct fi_cq_tagged_entry entry;
    char in[16] = "", back[16] = "";

    //! [counts]
    // A counter says how many, not which: for programs that know what comes.
    expect(fi_recv(b.ep, in, sizeof in, NULL, FI_ADDR_UNSPEC, NULL), 0, "fi_recv");
    UNTIL_TAKEN(fi_send(a.ep, "first", 6, NULL, to_b, NULL), &a, &b);
    wait_for_entry(&b, &a);
    wait_for_entry(&a, &b);
    require(fi_cntr_read(at_b) == 1, "one receive was counted");
    //! [counts]

    //! [triggered]
    // B's answer is posted before the question is there: it goes once B's counter of receives says 2.
    struct fi_triggered_context when = {.event_type = FI_TRIGGER_THRESHOLD,
                                        .trigger.threshold = {.cntr = at_b, .threshold = 2}};
    const struct iovec answer = {.iov_base = "answer", .iov_len = 7};
    const struct fi_msg message = {.msg_iov = &answer, .iov_count = 1, .addr = to_a, .context = &when};
    UNTIL_TAKEN(fi_sendmsg(b.ep, &message, FI_TRIGGER), &b, &a);
    expect(fi_recv(a.ep, back, sizeof back, NULL, FI_ADDR_UNSPEC, back), 0, "fi_recv");
    for (int i = 0; i < 1000; ++i) expect(fi_cq_read(a.cq, &entry, 1), -FI_EAGAIN, "reading before it was asked");
    //! [triggered]

    //! [ask]
    expect(fi_recv(b.ep, in, sizeof in, NULL, FI_ADDR_UNSPEC, NULL), 0, "fi_recv");
    UNTIL_TAKEN(fi_send(a.ep, "question", 9, NULL, to_b, NULL), &a, &b);
    // B makes progress, and calls nothing else.
    while (fi_cntr_read(at_a) < 1) {
        fi_cq_read(a.cq, NULL, 0);
        fi_cq_read(b.cq, NULL, 0);
    }
    require(strcmp(back, "answer") == 0, "the answer came by itself");
    //! [ask]
    wait_for_entry(&a, &b);  // of the send, and of the receive
    wait_for_entry(&a, &b);

    //! [work]
    // Deferred work names what it waits for, and a counter that counts it: chains are made of these.
    struct fid_cntr *go = open_counter(&a), *done = open_counter(&a);
    const struct iovec piece = {.iov_base = "later", .iov_len = 6};
    struct fi_op_msg send = {.ep = a.ep, .msg = {.msg_iov = &piece, .iov_count = 1, .addr = to_b}};
    struct fi_op_cntr count = {.cntr = done, .value = 10};
    struct fi_deferred_work first = {
        .threshold = 1, .triggering_cntr = go, .completion_cntr = done, .op_type = FI_OP_SEND, .op.msg = &send};
    struct fi_deferred_work then = {
        .threshold = 1, .triggering_cntr = done, .op_type = FI_OP_CNTR_ADD, .op.cntr = &count};
    expect(fi_control(&a.domain->fid, FI_QUEUE_WORK, &first), 0, "queueing the send");
    expect(fi_control(&a.domain->fid, FI_QUEUE_WORK, &then), 0, "queueing what follows it");
    expect(fi_recv(b.ep, in, sizeof in, NULL, FI_ADDR_UNSPEC, NULL), 0, "fi_recv");
    require(fi_cntr_read(done) == 0, "nothing has begun");
    expect(fi_cntr_add(go, 1), 0, "fi_cntr_add");
    while (fi_cntr_read(done) < 11) {
        fi_cq_read(a.cq, NULL, 0);
        fi_cq_read(b.cq, NULL, 0);
    }
    require(fi_cntr_read(at_b) == 3, "the message came");
    //! [work]

    expect(fi_close(&go->fid), 0, "closing a counter");
    expect(fi_close(&done->fid), 0, "closing a counter");
    expect(fi_close(&a.ep->fid), 0, "closing the endpoint");
    expect(fi_close(&b.ep->fid), 0, "closing the endpoint");
    expect(fi_close(&at_a->fid), 0, "closing a counter");
    expect(fi_close(&at_b->fid), 0, "closing a counter");
    close_the_rest(&a);
    close_the_rest(&b);
    return 0;
}
