// Reads, writes and atomics between registered memory that the library must not touch.
#include "impl/test/hmem/fixture.h"

namespace selvage::test {
namespace {

class HmemAccess : public HmemTest {
protected:
    static uint64_t address_of(const HmemSide& side, const Registered& memory, size_t offset = 0) {
        const bool virtual_addresses = side.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;
        return offset + (virtual_addresses ? reinterpret_cast<uintptr_t>(memory.buffer.at()) : 0);
    }
    void expect_writes_and_reads(MemoryKind local_kind, MemoryKind remote_kind) {
        const bool longest = local_kind == remote_kind;
        const size_t most = longest ? kLongest : kSizes[std::size(kSizes) - 1];
        const auto local = memory(pair->a, local_kind, most + 16);
        const auto remote = memory(pair->b, remote_kind, most + 16);
        unsigned seed = 100;
        std::vector<size_t> sizes(std::begin(kSizes), std::end(kSizes));
        if (longest) sizes.push_back(kLongest);
        for (const size_t size : sizes) {
            SCOPED_TRACE(size);
            const auto bytes = pattern(size, ++seed);
            local->buffer.write(bytes.data(), size, 5);
            pair->post([&] {
                return fi_write(pair->a.ep.get(), local->buffer.at(5), size, local->desc(), pair->a.peer,
                                address_of(pair->b, *remote, 3), remote->key(), &done_);
            });
            pair->expect_entry(pair->a, &done_);
            ASSERT_TRUE(remote->buffer.read(size, 3) == bytes) << "written";
            const auto others = pattern(size, ++seed);
            remote->buffer.write(others.data(), size, 7);
            pair->post([&] {
                return fi_read(pair->a.ep.get(), local->buffer.at(1), size, local->desc(), pair->a.peer,
                               address_of(pair->b, *remote, 7), remote->key(), &done_);
            });
            pair->expect_entry(pair->a, &done_);
            ASSERT_TRUE(local->buffer.read(size, 1) == others) << "read";
        }
    }

    int done_ = 0;
};

TEST_P(HmemAccess, OfAllSizesIsDoneFromDeviceToDevice) { expect_writes_and_reads(kind(), kind()); }
TEST_P(HmemAccess, OfAllSizesIsDoneFromHostToDevice) { expect_writes_and_reads(MemoryKind::Host, kind()); }
TEST_P(HmemAccess, OfAllSizesIsDoneFromDeviceToHost) { expect_writes_and_reads(kind(), MemoryKind::Host); }

// Two local parts and two targets, cut at different places; of each pair one is the host's.
TEST_P(HmemAccess, OfHostAndDeviceAtOnceIsDone) {
    for (const size_t size : {40, 3000, 30000, 3000000}) {
        SCOPED_TRACE(size);
        const auto local = memory(pair->a, size), remote = memory(pair->b, size);
        const auto local_host = memory(pair->a, MemoryKind::Host, size);
        const auto remote_host = memory(pair->b, MemoryKind::Host, size);
        const auto bytes = pattern(size, static_cast<unsigned>(size));
        const size_t cut = size / 3, other = size / 2 + 1;
        local->buffer.write(bytes.data(), cut);
        local_host->buffer.write(bytes.data() + cut, size - cut);
        const iovec ranges[] = {local->range(0, cut), local_host->range(0, size - cut)};
        void* descs[] = {local->desc(), nullptr};
        const fi_rma_iov targets[] = {{address_of(pair->b, *remote_host), other, remote_host->key()},
                                      {address_of(pair->b, *remote), size - other, remote->key()}};
        fi_msg_rma message{};
        message.msg_iov = ranges;
        message.desc = descs;
        message.iov_count = 2;
        message.addr = pair->a.peer;
        message.rma_iov = targets;
        message.rma_iov_count = 2;
        message.context = &done_;
        pair->post([&] { return fi_writemsg(pair->a.ep.get(), &message, FI_COMPLETION | FI_DELIVERY_COMPLETE); });
        pair->expect_entry(pair->a, &done_);
        auto got = remote_host->buffer.read(other);
        const auto rest = remote->buffer.read(size - other);
        got.insert(got.end(), rest.begin(), rest.end());
        EXPECT_TRUE(got == bytes) << "written";
        const std::vector<std::byte> zeros(size);
        local->buffer.write(zeros.data(), size);
        local_host->buffer.write(zeros.data(), size);
        pair->post([&] { return fi_readmsg(pair->a.ep.get(), &message, FI_COMPLETION); });
        pair->expect_entry(pair->a, &done_);
        got = local->buffer.read(cut);
        const auto last = local_host->buffer.read(size - cut);
        got.insert(got.end(), last.begin(), last.end());
        EXPECT_TRUE(got == bytes) << "read";
    }
}

TEST_P(HmemAccess, WithoutPermissionOrBeyondTheEndIsRefused) {
    const auto local = memory(pair->a, 100000), remote = memory(pair->b, 100000);
    for (const size_t size : {8, 100000}) {
        pair->post([&] {
            return fi_write(pair->a.ep.get(), local->buffer.at(), size, local->desc(), pair->a.peer,
                            address_of(pair->b, *remote, 1 + 100000 - size), remote->key(), &done_);
        });
        EXPECT_EQ(pair->wait(pair->a).error, FI_EINVAL);
        pair->post([&] {
            return fi_read(pair->a.ep.get(), local->buffer.at(), size, local->desc(), pair->a.peer,
                           address_of(pair->b, *remote), remote->key() + 77, &done_);
        });
        EXPECT_EQ(pair->wait(pair->a).error, FI_ENOKEY);
    }
}

template <typename Value>
std::vector<std::byte> bytes_of(const std::vector<Value>& values) {
    std::vector<std::byte> bytes(values.size() * sizeof(Value));
    memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

TEST_P(HmemAccess, ByAtomicsChangesTheTargetAndReturnsWhatWasThere) {
    for (const size_t count : {1, 3, 512}) {
        SCOPED_TRACE(count);
        const size_t size = count * sizeof(uint64_t);
        const auto operands = memory(pair->a, size), compares = memory(pair->a, size), results = memory(pair->a, size);
        const auto remote = memory(pair->b, size);
        std::vector<uint64_t> target(count), added(count);
        for (size_t i = 0; i < count; ++i) target[i] = 1000 + i, added[i] = 7 * i + 1;
        remote->buffer.write(target.data(), size);
        operands->buffer.write(added.data(), size);
        const uint64_t address = address_of(pair->b, *remote);
        // Sum, nothing returned.
        pair->post([&] {
            return fi_atomic(pair->a.ep.get(), operands->buffer.at(), count, operands->desc(), pair->a.peer, address,
                             remote->key(), FI_UINT64, FI_SUM, &done_);
        });
        pair->expect_entry(pair->a, &done_);
        for (size_t i = 0; i < count; ++i) target[i] += added[i];
        EXPECT_TRUE(remote->buffer.read(size) == bytes_of(target));
        // Sum, with results on the device.
        pair->post([&] {
            return fi_fetch_atomic(pair->a.ep.get(), operands->buffer.at(), count, operands->desc(),
                                   results->buffer.at(), results->desc(), pair->a.peer, address, remote->key(),
                                   FI_UINT64, FI_SUM, &done_);
        });
        pair->expect_entry(pair->a, &done_);
        EXPECT_TRUE(results->buffer.read(size) == bytes_of(target));
        for (size_t i = 0; i < count; ++i) target[i] += added[i];
        EXPECT_TRUE(remote->buffer.read(size) == bytes_of(target));
        // Compare and swap: every second element is as it is expected.
        std::vector<uint64_t> expected = target;
        for (size_t i = 0; i < count; i += 2) ++expected[i];
        compares->buffer.write(expected.data(), size);
        pair->post([&] {
            return fi_compare_atomic(pair->a.ep.get(), operands->buffer.at(), count, operands->desc(),
                                     compares->buffer.at(), compares->desc(), results->buffer.at(), results->desc(),
                                     pair->a.peer, address, remote->key(), FI_UINT64, FI_CSWAP, &done_);
        });
        pair->expect_entry(pair->a, &done_);
        EXPECT_TRUE(results->buffer.read(size) == bytes_of(target));
        for (size_t i = 1; i < count; i += 2) target[i] = added[i];
        EXPECT_TRUE(remote->buffer.read(size) == bytes_of(target));
        // Read, to the host.
        std::vector<uint64_t> seen(count);
        pair->post([&] {
            return fi_fetch_atomic(pair->a.ep.get(), nullptr, count, nullptr, seen.data(), nullptr, pair->a.peer,
                                   address, remote->key(), FI_UINT64, FI_ATOMIC_READ, &done_);
        });
        pair->expect_entry(pair->a, &done_);
        EXPECT_TRUE(seen == target);
    }
}

// Operands in two parts, host and device; targets in two regions, device and host; injected.
TEST_P(HmemAccess, ByAtomicsOfMixedPartsIsDone) {
    const auto operands = memory(pair->a, 64), remote = memory(pair->b, 64);
    const auto remote_host = memory(pair->b, MemoryKind::Host, 64);
    uint32_t first[] = {1, 2, 3}, second[] = {40, 50, 60, 70};
    operands->buffer.write(second, sizeof second);
    const fi_ioc parts[] = {{.addr = first, .count = 3}, {.addr = operands->buffer.at(), .count = 4}};
    void* descs[] = {nullptr, operands->desc()};
    const fi_rma_ioc targets[] = {{address_of(pair->b, *remote, 4), 5, remote->key()},
                                  {address_of(pair->b, *remote_host, 8), 2, remote_host->key()}};
    fi_msg_atomic message{};
    message.msg_iov = parts;
    message.desc = descs;
    message.iov_count = 2;
    message.addr = pair->a.peer;
    message.rma_iov = targets;
    message.rma_iov_count = 2;
    message.datatype = FI_UINT32;
    message.op = FI_SUM;
    message.context = &done_;
    pair->post([&] { return fi_atomicmsg(pair->a.ep.get(), &message, FI_INJECT | FI_COMPLETION); });
    const std::vector<std::byte> zeros(64);
    operands->buffer.write(zeros.data(), 64);
    first[0] = first[1] = first[2] = 0;
    pair->expect_entry(pair->a, &done_);
    EXPECT_TRUE(remote->buffer.read(24) == bytes_of<uint32_t>({0, 1, 2, 3, 40, 50}));
    EXPECT_TRUE(remote_host->buffer.read(16) == bytes_of<uint32_t>({0, 0, 60, 70}));
}

INSTANTIATE_TEST_SUITE_P(Providers, HmemAccess, ::testing::ValuesIn(kHmemCases), name_of);

}  // namespace
}  // namespace selvage::test
