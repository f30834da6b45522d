// Whose crash it is: where an atomic was accepted that its valid call denies, that of the atomic, whatever is called
// next.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "conformance/base/library.h"
#include "conformance/case/case_text.h"
#include "conformance/drive/transfer/pair.h"
#include "conformance/drive/transfer/run.h"
#include "conformance/test/subject_util.h"

namespace selvage::conformance {
namespace {

#ifdef SELVAGE_OWN_LIBRARY
// Denies every atomic, and accepts it all the same.
class Denying : public Endpoint {
public:
    explicit Denying(std::unique_ptr<Endpoint> end) : end_(std::move(end)) {
        memory_ = end_->memory();
        memory_address_ = end_->memory_address();
        address_ = end_->address();
    }
    Outcome open(bool listens) override { return end_->open(listens); }
    Outcome connect(const std::string& peer) override { return end_->connect(peer); }
    Outcome poll_connection() override { return end_->poll_connection(); }
    Outcome cover(std::size_t used) override { return end_->cover(used); }
    RemoteRegion region(std::uint64_t access) override { return end_->region(access); }
    std::uint64_t valid_count(const model::Operation&) override { return 0; }
    CounterValues counters() override { return end_->counters(); }
    void close() override { end_->close(); }
    std::int64_t post(const PostedCall& call) override { return end_->post(call); }
    void read(unsigned looks, Arrivals& out) override { end_->read(looks, out); }

private:
    std::unique_ptr<Endpoint> end_;
};

// The operation that a crash at the end would belong to; A's endpoint denies atomics if `denies`.
std::string charged(const std::string& operations, bool denies) {
    CaseFile file;
    CaseError error;
    EXPECT_TRUE(
        parse_case("selvage-case 1\nkind = traffic\nprovider = \"shm\"\n"
                   "call = version=1.17 hints={ep_attr.type=FI_EP_RDM, fabric_attr.prov_name=\"shm\"}\n" +
                       operations,
                   file, error))
        << error.str();
    const auto seen = in_child([&](Channel& channel) {
        std::string trouble;
        const auto library = Library::open(SELVAGE_OWN_LIBRARY, trouble);
        std::int64_t ret = 0;
        const auto pair = library ? Pair::open(library->entries(), file.shown, ret, trouble) : nullptr;
        if (!pair) return channel.send("no pair: " + trouble);
        if (denies) pair->wrap(model::Side::A, [](auto end) { return std::make_unique<Denying>(std::move(end)); });
        int step = -1;
        Patience patience;
        patience.step = &step;
        model::Traffic out;
        run_sequence(*pair, file.shown.sequence, patience, out);
        channel.send(std::to_string(step));
    });
    return seen.records.empty() ? "nothing" : seen.records.front();
}

constexpr auto kMessagesBehindAnAtomic =
    "B recv length=8\nA atomic type=FI_UINT64 op=FI_SUM count=1\nprogress\nA send length=8\n";

TEST(CrashBehindAnAtomic, IsThatOfTheAtomicWhereItsValidCallDeniesIt) {
    EXPECT_EQ(charged(kMessagesBehindAnAtomic, true), "1");
}

TEST(CrashBehindAnAtomic, IsThatOfTheCallMadeLastWhereTheAtomicIsValid) {
    EXPECT_EQ(charged(kMessagesBehindAnAtomic, false), "3");
}

TEST(CrashBehindAnAtomic, IsThatOfTheCallMadeLastWhereThereIsNone) {
    EXPECT_EQ(charged("B recv length=8\nA send length=8\n", true), "1");
}
#endif

}  // namespace
}  // namespace selvage::conformance
