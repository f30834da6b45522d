// What exchanges are tried on: the kinds of endpoints of a provider, and the ways to set each up.
//
// One thread, that of the TestContext.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "conformance/drive/test_context.h"
#include "conformance/generate/binary/case_bytes.h"

namespace selvage::conformance {

/// What the endpoints of one kind are opened with.
struct TrafficStage {
    model::Query query;
    int entry = 0;  ///< of its answer
    model::Info offer;
    bool narrow = false;  ///< with the fewest capabilities; of such the short list will do
    /// What is carried on it.  Unselected: what the endpoint was not opened for, to see that it is refused.  Control,
    /// Data: what must come to its end without calls of the peer, as progress of that is automatic.
    enum class Use : std::uint8_t { Anything, Unselected, Control, Data } use = Use::Anything;
    std::vector<TransferSequence> setups;
};

/// Every kind of endpoint of the lab's provider; empty if it has none that can be opened.  Those that are not for
/// Anything stand last.
std::vector<TrafficStage> traffic_stages(TestContext& context);

/// The exchanges of a stage that is not for Anything.
std::vector<TransferSequence> pointed_sequences(const TrafficStage& stage);

/// Exchanges by number: what the inputs of the kind Traffic stand for, on the provider of one lab.
class SeededSequences {
public:
    explicit SeededSequences(TestContext& context) : stages_(traffic_stages(context)) {}

    /// Any input stands for some exchange that is worth trying: one of the systematic ones, or a random one.  Its call
    /// and its exchange go into `out`.  @return false if the provider has no endpoints, or the exchange is empty.
    bool make(const Input& input, Case& out);

private:
    using Place = std::pair<std::size_t, std::size_t>;  ///< stage, set-up
    const std::vector<TransferSequence>& systematic(Place place);

    std::vector<TrafficStage> stages_;
    std::map<Place, std::vector<TransferSequence>> systematic_;
};

}  // namespace selvage::conformance
