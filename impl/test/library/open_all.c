/* Opens an object of every class and closes them in order. Plain C, nothing but the interface: it builds and runs
 * against any libfabric of release 1.17 or later. Prints the first call that fails. */
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DO(call)                                                                     \
    do {                                                                             \
        int result_ = (int)(call);                                                   \
        if (result_) {                                                               \
            fprintf(stderr, "%s: %d (%s)\n", #call, result_, fi_strerror(-result_)); \
            return 1;                                                                \
        }                                                                            \
    } while (0)

static char buffer[4096];

static struct fi_info* find(const char* provider, enum fi_ep_type type) {
    struct fi_info* hints = fi_allocinfo();
    struct fi_info* info = NULL;
    if (!hints) return NULL;
    hints->fabric_attr->prov_name = strdup(provider);
    hints->ep_attr->type = type;
    hints->caps = FI_MSG | FI_RMA;
    hints->mode = ~0ULL;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info);
    fi_freeinfo(hints);
    return info;
}

static int open_all(const char* provider, enum fi_ep_type type) {
    struct fi_info* info = find(provider, type);
    struct fid_fabric* fabric;
    struct fid_domain* domain;
    struct fid_eq* eq;
    struct fid_cq* cq;
    struct fid_cntr* counter;
    struct fid_av* av = NULL;
    struct fid_mr* mr;
    struct fid_ep* ep;
    struct fid_pep* pep = NULL;
    struct fid_poll* poll;
    struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_UNSPEC};
    struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_NONE};
    struct fi_cntr_attr counter_attr = {.events = FI_CNTR_EVENTS_COMP};
    struct fi_av_attr av_attr = {.type = FI_AV_TABLE};
    struct fi_poll_attr poll_attr = {0};

    if (!info) {
        fprintf(stderr, "%s: no data\n", provider);
        return 1;
    }
    DO(fi_fabric(info->fabric_attr, &fabric, &info));
    DO(fi_eq_open(fabric, &eq_attr, &eq, NULL));
    if (type == FI_EP_MSG) {
        DO(fi_passive_ep(fabric, info, &pep, NULL));
        DO(fi_pep_bind(pep, &eq->fid, 0));
    }
    DO(fi_domain(fabric, info, &domain, NULL));
    DO(fi_cq_open(domain, &cq_attr, &cq, NULL));
    DO(fi_cntr_open(domain, &counter_attr, &counter, NULL));
    DO(fi_poll_open(domain, &poll_attr, &poll));
    DO(fi_poll_add(poll, &cq->fid, 0));
    DO(fi_mr_reg(domain, buffer, sizeof buffer, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 7, 0, &mr, NULL));
    DO(fi_endpoint(domain, info, &ep, NULL));
    DO(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
    DO(fi_ep_bind(ep, &counter->fid, FI_SEND));
    if (type == FI_EP_RDM) {
        DO(fi_av_open(domain, &av_attr, &av, NULL));
        DO(fi_ep_bind(ep, &av->fid, 0));
    } else {
        DO(fi_ep_bind(ep, &eq->fid, 0));
    }
    DO(fi_enable(ep));

    DO(fi_close(&ep->fid));
    if (av) DO(fi_close(&av->fid));
    DO(fi_close(&mr->fid));
    DO(fi_poll_del(poll, &cq->fid, 0));
    DO(fi_close(&poll->fid));
    DO(fi_close(&counter->fid));
    DO(fi_close(&cq->fid));
    DO(fi_close(&domain->fid));
    if (pep) DO(fi_close(&pep->fid));
    DO(fi_close(&eq->fid));
    DO(fi_close(&fabric->fid));
    fi_freeinfo(info);
    printf("%s: every object opened and closed\n", provider);
    return 0;
}

int main(void) {
    return open_all("shm", FI_EP_RDM) || open_all("tcp", FI_EP_MSG) || open_all("tcp;ofi_rxm", FI_EP_RDM);
}
