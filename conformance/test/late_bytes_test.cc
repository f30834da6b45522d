// Bytes of messages that no entry tells of, and that come behind the barrier: they are waited for, and not called lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "conformance/base/library.h"
#include "conformance/case/case_text.h"
#include "conformance/drive/transfer/pair.h"
#include "conformance/drive/transfer/run.h"
#include "conformance/test/subject_util.h"

namespace selvage::conformance {
namespace {

#ifdef SELVAGE_OWN_LIBRARY
using model::Seen;
using Clock = std::chrono::steady_clock;

// Longer than anything waits without a barrier, shorter than bytes are waited for behind one.
constexpr auto kLate = std::chrono::milliseconds(100);
constexpr std::uint64_t kShadow = kArenaOffset + kArenaLength / 2;
constexpr unsigned char kNothing = 0x3D;

// Places the bytes of messages in memory of its own first, and in that of the receive much later.
class LateBytes : public Endpoint {
public:
    explicit LateBytes(std::unique_ptr<Endpoint> end) : end_(std::move(end)) {
        memory_ = end_->memory();
        memory_address_ = end_->memory_address();
        address_ = end_->address();
    }
    Outcome open(bool listens) override { return end_->open(listens); }
    Outcome connect(const std::string& peer) override { return end_->connect(peer); }
    Outcome poll_connection() override { return end_->poll_connection(); }
    Outcome cover(std::size_t used) override { return end_->cover(std::max<std::size_t>(used, kArenaLength)); }
    RemoteRegion region(std::uint64_t access) override { return end_->region(access); }
    std::uint64_t valid_count(const model::Operation& o) override { return end_->valid_count(o); }
    CounterValues counters() override { return end_->counters(); }
    void close() override { end_->close(); }

    std::int64_t post(const PostedCall& call) override {
        if (call.operation.what != model::Transfer::Recv || call.buffer == 0) return end_->post(call);
        Receive late{.buffer = call.buffer, .shadow = kShadow + shadows_, .length = call.operation.length};
        shadows_ += late.length;
        std::memset(memory() + late.shadow, kNothing, late.length);
        PostedCall changed = call;
        changed.buffer = late.shadow;
        receives_.push_back(late);
        return end_->post(changed);
    }

    void read(unsigned looks, Arrivals& out) override {
        end_->read(looks, out);
        for (Receive& r : receives_) {
            if (r.placed || memory()[r.shadow] == kNothing) continue;
            if (r.came == Clock::time_point{}) r.came = Clock::now();
            if (Clock::now() - r.came < kLate) continue;
            std::memcpy(memory() + r.buffer, memory() + r.shadow, r.length);
            r.placed = true;
        }
    }

private:
    struct Receive {
        std::uint64_t buffer, shadow, length;
        Clock::time_point came{};
        bool placed = false;
    };
    std::unique_ptr<Endpoint> end_;
    std::vector<Receive> receives_;
    std::uint64_t shadows_ = 0;
};

// What is seen of the receive of the first operation, on the reference library's shm.
std::string seen_of(const std::string& operations) {
    CaseFile file;
    CaseError error;
    EXPECT_TRUE(
        parse_case("selvage-case 1\nkind = traffic\nprovider = \"shm\"\n"
                   "call = version=1.17 hints={ep_attr.type=FI_EP_RDM, fabric_attr.prov_name=\"shm\"}\n"
                   "selective = receive\n" +
                       operations,
                   file, error))
        << error.str();
    const auto seen = in_child([&](Channel& channel) {
        std::string trouble;
        const auto library = Library::open(SELVAGE_OWN_LIBRARY, trouble);
        std::int64_t ret = 0;
        const auto pair = library ? Pair::open(library->entries(), file.shown, ret, trouble) : nullptr;
        if (!pair) return channel.send("no pair: " + trouble);
        pair->wrap(model::Side::B, [](auto end) { return std::make_unique<LateBytes>(std::move(end)); });
        Patience patience;
        model::Traffic out;
        run_sequence(*pair, file.shown.sequence, patience, out);
        channel.send(out.operations.front().local == Seen::Whole ? "whole" : "not whole");
    });
    return seen.records.empty() ? "nothing" : seen.records.front();
}

TEST(LateBytes, AreWaitedForBehindTheBarrier) {
    EXPECT_EQ(seen_of("B recv length=4096\nA send length=4096\n"), "whole");
}

TEST(LateBytes, AreWaitedForThoughAnotherReceiveWasCancelled) {
    EXPECT_EQ(seen_of("B recv length=4096\nA send length=4096\nA recv length=64\nA cancel of=2\n"), "whole");
}
#endif

}  // namespace
}  // namespace selvage::conformance
