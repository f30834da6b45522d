/* Prints one line for every answer of fi_getinfo to hints made from the arguments: [provider] [node] [service].
 * Started by tests that need an environment of their own. */
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <string.h>

int main(int count, char** arguments) {
    struct fi_info* hints = fi_allocinfo();
    struct fi_info* list = NULL;
    struct fi_info* info;
    int result;

    if (!hints) return 1;
    if (count > 1 && *arguments[1]) hints->fabric_attr->prov_name = strdup(arguments[1]);
    result = fi_getinfo(FI_VERSION(1, 17), count > 2 ? arguments[2] : NULL, count > 3 ? arguments[3] : NULL, 0, hints,
                        &list);
    printf("result %d %s\n", result, result ? fi_strerror(-result) : "");
    for (info = list; info; info = info->next) {
        printf("offer %s %s %s\n", info->fabric_attr->prov_name, info->domain_attr->name,
               fi_tostr(&info->ep_attr->type, FI_TYPE_EP_TYPE));
    }
    fi_freeinfo(list);
    fi_freeinfo(hints);
    return 0;
}
