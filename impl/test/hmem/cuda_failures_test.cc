// The driver's functions fail, one after the other, on the device that is not there (fake_cuda.cc).
#include <dlfcn.h>

#include <cstdlib>

#include "impl/test/hmem/pair.h"

namespace selvage::test {
namespace {

class CudaFailures : public ::testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        if (!library || !dlsym(library, "fake_cuda")) GTEST_SKIP() << "not the driver that can be told to fail";
        if (const char* why = missing(MemoryKind::Cuda)) GTEST_SKIP() << why;
        pair = std::make_unique<HmemPair>("shm", MemoryKind::Cuda);
    }
    void TearDown() override { unsetenv("FAKE_CUDA_FAILS"); }
    // -FI_EIO if the call takes part in what is done, 0 if not.
    ssize_t send(const Registered& from, size_t size) {
        return fi_send(pair->a.ep.get(), from.buffer.at(), size, from.desc(), pair->a.peer, &from_);
    }

    std::unique_ptr<HmemPair> pair;
    int from_ = 0, to_ = 0;
};

TEST_P(CudaFailures, OfACopyAreErrorsOfTheTransfer) {
    const bool reads = strcmp(GetParam(), "cuMemcpyHtoDAsync_v2") != 0;
    const bool writes = strcmp(GetParam(), "cuMemcpyDtoHAsync_v2") != 0;
    for (const size_t size : {8, 100000}) {
        Registered device(pair->a.domain.get(), MemoryKind::Cuda, size),
            to(pair->b.domain.get(), MemoryKind::Cuda, size);
        Registered host(pair->a.domain.get(), MemoryKind::Host, size);
        const auto bytes = pattern(size, 3);
        host.buffer.write(bytes.data(), size);
        setenv("FAKE_CUDA_FAILS", GetParam(), 1);
        if (reads) {
            EXPECT_EQ(send(device, size), -FI_EIO);
        }
        pair->post([&] { return fi_recv(pair->b.ep.get(), to.buffer.at(), size, to.desc(), FI_ADDR_UNSPEC, &to_); });
        pair->post([&] { return send(host, size); });
        EXPECT_EQ(pair->wait(pair->b).error, writes ? FI_EIO : 0);
        unsetenv("FAKE_CUDA_FAILS");
        (void)pair->wait(pair->a);
        // And the next one arrives.
        pair->post([&] { return fi_recv(pair->b.ep.get(), to.buffer.at(), size, to.desc(), FI_ADDR_UNSPEC, &to_); });
        pair->post([&] { return send(host, size); });
        pair->expect_entry(pair->b, &to_);
        pair->expect_entry(pair->a, &from_);
        EXPECT_TRUE(to.buffer.read(size) == bytes);
    }
}

INSTANTIATE_TEST_SUITE_P(Calls, CudaFailures,
                         ::testing::Values("cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize",
                                           "cuCtxPushCurrent_v2", "cuPointerGetAttribute"));

}  // namespace
}  // namespace selvage::test
