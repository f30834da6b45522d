// See chosen_name.h.
#include "impl/transport/shm/chosen_name.h"

#include <cstdio>

#include "impl/transport/shm/region.h"

namespace selvage::impl::shm {
namespace {

constexpr int kDraws = 8;  // two taken names in a row are no chance any more

}  // namespace

int choose_text(char (&out)[kShmTextMax], DrawRandom draw) {
    for (int i = 0; i < kDraws; ++i) {
        uint64_t random[2];
        const int error = draw(random, sizeof random);
        if (error) return error;
        char name[2 * 16 + 1];
        snprintf(name, sizeof name, "%016llx%016llx", static_cast<unsigned long long>(random[0]),
                 static_cast<unsigned long long>(random[1]));
        if (!make_shm_text(name, out)) return -FI_EINVAL;
        if (!region_exists(out)) return 0;
    }
    return -FI_EADDRINUSE;
}

}  // namespace selvage::impl::shm
