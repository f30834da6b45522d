// What tests of exchanges on the reference library's shm share: a case from its lines, an endpoint that another one
// stands around, and work with a pair in a child.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "conformance/base/library.h"
#include "conformance/case/case_text.h"
#include "conformance/drive/transfer/pair.h"
#include "conformance/drive/transfer/run.h"
#include "conformance/test/subject_util.h"

namespace selvage::conformance {

/// Does as the endpoint within; what derives from it does something else in one place.
class WrappedEndpoint : public Endpoint {
public:
    explicit WrappedEndpoint(std::unique_ptr<Endpoint> end) : end_(std::move(end)) {
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
    std::int64_t post(const PostedCall& call) override { return end_->post(call); }
    void read(unsigned looks, Arrivals& out) override { end_->read(looks, out); }

private:
    std::unique_ptr<Endpoint> end_;
};

/// An exchange of FI_EP_RDM on shm, of these lines.
inline Case shm_exchange(const std::string& lines) {
    CaseFile file;
    CaseError error;
    EXPECT_TRUE(
        parse_case("selvage-case 1\nkind = traffic\nprovider = \"shm\"\n"
                   "call = version=1.17 hints={ep_attr.type=FI_EP_RDM, fabric_attr.prov_name=\"shm\"}\n" +
                       lines,
                   file, error))
        << error.str();
    return file.shown;
}

#ifdef SELVAGE_OWN_LIBRARY
/// What `work` says of the exchange on a pair of the reference library, or why there is none.
inline std::string on_own_pair(const std::string& lines,
                               const std::function<std::string(Pair& pair, const TransferSequence& sequence)>& work) {
    const Case shown = shm_exchange(lines);
    const auto seen = in_child([&](Channel& channel) {
        std::string trouble;
        const auto library = Library::open(SELVAGE_OWN_LIBRARY, trouble);
        std::int64_t ret = 0;
        const auto pair = library ? Pair::open(library->entries(), shown, ret, trouble) : nullptr;
        channel.send(pair ? work(*pair, shown.sequence) : "no pair: " + trouble);
    });
    return seen.records.empty() ? "nothing" : seen.records.front();
}
#endif

}  // namespace selvage::conformance
