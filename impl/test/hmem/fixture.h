// Each test of transfers runs over each provider and on each kind of memory; one that is not here is skipped.
#pragma once

#include <ostream>
#include <string>

#include "impl/test/hmem/pair.h"

namespace selvage::test {

struct HmemCase {
    const char* provider;
    MemoryKind kind;
};

inline void PrintTo(const HmemCase& tested, std::ostream* out) {
    *out << tested.provider << (tested.kind == MemoryKind::Cuda ? " on cuda" : " on an override");
}

inline const HmemCase kHmemCases[] = {
    {"shm", MemoryKind::Override}, {"tcp", MemoryKind::Override}, {"shm", MemoryKind::Cuda}, {"tcp", MemoryKind::Cuda}};

inline std::string name_of(const ::testing::TestParamInfo<HmemCase>& tested) {
    return std::string(tested.param.provider) + (tested.param.kind == MemoryKind::Cuda ? "Cuda" : "Override");
}

class HmemTest : public ::testing::TestWithParam<HmemCase> {
protected:
    void SetUp() override {
        if (const char* why = missing(GetParam().kind)) GTEST_SKIP() << why;
        override_calls = {};
        pair = std::make_unique<HmemPair>(GetParam().provider, GetParam().kind);
    }
    MemoryKind kind() const { return GetParam().kind; }
    std::unique_ptr<Registered> memory(const HmemSide& side, size_t size) { return memory(side, kind(), size); }
    static std::unique_ptr<Registered> memory(const HmemSide& side, MemoryKind kind, size_t size) {
        return std::make_unique<Registered>(side.domain.get(), kind, size);
    }

    std::unique_ptr<HmemPair> pair;
};

// Around every boundary that a transport has: inline, one frame, eager, announced, pulled.
inline constexpr size_t kSizes[] = {1,     7,      8,      64,     200,     201,           256,
                                    4095,  4096,   4097,   16383,  16384,   16385,         65536,
                                    65537, 262144, 524288, 524289, 1 << 20, (1 << 20) + 1, (4 << 20) + 5};
inline constexpr size_t kLongest = 16 << 20;  // from device to device

}  // namespace selvage::test
