#include <unistd.h>

#include "conformance/runtime/runtime.h"

int registration_reported(struct fid_eq* eq) {
    struct fi_eq_entry entry;
    uint32_t event = 0;
    int tries;

    for (tries = 0; tries < 50 && fi_eq_read(eq, &event, &entry, sizeof entry, 0) < 0; tries++) usleep(2000);
    return event == FI_MR_COMPLETE;
}
