// See keyed_digest.h.
#include "impl/transport/shm/keyed_digest.h"

#include <bit>
#include <cstring>

namespace selvage::impl::shm {
namespace {

constexpr size_t kBlock = 64;

constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t read_word(const uint8_t* bytes) {
    return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

void write_word(uint32_t word, uint8_t* bytes) {
    for (unsigned i = 0; i < 4; ++i) bytes[i] = static_cast<uint8_t>(word >> (24 - 8 * i));
}

class Sha256 {
public:
    void add(Bytes text) {
        total_ += text.size();
        for (const uint8_t byte : text) {
            block_[filled_++] = byte;
            if (filled_ == kBlock) mix_block();
        }
    }

    void finish(uint8_t (&out)[kDigestBytes]) {
        const uint64_t bits = total_ * 8;
        const uint8_t end = 0x80;
        const uint8_t zero = 0;
        add({&end, 1});
        while (filled_ != kBlock - 8) add({&zero, 1});
        uint8_t length[8];
        write_word(static_cast<uint32_t>(bits >> 32), length);
        write_word(static_cast<uint32_t>(bits), length + 4);
        add(length);
        for (unsigned i = 0; i < 8; ++i) write_word(state_[i], out + 4 * i);
    }

private:
    void mix_block() {
        uint32_t w[64];
        for (unsigned i = 0; i < 16; ++i) w[i] = read_word(block_ + 4 * i);
        for (unsigned i = 16; i < 64; ++i) {
            const uint32_t a = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
            const uint32_t b = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
            w[i] = w[i - 16] + a + w[i - 7] + b;
        }
        uint32_t s[8];
        memcpy(s, state_, sizeof s);
        for (unsigned i = 0; i < 64; ++i) {
            const uint32_t high = std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25);
            const uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
            const uint32_t one = s[7] + high + choice + kRound[i] + w[i];
            const uint32_t low = std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22);
            const uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
            memmove(s + 1, s, 7 * sizeof *s);
            s[4] += one;
            s[0] = one + low + majority;
        }
        for (unsigned i = 0; i < 8; ++i) state_[i] += s[i];
        filled_ = 0;
    }

    uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    uint8_t block_[kBlock];
    size_t filled_ = 0;
    uint64_t total_ = 0;
};

}  // namespace

void plain_digest(Bytes text, uint8_t (&out)[kDigestBytes]) {
    Sha256 hash;
    hash.add(text);
    hash.finish(out);
}

void keyed_digest(Bytes key, std::span<const Bytes> pieces, uint8_t (&out)[kDigestBytes]) {
    uint8_t short_key[kDigestBytes];
    if (key.size() > kBlock) {
        plain_digest(key, short_key);
        key = short_key;
    }
    uint8_t inner_pad[kBlock], outer_pad[kBlock];
    for (size_t i = 0; i < kBlock; ++i) {
        const uint8_t byte = i < key.size() ? key[i] : uint8_t{0};
        inner_pad[i] = byte ^ 0x36;
        outer_pad[i] = byte ^ 0x5c;
    }
    Sha256 inner, outer;
    inner.add(inner_pad);
    for (const Bytes piece : pieces) {
        uint8_t length[4];
        write_word(static_cast<uint32_t>(piece.size()), length);
        inner.add(length);
        inner.add(piece);
    }
    uint8_t digest[kDigestBytes];
    inner.finish(digest);
    outer.add(outer_pad);
    outer.add(digest);
    outer.finish(out);
}

bool same_digest(const uint8_t (&a)[kDigestBytes], const uint8_t (&b)[kDigestBytes]) {
    unsigned differ = 0;
    for (size_t i = 0; i < kDigestBytes; ++i) differ |= static_cast<unsigned>(a[i] ^ b[i]);
    return differ == 0;
}

}  // namespace selvage::impl::shm
