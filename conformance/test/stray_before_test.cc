// Whether a pair may carry more: not behind an access that the target does not allow, for that may disable the endpoint
// (fi_domain(3)), even if nothing says so.
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
// Lets through what the target does not allow: it reaches the beginning of the region instead.
class Lenient : public Endpoint {
public:
    explicit Lenient(std::unique_ptr<Endpoint> end) : end_(std::move(end)) {
        memory_ = end_->memory();
        memory_address_ = end_->memory_address();
        address_ = end_->address();
    }
    Outcome open(bool listens) override { return end_->open(listens); }
    Outcome connect(const std::string& peer) override { return end_->connect(peer); }
    Outcome poll_connection() override { return end_->poll_connection(); }
    Outcome cover(std::size_t used) override { return end_->cover(used); }
    RemoteRegion region(std::uint64_t access) override { return end_->region(access); }
    std::uint64_t valid_count(const model::Operation& o) override { return end_->valid_count(o); }
    CounterValues counters() override { return end_->counters(); }
    void close() override { end_->close(); }
    std::int64_t post(const PostedCall& call) override {
        PostedCall allowed = call;
        allowed.operation.bad_key = false;
        return end_->post(allowed);
    }
    void read(unsigned looks, Arrivals& out) override { end_->read(looks, out); }

private:
    std::unique_ptr<Endpoint> end_;
};

// "yes" if the pair may carry more after these operations.
std::string may_carry_more(const std::string& operations) {
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
        pair->wrap(model::Side::A, [](auto end) { return std::make_unique<Lenient>(std::move(end)); });
        Patience patience;
        model::Traffic out;
        channel.send(run_sequence(*pair, file.shown.sequence, patience, out) ? "yes" : "no");
    });
    return seen.records.empty() ? "nothing" : seen.records.front();
}

TEST(PairThatCarriedATransfer, MayCarryMore) { EXPECT_EQ(may_carry_more("A write length=0\n"), "yes"); }

TEST(PairThatCarriedATransfer, CarriesNoMoreBehindAnAccessThatTheTargetDoesNotAllow) {
    EXPECT_EQ(may_carry_more("A write length=0 bad-key\n"), "no");
}
#endif

}  // namespace
}  // namespace selvage::conformance
