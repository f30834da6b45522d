// Chapter 2: primary capabilities, what narrows them, and what comes along.
#include "endpoint.h"

// The first offer of shm for these capabilities, or NULL.
static struct fi_info* ask(uint64_t caps) {
    struct fi_info *hints = fi_allocinfo(), *info = NULL;
    hints->caps = caps;
    hints->fabric_attr->prov_name = strdup("shm");
    fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info);
    fi_freeinfo(hints);
    return info;
}

int main(void) {
    //! [primary]
    struct fi_info* info = ask(FI_MSG);
    require((info->caps & FI_MSG) != 0, "what is asked for is there");
    // A primary capability without modifiers means all of them.
    require((info->caps & (FI_SEND | FI_RECV)) == (FI_SEND | FI_RECV), "FI_MSG alone is both directions");
    require((info->tx_attr->caps & FI_SEND) != 0, "the transmit side sends");
    require((info->rx_attr->caps & FI_RECV) != 0, "the receive side receives");
    // What was not asked for is not there, so that it costs nothing.
    require((info->caps & (FI_RMA | FI_TAGGED | FI_ATOMIC)) == 0, "no other primary capability is there");
    fi_freeinfo(info);
    //! [primary]

    //! [modifier]
    info = ask(FI_RMA | FI_WRITE);  // it writes, and nobody reads or writes here
    require((info->caps & FI_WRITE) != 0, "it can write");
    require((info->caps & (FI_READ | FI_REMOTE_READ | FI_REMOTE_WRITE)) == 0, "it can do nothing else");
    fi_freeinfo(info);
    require(ask(FI_WRITE) == NULL, "a modifier without what it modifies is refused");
    //! [modifier]

    //! [secondary]
    info = ask(FI_MSG | FI_SOURCE);
    require((info->caps & FI_SOURCE) != 0, "a secondary capability that is asked for is there");
    printf("asked for FI_MSG|FI_SOURCE, got %s\n", fi_tostr(&info->caps, FI_TYPE_CAPS));
    fi_freeinfo(info);
    //! [secondary]
    return 0;
}
