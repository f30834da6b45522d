// Chapter 4: what a domain says of threads, progress and memory, and how many objects it has room for.
#include "endpoint.h"

static int ask(const struct fi_info* hints, struct fi_info** info) {
    *info = NULL;
    return fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, info);
}

int main(void) {
    struct fi_info *hints = fi_allocinfo(), *info;
    hints->caps = FI_MSG;
    hints->fabric_attr->prov_name = strdup("shm");

    //! [threading]
    // This program lets one thread at a time into the domain: a provider may leave its locks out.
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    expect(ask(hints, &info), 0, "FI_THREAD_DOMAIN");
    require(info->domain_attr->threading == FI_THREAD_DOMAIN || info->domain_attr->threading == FI_THREAD_SAFE,
            "the answer is safe for one thread at a time");
    fi_freeinfo(info);
    //! [threading]

    //! [counts]
    hints->domain_attr->cq_cnt = 16;
    expect(ask(hints, &info), 0, "16 completion queues");
    const size_t most = info->domain_attr->cq_cnt;
    require(most >= 16, "a count in the answer is at least that of the hints");
    printf("%zu completion queues, %zu endpoints, keys of %zu bytes\n", most, info->domain_attr->ep_cnt,
           info->domain_attr->mr_key_size);
    fi_freeinfo(info);

    hints->domain_attr->cq_cnt = most + 1;  // more than there are
    expect(ask(hints, &info), -FI_ENODATA, "one queue too many");
    //! [counts]

    //! [name]
    hints->domain_attr->cq_cnt = 0;
    hints->domain_attr->name = strdup("no-such-domain");
    expect(ask(hints, &info), -FI_ENODATA, "a domain that is not there");
    //! [name]
    fi_freeinfo(hints);
    return 0;
}
