#include "conformance/runtime/runtime.h"

static int insert(struct side* s, const char* name, fi_addr_t* as) {
    const int n = fi_av_insert(s->av, name, 1, as, 0, NULL);

    return works(s, n == 1 ? 0 : n < 0 ? n : -FI_EADDRNOTAVAIL, "fi_av_insert");
}

struct outcome connect_side(struct side* s, const char* peer) {
    works(s, 0, NULL);
    if (s->av) {
        if (insert(s, peer, &s->peer)) insert(s, s->name, &s->self);
    } else if (!s->pep) {
        works(s, fi_connect(s->ep, peer, NULL, 0), "fi_connect");
    }
    return s->outcome;
}

/* What fi_eq_read keeps back. */
static ssize_t connection_error(struct fid_eq* eq) {
    struct fi_eq_err_entry entry = {0};
    const ssize_t n = fi_eq_readerr(eq, &entry, 0);

    return n < 0 ? n : entry.err > 0 ? -entry.err : -FI_EAVAIL;
}

static int take_event(struct side* s, struct fid_eq* eq, uint32_t expected, struct fi_eq_cm_entry* entry) {
    uint32_t event = 0;
    const ssize_t n = fi_eq_read(eq, &event, entry, sizeof *entry, 0);

    if (n >= 0) return works(s, event == expected ? 0 : -FI_EOTHER, "an event of the connection");
    if (n == -FI_EAVAIL) return works(s, connection_error(eq), "an event of the connection");
    if (n != -FI_EAGAIN) return works(s, n, "fi_eq_read");
    return works(s, n, expected == FI_CONNREQ ? "waiting for FI_CONNREQ" : "waiting for FI_CONNECTED");
}

static int accept_peer(struct side* s, struct fi_info* request) {
    s->request = request;
    if (!request || !request->tx_attr || !request->rx_attr) return works(s, -FI_EOTHER, "the entry of FI_CONNREQ");
    add_defaults(request, s->setup);
    return open_endpoint(s, request) && works(s, fi_accept(s->ep, NULL, 0), "fi_accept");
}

struct outcome poll_connection(struct side* s) {
    struct fi_eq_cm_entry entry = {0};
    int i;

    works(s, 0, NULL);
    if (s->connected) return s->outcome;
    /* Some providers connect only when the queues are read. */
    for (i = 0; i < 2; i++)
        if (s->queue[i]) fi_cq_read(s->queue[i], NULL, 0);
    if (!s->pep || s->request)
        s->connected = take_event(s, s->eq, FI_CONNECTED, &entry);
    else if (take_event(s, s->listening, FI_CONNREQ, &entry) && accept_peer(s, entry.info))
        works(s, -FI_EAGAIN, "waiting for FI_CONNECTED");
    return s->outcome;
}
