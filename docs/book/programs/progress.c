// Chapter 7: who moves the bytes, and when.
#include "endpoint.h"

enum { kLarge = 4 << 20 };

int main(void) {
    struct endpoint a = open_endpoint(FI_MSG), b = open_endpoint(FI_MSG);
    const fi_addr_t to_b = meet(&a, &b);
    struct fi_cq_tagged_entry entry;

    //! [manual]
    // With FI_PROGRESS_MANUAL nothing moves unless the application calls: reading a queue is such a call.
    require(a.info->domain_attr->data_progress == FI_PROGRESS_MANUAL, "this provider is driven by its callers");
    char* out = malloc(kLarge);
    char* in = malloc(kLarge);
    memset(out, 'x', kLarge);
    UNTIL_TAKEN(fi_send(a.ep, out, kLarge, NULL, to_b, NULL), &a, &b);
    // A large message waits for its receive. However often the sender looks, it is not over.
    for (int i = 0; i < 1000; ++i) expect(fi_cq_read(a.cq, &entry, 1), -FI_EAGAIN, "reading the sender's queue");
    //! [manual]

    //! [both]
    expect(fi_recv(b.ep, in, kLarge, NULL, FI_ADDR_UNSPEC, NULL), 0, "fi_recv");
    entry = wait_for_entry(&b, &a);
    require(entry.len == kLarge && memcmp(in, out, kLarge) == 0, "all of it is there");
    wait_for_entry(&a, &b);
    //! [both]

    //! [inject]
    // Of a message that is injected, the buffer is ours when the call returns, and no completion comes.
    char small[8] = "small";
    require(sizeof small <= a.info->tx_attr->inject_size, "it is small enough to be injected");
    expect(fi_recv(b.ep, in, kLarge, NULL, FI_ADDR_UNSPEC, NULL), 0, "fi_recv");
    UNTIL_TAKEN(fi_inject(a.ep, small, sizeof small, to_b), &a, &b);
    memset(small, 0, sizeof small);
    wait_for_entry(&b, &a);
    require(strcmp(in, "small") == 0, "the bytes are those of before");
    expect(fi_cq_read(a.cq, &entry, 1), -FI_EAGAIN, "the sender's queue");
    //! [inject]

    free(out);
    free(in);
    close_endpoint(&a);
    close_endpoint(&b);
    return 0;
}
