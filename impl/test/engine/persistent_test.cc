// FI_RMA_PMEM: which memory may be registered with it, and that FI_COMMIT_COMPLETE flushes before anybody is told. The
// flush is msync, which this program has in the C library's place: it counts, and fails if it is to.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "impl/domain/persistent_memory.h"
#include "impl/engine/requests.h"
#include "impl/test/engine/pair.h"

namespace {

struct {
    int calls = 0;
    int error = 0;
    unsigned char first = 0;  // of the memory, when it was flushed
} flushes;

}  // namespace

extern "C" int msync(void* address, size_t size, int flags) {
    ++flushes.calls;
    if (flushes.error) {
        errno = flushes.error;
        return -1;
    }
    flushes.first = *static_cast<unsigned char*>(address);
    return static_cast<int>(syscall(SYS_msync, address, size, flags));
}

namespace selvage::impl::test {
namespace {

constexpr size_t kSize = size_t{1} << 17;

// A file that is mapped. Where the directory is in memory, nothing of it is persistent.
class MappedFile {
public:
    explicit MappedFile(const char* directory, int flags = MAP_SHARED) {
        std::string name = std::string(directory) + "/selvage-pmem-XXXXXX";
        const int file = mkstemp(name.data());
        EXPECT_GE(file, 0);
        EXPECT_EQ(ftruncate(file, kSize), 0);
        bytes = static_cast<unsigned char*>(mmap(nullptr, kSize, PROT_READ | PROT_WRITE, flags, file, 0));
        EXPECT_NE(bytes, MAP_FAILED);
        close(file);
        path_ = name;
    }
    ~MappedFile() {
        munmap(bytes, kSize);
        remove();
    }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    void remove() { unlink(path_.c_str()); }
    bool lasts() const { return check_persistent_memory({bytes, kSize}) == 0; }

    unsigned char* bytes;

private:
    std::string path_;
};

// Beside the program, which lies on a disk.
const char* on_disk() { return "."; }

Setting with_pmem(bool pulls = false) {
    Setting setting;
    setting.caps |= FI_RMA_PMEM;
    setting.pulls = pulls;
    return setting;
}

// A pair of which one side has registered a file, with FI_RMA_PMEM under key 7, and plain memory under key 8.
struct Persistent : Pair {
    explicit Persistent(const Setting& setting) : Pair(setting), plain(kSize) {
        fid_mr* region = nullptr;
        EXPECT_EQ(fi_mr_reg(&b.domain.descriptor, file.bytes, kSize, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 7,
                            FI_RMA_PMEM, &region, nullptr),
                  0);
        b.regions.push_back(region);
        b.exposes(plain.data(), kSize, FI_REMOTE_READ | FI_REMOTE_WRITE, 8);
        flushes = {};
    }
    ssize_t write(const Bytes& bytes, uint64_t key, uint64_t flags) {
        const iovec range{const_cast<unsigned char*>(bytes.data()), bytes.size()};
        const fi_rma_iov target{0, bytes.size(), key};
        const fi_msg_rma message{&range, nullptr, 1, to_b, &target, 1, nullptr, 5};
        return fi_writemsg(a.ep, &message, flags | FI_COMPLETION);
    }
    // 0 or the error of the next completion of the initiator.
    int result() {
        fi_cq_tagged_entry entry;
        progress();
        const ssize_t got = a.read(&entry);
        if (got == 1) return 0;
        return got == -FI_EAVAIL ? a.read_error().err : -1;
    }

    MappedFile file{on_disk()};
    Bytes plain;
};

TEST(PersistentMemory, IsThatOfFilesWhichOutliveTheMachine) {
    MappedFile file(on_disk());
    ASSERT_TRUE(file.lasts()) << "the tests are to run in a directory on a disk";
    EXPECT_FALSE(check_persistent_memory({file.bytes + 100, 1}));
    EXPECT_FALSE(check_persistent_memory({file.bytes, 0}));
    EXPECT_EQ(-FI_EINVAL, check_persistent_memory({file.bytes, kSize + 4096 * 16})) << "beyond its end";
    EXPECT_FALSE(MappedFile(on_disk(), MAP_PRIVATE).lasts());
    EXPECT_FALSE(MappedFile("/dev/shm").lasts());
    Bytes heap(kSize);
    EXPECT_EQ(-FI_EINVAL, check_persistent_memory({heap.data(), heap.size()}));
    void* anonymous = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT_EQ(-FI_EINVAL, check_persistent_memory({anonymous, kSize}));
    munmap(anonymous, kSize);
    file.remove();
    EXPECT_FALSE(file.lasts()) << "its file is gone with the process";
}

TEST(EnginePersistent, ACommittedWriteIsFlushedBeforeItCompletes) {
    for (const bool pulls : {false, true}) {
        for (const size_t pieces : {SIZE_MAX, size_t{0}}) {
            for (const size_t size : {size_t{8}, size_t{6000}, kSize}) {
                Persistent pair(with_pmem(pulls));
                pair.net.pieces_above = pieces;
                const Bytes bytes = pattern(size, 3);
                ASSERT_EQ(pair.write(bytes, 7, FI_COMMIT_COMPLETE), 0);
                EXPECT_EQ(pair.result(), 0);
                EXPECT_EQ(flushes.calls, 1) << size;
                EXPECT_EQ(flushes.first, bytes[0]) << "it was there when it was flushed";
                EXPECT_EQ(memcmp(pair.file.bytes, bytes.data(), size), 0);
            }
        }
    }
}

TEST(EnginePersistent, WhatIsNotCommittedIsNotFlushed) {
    Persistent pair(with_pmem());
    ASSERT_EQ(pair.write(pattern(8), 7, FI_DELIVERY_COMPLETE), 0);
    EXPECT_EQ(pair.result(), 0);
    EXPECT_EQ(flushes.calls, 0);
}

TEST(EnginePersistent, ACommitToOrdinaryMemoryFailsAndChangesNothing) {
    for (const bool pulls : {false, true}) {
        for (const size_t size : {size_t{8}, size_t{6000}, kSize}) {
            Persistent pair(with_pmem(pulls));
            ASSERT_EQ(pair.write(pattern(size, 3), 8, FI_COMMIT_COMPLETE), 0);
            EXPECT_EQ(pair.result(), FI_EINVAL) << size;
            EXPECT_EQ(flushes.calls, 0);
            EXPECT_EQ(pair.plain, Bytes(kSize));
        }
    }
}

TEST(EnginePersistent, AFlushThatFailsFailsTheOperation) {
    for (const size_t size : {size_t{8}, kSize}) {
        Persistent pair(with_pmem());
        flushes.error = EIO;
        ASSERT_EQ(pair.write(pattern(size), 7, FI_COMMIT_COMPLETE | FI_REMOTE_CQ_DATA), 0);
        EXPECT_EQ(pair.result(), FI_EIO);
        fi_cq_tagged_entry entry;
        EXPECT_EQ(pair.b.read(&entry), 0) << "the target is told of nothing";
    }
}

TEST(EnginePersistent, TheTargetIsToldAfterTheFlush) {
    Persistent pair(with_pmem());
    ASSERT_EQ(pair.write(pattern(8), 7, FI_COMMIT_COMPLETE | FI_REMOTE_CQ_DATA), 0);
    EXPECT_EQ(pair.result(), 0);
    fi_cq_tagged_entry entry;
    ASSERT_EQ(pair.b.read(&entry), 1);
    EXPECT_EQ(entry.data, 5u);
    EXPECT_EQ(flushes.calls, 1);
}

TEST(EnginePersistent, AtomicsAreCommittedToo) {
    Persistent pair(with_pmem());
    uint64_t operand = 5, result = 0;
    const fi_ioc source{&operand, 1};
    fi_ioc results{&result, 1};
    const fi_rma_ioc good{64, 1, 7}, bad{64, 1, 8};
    fi_msg_atomic message{&source, nullptr, 1, pair.to_b, &good, 1, FI_UINT64, FI_SUM, nullptr, 0};
    ASSERT_EQ(fi_atomicmsg(pair.a.ep, &message, FI_COMMIT_COMPLETE | FI_COMPLETION), 0);
    EXPECT_EQ(pair.result(), 0);
    EXPECT_EQ(flushes.calls, 1);
    ASSERT_EQ(fi_fetch_atomicmsg(pair.a.ep, &message, &results, nullptr, 1, FI_COMMIT_COMPLETE | FI_COMPLETION), 0);
    EXPECT_EQ(pair.result(), 0);
    EXPECT_EQ(flushes.calls, 2);
    EXPECT_EQ(result, 5u);
    message.rma_iov = &bad;
    ASSERT_EQ(fi_atomicmsg(pair.a.ep, &message, FI_COMMIT_COMPLETE | FI_COMPLETION), 0);
    EXPECT_EQ(pair.result(), FI_EINVAL);
    message.op = FI_ATOMIC_READ;
    EXPECT_EQ(fi_fetch_atomicmsg(pair.a.ep, &message, &results, nullptr, 1, FI_COMMIT_COMPLETE), -FI_EBADFLAGS);
}

TEST(EnginePersistent, OtherCallsAndEndpointsRefuseTheFlag) {
    Persistent pair(with_pmem());
    char byte = 0;
    const iovec range{&byte, 1};
    const fi_msg message{&range, nullptr, 1, pair.to_b, nullptr, 0};
    EXPECT_EQ(fi_sendmsg(pair.a.ep, &message, FI_COMMIT_COMPLETE), -FI_EBADFLAGS);
    const fi_rma_iov target{0, 1, 7};
    const fi_msg_rma read{&range, nullptr, 1, pair.to_b, &target, 1, nullptr, 0};
    EXPECT_EQ(fi_readmsg(pair.a.ep, &read, FI_COMMIT_COMPLETE), -FI_EBADFLAGS);
    Pair without;
    const fi_msg_rma write{&range, nullptr, 1, without.to_b, &target, 1, nullptr, 0};
    EXPECT_EQ(fi_writemsg(without.a.ep, &write, FI_COMMIT_COMPLETE), -FI_EBADFLAGS);
}

}  // namespace
}  // namespace selvage::impl::test
