// Chapter 6: a message, a tagged message, a write to the other's memory, and their completions.
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include "endpoint.h"

int main(void) {
    struct endpoint a = open_endpoint(FI_MSG | FI_TAGGED | FI_RMA), b = open_endpoint(FI_MSG | FI_TAGGED | FI_RMA);
    const fi_addr_t to_b = meet(&a, &b);
    struct fi_cq_tagged_entry entry;

    //! [message]
    char out[] = "hello", in[16] = "";
    int receive = 0, send = 0;  // their addresses tell the operations apart
    expect(fi_recv(b.ep, in, sizeof in, NULL, FI_ADDR_UNSPEC, &receive), 0, "fi_recv");
    UNTIL_TAKEN(fi_send(a.ep, out, sizeof out, NULL, to_b, &send), &a, &b);
    entry = wait_for_entry(&b, &a);
    require(entry.op_context == &receive && entry.len == sizeof out, "the entry is the receive's, of that length");
    require((entry.flags & (FI_MSG | FI_RECV)) == (FI_MSG | FI_RECV), "it says what came to an end");
    require(strcmp(in, "hello") == 0, "the bytes are there");
    entry = wait_for_entry(&a, &b);
    require(entry.op_context == &send, "the buffer that was sent is ours again");
    //! [message]

    //! [tagged]
    char seven[16] = "", any[16] = "";
    const uint64_t ignore = 0xffff;  // bits of the tag that do not count
    expect(fi_trecv(b.ep, seven, sizeof seven, NULL, FI_ADDR_UNSPEC, 7, 0, seven), 0, "fi_trecv of tag 7");
    expect(fi_trecv(b.ep, any, sizeof any, NULL, FI_ADDR_UNSPEC, 0, ignore, any), 0, "fi_trecv of any tag");
    // The first posted receive that fits takes the message: that of tag 9 is the second.
    UNTIL_TAKEN(fi_tsend(a.ep, "nine", 5, NULL, to_b, 9, NULL), &a, &b);
    entry = wait_for_entry(&b, &a);
    require(entry.op_context == any && entry.tag == 9 && strcmp(any, "nine") == 0, "tag 9 fits the second receive");
    wait_for_entry(&a, &b);
    UNTIL_TAKEN(fi_tsend(a.ep, "seven", 6, NULL, to_b, 7, NULL), &a, &b);
    entry = wait_for_entry(&b, &a);
    require(entry.op_context == seven && entry.tag == 7, "tag 7 fits the first");
    wait_for_entry(&a, &b);
    //! [tagged]

    //! [remote-memory]
    char window[64] = "";
    struct fid_mr* mr;
    expect(fi_mr_reg(b.domain, window, sizeof window, FI_REMOTE_WRITE, 0, 42, 0, &mr, NULL), 0, "fi_mr_reg");
    // Key and address go to the peer out of band. With FI_MR_VIRT_ADDR it names the window by b's address, else by 0.
    const uint64_t key = fi_mr_key(mr);
    const uint64_t at = b.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)window : 0;
    UNTIL_TAKEN(fi_write(a.ep, "written", 8, NULL, to_b, at + 8, key, NULL), &a, &b);
    entry = wait_for_entry(&a, &b);
    require((entry.flags & (FI_RMA | FI_WRITE)) == (FI_RMA | FI_WRITE), "a write came to an end");
    require(fi_cq_read(b.cq, &entry, 1) == -FI_EAGAIN, "the target hears nothing of it");
    //! [remote-memory]
    //! [fence]
    // The write is over for `a`; that its bytes are seen by `b` is what a message behind it tells.
    expect(fi_recv(b.ep, in, sizeof in, NULL, FI_ADDR_UNSPEC, NULL), 0, "fi_recv");
    UNTIL_TAKEN(fi_send(a.ep, "look", 5, NULL, to_b, NULL), &a, &b);
    wait_for_entry(&b, &a);
    require(strcmp(window + 8, "written") == 0, "what was written before the message is there");
    wait_for_entry(&a, &b);
    //! [fence]
    expect(fi_close(&mr->fid), 0, "closing the region");
    close_endpoint(&a);
    close_endpoint(&b);
    return 0;
}
