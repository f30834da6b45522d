// Chapter 5: from an offer to an endpoint that sends, and back.
#include "endpoint.h"

int main(void) {
    struct endpoint e = open_endpoint(FI_MSG);

    //! [busy]
    // The endpoint was made from the domain, so the domain can't go yet, and is still whole.
    expect(fi_close(&e.domain->fid), -FI_EBUSY, "closing a domain in use");
    expect(fi_close(&e.cq->fid), -FI_EBUSY, "closing a queue in use");
    //! [busy]

    //! [not-enabled]
    struct fid_ep* bare;
    char byte = 0;
    expect(fi_endpoint(e.domain, e.info, &bare, NULL), 0, "a second endpoint");
    // Without a completion queue and an address vector there is nothing to enable.
    require(fi_enable(bare) < 0, "an endpoint without bindings is not enabled");
    require(fi_recv(bare, &byte, 1, NULL, FI_ADDR_UNSPEC, NULL) < 0, "what is not enabled takes no buffers");
    expect(fi_close(&bare->fid), 0, "closing it");
    //! [not-enabled]

    close_endpoint(&e);
    return 0;
}
