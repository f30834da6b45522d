// Two endpoints that know each other.
#ifndef SELVAGE_IMPL_TEST_ENGINE_PAIR_H
#define SELVAGE_IMPL_TEST_ENGINE_PAIR_H

#include "impl/test/engine/node.h"

namespace selvage::impl::test {

struct Pair {
    explicit Pair(const Setting& setting = {}) : a("a", setting), b("b", setting), to_b(a.knows(b)), to_a(b.knows(a)) {}

    // Lets both sides do all there is to do.
    void settle() {
        for (int i = 0; i < 50; ++i) {
            a.progress();
            b.progress();
        }
    }

    FakeNet net;
    Node a;
    Node b;
    fi_addr_t to_b;
    fi_addr_t to_a;
};

}  // namespace selvage::impl::test

#endif
