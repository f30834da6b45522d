// SHA-256 and HMAC-SHA256, against published examples.
#include "impl/base/hmac.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "impl/base/sha256_block.h"

namespace selvage::impl {
namespace {

std::string hex(const uint8_t (&digest)[kDigestBytes]) {
    std::string text;
    for (const uint8_t byte : digest) {
        text += "0123456789abcdef"[byte >> 4];
        text += "0123456789abcdef"[byte & 15];
    }
    return text;
}

std::string hmac_of(const std::string& key, const std::string& data) {
    Hmac hmac(key.data(), key.size());
    for (const char& c : data) hmac.add(&c, 1);
    uint8_t digest[kDigestBytes];
    hmac.finish(digest);
    return hex(digest);
}

TEST(Hmac, AgreesWithThePublishedExamples) {
    Sha256 hash;
    hash.add("abc", 3);
    uint8_t digest[kDigestBytes];
    hash.finish(digest);
    EXPECT_EQ(hex(digest), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    // RFC 4231, cases 1, 2 and 6.
    EXPECT_EQ(hmac_of(std::string(20, '\x0b'), "Hi There"),
              "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    EXPECT_EQ(hmac_of("Jefe", "what do ya want for nothing?"),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    EXPECT_EQ(hmac_of(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"),
              "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Sha256Block, TheProcessorsInstructionsDoWhatPlainOnesDo) {
    uint32_t state[8] = {1, 2, 3, 4, 5, 6, 7, 8}, plain[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    uint8_t bytes[64];
    for (unsigned i = 0; i < sizeof bytes; ++i) bytes[i] = static_cast<uint8_t>(37 * i + 11);
    for (int round = 0; round < 1000; ++round) {
        sha256_block(state, bytes);
        sha256_block_plain(plain, bytes);
        for (int i = 0; i < 8; ++i) {
            ASSERT_EQ(state[i], plain[i]) << round;
            memcpy(bytes + 4 * i, &plain[i], sizeof plain[i]);
        }
    }
}

}  // namespace
}  // namespace selvage::impl
