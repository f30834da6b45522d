/* A program that loads the library, opens a domain whose progress a thread of the library makes, unloads the library
 * with all of it open, goes on for a while, closes everything and ends. */
#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CHECK(call)                                      \
    do {                                                 \
        if (call) {                                      \
            fprintf(stderr, "%s did not work\n", #call); \
            return 1;                                    \
        }                                                \
    } while (0)

typedef int (*getinfo_call)(uint32_t, const char*, const char*, uint64_t, const struct fi_info*, struct fi_info**);
typedef int (*fabric_call)(struct fi_fabric_attr*, struct fid_fabric**, void*);
typedef struct fi_info* (*dupinfo_call)(const struct fi_info*);

static void* find(void* library, const char* name) {
    void* found = dlsym(library, name);
    if (!found) fprintf(stderr, "no %s\n", name);
    return found;
}

static struct fid_fabric* fabric;
static struct fid_domain* domain;
static struct fid_cq* cq;
static struct fid_av* av;
static struct fid_ep* ep;

static int open_all(void* library, char* provider) {
    getinfo_call getinfo;
    fabric_call open_fabric;
    dupinfo_call dupinfo;
    *(void**)&getinfo = find(library, "fi_getinfo");
    *(void**)&open_fabric = find(library, "fi_fabric");
    *(void**)&dupinfo = find(library, "fi_dupinfo");
    if (!getinfo || !open_fabric || !dupinfo) return 1;
    void (*freeinfo)(struct fi_info*);
    *(void**)&freeinfo = find(library, "fi_freeinfo");
    if (!freeinfo) return 1;
    struct fi_info* hints = dupinfo(NULL);
    struct fi_info* info;
    hints->fabric_attr->prov_name = strdup(provider);
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->data_progress = FI_PROGRESS_AUTO;
    CHECK(getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
    struct fi_cq_attr cq_attr = {.wait_obj = FI_WAIT_UNSPEC};
    struct fi_av_attr av_attr = {.type = FI_AV_UNSPEC};
    CHECK(open_fabric(info->fabric_attr, &fabric, NULL));
    CHECK(fi_domain(fabric, info, &domain, NULL));
    CHECK(fi_cq_open(domain, &cq_attr, &cq, NULL));
    CHECK(fi_av_open(domain, &av_attr, &av, NULL));
    CHECK(fi_endpoint(domain, info, &ep, NULL));
    CHECK(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
    CHECK(fi_ep_bind(ep, &av->fid, 0));
    CHECK(fi_enable(ep));
    freeinfo(info);
    freeinfo(hints);
    return 0;
}

static int close_all(void) {
    CHECK(fi_close(&ep->fid));
    CHECK(fi_close(&av->fid));
    CHECK(fi_close(&cq->fid));
    CHECK(fi_close(&domain->fid));
    CHECK(fi_close(&fabric->fid));
    return 0;
}

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    if (open_all(library, argv[2])) return 1;
    usleep(20000);
    dlclose(library);
    usleep(200000);
    if (close_all()) return 1;
    puts("still here");
    return 0;
}
