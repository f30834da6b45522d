/* Opens an object of every class of the interface in order and closes it again, checking each return code. Plain C,
 * nothing but the interface: built against a distribution's libfabric and linked to it, it runs unchanged on any other.
 *
 *   every_object PROVIDER msg|rdm FOLDER [all]
 *
 * FOLDER is where the libfabric that runs is expected. A library may lack shared transmit contexts, scalable endpoints
 * and aliases (-FI_ENOSYS): that is told, and an error when "all" is given, except for scalable endpoints. */
#define _POSIX_C_SOURCE 200809L
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_ext.h>
#include <stdlib.h>

#include "loaded.h"

static int failed(const char* call, int result) {
    if (result) fprintf(stderr, "%s: %d (%s)\n", call, result, fi_strerror(-result));
    return result;
}

/* Leaves the function with 1 if the call does not return 0. */
#define DO(call)                                  \
    do {                                          \
        if (failed(#call, (int)(call))) return 1; \
    } while (0)

static char buffer[4096];
static int all_demanded;
static int classes; /* opened and closed */

struct network {
    struct fi_info* info;
    struct fid_fabric* fabric;
    struct fid_domain* domain;
};

static int closed(struct fid* object) {
    const int result = fi_close(object);
    if (result == 0) ++classes;
    return result;
}

/* Of a class that a library may lack: 0 if an object was opened, 1 if the class is lacking and may, -1 if it failed. */
static int lacking(const char* call, int result, int demanded) {
    if (result == -FI_ENOSYS && !demanded) {
        printf("%s: not offered\n", call);
        return 1;
    }
    return failed(call, result) ? -1 : 0;
}

static int find(const char* provider, enum fi_ep_type type, struct fi_info** info) {
    struct fi_info* hints = fi_allocinfo();
    if (!hints) return 1;
    hints->fabric_attr->prov_name = strdup(provider);
    hints->ep_attr->type = type;
    hints->caps = FI_MSG | FI_RMA;
    hints->mode = ~0ULL;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    DO(fi_getinfo(FI_VERSION(1, 17), "127.0.0.1", NULL, FI_SOURCE, hints, info));
    fi_freeinfo(hints);
    return 0;
}

static int queues(struct network* net) {
    static const enum fi_wait_obj kinds[] = {FI_WAIT_NONE, FI_WAIT_UNSPEC, FI_WAIT_FD, FI_WAIT_POLLFD};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        struct fi_eq_attr eq_attr = {.wait_obj = kinds[i]};
        struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = kinds[i]};
        struct fi_cntr_attr cntr_attr = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = kinds[i]};
        struct fid_eq* eq;
        struct fid_cq* cq;
        struct fid_cntr* cntr;
        DO(fi_eq_open(net->fabric, &eq_attr, &eq, NULL));
        DO(fi_cq_open(net->domain, &cq_attr, &cq, NULL));
        DO(fi_cntr_open(net->domain, &cntr_attr, &cntr, NULL));
        DO(closed(&cntr->fid));
        DO(closed(&cq->fid));
        DO(closed(&eq->fid));
    }
    return 0;
}

static int sets(struct network* net) {
    struct fi_wait_attr wait_attr = {.wait_obj = FI_WAIT_FD};
    struct fi_cq_attr cq_attr = {.wait_obj = FI_WAIT_SET};
    struct fi_poll_attr poll_attr = {0};
    struct fid_wait* wait;
    struct fid_cq* cq;
    struct fid_poll* poll;
    DO(fi_wait_open(net->fabric, &wait_attr, &wait));
    cq_attr.wait_set = wait;
    DO(fi_cq_open(net->domain, &cq_attr, &cq, NULL));
    DO(fi_poll_open(net->domain, &poll_attr, &poll));
    DO(fi_poll_add(poll, &cq->fid, 0));
    DO(fi_poll_del(poll, &cq->fid, 0));
    DO(closed(&poll->fid));
    DO(closed(&cq->fid));
    DO(closed(&wait->fid));
    return 0;
}

static int address_vectors(struct network* net) {
    struct fi_av_attr map_attr = {.type = FI_AV_MAP};
    struct fi_av_attr table_attr = {.type = FI_AV_TABLE, .count = 16};
    struct fid_av* map;
    struct fid_av* table;
    DO(fi_av_open(net->domain, &map_attr, &map, NULL));
    DO(fi_av_open(net->domain, &table_attr, &table, NULL));
    DO(closed(&table->fid));
    DO(closed(&map->fid));
    return 0;
}

static int regions(struct network* net) {
    const uint64_t access = FI_SEND | FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE;
    const struct iovec range = {.iov_base = buffer, .iov_len = sizeof buffer};
    struct fi_mr_attr attr = {.mr_iov = &range, .iov_count = 1, .access = access, .requested_key = 3};
    struct fid_mr* one;
    struct fid_mr* vector;
    struct fid_mr* attributes;
    DO(fi_mr_reg(net->domain, buffer, sizeof buffer, access, 0, 1, 0, &one, NULL));
    DO(fi_mr_regv(net->domain, &range, 1, access, 0, 2, 0, &vector, NULL));
    DO(fi_mr_regattr(net->domain, &attr, 0, &attributes));
    DO(closed(&attributes->fid));
    DO(closed(&vector->fid));
    DO(closed(&one->fid));
    return 0;
}

static int shared_contexts(struct network* net) {
    struct fid_stx* transmit = NULL;
    struct fid_ep* receive = NULL;
    int lack =
        lacking("fi_stx_context", fi_stx_context(net->domain, net->info->tx_attr, &transmit, NULL), all_demanded);
    if (lack < 0) return 1;
    if (!lack) DO(closed(&transmit->fid));
    lack = lacking("fi_srx_context", fi_srx_context(net->domain, net->info->rx_attr, &receive, NULL), all_demanded);
    if (lack < 0) return 1;
    if (!lack) DO(closed(&receive->fid));
    return 0;
}

static int listening(struct network* net) {
    struct fi_eq_attr attr = {.wait_obj = FI_WAIT_UNSPEC};
    struct fid_eq* eq;
    struct fid_pep* pep;
    DO(fi_eq_open(net->fabric, &attr, &eq, NULL));
    DO(fi_passive_ep(net->fabric, net->info, &pep, NULL));
    DO(fi_pep_bind(pep, &eq->fid, 0));
    DO(closed(&pep->fid));
    DO(closed(&eq->fid));
    return 0;
}

static int alias(struct fid_ep* ep) {
    struct fid_ep* other = NULL;
    const int lack = lacking("fi_ep_alias", fi_ep_alias(ep, &other, FI_TRANSMIT), all_demanded);
    if (lack < 0) return 1;
    if (!lack) DO(closed(&other->fid));
    return 0;
}

static int scalable(struct network* net) {
    struct fid_ep* ep = NULL;
    const int lack = lacking("fi_scalable_ep", fi_scalable_ep(net->domain, net->info, &ep, NULL), 0);
    if (lack < 0) return 1;
    if (!lack) DO(closed(&ep->fid));
    return 0;
}

/* An endpoint with all that it needs, enabled. */
static int endpoint(struct network* net) {
    const int connected = net->info->ep_attr->type == FI_EP_MSG;
    struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_UNSPEC};
    struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_CONTEXT};
    struct fi_cntr_attr cntr_attr = {.events = FI_CNTR_EVENTS_COMP};
    struct fi_av_attr av_attr = {.type = FI_AV_TABLE};
    struct fid_eq* eq;
    struct fid_cq* cq;
    struct fid_cntr* cntr;
    struct fid_av* av;
    struct fid_ep* ep;
    DO(fi_eq_open(net->fabric, &eq_attr, &eq, NULL));
    DO(fi_cq_open(net->domain, &cq_attr, &cq, NULL));
    DO(fi_cntr_open(net->domain, &cntr_attr, &cntr, NULL));
    DO(fi_av_open(net->domain, &av_attr, &av, NULL));
    DO(fi_endpoint(net->domain, net->info, &ep, NULL));
    DO(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
    DO(fi_ep_bind(ep, &cntr->fid, FI_SEND));
    DO(fi_ep_bind(ep, connected ? &eq->fid : &av->fid, 0));
    if (alias(ep)) return 1;
    DO(fi_enable(ep));
    DO(closed(&ep->fid));
    DO(closed(&av->fid));
    DO(closed(&cntr->fid));
    DO(closed(&cq->fid));
    DO(closed(&eq->fid));
    return 0;
}

static int logging(void) {
    struct fid* log = NULL;
    DO(fi_open(FI_VERSION(1, 17), "logging", NULL, 0, 0, &log, NULL));
    DO(closed(log));
    return 0;
}

static int every_object(const char* provider, enum fi_ep_type type) {
    struct network net = {0};
    if (find(provider, type, &net.info)) return 1;
    DO(fi_fabric(net.info->fabric_attr, &net.fabric, NULL));
    DO(fi_domain(net.fabric, net.info, &net.domain, NULL));
    if (queues(&net) || sets(&net) || address_vectors(&net) || regions(&net) || shared_contexts(&net)) return 1;
    if (type == FI_EP_MSG && listening(&net)) return 1;
    if (endpoint(&net) || scalable(&net) || logging()) return 1;
    DO(closed(&net.domain->fid));
    DO(closed(&net.fabric->fid));
    fi_freeinfo(net.info);
    return 0;
}

int main(int argc, char** argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: every_object PROVIDER msg|rdm FOLDER [all]\n");
        return 2;
    }
    all_demanded = argc > 4;
    if (!loaded_from(argv[3])) return 1;
    if (every_object(argv[1], strcmp(argv[2], "msg") == 0 ? FI_EP_MSG : FI_EP_RDM)) return 1;
    printf("%s %s: %d objects opened and closed, libfabric %u.%u of %s\n", argv[1], argv[2], classes,
           FI_MAJOR(fi_version()), FI_MINOR(fi_version()), argv[3]);
    return 0;
}
