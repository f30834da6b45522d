/* A look-alike of libfabric with one provider, "fake", that turns hostile on the n-th query of a process.
 *
 * HOSTILE=WHAT:N in the environment says how and when; WHAT:N+ means from then on.  Without it the library is plain: it
 * gives one offer to every query that does not name another provider. */
#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char* what = "";
static unsigned long when;
static int always;
static unsigned long requested;
static char provider[64] = "fake";
static volatile int* volatile nowhere = (int*)8;

__attribute__((constructor)) static void read_mood(void) {
    const char* mood = getenv("HOSTILE");
    const char* colon = mood ? strchr(mood, ':') : NULL;
    if (!colon) return;
    what = strndup(mood, (size_t)(colon - mood));
    when = strtoul(colon + 1, NULL, 10);
    always = strchr(colon, '+') != NULL;
    if (!strcmp(what, "escapes")) strcpy(provider, "fa\033[31mke\007\xff");
}

static int is(const char* mood) { return !strcmp(what, mood) && (requested == when || (always && requested > when)); }

static void leave(int signal) {
    (void)signal;
    _exit(0);
}

static void shrug(int signal) { (void)signal; }

static void* idle(void* argument) {
    for (;;) pause();
    return argument;
}

static void start_thread(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, idle, NULL) == 0) pthread_detach(thread);
}

static void misbehave(void) {
    if (is("crash")) *nowhere = 1;
    if (is("abort")) abort();
    if (is("exit")) exit(0);
    if (is("leave")) _exit(7);
    if (is("hang"))
        for (;;) pause();
    if (is("swallow")) {
        signal(SIGSEGV, shrug);
        *nowhere = 1;
    }
    if (is("hide")) {
        signal(SIGSEGV, leave);
        *nowhere = 1;
    }
    if (is("parricide")) kill(getppid(), SIGKILL);
    if (is("threads")) start_thread();
    if (is("close"))
        for (int fd = 3; fd < 256; ++fd) close(fd);
    if (is("chatter")) {
        printf("R-1\nPchatter\033[2J\n");
        fprintf(stderr, "\033[31mchatter\n");
        fflush(NULL);
    }
}

static struct fi_info* make_offer(const struct fi_info* hints) {
    struct fi_info* info = calloc(1, sizeof *info);
    info->tx_attr = calloc(1, sizeof *info->tx_attr);
    info->rx_attr = calloc(1, sizeof *info->rx_attr);
    info->ep_attr = calloc(1, sizeof *info->ep_attr);
    info->domain_attr = calloc(1, sizeof *info->domain_attr);
    info->fabric_attr = calloc(1, sizeof *info->fabric_attr);
    info->caps = hints && hints->caps ? hints->caps : FI_MSG | FI_SEND | FI_RECV;
    info->ep_attr->type = FI_EP_RDM;
    info->addr_format = FI_ADDR_STR;
    info->domain_attr->name = strdup(provider);
    info->fabric_attr->name = strdup("fakery");
    info->fabric_attr->prov_name = strdup(provider);
    info->fabric_attr->api_version = FI_VERSION(1, 17);
    return info;
}

static int names_another(const struct fi_info* hints) {
    return hints && hints->fabric_attr && hints->fabric_attr->prov_name &&
           strcmp(hints->fabric_attr->prov_name, provider) != 0;
}

int fi_getinfo(uint32_t version, const char* node, const char* service, uint64_t flags, const struct fi_info* hints,
               struct fi_info** info) {
    (void)node, (void)service, (void)flags;
    ++requested;
    misbehave();
    *info = NULL;
    if (version > FI_VERSION(1, 17)) return -FI_ENOSYS;
    if (names_another(hints)) return -FI_ENODATA;
    if (is("scribble") && hints) ((struct fi_info*)hints)->caps |= FI_RMA;
    *info = make_offer(hints);
    if (is("cycle")) (*info)->next = *info;
    if (is("wild-next")) (*info)->next = (struct fi_info*)0x10;
    if (is("wild-name")) (*info)->domain_attr->name = (char*)0x7000000000000000;
    return 0;
}

void fi_freeinfo(struct fi_info* info) {
    while (info) {
        struct fi_info* next = info->next;
        if (info->domain_attr) free(info->domain_attr->name);
        if (info->fabric_attr) free(info->fabric_attr->name);
        if (info->fabric_attr) free(info->fabric_attr->prov_name);
        free(info->tx_attr);
        free(info->rx_attr);
        free(info->ep_attr);
        free(info->domain_attr);
        free(info->fabric_attr);
        free(info);
        info = next;
    }
}

struct fi_info* fi_dupinfo(const struct fi_info* info) {
    return make_offer(info);
}

uint32_t fi_version(void) { return FI_VERSION(1, 17); }

int fi_fabric(struct fi_fabric_attr* attr, struct fid_fabric** fabric, void* context) {
    (void)attr, (void)fabric, (void)context;
    return -FI_ENOSYS;
}

const char* fi_strerror(int number) {
    (void)number;
    return "hostile";
}

char* fi_tostr(const void* data, enum fi_type type) {
    (void)data, (void)type;
    return (char*)"hostile";
}

char* fi_tostr_r(char* buffer, size_t length, const void* data, enum fi_type type) {
    (void)data, (void)type;
    if (length > 0) snprintf(buffer, length, "hostile");
    return buffer;
}
