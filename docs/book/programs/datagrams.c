// Chapter 9: datagrams, what they leave to the program, and groups.
#include <arpa/inet.h>
#include <unistd.h>
#include "endpoint.h"

//! [choose]
// Datagrams have no memory of peers and no second try: an endpoint of type FI_EP_DGRAM, here of UDP at the loopback
// interface.
static struct fi_info* choose_datagrams(uint64_t caps) {
    struct fi_info *hints = fi_allocinfo(), *info = NULL;
    hints->caps = caps;
    hints->ep_attr->type = FI_EP_DGRAM;
    hints->fabric_attr->prov_name = strdup("udp");
    expect(fi_getinfo(FI_VERSION(1, 17), "127.0.0.1", NULL, FI_SOURCE, hints, &info), 0, "fi_getinfo");
    fi_freeinfo(hints);
    return info;
}
//! [choose]

static struct endpoint open_datagrams(struct fid_eq** eq) {
    struct endpoint e = open_domain(choose_datagrams(FI_MSG | FI_MULTICAST));
    add_endpoint(&e);
    //! [events]
    // Groups are joined in their own time: an event says when.
    struct fi_eq_attr attr = {.wait_obj = FI_WAIT_UNSPEC};
    expect(fi_eq_open(e.fabric, &attr, eq, NULL), 0, "fi_eq_open");
    expect(fi_ep_bind(e.ep, &(*eq)->fid, 0), 0, "binding the event queue");
    expect(fi_enable(e.ep), 0, "fi_enable");
    //! [events]
    return e;
}

static void close_datagrams(struct endpoint* e, struct fid_eq* eq) {
    expect(fi_close(&e->ep->fid), 0, "closing the endpoint");
    expect(fi_close(&eq->fid), 0, "closing the event queue");
    close_the_rest(e);
}

int main(void) {
    struct fid_eq *eq_a, *eq_b;
    struct endpoint a = open_datagrams(&eq_a), b = open_datagrams(&eq_b);
    const fi_addr_t to_b = meet(&a, &b);
    struct fi_cq_tagged_entry entry;
    char in[16] = "";

    //! [message]
    expect(fi_recv(b.ep, in, sizeof in, NULL, FI_ADDR_UNSPEC, in), 0, "fi_recv");
    UNTIL_TAKEN(fi_send(a.ep, "one", 4, NULL, to_b, NULL), &a, &b);
    wait_for_entry(&a, &b);  // it has left, which is all that is known of it
    entry = wait_for_entry(&b, &a);
    require(entry.op_context == in && entry.len == 4 && strcmp(in, "one") == 0, "it came, whole");
    //! [message]

    //! [length]
    // A datagram is a packet. What does not fit into one is not cut into several.
    const size_t longest = a.info->ep_attr->max_msg_size;
    char* much = calloc(1, longest + 1);
    require(fi_send(a.ep, much, longest + 1, NULL, to_b, NULL) < 0, "what is longer is refused");
    free(much);
    //! [length]

    //! [lost]
    // The peer is gone. Nobody says so: the send comes to its end as ever.
    struct fid_eq* eq_c;
    struct endpoint c = open_datagrams(&eq_c);
    const fi_addr_t to_c = meet(&a, &c);
    close_datagrams(&c, eq_c);
    UNTIL_TAKEN(fi_send(a.ep, "lost", 5, NULL, to_c, NULL), &a, &b);
    entry = wait_for_entry(&a, &b);
    require(entry.flags & FI_SEND, "no error: the message left, and that is all");
    //! [lost]

    //! [join]
    // A group is an address; who joined it gets what is sent there. The port is one that no other run of this uses.
    struct sockaddr_in group = {.sin_family = AF_INET, .sin_port = htons((uint16_t)(20000 + getpid() % 10000))};
    inet_pton(AF_INET, "239.255.77.77", &group.sin_addr);
    struct fid_mc *mc_a, *mc_b;
    expect(fi_join(a.ep, &group, FI_SEND, &mc_a, NULL), 0, "fi_join, to send");
    expect(fi_join(b.ep, &group, 0, &mc_b, NULL), 0, "fi_join");
    struct fi_eq_entry joined;
    uint32_t event = 0;
    expect(fi_eq_sread(eq_b, &event, &joined, sizeof joined, 10000, 0), sizeof joined, "fi_eq_sread");
    require(event == FI_JOIN_COMPLETE && joined.fid == &mc_b->fid, "the event says of which group");
    //! [join]
    expect(fi_eq_sread(eq_a, &event, &joined, sizeof joined, 10000, 0), sizeof joined, "fi_eq_sread");

    //! [group]
    expect(fi_recv(b.ep, in, sizeof in, NULL, FI_ADDR_UNSPEC, in), 0, "fi_recv");
    const struct iovec piece = {.iov_base = "all", .iov_len = 4};
    const struct fi_msg message = {.msg_iov = &piece, .iov_count = 1, .addr = fi_mc_addr(mc_a)};
    UNTIL_TAKEN(fi_sendmsg(a.ep, &message, FI_MULTICAST), &a, &b);
    entry = wait_for_entry(&b, &a);
    require((entry.flags & FI_MULTICAST) && strcmp(in, "all") == 0, "the entry says that it came by a group");
    //! [group]
    wait_for_entry(&a, &b);

    expect(fi_close(&mc_a->fid), 0, "leaving the group");
    expect(fi_close(&mc_b->fid), 0, "leaving the group");
    close_datagrams(&a, eq_a);
    close_datagrams(&b, eq_b);
    return 0;
}
