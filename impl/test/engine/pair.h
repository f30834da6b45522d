// Two endpoints that know each other.
#pragma once

#include "impl/test/engine/node.h"

namespace selvage::impl::test {

using Bytes = std::vector<unsigned char>;

// Bytes that show when they are misplaced.
inline Bytes pattern(size_t size, size_t seed = 0) {
    Bytes bytes(size);
    for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>(i * 13 + (i >> 9) + seed * 31);
    return bytes;
}

struct Pair {
    explicit Pair(const Setting& setting = {}) : a("a", setting), b("b", setting), to_b(a.knows(b)), to_a(b.knows(a)) {}

    // Lets both sides do all there is to do.
    void progress() {
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
