// Two endpoints with FI_HMEM that know each other, each with a domain of its own, for tests of transfers.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <random>

#include "impl/test/hmem/memory.h"
#include "impl/test/library/objects.h"

namespace selvage::test {

inline constexpr uint64_t kHmemCaps = FI_HMEM | FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_TRIGGER;

// A buffer and its region.
class Registered {
public:
    Registered(fid_domain* domain, MemoryKind kind, size_t size) : buffer(kind, size) {
        static uint64_t next_key = 1;
        const iovec range{.iov_base = buffer.at(), .iov_len = size ? size : 1};
        fi_mr_attr attr{};
        attr.mr_iov = &range;
        attr.iov_count = 1;
        attr.access = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
        attr.requested_key = next_key++;
        attr.iface = iface_of(kind);
        EXPECT_EQ(fi_mr_regattr(domain, &attr, 0, mr_.out()), 0);
    }
    void* desc() const { return fi_mr_desc(mr_.get()); }
    uint64_t key() const { return fi_mr_key(mr_.get()); }
    fid_mr* mr() const { return mr_.get(); }
    iovec range(size_t offset, size_t size) const { return {.iov_base = buffer.at(offset), .iov_len = size}; }

    Buffer buffer;

private:
    Opened<fid_mr> mr_;
};

inline std::vector<std::byte> pattern(size_t size, unsigned seed) {
    std::vector<std::byte> bytes(size);
    std::mt19937 random(seed);
    for (size_t i = 0; i < size; i += 4) {
        const uint32_t word = static_cast<uint32_t>(random());
        memcpy(&bytes[i], &word, std::min<size_t>(4, size - i));
    }
    return bytes;
}

struct HmemSide {
    Opened<fid_fabric> fabric;
    Opened<fid_domain> domain;
    Opened<fid_cq> cq;
    Opened<fid_av> av;
    Opened<fid_ep> ep;
    fi_addr_t peer = FI_ADDR_NOTAVAIL;

    int open_domain(const char* provider, MemoryKind kind) {
        InfoPtr hints = make_hints(provider, FI_EP_RDM);
        hints->caps = kHmemCaps;
        hints->domain_attr->mr_mode = FI_MR_HMEM;
        // The machine's own address: both ends are here.
        Answer answer = strcmp(provider, "tcp") ? getinfo(hints) : getinfo(hints, "127.0.0.1", nullptr, FI_SOURCE);
        if (answer.result) return answer.result;
        info = std::move(answer.list);
        int error = fi_fabric(info->fabric_attr, fabric.out(), nullptr);
        if (!error) error = fi_domain(fabric.get(), info.get(), domain.out(), nullptr);
        return error ? error : prepare_domain(domain.get(), kind);
    }
    int open_endpoint(fid_ep* shared = nullptr) {
        fi_cq_attr cq_attr{};
        cq_attr.format = FI_CQ_FORMAT_TAGGED;
        fi_av_attr av_attr{};
        int error = fi_cq_open(domain.get(), &cq_attr, cq.out(), nullptr);
        if (!error) error = fi_av_open(domain.get(), &av_attr, av.out(), nullptr);
        if (!error) error = fi_endpoint(domain.get(), info.get(), ep.out(), nullptr);
        if (!error) error = fi_ep_bind(ep.get(), cq.base(), FI_TRANSMIT | FI_RECV);
        if (!error) error = fi_ep_bind(ep.get(), av.base(), 0);
        if (!error && shared) error = fi_ep_bind(ep.get(), &shared->fid, 0);
        return error ? error : fi_enable(ep.get());
    }
    int open(const char* provider, MemoryKind kind) {
        const int error = open_domain(provider, kind);
        return error ? error : open_endpoint();
    }
    int meet(const HmemSide& other) {
        char name[256];
        size_t length = sizeof name;
        const int error = fi_getname(other.ep.base(), name, &length);
        if (error) return error;
        return fi_av_insert(av.get(), name, 1, &peer, 0, nullptr) == 1 ? 0 : -FI_EOTHER;
    }

    InfoPtr info;
};

// What a queue said: an entry, or an error.
struct Entry {
    fi_cq_tagged_entry entry{};
    int error = 0;
    size_t overflow = 0;
};

class HmemPair {
public:
    HmemPair(const char* provider, MemoryKind kind) {
        EXPECT_EQ(a.open(provider, kind), 0);
        EXPECT_EQ(b.open(provider, kind), 0);
        if (::testing::Test::HasFailure()) return;
        EXPECT_EQ(a.meet(b), 0);
        EXPECT_EQ(b.meet(a), 0);
    }

    // The next entry of one side, while both make progress.
    Entry wait(const HmemSide& side) {
        Entry result;
        for (uint64_t i = 0; i < kPatience; ++i) {
            const ssize_t count = fi_cq_read(side.cq.get(), &result.entry, 1);
            if (count == 1) return result;
            if (count == -FI_EAVAIL) {
                fi_cq_err_entry failure{};
                EXPECT_EQ(fi_cq_readerr(side.cq.get(), &failure, 0), 1);
                result.error = failure.err;
                result.overflow = failure.olen;
                result.entry.op_context = failure.op_context;
                result.entry.len = failure.len;
                return result;
            }
            progress();
        }
        ADD_FAILURE() << "nothing came";
        result.error = FI_ETIMEDOUT;
        return result;
    }
    void expect_entry(const HmemSide& side, const void* context) {
        const Entry got = wait(side);
        EXPECT_EQ(got.error, 0);
        EXPECT_EQ(got.entry.op_context, context);
    }
    // Until the call is taken.
    template <typename Post>
    void post(Post call) {
        ssize_t result = -FI_EAGAIN;
        for (uint64_t i = 0; i < kPatience && result == -FI_EAGAIN; ++i) {
            result = call();
            if (result == -FI_EAGAIN) progress();
        }
        EXPECT_EQ(result, 0);
    }
    void progress() {
        fi_cq_read(a.cq.get(), nullptr, 0);
        fi_cq_read(b.cq.get(), nullptr, 0);
    }

    HmemSide a, b;

private:
    static constexpr uint64_t kPatience = 50'000'000;
};

}  // namespace selvage::test
