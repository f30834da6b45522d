// The keyed digest, against the published examples of SHA-256 and HMAC-SHA256.
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

std::string plain(const std::string& text) {
    uint8_t out[kDigestBytes];
    plain_digest(bytes(text), out);
    return hex(out);
}

TEST(ShmDigest, PlainDigestsAreSha256) {
    EXPECT_EQ(plain(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(plain("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(plain(std::string(1000000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

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
