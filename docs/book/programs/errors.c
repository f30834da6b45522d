// Chapter 8: the three ways in which things go wrong.
#include <rdma/fi_rma.h>
#include "endpoint.h"

// Waits for an error entry of `e`.
//! [readerr]
static struct fi_cq_err_entry wait_for_error(struct endpoint* e, struct endpoint* other) {
    struct fi_cq_tagged_entry entry;
    struct fi_cq_err_entry error = {0};
    long got;
    while ((got = fi_cq_read(e->cq, &entry, 1)) == -FI_EAGAIN) fi_cq_read(other->cq, NULL, 0);
    // An error stands before the entries behind it, until it is read.
    expect(got, -FI_EAVAIL, "fi_cq_read with an error at the front");
    expect(fi_cq_readerr(e->cq, &error, 0), 1, "fi_cq_readerr");
    return error;
}
//! [readerr]

int main(void) {
    struct endpoint a = open_endpoint(FI_MSG | FI_RMA), b = open_endpoint(FI_MSG | FI_RMA);
    const fi_addr_t to_b = meet(&a, &b);
    struct fi_cq_err_entry error;

    //! [call]
    // The first way: the call returns an error, and nothing was begun.
    struct fid_mr* mr;
    char memory[64];
    require(fi_mr_reg(b.domain, NULL, 16, FI_REMOTE_WRITE, 0, 1, ~0ULL, &mr, NULL) < 0, "unknown flags are refused");
    //! [call]

    //! [truncated]
    // The second: the operation was begun, and ends with an error entry in place of an entry.
    char in[4];
    expect(fi_recv(b.ep, in, sizeof in, NULL, FI_ADDR_UNSPEC, in), 0, "fi_recv");
    UNTIL_TAKEN(fi_send(a.ep, "too long", 9, NULL, to_b, NULL), &a, &b);
    error = wait_for_error(&b, &a);
    require(error.err == FI_ETRUNC && error.op_context == in, "the receive was too short");
    require(error.olen == 5, "and by how much");
    wait_for_entry(&a, &b);
    //! [truncated]

    //! [cancelled]
    expect(fi_recv(b.ep, in, sizeof in, NULL, FI_ADDR_UNSPEC, in), 0, "fi_recv");
    expect(fi_cancel(&b.ep->fid, in), 0, "fi_cancel");
    error = wait_for_error(&b, &a);
    require(error.err == FI_ECANCELED && error.op_context == in, "the buffer is ours again");
    //! [cancelled]

    //! [remote]
    // The third: the other side refuses.
    expect(fi_mr_reg(b.domain, memory, sizeof memory, FI_REMOTE_READ, 0, 2, 0, &mr, NULL), 0, "fi_mr_reg");
    const uint64_t at = b.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)memory : 0;
    UNTIL_TAKEN(fi_write(a.ep, "no", 2, NULL, to_b, at, fi_mr_key(mr), NULL), &a, &b);
    error = wait_for_error(&a, &b);
    require(error.err == FI_EACCES, "the region may be read, not written");
    //! [remote]
    expect(fi_close(&mr->fid), 0, "closing the region");

    //! [again]
    // And one that is none: -FI_EAGAIN asks for progress, and then for the same call.
    int sent = 0;
    while (fi_send(a.ep, "x", 1, NULL, to_b, NULL) == 0) ++sent;
    require((size_t)sent >= a.info->tx_attr->size, "as many as the transmit context is large were taken");
    //! [again]
    close_endpoint(&a);
    close_endpoint(&b);
    return 0;
}
