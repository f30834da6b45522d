/* A program that is bound to every node of the library's symbols, one after the other, as programs of all releases are.
 * Hints and their parts end where an unreadable page begins: nobody reads beyond what a release's structures have. */
#define _GNU_SOURCE
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define NODE(n)                                                                                             \
    int getinfo_##n(uint32_t, const char*, const char*, uint64_t, const struct fi_info*, struct fi_info**); \
    void freeinfo_##n(struct fi_info*);                                                                     \
    struct fi_info* dupinfo_##n(const struct fi_info*);                                                     \
    __asm__(".symver getinfo_" #n ",fi_getinfo@FABRIC_1." #n);                                              \
    __asm__(".symver freeinfo_" #n ",fi_freeinfo@FABRIC_1." #n);                                            \
    __asm__(".symver dupinfo_" #n ",fi_dupinfo@FABRIC_1." #n);
NODE(0)
NODE(1)
NODE(2)
NODE(3)
NODE(7)
NODE(8)
NODE(9)
int fabric_0(struct fi_fabric_attr*, struct fid_fabric**, void*);
int fabric_1(struct fi_fabric_attr*, struct fid_fabric**, void*);
int fabric2_8(struct fi_info*, struct fid_fabric**, uint64_t, void*);
__asm__(".symver fabric_0,fi_fabric@FABRIC_1.0");
__asm__(".symver fabric_1,fi_fabric@FABRIC_1.1");
__asm__(".symver fabric2_8,fi_fabric2@FABRIC_1.8");

static void* at_edge(size_t size) {
    char* const base = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED || mprotect(base + 4096, 4096, PROT_NONE) != 0) return NULL;
    return base + 4096 - size;
}

struct sizes {
    size_t info, tx, ep, domain, fabric;
};

struct row {
    int node;
    uint32_t version;
    struct sizes sizes;
    int (*getinfo)(uint32_t, const char*, const char*, uint64_t, const struct fi_info*, struct fi_info**);
    void (*freeinfo)(struct fi_info*);
    struct fi_info* (*dupinfo)(const struct fi_info*);
};

#define INFO_2 offsetof(struct fi_info, nic)
#define TX_3 offsetof(struct fi_tx_attr, tclass)
#define DOMAIN_1 offsetof(struct fi_domain_attr, tclass)
#define EP sizeof(struct fi_ep_attr)
#define FABRIC sizeof(struct fi_fabric_attr)

int main(void) {
    const struct row rows[] = {
        {0,
         FI_VERSION(1, 4),
         {INFO_2, TX_3, offsetof(struct fi_ep_attr, auth_key_size), offsetof(struct fi_domain_attr, cntr_cnt),
          offsetof(struct fi_fabric_attr, api_version)},
         getinfo_0,
         freeinfo_0,
         dupinfo_0},
        {1, FI_VERSION(1, 6), {INFO_2, TX_3, EP, DOMAIN_1, FABRIC}, getinfo_1, freeinfo_1, dupinfo_1},
        {2, FI_VERSION(1, 8), {sizeof(struct fi_info), TX_3, EP, DOMAIN_1, FABRIC}, getinfo_2, freeinfo_2, dupinfo_2},
        {3,
         FI_VERSION(1, 17),
         {sizeof(struct fi_info), sizeof(struct fi_tx_attr), EP, 192, FABRIC},
         getinfo_3,
         freeinfo_3,
         dupinfo_3},
        {7,
         FI_VERSION(1, 20),
         {sizeof(struct fi_info), sizeof(struct fi_tx_attr), EP, 200, FABRIC},
         getinfo_7,
         freeinfo_7,
         dupinfo_7},
        {8,
         FI_VERSION(2, 0),
         {sizeof(struct fi_info), sizeof(struct fi_tx_attr), EP, 208, FABRIC},
         getinfo_8,
         freeinfo_8,
         dupinfo_8},
        {9,
         FI_VERSION(2, 6),
         {sizeof(struct fi_info), sizeof(struct fi_tx_attr), EP, 224, FABRIC},
         getinfo_9,
         freeinfo_9,
         dupinfo_9},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        const struct row* const r = &rows[i];
        struct fi_info* const hints = at_edge(r->sizes.info);
        struct fi_info* list = NULL;
        hints->caps = FI_MSG;
        hints->tx_attr = at_edge(r->sizes.tx);
        hints->rx_attr = at_edge(sizeof(struct fi_rx_attr));
        hints->ep_attr = at_edge(r->sizes.ep);
        hints->ep_attr->type = FI_EP_RDM;
        hints->domain_attr = at_edge(r->sizes.domain);
        hints->domain_attr->mr_mode = r->version < FI_VERSION(1, 5) ? FI_MR_SCALABLE : 0;
        hints->fabric_attr = at_edge(r->sizes.fabric);
        const int got = r->getinfo(r->version, NULL, NULL, 0, hints, &list);
        int entries = 0;
        for (const struct fi_info* e = list; e; e = e->next) ++entries;
        uint64_t most = 0; /* what only FABRIC_1.9 gives a value to */
        if (list && r->node == 9) memcpy(&most, (const char*)list->domain_attr + 208, sizeof most);
        printf("FABRIC_1.%d: %d, %d entries, max_cntr_value %d", r->node, got, entries, most != 0);
        if (list) {
            struct fi_info* const copy = r->dupinfo(list);
            struct fid_fabric* fabric = NULL;
            int opened = -1;
            if (r->node == 0) {
                opened = fabric_0(list->fabric_attr, &fabric, NULL);
            } else if (r->node >= 8) {
                opened = fabric2_8(list, &fabric, 0, NULL);
            } else {
                opened = fabric_1(list->fabric_attr, &fabric, NULL);
            }
            printf(", copy %d, fabric %d", copy != NULL, opened);
            if (opened == 0) printf(", closed %d", fi_close(&fabric->fid));
            r->freeinfo(copy);
            r->freeinfo(list);
        }
        printf("\n");
    }
    return 0;
}
