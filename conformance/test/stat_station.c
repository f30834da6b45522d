// A process with two endpoints, for tests of `selvage stat`: three messages of 1000 bytes from the first wait in the
// second for a receive. Prints "ready" and the second one's port, makes progress, and ends with its standard input.
//   stat_station PROVIDER
#include <arpa/inet.h>
#include <poll.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_tagged.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(ssize_t result, const char* what) {
    if (result >= 0) return;
    fprintf(stderr, "%s: %s\n", what, fi_strerror((int)-result));
    exit(2);
}

struct side {
    struct fid_cq* cq;
    struct fid_av* av;
    struct fid_ep* ep;
    char name[128];
    size_t length;
};

static void open_side(struct side* side, struct fid_domain* domain, struct fi_info* info) {
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_TAGGED};
    struct fi_av_attr av = {.type = FI_AV_MAP};
    must(fi_cq_open(domain, &cq, &side->cq, NULL), "fi_cq_open");
    must(fi_av_open(domain, &av, &side->av, NULL), "fi_av_open");
    must(fi_endpoint(domain, info, &side->ep, NULL), "fi_endpoint");
    must(fi_ep_bind(side->ep, &side->cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    must(fi_ep_bind(side->ep, &side->av->fid, 0), "fi_ep_bind");
    must(fi_enable(side->ep), "fi_enable");
    side->length = sizeof side->name;
    must(fi_getname(&side->ep->fid, side->name, &side->length), "fi_getname");
}

static int progress(struct side* sides) {
    struct fi_cq_tagged_entry entry;
    int done = 0;
    for (int i = 0; i < 2; ++i) done += fi_cq_read(sides[i].cq, &entry, 1) > 0;
    return done;
}

int main(int argc, char** argv) {
    struct side sides[2];
    struct fi_info* hints = fi_allocinfo();
    struct fi_info* info = NULL;
    struct fid_fabric* fabric;
    struct fid_domain* domain;
    static char bytes[1000];
    fi_addr_t to;
    if (argc != 2 || !hints) return 2;
    const int shm = strcmp(argv[1], "shm") == 0;
    hints->fabric_attr->prov_name = strdup(argv[1]);
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_TAGGED;
    must(fi_getinfo(FI_VERSION(1, 17), shm ? NULL : "127.0.0.1", NULL, shm ? 0 : FI_SOURCE, hints, &info),
         "fi_getinfo");
    must(fi_fabric(info->fabric_attr, &fabric, NULL), "fi_fabric");
    must(fi_domain(fabric, info, &domain, NULL), "fi_domain");
    for (int i = 0; i < 2; ++i) open_side(&sides[i], domain, info);
    const void* address = sides[1].name;
    const char* text = sides[1].name;
    if (fi_av_insert(sides[0].av, shm ? (const void*)&text : address, 1, &to, 0, NULL) != 1) return 2;
    for (int i = 0; i < 3; ++i) {
        ssize_t result;
        while ((result = fi_tsend(sides[0].ep, bytes, sizeof bytes, NULL, to, 1, NULL)) == -FI_EAGAIN) progress(sides);
        must(result, "fi_tsend");
    }
    for (int completed = 0, idle = 0; completed < 3 || idle < 1000; ++idle) completed += progress(sides);
    printf("ready %d\n", shm ? 0 : ntohs(((const struct sockaddr_in*)address)->sin_port));
    fflush(stdout);
    struct pollfd end = {.fd = 0, .events = POLLIN};
    while (poll(&end, 1, 1) == 0) progress(sides);
    for (int i = 0; i < 2; ++i) fi_close(&sides[i].ep->fid);
    return 0;
}
