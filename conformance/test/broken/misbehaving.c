/* A look-alike of libfabric that misbehaves in the way that the `node` of a call names, and is valid without one.
 *
 * Its valid answer is two offers that repeat the caps of the hints.  It has what the tests of conformance/harness/
 * need, no more. */
#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void* kept[64];
static unsigned kept_count;
static volatile int* volatile nowhere = (int*)8;

static void handler(int signal) { (void)signal; }

static struct fi_info* make_offer(const struct fi_info* hints, const char* name) {
    struct fi_info* info = calloc(1, sizeof *info);
    if (!info) return NULL;
    info->tx_attr = calloc(1, sizeof *info->tx_attr);
    info->domain_attr = calloc(1, sizeof *info->domain_attr);
    info->fabric_attr = calloc(1, sizeof *info->fabric_attr);
    if (!info->tx_attr || !info->domain_attr || !info->fabric_attr) {
        fi_freeinfo(info);
        return NULL;
    }
    info->caps = hints ? hints->caps : FI_MSG;
    info->addr_format = FI_ADDR_STR;
    info->src_addr = strdup("misbehaving://here");
    info->src_addrlen = info->src_addr ? strlen(info->src_addr) + 1 : 0;
    info->tx_attr->inject_size = 64;
    info->tx_attr->tclass = 0xffffffffu;
    info->domain_attr->mr_mode = FI_MR_LOCAL;
    info->domain_attr->name = strdup(name);
    info->domain_attr->domain = hints && hints->domain_attr ? hints->domain_attr->domain : NULL;
    info->fabric_attr->prov_name = strdup("misbehaving");
    info->fabric_attr->api_version = FI_VERSION(1, 17);
    if (!info->src_addr || !info->domain_attr->name || !info->fabric_attr->prov_name) {
        fi_freeinfo(info);
        return NULL;
    }
    return info;
}

/* Ends or spoils the process.  Returns if `mood` is none of these. */
static void spoil(const char* mood) {
    if (!strcmp(mood, "crash")) *nowhere = 1;
    if (!strcmp(mood, "abort")) abort();
    if (!strcmp(mood, "wild jump")) ((void (*)(void))0xdead0000dead0000)();
    if (!strcmp(mood, "hang"))
        for (;;) pause();
    if (!strcmp(mood, "spin"))
        for (volatile int i = 0;; ++i) continue;
    if (!strcmp(mood, "exit")) exit(3);
    if (!strcmp(mood, "_exit")) _exit(0);
    if (!strcmp(mood, "offspring") && fork() == 0) {
        sleep(60);
        _exit(0);
    }
    if (!strcmp(mood, "handler")) {
        signal(SIGUSR1, handler);
        signal(SIGSEGV, handler);
    }
    if (!strcmp(mood, "print")) (void)!write(STDOUT_FILENO, "chatter\n", 8);
    if (!strcmp(mood, "leak")) kept[kept_count++ % 64] = malloc(10);
}

static void scribble(const char* mood, const char* node, struct fi_info* hints) {
    if (!strcmp(mood, "scribble caps")) hints->caps |= FI_RMA;
    if (!strcmp(mood, "scribble same")) *(volatile uint64_t*)&hints->mode = hints->mode;
    if (!strcmp(mood, "scribble next")) hints->next = hints;
    if (!strcmp(mood, "scribble mr_mode")) hints->domain_attr->mr_mode = FI_MR_BASIC;
    if (!strcmp(mood, "scribble name")) hints->fabric_attr->prov_name[1] = '!';
    if (!strcmp(mood, "scribble part")) hints->ep_attr = NULL;
    if (!strcmp(mood, "scribble key")) hints->ep_attr->auth_key[0] = 1;
    if (!strcmp(mood, "scribble node")) ((char*)node)[0] = 'S';
}

static int read_past(const struct fi_info* hints) {
    const volatile char* bytes = hints->src_addr;
    int sum = 0;
    for (size_t i = 0; i < hints->src_addrlen; ++i) sum += bytes[i];
    return sum & 1;
}

/* Spoils the list that is given back. */
static void spoil_list(const char* mood, struct fi_info* list) {
    if (!strcmp(mood, "cycle")) list->next->next = list;
    if (!strcmp(mood, "wild next")) list->next->next = (struct fi_info*)0x10;
    if (!strcmp(mood, "wild name")) list->domain_attr->name = (char*)0x7000000000000000;
    if (!strcmp(mood, "long address")) list->src_addrlen = (size_t)1 << 40;
    if (!strcmp(mood, "foreign domain")) list->domain_attr->domain = (struct fid_domain*)&kept;
    if (!strcmp(mood, "no enumerator")) list->domain_attr->threading = (enum fi_threading)0xfffffff0u;
    if (!strcmp(mood, "endless name")) {
        list->domain_attr->name = malloc(10000);
        memset(list->domain_attr->name, 'x', 9999);
        list->domain_attr->name[9999] = 0;
    }
}

int fi_getinfo(uint32_t version, const char* node, const char* service, uint64_t flags, const struct fi_info* hints,
               struct fi_info** info) {
    const char* mood = node ? node : "";
    (void)version, (void)service, (void)flags;
    spoil(mood);
    if (!strcmp(mood, "no data")) return -FI_ENODATA;
    if (!strcmp(mood, "null list")) return *info = NULL, 0;
    if (!strcmp(mood, "error and list")) return *info = (struct fi_info*)0x10, -FI_EINVAL;
    if (!strcmp(mood, "read past") && read_past(hints)) return -FI_EINVAL;
    if (hints) scribble(mood, node, (struct fi_info*)hints);
    *info = make_offer(hints, "first");
    if (!*info) return -FI_ENOMEM;
    (*info)->next = make_offer(hints, "second");
    if (!(*info)->next) {
        if (strcmp(mood, "leak when out of memory")) fi_freeinfo(*info);
        *info = NULL;
        return -FI_ENOMEM;
    }
    spoil_list(mood, *info);
    return 0;
}

void fi_freeinfo(struct fi_info* info) {
    while (info) {
        struct fi_info* next = info->next;
        if (info->domain_attr) free(info->domain_attr->name);
        if (info->fabric_attr) free(info->fabric_attr->prov_name);
        free(info->tx_attr);
        free(info->domain_attr);
        free(info->fabric_attr);
        free(info->src_addr);
        free(info);
        info = next;
    }
}

struct fi_info* fi_dupinfo(const struct fi_info* info) {
    (void)info;
    return calloc(1, sizeof(struct fi_info));
}

uint32_t fi_version(void) { return FI_VERSION(1, 17); }

int fi_fabric(struct fi_fabric_attr* attr, struct fid_fabric** fabric, void* context) {
    (void)attr, (void)fabric, (void)context;
    return -FI_ENOSYS;
}

const char* fi_strerror(int number) {
    (void)number;
    return "misbehaving";
}

char* fi_tostr(const void* data, enum fi_type type) {
    (void)data, (void)type;
    return "misbehaving";
}

/* Ignores the length. */
char* fi_tostr_r(char* buffer, size_t length, const void* data, enum fi_type type) {
    (void)length, (void)data, (void)type;
    return strcpy(buffer, "misbehaving and careless");
}
