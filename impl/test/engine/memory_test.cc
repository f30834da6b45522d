// Reads, writes and atomics over the fake transport.
#include <complex>
#include <numeric>

#include "impl/test/engine/pair.h"

namespace selvage::impl::test {
namespace {

struct Temper {
    const char* name;
    bool pulls;
    bool holds;
    size_t capacity;
    size_t pieces_above;
};
constexpr Temper kTempers[] = {
    {"plain", false, false, 1000, SIZE_MAX},
    {"pulls", true, false, 1000, SIZE_MAX},
    {"narrow_and_held", false, true, 1, SIZE_MAX},
    {"pieces", false, false, 2, 0},
};

class EngineMemory : public testing::TestWithParam<size_t> {
protected:
    static Setting setting() {
        Setting setting;
        setting.pulls = kTempers[GetParam()].pulls;
        setting.counters = true;
        return setting;
    }
    EngineMemory() : pair(setting()) {
        const Temper& temper = kTempers[GetParam()];
        pair.net.holds = temper.holds;
        pair.net.capacity = temper.capacity;
        pair.net.pieces_above = temper.pieces_above;
        std::iota(source.begin(), source.end(), 1);
    }
    ssize_t await(Node& node, fi_cq_tagged_entry* entry) {
        for (int i = 0; i < 200; ++i) {
            const ssize_t result = node.read(entry);
            if (result) return result;
            pair.a.progress();
            pair.b.progress();
        }
        return 0;
    }
    void expect_done(uint64_t flags) {
        fi_cq_tagged_entry entry;
        ASSERT_EQ(await(pair.a, &entry), 1);
        EXPECT_EQ(entry.flags, flags);
        EXPECT_EQ(await(pair.a, &entry), 0);
    }
    void expect_error(int error) {
        fi_cq_tagged_entry entry;
        ASSERT_EQ(await(pair.a, &entry), -FI_EAVAIL);
        EXPECT_EQ(pair.a.read_error().err, error);
    }

    Pair pair;
    std::vector<uint32_t> source = std::vector<uint32_t>(100000);
    std::vector<uint32_t> target = std::vector<uint32_t>(100000);
};

TEST_P(EngineMemory, WritesOfEverySizeArrive) {
    const uint64_t key = pair.b.exposes(target.data(), target.size() * 4);
    for (const size_t count :
         {size_t{0}, size_t{1}, size_t{128}, size_t{2040}, size_t{2048}, size_t{5000}, size_t{99990}}) {
        SCOPED_TRACE(count);
        std::fill(target.begin(), target.end(), 0u);
        ASSERT_EQ(fi_write(pair.a.ep, source.data(), count * 4, nullptr, pair.to_b, 8, key, nullptr), 0);
        expect_done(FI_RMA | FI_WRITE);
        EXPECT_TRUE(std::equal(source.begin(), source.begin() + static_cast<ptrdiff_t>(count), target.begin() + 2));
        EXPECT_EQ(target[1], 0u);
        EXPECT_EQ(target[count + 2], 0u);
    }
    EXPECT_EQ(fi_cntr_read(pair.a.counters[kSlotWrite]), 7u);
    EXPECT_EQ(fi_cntr_read(pair.b.counters[kSlotRemoteWrite]), 7u);
    fi_cq_tagged_entry entry;
    EXPECT_EQ(pair.b.read(&entry), 0);
}

TEST_P(EngineMemory, ReadsOfEverySizeArrive) {
    const uint64_t key = pair.b.exposes(source.data(), source.size() * 4, FI_REMOTE_READ);
    for (const size_t count :
         {size_t{0}, size_t{1}, size_t{128}, size_t{129}, size_t{2048}, size_t{5000}, size_t{99990}}) {
        SCOPED_TRACE(count);
        std::fill(target.begin(), target.end(), 0u);
        ASSERT_EQ(fi_read(pair.a.ep, target.data(), count * 4, nullptr, pair.to_b, 4, key, nullptr), 0);
        expect_done(FI_RMA | FI_READ);
        EXPECT_TRUE(std::equal(target.begin(), target.begin() + static_cast<ptrdiff_t>(count), source.begin() + 1));
        EXPECT_EQ(target[count], 0u);
    }
    EXPECT_EQ(fi_cntr_read(pair.a.counters[kSlotRead]), 7u);
    EXPECT_EQ(fi_cntr_read(pair.b.counters[kSlotRemoteRead]), 7u);
}

TEST_P(EngineMemory, ListsOnBothSidesAreFollowed) {
    const uint64_t one = pair.b.exposes(target.data(), 40000, FI_REMOTE_READ | FI_REMOTE_WRITE, 1);
    const uint64_t two = pair.b.exposes(target.data() + 50000, 40000, FI_REMOTE_READ | FI_REMOTE_WRITE, 2);
    for (const size_t half : {size_t{20}, size_t{9000}}) {
        const iovec local[2] = {{source.data(), half * 4 - 8}, {source.data() + half - 2, half * 4 + 8}};
        const fi_rma_iov remote[2] = {{40, half * 4, one}, {0, half * 4, two}};
        const fi_msg_rma write{local, nullptr, 2, pair.to_b, remote, 2, nullptr, 1234};
        ASSERT_EQ(fi_writemsg(pair.a.ep, &write, FI_REMOTE_CQ_DATA), 0);
        expect_done(FI_RMA | FI_WRITE);
        const auto n = static_cast<ptrdiff_t>(half);
        EXPECT_TRUE(std::equal(source.begin(), source.begin() + n, target.begin() + 10));
        EXPECT_TRUE(std::equal(source.begin() + n, source.begin() + 2 * n, target.begin() + 50000));
        fi_cq_tagged_entry entry;
        ASSERT_EQ(await(pair.b, &entry), 1);
        EXPECT_EQ(entry.flags, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
        EXPECT_EQ(entry.data, 1234u);
        EXPECT_EQ(entry.op_context, nullptr);
        EXPECT_EQ(entry.len, half * 8);
        std::vector<uint32_t> back(2 * half);
        const iovec into[2] = {{back.data(), 12}, {back.data() + 3, half * 8 - 12}};
        const fi_msg_rma read{into, nullptr, 2, pair.to_b, remote, 2, nullptr, 0};
        ASSERT_EQ(fi_readmsg(pair.a.ep, &read, 0), 0);
        expect_done(FI_RMA | FI_READ);
        EXPECT_TRUE(std::equal(back.begin(), back.end(), source.begin()));
    }
}

TEST_P(EngineMemory, ABadTargetIsAnErrorAndNothingIsTouched) {
    const uint64_t good = pair.b.exposes(target.data(), 40000, FI_REMOTE_READ | FI_REMOTE_WRITE, 1);
    const uint64_t sealed = pair.b.exposes(target.data() + 50000, 40000, FI_REMOTE_READ, 2);
    struct {
        uint64_t address, key;
        int error;
    } const cases[] = {
        {0, 99, FI_ENOKEY}, {0, sealed, FI_EACCES}, {39999, good, FI_EINVAL}, {~uint64_t{0} - 10, good, FI_EINVAL}};
    for (const auto& bad : cases) {
        for (const size_t size : {size_t{8}, size_t{30000}}) {
            SCOPED_TRACE(bad.error);
            const fi_rma_iov remote[2] = {{0, 4, good}, {bad.address, size - 4, bad.key}};
            const iovec local{source.data(), size};
            const fi_msg_rma write{&local, nullptr, 1, pair.to_b, remote, 2, &pair, 0};
            ASSERT_EQ(fi_writemsg(pair.a.ep, &write, 0), 0);
            expect_error(bad.error);
            ASSERT_EQ(fi_write(pair.a.ep, source.data(), size, nullptr, pair.to_b, bad.address, bad.key, nullptr), 0);
            expect_error(bad.error);
            if (bad.error == FI_EACCES) continue;
            ASSERT_EQ(fi_read(pair.a.ep, target.data() + 99000, 80, nullptr, pair.to_b, bad.address, bad.key, nullptr),
                      0);
            expect_error(bad.error);
        }
    }
    // Injected: reported under the endpoint's context, and the peer is not given up for it.
    ASSERT_EQ(fi_inject_write(pair.a.ep, source.data(), 8, pair.to_b, 0, 99), 0);
    expect_error(FI_ENOKEY);
    EXPECT_TRUE(std::all_of(target.begin(), target.end(), [](uint32_t value) { return value == 0; }));
    ASSERT_EQ(fi_write(pair.a.ep, source.data(), 8, nullptr, pair.to_b, 0, good, nullptr), 0);
    expect_done(FI_RMA | FI_WRITE);
    EXPECT_EQ(fi_cntr_readerr(pair.a.counters[kSlotWrite]), 17u);
}

TEST_P(EngineMemory, LaterOperationsSeeEarlierOnes) {
    const uint64_t key = pair.b.exposes(target.data(), target.size() * 4);
    std::fill(target.begin(), target.end(), 7u);
    std::vector<uint32_t> before(50000), after(50000);
    // write after read, read after write, of many sizes
    for (const size_t count : {size_t{4}, size_t{300}, size_t{3000}, size_t{50000}}) {
        const uint32_t old = target[0];
        std::vector<uint32_t> fresh(count, old + 1);
        ASSERT_EQ(fi_read(pair.a.ep, before.data(), count * 4, nullptr, pair.to_b, 0, key, nullptr), 0);
        ASSERT_EQ(fi_write(pair.a.ep, fresh.data(), count * 4, nullptr, pair.to_b, 0, key, nullptr), 0);
        ASSERT_EQ(fi_read(pair.a.ep, after.data(), count * 4, nullptr, pair.to_b, 0, key, nullptr), 0);
        fi_cq_tagged_entry entry;
        for (int i = 0; i < 3; ++i) ASSERT_EQ(await(pair.a, &entry), 1);
        EXPECT_EQ(before[0], old);
        EXPECT_EQ(before[count - 1], target.size() == count ? old : before[count - 1]);
        EXPECT_EQ(after[0], old + 1);
        EXPECT_EQ(after[count - 1], old + 1);
    }
}

TEST_P(EngineMemory, InjectedWritesAndTheirDataArrive) {
    const uint64_t key = pair.b.exposes(target.data(), target.size() * 4);
    for (uint64_t i = 0; i < 10; ++i) {
        uint64_t value = i;
        ASSERT_EQ(fi_inject_writedata(pair.a.ep, &value, 8, i + 100, pair.to_b, i * 8, key), 0);
        value = 0;
    }
    for (uint64_t i = 0; i < 10; ++i) {
        fi_cq_tagged_entry entry;
        ASSERT_EQ(await(pair.b, &entry), 1);
        EXPECT_EQ(entry.data, i + 100);
        EXPECT_EQ(memcmp(target.data() + 2 * i, &i, 8), 0);
    }
    fi_cq_tagged_entry entry;
    EXPECT_EQ(await(pair.a, &entry), 0);
    EXPECT_EQ(fi_cntr_read(pair.a.counters[kSlotWrite]), 10u);
}

INSTANTIATE_TEST_SUITE_P(Tempers, EngineMemory, testing::Range(size_t{0}, std::size(kTempers)),
                         [](const auto& chosen) { return std::string(kTempers[chosen.param].name); });

struct Atomics : testing::Test {
    Pair pair{[] {
        Setting setting;
        setting.counters = true;
        return setting;
    }()};
    void finish() {
        fi_cq_tagged_entry entry;
        for (int i = 0; i < 100; ++i) {
            const ssize_t result = pair.a.read(&entry);
            if (result) {
                ASSERT_EQ(result, 1);
                return;
            }
            pair.b.progress();
        }
        FAIL() << "no completion";
    }
};

template <typename Value>
struct Sample {
    Value target, operand, compare;
};

// What the page says each operation does, for real numbers.
template <typename Value>
Value expected(fi_op op, const Sample<Value>& s) {
    const Value a = s.target, b = s.operand, c = s.compare;
    switch (op) {
        case FI_MIN:
            return b < a ? b : a;
        case FI_MAX:
            return b > a ? b : a;
        case FI_SUM:
            return static_cast<Value>(a + b);
        case FI_PROD:
            return static_cast<Value>(a * b);
        case FI_LOR:
            return static_cast<Value>(a || b);
        case FI_LAND:
            return static_cast<Value>(a && b);
        case FI_LXOR:
            return static_cast<Value>(!a != !b);
        case FI_ATOMIC_WRITE:
            return b;
        case FI_CSWAP:
            return c == a ? b : a;
        case FI_CSWAP_NE:
            return c != a ? b : a;
        case FI_CSWAP_LE:
            return c <= a ? b : a;
        case FI_CSWAP_LT:
            return c < a ? b : a;
        case FI_CSWAP_GE:
            return c >= a ? b : a;
        case FI_CSWAP_GT:
            return c > a ? b : a;
        default:
            return a;
    }
}

template <typename Value>
void check_type(Atomics& test, fi_datatype type) {
    const Sample<Value> samples[] = {{3, 5, 3}, {5, 3, 4}, {0, 7, 9}, {2, 0, 2}, {1, 1, 0}};
    alignas(16) std::byte memory[4 * sizeof(Value) + 1];
    const uint64_t key = test.pair.b.exposes(memory, sizeof memory, FI_REMOTE_READ | FI_REMOTE_WRITE,
                                             1000 + static_cast<uint64_t>(type));
    for (int op = FI_MIN; op <= FI_CSWAP_GT; ++op) {
        if (op >= FI_BOR && op <= FI_BAND) continue;
        if (op == FI_BXOR) continue;
        for (const Sample<Value>& sample : samples) {
            for (const uint64_t address : {uint64_t{0}, uint64_t{1}}) {  // aligned or not
                memcpy(memory + address, &sample.target, sizeof(Value));
                Value result{};
                const auto operation = static_cast<fi_op>(op);
                ssize_t posted;
                if (op >= FI_CSWAP) {
                    posted =
                        fi_compare_atomic(test.pair.a.ep, &sample.operand, 1, nullptr, &sample.compare, nullptr,
                                          &result, nullptr, test.pair.to_b, address, key, type, operation, nullptr);
                } else {
                    posted = fi_fetch_atomic(test.pair.a.ep, &sample.operand, 1, nullptr, &result, nullptr,
                                             test.pair.to_b, address, key, type, operation, nullptr);
                }
                ASSERT_EQ(posted, 0);
                test.finish();
                Value now;
                memcpy(&now, memory + address, sizeof now);
                EXPECT_TRUE(now == expected(operation, sample)) << "type " << type << " op " << op;
                EXPECT_TRUE(result == sample.target) << "type " << type << " op " << op;
            }
        }
    }
}

TEST_F(Atomics, EveryOperationOnEveryRealType) {
    check_type<int8_t>(*this, FI_INT8);
    check_type<uint8_t>(*this, FI_UINT8);
    check_type<int16_t>(*this, FI_INT16);
    check_type<uint16_t>(*this, FI_UINT16);
    check_type<int32_t>(*this, FI_INT32);
    check_type<uint32_t>(*this, FI_UINT32);
    check_type<int64_t>(*this, FI_INT64);
    check_type<uint64_t>(*this, FI_UINT64);
    check_type<__int128>(*this, FI_INT128);
    check_type<unsigned __int128>(*this, FI_UINT128);
    check_type<float>(*this, FI_FLOAT);
    check_type<double>(*this, FI_DOUBLE);
    check_type<long double>(*this, FI_LONG_DOUBLE);
}

TEST_F(Atomics, BitsAndMasks) {
    uint32_t memory = 0xf0f0;
    const uint64_t key = pair.b.exposes(&memory, sizeof memory);
    const struct {
        fi_op op;
        uint32_t result;
    } cases[] = {{FI_BOR, 0xf0ff}, {FI_BAND, 0x00f0}, {FI_BXOR, 0xf00f}};
    const uint32_t operand = 0x00ff;
    for (const auto& c : cases) {
        memory = 0xf0f0;
        ASSERT_EQ(fi_atomic(pair.a.ep, &operand, 1, nullptr, pair.to_b, 0, key, FI_UINT32, c.op, nullptr), 0);
        finish();
        EXPECT_EQ(memory, c.result);
    }
    memory = 0xf0f0;
    const uint32_t mask = 0x0ff0, value = 0x1234;
    uint32_t old = 0;
    ASSERT_EQ(fi_compare_atomic(pair.a.ep, &value, 1, nullptr, &mask, nullptr, &old, nullptr, pair.to_b, 0, key,
                                FI_UINT32, FI_MSWAP, nullptr),
              0);
    finish();
    EXPECT_EQ(old, 0xf0f0u);
    EXPECT_EQ(memory, 0xf230u);
}

TEST_F(Atomics, ComplexNumbers) {
    std::complex<double> memory(1, 2);
    const std::complex<double> operand(3, -1);
    const uint64_t key = pair.b.exposes(&memory, sizeof memory);
    ASSERT_EQ(fi_atomic(pair.a.ep, &operand, 1, nullptr, pair.to_b, 0, key, FI_DOUBLE_COMPLEX, FI_PROD, nullptr), 0);
    finish();
    EXPECT_EQ(memory, std::complex<double>(5, 5));
    ASSERT_EQ(fi_atomic(pair.a.ep, &operand, 1, nullptr, pair.to_b, 0, key, FI_DOUBLE_COMPLEX, FI_SUM, nullptr), 0);
    finish();
    EXPECT_EQ(memory, std::complex<double>(8, 4));
    EXPECT_EQ(fi_atomic(pair.a.ep, &operand, 1, nullptr, pair.to_b, 0, key, FI_DOUBLE_COMPLEX, FI_MIN, nullptr),
              -FI_EOPNOTSUPP);
}

TEST_F(Atomics, VectorsAndListsAreAppliedInOrder) {
    std::vector<uint64_t> memory(1000, 1);
    const uint64_t key = pair.b.exposes(memory.data(), 8000);
    std::vector<uint64_t> operands(512), results(512);
    std::iota(operands.begin(), operands.end(), 0u);
    const fi_ioc source[2] = {{operands.data(), 12}, {operands.data() + 12, 500}};
    fi_ioc into[2] = {{results.data(), 500}, {results.data() + 500, 12}};
    const fi_rma_ioc remote[2] = {{800, 12, key}, {1600, 500, key}};
    const fi_msg_atomic message{source, nullptr, 2, pair.to_b, remote, 2, FI_UINT64, FI_SUM, nullptr, 0};
    ASSERT_EQ(fi_fetch_atomicmsg(pair.a.ep, &message, into, nullptr, 2, 0), 0);
    finish();
    EXPECT_EQ(memory[100], 1u);
    EXPECT_EQ(memory[111], 12u);
    EXPECT_EQ(memory[112], 1u);
    EXPECT_EQ(memory[200], 13u);
    EXPECT_EQ(memory[699], 512u);
    EXPECT_TRUE(std::all_of(results.begin(), results.end(), [](uint64_t value) { return value == 1; }));
    EXPECT_EQ(fi_cntr_read(pair.a.counters[kSlotRead]), 1u);
    EXPECT_EQ(fi_cntr_read(pair.b.counters[kSlotRemoteRead]), 1u);
    EXPECT_EQ(fi_atomic(pair.a.ep, memory.data(), 513, nullptr, pair.to_b, 0, key, FI_UINT64, FI_SUM, nullptr),
              -FI_EMSGSIZE);
}

TEST_F(Atomics, ElementsThatLieInTwoPiecesOfARegion) {
    uint64_t a[2] = {}, b[2] = {};
    // 12 bytes, then 12 bytes: the second element lies in both.
    const iovec pieces[2] = {{a, 12}, {b, 12}};
    fid_mr* region;
    ASSERT_EQ(
        fi_mr_regv(&pair.b.domain.descriptor, pieces, 2, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 5, 0, &region, nullptr),
        0);
    pair.b.regions.push_back(region);
    const uint64_t operands[3] = {0x1111111111111111, 0x2222222222222222, 0x3333333333333333};
    uint64_t results[3] = {9, 9, 9};
    for (int i = 0; i < 2; ++i) {
        ASSERT_EQ(fi_fetch_atomic(pair.a.ep, operands, 3, nullptr, results, nullptr, pair.to_b, 0, 5, FI_UINT64, FI_SUM,
                                  nullptr),
                  0);
        finish();
    }
    unsigned char all[24];
    memcpy(all, a, 12);
    memcpy(all + 12, b, 12);
    uint64_t values[3];
    memcpy(values, all, 24);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(values[i], 2 * operands[i]);
        EXPECT_EQ(results[i], operands[i]);
    }
}

TEST_F(Atomics, PermissionAndInjection) {
    uint64_t memory = 5, result = 0;
    const uint64_t one = 1;
    const uint64_t readable = pair.b.exposes(&memory, 8, FI_REMOTE_READ, 1);
    const uint64_t writable = pair.b.exposes(&memory, 8, FI_REMOTE_WRITE, 2);
    fi_cq_tagged_entry entry;
    const auto refused = [&] {
        pair.progress();
        ASSERT_EQ(pair.a.read(&entry), -FI_EAVAIL);
        EXPECT_EQ(pair.a.read_error().err, FI_EACCES);
    };
    ASSERT_EQ(fi_atomic(pair.a.ep, &one, 1, nullptr, pair.to_b, 0, readable, FI_UINT64, FI_SUM, nullptr), 0);
    refused();
    ASSERT_EQ(fi_fetch_atomic(pair.a.ep, &one, 1, nullptr, &result, nullptr, pair.to_b, 0, writable, FI_UINT64, FI_SUM,
                              nullptr),
              0);
    refused();
    EXPECT_EQ(memory, 5u);
    ASSERT_EQ(fi_fetch_atomic(pair.a.ep, nullptr, 1, nullptr, &result, nullptr, pair.to_b, 0, readable, FI_UINT64,
                              FI_ATOMIC_READ, nullptr),
              0);
    finish();
    EXPECT_EQ(result, 5u);
    for (int i = 0; i < 3; ++i)
        ASSERT_EQ(fi_inject_atomic(pair.a.ep, &one, 1, pair.to_b, 0, writable, FI_UINT64, FI_SUM), 0);
    pair.progress();
    EXPECT_EQ(memory, 8u);
    EXPECT_EQ(pair.a.read(&entry), 0);
}

// fi_atomic(3) lets a provider say that it has none (README.md, "Capabilities").
TEST_F(Atomics, OnTaggedBuffersAreUnsupportedInTheQueryAndInTheCalls) {
    const uint64_t one = 1;
    uint64_t result = 0;
    const fi_ioc operand{const_cast<uint64_t*>(&one), 1};
    fi_ioc results{&result, 1};
    const fi_rma_ioc target{0, 1, 5};
    const fi_msg_atomic message{&operand, nullptr, 1, pair.to_b, &target, 1, FI_UINT64, FI_SUM, nullptr, 0};
    fi_atomic_attr attr{};
    for (const uint64_t form : {uint64_t{0}, uint64_t{FI_FETCH_ATOMIC}, uint64_t{FI_COMPARE_ATOMIC}}) {
        const fi_op op = form == FI_COMPARE_ATOMIC ? FI_CSWAP : FI_SUM;
        EXPECT_EQ(domain_query_atomic(&pair.a.domain.descriptor, FI_UINT64, op, &attr, form | FI_TAGGED),
                  -FI_EOPNOTSUPP);
    }
    EXPECT_EQ(fi_atomicmsg(pair.a.ep, &message, FI_TAGGED), -FI_EOPNOTSUPP);
    EXPECT_EQ(fi_fetch_atomicmsg(pair.a.ep, &message, &results, nullptr, 1, FI_TAGGED), -FI_EOPNOTSUPP);
}

}  // namespace
}  // namespace selvage::impl::test
