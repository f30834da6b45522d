// FI_RMA_PMEM as programs see it: files are registered, writes with FI_COMMIT_COMPLETE arrive in them.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <rdma/fi_rma.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <vector>

#include "impl/test/library/pair.h"

namespace selvage::test {
namespace {

constexpr size_t kSize = size_t{1} << 20;

// A file in the working directory, which lies on a disk.
struct MappedFile {
    MappedFile() {
        char name[] = "selvage-pmem-XXXXXX";
        const int file = mkstemp(name);
        unlink_at_end = name;
        EXPECT_EQ(ftruncate(file, kSize), 0);
        bytes = static_cast<char*>(mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
        EXPECT_NE(bytes, MAP_FAILED);
        close(file);
    }
    ~MappedFile() {
        munmap(bytes, kSize);
        unlink(unlink_at_end.c_str());
    }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    std::string unlink_at_end;
    char* bytes = nullptr;
};

// The error of a write of so many bytes to the region of that key: 0, or what its completion says.
int write_committed(Pair& pair, const std::vector<char>& bytes, uint64_t key) {
    const iovec range{const_cast<char*>(bytes.data()), bytes.size()};
    const fi_rma_iov target{0, bytes.size(), key};
    const fi_msg_rma message{&range, nullptr, 1, pair.a.peer, &target, 1, nullptr, 0};
    constexpr uint64_t kFlags = FI_COMMIT_COMPLETE | FI_COMPLETION;
    const ssize_t posted = pair.until_taken([&] { return fi_writemsg(pair.a.ep.get(), &message, kFlags); });
    if (posted) return static_cast<int>(posted);
    const ssize_t result = pair.wait_for_entry(pair.a);
    fi_cq_err_entry error{};
    if (result != -FI_EAVAIL) return result == 1 ? 0 : -1;
    EXPECT_EQ(fi_cq_readerr(pair.a.cq.get(), &error, 0), 1);
    return error.err;
}

TEST(PersistentWrites, ArriveInFilesAndAreRefusedByOtherMemory) {
    for (const char* provider : {"shm", "tcp"}) {
        Network network(provider, FI_EP_RDM, kVersion, FI_MSG | FI_RMA | FI_RMA_PMEM);
        ASSERT_EQ(network.result, 0) << provider;
        MappedFile file;
        std::vector<char> plain(kSize);
        Opened<fid_mr> lasting, other, none;
        ASSERT_EQ(fi_mr_reg(network.domain.get(), file.bytes, kSize, FI_REMOTE_WRITE, 0, 1, FI_RMA_PMEM, lasting.out(),
                            nullptr),
                  0);
        ASSERT_EQ(fi_mr_reg(network.domain.get(), plain.data(), kSize, FI_REMOTE_WRITE, 0, 2, 0, other.out(), nullptr),
                  0);
        EXPECT_EQ(fi_mr_reg(network.domain.get(), plain.data(), kSize, FI_REMOTE_WRITE, 0, 3, FI_RMA_PMEM, none.out(),
                            nullptr),
                  -FI_EINVAL);
        Pair pair(network);
        pair.enable();
        for (const size_t size : {size_t{8}, size_t{5000}, kSize}) {
            std::vector<char> bytes(size, static_cast<char>('a' + size % 7));
            EXPECT_EQ(write_committed(pair, bytes, fi_mr_key(lasting.get())), 0) << provider << " " << size;
            EXPECT_EQ(memcmp(file.bytes, bytes.data(), size), 0);
            EXPECT_EQ(write_committed(pair, bytes, fi_mr_key(other.get())), FI_EINVAL) << provider << " " << size;
        }
        EXPECT_EQ(plain, std::vector<char>(kSize));
    }
}

}  // namespace
}  // namespace selvage::test
