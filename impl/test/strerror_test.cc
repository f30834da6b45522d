// fi_strerror: every number of the headers, either sign, the numbers nobody knows.
#include "impl/text/strerror.h"

#include <rdma/fi_errno.h>

#include <gtest/gtest.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <set>
#include <string>

namespace {

TEST(StrError, FabricNumbersHaveTextsOfTheirOwn) {
    std::set<std::string> texts;
    for (int number = FI_ERRNO_OFFSET; number < FI_ERRNO_MAX; ++number) {
        EXPECT_TRUE(texts.insert(fi_strerror(number)).second) << number;
        EXPECT_EQ(fi_strerror(number), fi_strerror(-number));
    }
    EXPECT_STREQ(fi_strerror(FI_EOTHER), "Unspecified error");
    EXPECT_STREQ(fi_strerror(FI_ETOOSMALL), "Provided buffer is too small");
    EXPECT_STREQ(fi_strerror(FI_EOPBADSTATE), "Operation not permitted in current state");
    EXPECT_STREQ(fi_strerror(FI_EAVAIL), "Error available");
    EXPECT_STREQ(fi_strerror(FI_EBADFLAGS), "Flags not supported");
    EXPECT_STREQ(fi_strerror(FI_ENOEQ), "Missing or unavailable event queue");
    EXPECT_STREQ(fi_strerror(FI_EDOMAIN), "Invalid resource domain");
    EXPECT_STREQ(fi_strerror(FI_ENOCQ), "Missing or unavailable completion queue");
    EXPECT_STREQ(fi_strerror(FI_ECRC), "CRC error");
    EXPECT_STREQ(fi_strerror(FI_ETRUNC), "Truncation error");
    EXPECT_STREQ(fi_strerror(FI_ENOKEY), "Required key not available");
    EXPECT_STREQ(fi_strerror(FI_ENOAV), "Missing or unavailable address vector");
    EXPECT_STREQ(fi_strerror(FI_EOVERRUN), "Queue has been overrun");
    EXPECT_STREQ(fi_strerror(FI_ENORX), "Receiver not ready, no receive buffers available");
}

TEST(StrError, SystemNumbersReadAsTheSystemReadsThem) {
    for (int number = 0; number < FI_ERRNO_OFFSET; ++number) {
        EXPECT_STREQ(fi_strerror(number), std::strerror(number));
        EXPECT_EQ(fi_strerror(number), fi_strerror(-number));
    }
}

// FI_EPROTO, which has a name since 2.x.
TEST(StrError, AProtocolErrorHasItsText) { EXPECT_STREQ(fi_strerror(-EPROTO), "Protocol error"); }

TEST(StrError, NoNumberIsWithoutText) {
    for (const int number : {int{FI_ERRNO_MAX}, 1000, INT_MAX, -INT_MAX, INT_MIN}) {
        EXPECT_STREQ(fi_strerror(number), "Unspecified error");
    }
}

}  // namespace
