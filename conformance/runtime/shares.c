#include "conformance/runtime/runtime.h"

enum { OWNED = 14 };

static void list_owned(const struct fi_info* info, const void* out[OWNED]) {
    const struct fi_ep_attr* ep = info->ep_attr;
    const struct fi_domain_attr* domain = info->domain_attr;
    const struct fi_fabric_attr* fabric = info->fabric_attr;
    const void* all[OWNED] = {info,
                              info->src_addr,
                              info->dest_addr,
                              info->tx_attr,
                              info->rx_attr,
                              info->nic,
                              ep,
                              ep ? ep->auth_key : NULL,
                              domain,
                              domain ? domain->name : NULL,
                              fabric,
                              domain ? domain->auth_key : NULL,
                              fabric ? fabric->name : NULL,
                              fabric ? fabric->prov_name : NULL};

    memcpy(out, all, sizeof all);
}

int shares(const struct fi_info* a, const struct fi_info* b) {
    const void *of_a[OWNED], *of_b[OWNED];
    int i, k;

    list_owned(a, of_a);
    list_owned(b, of_b);
    for (i = 0; i < OWNED; i++)
        for (k = 0; k < OWNED; k++)
            if (of_a[i] && of_a[i] == of_b[k]) return 1;
    return 0;
}
