// The keyed digest: what it is of, and that every part of it counts.
#include "impl/transport/shm/keyed_digest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace selvage::impl::shm {
namespace {

std::string hex(const uint8_t (&digest)[kDigestBytes]) {
    std::string out;
    for (const uint8_t byte : digest) {
        char two[3];
        snprintf(two, sizeof two, "%02x", byte);
        out += two;
    }
    return out;
}

Bytes bytes(const std::string& text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

TEST(ShmDigest, KeyAndPiecesAndTheirBordersMatter) {
    const auto digest = [](const std::string& key, const std::vector<std::string>& pieces) {
        std::vector<Bytes> list;
        for (const std::string& piece : pieces) list.push_back(bytes(piece));
        uint8_t out[kDigestBytes];
        keyed_digest(bytes(key), list, out);
        return hex(out);
    };
    const std::string one = digest("key", {"ab", "c"});
    EXPECT_EQ(one, digest("key", {"ab", "c"}));
    EXPECT_NE(one, digest("key", {"a", "bc"}));
    EXPECT_NE(one, digest("kez", {"ab", "c"}));
    EXPECT_NE(one, digest("", {"ab", "c"}));
    // No pieces: plain HMAC-SHA256 of an empty text.
    EXPECT_EQ(digest("", {}), "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

}  // namespace
}  // namespace selvage::impl::shm
