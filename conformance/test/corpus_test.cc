// The saved cases that every check asks again.
#include <gtest/gtest.h>

#include <fmt/ranges.h>

#include "conformance/properties/corpus.h"

namespace selvage::conformance {
namespace {

TEST(Corpus, EverySavedCaseCanBeRead) {
    EXPECT_TRUE(corpus_errors().empty()) << fmt::format("{}", fmt::join(corpus_errors(), "\n"));
    EXPECT_GE(corpus_cases().size(), 70u);
}

}  // namespace
}  // namespace selvage::conformance
