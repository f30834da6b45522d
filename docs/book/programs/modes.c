// Chapter 3: what the application must do, and that it is the one who says so first.
#include "endpoint.h"

int main(void) {
    struct fi_info *hints = fi_allocinfo(), *info = NULL;
    //! [supported]
    // Every bit is a duty that this program is able to keep.
    const uint64_t supported = FI_CONTEXT | FI_MSG_PREFIX;
    const int memory = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->caps = FI_MSG | FI_RMA;
    hints->mode = supported;
    hints->domain_attr->mr_mode = memory;
    expect(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info), 0, "fi_getinfo");
    //! [supported]

    //! [needed]
    for (struct fi_info* offer = info; offer; offer = offer->next) {
        // Of the duties, those that the provider insists on; never one that was not offered to it.
        require((offer->mode & ~supported) == 0, "mode is within the hints");
        require((offer->domain_attr->mr_mode & ~memory) == 0, "mr_mode is within the hints");
        printf("%s: mode %s, mr_mode %s\n", offer->fabric_attr->prov_name, fi_tostr(&offer->mode, FI_TYPE_MODE),
               fi_tostr(&offer->domain_attr->mr_mode, FI_TYPE_MR_MODE));
    }
    //! [needed]
    fi_freeinfo(info);

    //! [none]
    // A program that keeps no duties still finds the providers that have none.
    hints->mode = 0;
    hints->domain_attr->mr_mode = 0;
    expect(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info), 0, "fi_getinfo without duties");
    require(info->mode == 0 && info->domain_attr->mr_mode == 0, "nothing is needed of it");
    fi_freeinfo(info);
    //! [none]
    fi_freeinfo(hints);
    return 0;
}
