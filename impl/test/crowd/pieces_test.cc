// Reads and writes of several targets, each in a region of several ranges: as many pieces as the limits grant.
#include <gtest/gtest.h>

#include <chrono>

#include "impl/test/crowd/station.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kRanges = 8;

StationChoice choice(const char* provider) {
    return {.provider = provider, .caps = FI_MSG | FI_TAGGED | FI_RMA, .service = {}, .memory = 64};
}

class ManyPieces : public testing::TestWithParam<const char*> {
protected:
    // Every other piece of a region is memory that does not belong to it.
    struct Region {
        Region(Station& station, size_t piece, size_t index) : memory(2 * kRanges * piece), size(kRanges * piece) {
            for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<char>(i * 7 + (i >> 8) + index * 31);
            iovec ranges[kRanges];
            for (size_t i = 0; i < kRanges; ++i) ranges[i] = {memory.data() + 2 * i * piece, piece};
            fi_mr_attr attr{};
            attr.mr_iov = ranges;
            attr.iov_count = kRanges;
            attr.access = FI_REMOTE_READ | FI_REMOTE_WRITE;
            attr.requested_key = index + 1;
            SELVAGE_MUST(fi_mr_regattr(station.domain(), &attr, 0, &mr));
            for (const iovec& range : ranges) content.append(static_cast<char*>(range.iov_base), range.iov_len);
            // As for the region that the station has: by address, or from zero.
            const uint64_t base = station.base ? reinterpret_cast<uintptr_t>(memory.data()) : 0;
            target = {.addr = base, .len = size, .key = fi_mr_key(mr)};
        }
        ~Region() { SELVAGE_MUST(fi_close(&mr->fid)); }
        Region(const Region&) = delete;
        Region& operator=(const Region&) = delete;
        std::vector<char> memory;
        std::string content;
        size_t size;
        fid_mr* mr = nullptr;
        fi_rma_iov target{};
    };

    bool finished() {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
        fi_cq_tagged_entry entry;
        while (std::chrono::steady_clock::now() < end) {
            (void)fi_cq_read(owner.cq, &entry, 1);
            const ssize_t count = fi_cq_read(reader.cq, &entry, 1);
            if (count == 1) return true;
            if (count != -FI_EAGAIN) return false;
        }
        return false;
    }

    Station owner{choice(GetParam())};
    Station reader{choice(GetParam())};
    fi_addr_t to = reader.insert(owner.name());
};
INSTANTIATE_TEST_SUITE_P(Providers, ManyPieces, testing::Values("shm", "tcp"),
                         [](const auto& provider) { return std::string(provider.param); });

TEST_P(ManyPieces, AReadOfSeveralRegionsOfSeveralRangesCompletes) {
    for (const size_t piece : {size_t{16}, size_t{60}, size_t{1000}, size_t{70'000}}) {
        for (size_t count = 1; count <= kRanges; ++count) {
            std::vector<std::unique_ptr<Region>> regions;
            std::vector<fi_rma_iov> targets;
            std::string expected;
            for (size_t i = 0; i < count; ++i) {
                regions.push_back(std::make_unique<Region>(owner, piece, i));
                targets.push_back(regions.back()->target);
                expected += regions.back()->content;
            }
            std::string memory(expected.size(), '\0');
            const iovec local{memory.data(), memory.size()};
            const fi_msg_rma message{.msg_iov = &local,
                                     .desc = nullptr,
                                     .iov_count = 1,
                                     .addr = to,
                                     .rma_iov = targets.data(),
                                     .rma_iov_count = count,
                                     .context = nullptr,
                                     .data = 0};
            ssize_t result;
            while ((result = fi_readmsg(reader.ep, &message, FI_COMPLETION)) == -FI_EAGAIN) finished();
            ASSERT_EQ(result, 0);
            ASSERT_TRUE(finished()) << count << " targets of 8 pieces of " << piece << " bytes";
            ASSERT_TRUE(memory == expected) << count << " targets of 8 pieces of " << piece << " bytes";
        }
    }
}

}  // namespace
}  // namespace selvage::impl::test
