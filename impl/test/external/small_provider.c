/* A provider for tests, of a few answers and no transport, in plain C and of no library: any libfabric loads it from
 * the folders of FI_PROVIDER_PATH. SMALL_* choose what is wrong with it (CMakeLists.txt has the list).
 *
 * It answers with two entries, both of domain "small-domain":
 *   FI_EP_RDM  with an address of eight bytes
 *   FI_EP_MSG  with authorization keys, an address of text, and a nic of its own
 * and opens fabrics of its own, whose calls return errors that no other library returns there. `small_seen` counts
 * what it was asked for; whoever loads the same file finds it by its name. */
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "small_provider.h"

#ifndef SMALL_NAME
#define SMALL_NAME "small"
#endif
#ifndef SMALL_VERSION
#define SMALL_VERSION FI_VERSION(3, 1)
#endif
#ifndef SMALL_FI_VERSION
#define SMALL_FI_VERSION FI_VERSION(1, 17)
#endif

/* fi_domain_attr since 2.5, with one of its fields. */
#ifdef SMALL_LARGE_STRUCTURES
#define SMALL_DOMAIN_BYTES 224
#define SMALL_FILL_DOMAIN(attr) memcpy((char*)(attr) + 208, "01234567", 8)
#else
#define SMALL_DOMAIN_BYTES sizeof(struct fi_domain_attr)
#define SMALL_FILL_DOMAIN(attr) ((void)(attr))
#endif

__attribute__((visibility("default"))) struct small_seen small_seen;

/* Memory, also for whoever lets an allocation fail: what is tested is the host. */
static void* made(size_t size) {
    void* block;
    do block = calloc(1, size);
    while (!block);
    return block;
}

static char* text(const char* source) { return strcpy(made(strlen(source) + 1), source); }

/* The nic */

static struct fid_nic* make_nic(void);

static int close_nic(struct fid* fid) {
    struct fid_nic* nic = (struct fid_nic*)fid;
    --small_seen.nics;
    free(nic->device_attr->name);
    free(nic->device_attr);
    free(nic);
    return 0;
}

static int control_nic(struct fid* fid, int command, void* argument) {
    (void)fid;
    if (command != FI_DUP) return -FI_ENOSYS;
    *(struct fid_nic**)argument = make_nic();
    return 0;
}

static int nic_as_text(const struct fid* fid, char* buffer, size_t length) {
    (void)fid;
    snprintf(buffer, length, "a nic of " SMALL_NAME);
    return 0;
}

static struct fi_ops nic_ops = {
    .size = sizeof(struct fi_ops), .close = close_nic, .control = control_nic, .tostr = nic_as_text};

static struct fid_nic* make_nic(void) {
    struct fid_nic* nic = made(sizeof *nic);
    nic->fid.fclass = FI_CLASS_NIC;
    nic->fid.ops = &nic_ops;
    nic->device_attr = made(sizeof *nic->device_attr);
    nic->device_attr->name = text("small-nic");
    ++small_seen.nics;
    return nic;
}

/* Answers */

static struct fi_info* make_info(enum fi_ep_type type) {
    struct fi_info* info = made(sizeof *info);
    info->caps = FI_MSG | FI_TAGGED | FI_SEND | FI_RECV | FI_LOCAL_COMM;
    info->tx_attr = made(sizeof *info->tx_attr);
    info->rx_attr = made(sizeof *info->rx_attr);
    info->ep_attr = made(sizeof *info->ep_attr);
    info->domain_attr = made(SMALL_DOMAIN_BYTES);
    info->fabric_attr = made(sizeof *info->fabric_attr);
    info->tx_attr->caps = FI_MSG | FI_TAGGED | FI_SEND;
    info->rx_attr->caps = FI_MSG | FI_TAGGED | FI_RECV;
    info->tx_attr->tclass = FI_TC_LOW_LATENCY;
    info->ep_attr->type = type;
    info->ep_attr->max_msg_size = 4711;
    info->domain_attr->name = text("small-domain");
    SMALL_FILL_DOMAIN(info->domain_attr);
    info->fabric_attr->name = text("small-fabric");
    return info;
}

__attribute__((unused)) static struct fi_info* make_rdm(void) {
    struct fi_info* info = make_info(FI_EP_RDM);
    info->addr_format = FI_ADDR_PSMX;
    info->src_addrlen = 8;
    info->src_addr = made(8);
    memcpy(info->src_addr, "\1\2\3\4\5\6\7\10", 8);
    return info;
}

__attribute__((unused)) static struct fi_info* make_msg(void) {
    struct fi_info* info = make_info(FI_EP_MSG);
    info->addr_format = FI_ADDR_STR;
    info->src_addr = text("small://here");
    info->src_addrlen = strlen(info->src_addr) + 1;
    info->ep_attr->auth_key_size = 3;
    info->ep_attr->auth_key = made(3);
    memcpy(info->ep_attr->auth_key, "abc", 3);
    info->domain_attr->auth_key_size = 4;
    info->domain_attr->auth_key = made(4);
    memcpy(info->domain_attr->auth_key, "defg", 4);
    info->nic = make_nic();
    return info;
}

/* What a provider that keeps no promises returns. */
__attribute__((unused)) static struct fi_info* spoilt(struct fi_info* list) {
#if defined(SMALL_WITHOUT_DOMAIN)
    free(list->domain_attr->name);
    free(list->domain_attr);
    list->domain_attr = NULL;
#elif defined(SMALL_WITHOUT_NAME)
    free(list->fabric_attr->name);
    list->fabric_attr->name = NULL;
#elif defined(SMALL_ENDLESS_NAME)
    free(list->domain_attr->name);
    list->domain_attr->name = made(100001);
    memset(list->domain_attr->name, 'x', 100000);
#elif defined(SMALL_HUGE_ADDRESS)
    list->src_addrlen = (size_t)1 << 40;
#elif defined(SMALL_ENDLESS_LIST)
    list->next->next = list;
#endif
    return list;
}

static void note_call(uint32_t version, uint64_t flags, const struct fi_info* hints) {
    ++small_seen.queries;
    small_seen.version = version;
    small_seen.flags = flags;
    small_seen.had_hints = hints != NULL;
    if (!hints) return;
    small_seen.nic_in_hints = hints->nic;
    small_seen.tclass_in_hints = hints->tx_attr ? hints->tx_attr->tclass : 1;
    small_seen.key_in_hints = hints->ep_attr ? hints->ep_attr->auth_key_size : 1;
    small_seen.inject_in_hints = hints->tx_attr ? hints->tx_attr->inject_size : 1;
}

__attribute__((unused)) static int get_info(uint32_t version, const char* node, const char* service, uint64_t flags,
                                            const struct fi_info* hints, struct fi_info** info) {
    const char* name = hints && hints->fabric_attr ? hints->fabric_attr->prov_name : NULL;
    enum fi_ep_type type = hints && hints->ep_attr ? hints->ep_attr->type : FI_EP_UNSPEC;
    struct fi_info* rdm = NULL;
    struct fi_info* msg = NULL;

    (void)node;
    (void)service;
    (void)name;
    (void)type;
    (void)rdm;
    (void)msg;
    (void)info;
    note_call(version, flags, hints);
#ifdef SMALL_RESULT
    return SMALL_RESULT; /* with no list */
#else
    if (name && strcmp(name, SMALL_NAME) != 0) {
        ++small_seen.foreign_names;
        return -FI_ENODATA;
    }
    if (type == FI_EP_UNSPEC || type == FI_EP_RDM) rdm = make_rdm();
    if (type == FI_EP_UNSPEC || type == FI_EP_MSG) msg = make_msg();
    if (rdm) rdm->next = msg;
    *info = rdm ? rdm : msg;
    if (!*info) return -FI_ENODATA;
    if (rdm) spoilt(rdm);
    return 0;
#endif
}

/* Fabrics */

static int close_fabric(struct fid* fid) {
    --small_seen.fabrics;
    free(fid);
    return 0;
}

static int open_domain(struct fid_fabric* fabric, struct fi_info* info, struct fid_domain** domain, void* context) {
    (void)fabric;
    (void)info;
    (void)domain;
    (void)context;
    return -SMALL_DOMAIN_ERROR;
}

static int open_eq(struct fid_fabric* fabric, struct fi_eq_attr* attr, struct fid_eq** eq, void* context) {
    (void)fabric;
    (void)attr;
    (void)eq;
    (void)context;
    return -SMALL_EQ_ERROR;
}

__attribute__((unused)) static struct fi_ops fabric_fid_ops = {.size = sizeof(struct fi_ops), .close = close_fabric};
__attribute__((unused)) static struct fi_ops_fabric fabric_ops = {
    .size = sizeof(struct fi_ops_fabric), .domain = open_domain, .eq_open = open_eq};

__attribute__((unused)) static int open_fabric(struct fi_fabric_attr* attr, struct fid_fabric** fabric, void* context) {
    ++small_seen.opens;
#ifdef SMALL_NO_FABRIC_OBJECT
    (void)attr;
    (void)fabric;
    (void)context;
    return 0;
#else
    if (!attr->name || strcmp(attr->name, "small-fabric") != 0) return -FI_ENODATA;
    if (!attr->prov_name || strcmp(attr->prov_name, SMALL_NAME) != 0) return -FI_EOTHER;
    small_seen.version = attr->api_version;
    *fabric = made(sizeof **fabric);
    (*fabric)->fid.fclass = FI_CLASS_FABRIC;
    (*fabric)->fid.context = context;
    (*fabric)->fid.ops = &fabric_fid_ops;
    (*fabric)->ops = &fabric_ops;
    ++small_seen.fabrics;
    return 0;
#endif
}

/* Shown where nothing of the process is left to ask. */
static void clean_up(void) {
    ++small_seen.cleanups;
    if (getenv("SMALL_SAYS_CLEANUP")) fprintf(stderr, SMALL_NAME " is cleaned up\n");
}

__attribute__((unused)) static struct fi_provider provider = {.version = SMALL_VERSION,
                                                              .fi_version = SMALL_FI_VERSION,
                                                              .name = SMALL_NAME,
#ifndef SMALL_NO_GETINFO
                                                              .getinfo = get_info,
#endif
#ifndef SMALL_NO_FABRIC
                                                              .fabric = open_fabric,
#endif
                                                              .cleanup = clean_up};

#ifndef SMALL_NO_ENTRY
__attribute__((visibility("default"))) struct fi_provider* fi_prov_ini(void);

struct fi_provider* fi_prov_ini(void) {
    ++small_seen.loads;
#ifdef SMALL_IS_SLOW
    usleep(300000);
#endif
#ifdef SMALL_QUERIES_ITS_HOST
    /* A provider may look for others before it is one. */
    struct fi_info* list = NULL;
    small_seen.result_of_host = fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, NULL, &list);
    if (!small_seen.result_of_host) fi_freeinfo(list);
#endif
#ifdef SMALL_USES_ITS_HOST
    int number = 0;
    fi_param_define(&provider, "number", FI_PARAM_INT, "a number");
    small_seen.result_of_host = fi_param_get_int(&provider, "number", &number);
    small_seen.number = number;
    FI_WARN(&provider, FI_LOG_CORE, "a line of %s\n", provider.name);
#endif
#ifdef SMALL_ENTRY_NULL
    return NULL;
#else
    return &provider;
#endif
}
#endif
