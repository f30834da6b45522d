// What the two ends of a verbs connection say first: any input.
#include <gtest/gtest.h>

#include <random>

#include "impl/transport/verbs/handshake.h"

namespace selvage::impl::verbs {
namespace {

Key key_of(const char* text) { return {reinterpret_cast<const uint8_t*>(text), strlen(text)}; }

TEST(VerbsHandshake, AHelloIsReadAsItWasWritten) {
    Hello hello{.kind = CallKind::Message, .features = 3, .data_size = 5};
    memcpy(hello.data, "hello", 5);
    hello.nonce[15] = 9;
    uint8_t bytes[kHelloBytes];
    write_hello(hello, bytes);
    Hello read;
    ASSERT_TRUE(read_hello(bytes, &read));
    EXPECT_EQ(read.data_size, 5);
    EXPECT_EQ(memcmp(read.data, "hello", 5), 0);
    EXPECT_EQ(read.nonce[15], 9);
    EXPECT_EQ(read.features, 3);
    const Hello datagram{.port = 4000, .instance = 0x123456789abcdef0, .sequence = 7};
    write_hello(datagram, bytes);
    ASSERT_TRUE(read_hello(bytes, &read));
    EXPECT_EQ(read.port, 4000);
    EXPECT_EQ(read.instance, 0x123456789abcdef0u);
    EXPECT_EQ(read.sequence, 7u);
}

TEST(VerbsHandshake, NoiseIsRefusedOrReadAndNeverMore) {
    std::mt19937 random(1);
    for (int i = 0; i < 20'000; ++i) {
        uint8_t bytes[kHelloBytes];
        for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
        if (i % 2) bytes[0] = 'S', bytes[1] = 'v', bytes[2] = 1, bytes[3] = static_cast<uint8_t>(1 + i / 2 % 2);
        Hello read;
        if (read_hello(bytes, &read)) {
            EXPECT_LE(read.data_size, kPrivateMax);
        }
        uint8_t words[kPrivateMax];
        size_t size;
        (void)read_refusal(bytes, random() % sizeof bytes, words, &size);
        EXPECT_LE(size, kPrivateMax);
    }
}

TEST(VerbsHandshake, OnlyTheHolderOfTheKeyProvesItAndOnlyOnce) {
    Handshake caller, listener;
    caller.hello[8] = listener.hello[8] = 1;
    caller.challenge[20] = listener.challenge[20] = 2;
    uint8_t bytes[net::kNoteMax];
    Note proof, welcome;
    size_t used;
    size_t size = caller.prove(key_of("secret"), CallKind::ReliableDatagram, bytes);
    ASSERT_EQ(net::read_note(bytes, size, &proof, &used), net::Scan::Whole);
    EXPECT_TRUE(listener.proved(key_of("secret"), proof));
    Handshake other = listener;
    EXPECT_FALSE(other.proved(key_of("another"), proof));
    other.challenge[20] = 3;
    EXPECT_FALSE(other.proved(key_of("secret"), proof)) << "an old proof fits no new challenge";
    size = listener.welcome(key_of("secret"), CallKind::ReliableDatagram, nullptr, 0, bytes);
    ASSERT_EQ(net::read_note(bytes, size, &welcome, &used), net::Scan::Whole);
    EXPECT_TRUE(caller.welcomed(key_of("secret"), welcome));
    EXPECT_FALSE(caller.welcomed(key_of("another"), welcome));
    Handshake later = caller;
    (void)later.prove(key_of("secret"), CallKind::ReliableDatagram, bytes);
    EXPECT_FALSE(later.welcomed(key_of("secret"), welcome)) << "an old welcome fits no new proof";
    EXPECT_FALSE(listener.proved(key_of("secret"), welcome)) << "a welcome is no proof";
}

TEST(VerbsHandshake, AnAnswerCarriesDataThatFitsTheKeyAlone) {
    Handshake listener, caller;
    listener.challenge[5] = 1;
    uint8_t bytes[kAnswerBytes];
    listener.answer(key_of("secret"), reinterpret_cast<const uint8_t*>("welcome"), 7, bytes);
    memcpy(caller.challenge, bytes, kChallengeBytes);
    Note note;
    ASSERT_TRUE(caller.read_answer(key_of("secret"), bytes, &note));
    EXPECT_EQ(std::string(reinterpret_cast<char*>(note.data), note.data_size), "welcome");
    EXPECT_FALSE(caller.read_answer(key_of("another"), bytes, &note));
    bytes[kChallengeBytes + kDigestBytes + 4] ^= 1;
    EXPECT_FALSE(caller.read_answer(key_of("secret"), bytes, &note)) << "the data is covered";
    bytes[kChallengeBytes + kDigestBytes] = 255;
    EXPECT_FALSE(caller.read_answer(key_of("secret"), bytes, &note));
}

}  // namespace
}  // namespace selvage::impl::verbs
