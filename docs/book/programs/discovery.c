// Chapter 1: what is there, and what is asked of it.
#include "endpoint.h"

int main(void) {
    //! [everything]
    struct fi_info *all = NULL, *offer;
    // NULL hints ask for nothing: every offer of every provider.
    expect(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, NULL, &all), 0, "fi_getinfo");
    for (offer = all; offer; offer = offer->next)
        printf("%s: domain %s, %s\n", offer->fabric_attr->prov_name, offer->domain_attr->name,
               fi_tostr(&offer->ep_attr->type, FI_TYPE_EP_TYPE));
    fi_freeinfo(all);
    //! [everything]

    //! [hints]
    struct fi_info *hints = fi_allocinfo(), *found = NULL;
    hints->caps = FI_MSG | FI_TAGGED;
    hints->ep_attr->type = FI_EP_RDM;  // connectionless and reliable
    expect(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &found), 0, "fi_getinfo with hints");
    for (offer = found; offer; offer = offer->next) {
        require((offer->caps & (FI_MSG | FI_TAGGED)) == (FI_MSG | FI_TAGGED), "an offer has what was asked for");
        require(offer->ep_attr->type == FI_EP_RDM, "an offer is of the type that was asked for");
    }
    fi_freeinfo(found);
    //! [hints]

    //! [refused]
    hints->caps |= FI_MULTICAST;
    found = NULL;
    // Multicast is for datagrams, not for reliable endpoints: no offer fits, which is an error of its own.
    expect(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &found), -FI_ENODATA, "fi_getinfo with FI_MULTICAST");
    require(found == NULL, "a refusal leaves no list");
    fi_freeinfo(hints);
    //! [refused]
    return 0;
}
