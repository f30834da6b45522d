// Which context of a scalable endpoint an address means, as texts say it.
#include "impl/net/context_id.h"

#include <gtest/gtest.h>

#include <string>

namespace selvage::impl {
namespace {

struct Text {
    explicit Text(const std::string& text) { text.copy(bytes, sizeof bytes - 1); }
    char bytes[kShmTextMax] = {};
};

TEST(ContextId, EveryContextHasATextThatIsReadBack) {
    for (size_t index = 0; index < kContextsMax; ++index) {
        for (const uint16_t context : {receive_context(index), transmit_context(index)}) {
            Text text("fi_shm://name");
            ASSERT_TRUE(add_context(context, text.bytes));
            uint16_t read = 1;
            EXPECT_TRUE(take_context(text.bytes, &read)) << text.bytes;
            EXPECT_EQ(read, context);
            EXPECT_STREQ(text.bytes, "fi_shm://name");
        }
    }
}

TEST(ContextId, TheFirstReceiveContextIsTheEndpoint) {
    Text text("fi_shm://name");
    EXPECT_TRUE(add_context(receive_context(0), text.bytes));
    EXPECT_STREQ(text.bytes, "fi_shm://name");
}

TEST(ContextId, AnotherSpellingIsNoContext) {
    for (const char* end : {"/", "/0", "/03", "/t", "/t03", "/256", "/t256", "/3/4", "/x3", "/3 ", "/-1", "/t-1"}) {
        Text text(std::string("fi_shm://name") + end);
        uint16_t context;
        EXPECT_FALSE(take_context(text.bytes, &context)) << end;
    }
}

TEST(ContextId, ANameWithoutRoomForIt) {
    Text text("fi_shm://" + std::string(kShmTextMax - 9 - 4, 'n'));  // three are left, and the zero
    const Text before = text;
    EXPECT_FALSE(add_context(transmit_context(10), text.bytes));
    EXPECT_STREQ(text.bytes, before.bytes);
    EXPECT_TRUE(add_context(transmit_context(1), text.bytes));
}

TEST(ContextId, ATextWithoutAnEnd) {
    char text[kShmTextMax];
    memset(text, 'n', sizeof text);
    uint16_t context;
    EXPECT_FALSE(take_context(text, &context));
}

}  // namespace
}  // namespace selvage::impl
