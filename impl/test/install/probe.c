/* What a user of the installed library builds. `probe FOLDER` exits with 0 if the only libfabric in this process lies
 * in FOLDER, is release 1.18 and offers tcp; otherwise it says what is wrong. */
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "loaded.h"

static int fail(const char* what, const char* detail) {
    fprintf(stderr, "probe: %s: %s\n", what, detail);
    return 1;
}

static int offers_tcp(void) {
    struct fi_info* hints = fi_allocinfo();
    struct fi_info* info = NULL;
    int result;
    if (!hints) return fail("fi_allocinfo", "no memory");
    hints->fabric_attr->prov_name = strdup("tcp");
    result = fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info);
    fi_freeinfo(hints);
    if (result) return fail("fi_getinfo", fi_strerror(-result));
    result = strncmp(info->fabric_attr->prov_name, "tcp", 3) ? fail("provider", info->fabric_attr->prov_name) : 0;
    fi_freeinfo(info);
    return result;
}

int main(int argc, char** argv) {
    char version[32];
    if (argc != 2) return fail("usage", "probe FOLDER");
    snprintf(version, sizeof version, "%u.%u", FI_MAJOR(fi_version()), FI_MINOR(fi_version()));
    if (strcmp(version, "1.18") != 0) return fail("version", version);
    return offers_tcp() || !loaded_from(argv[1]);
}
