// See stages.h.
#include "conformance/properties/stages.h"

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <algorithm>

#include "conformance/drive/endpoint/agent_server.h"
#include "conformance/drive/infer.h"
#include "conformance/generate/transfers.h"
#include "model/judge/judge.h"

namespace selvage::conformance {
namespace {

using namespace model;

constexpr std::uint64_t kNeededCaps =
    FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
// What some providers grant to those alone who ask for it.
constexpr std::uint64_t kRequestedCaps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_SOURCE | FI_DIRECTED_RECV |
                                         FI_MULTI_RECV | FI_FENCE | FI_RMA_EVENT | FI_TRIGGER;
constexpr std::uint64_t kPromisedModes = FI_CONTEXT | FI_CONTEXT2 | FI_LOCAL_MR | FI_ASYNC_IOV | FI_RX_CQ_DATA;
constexpr std::uint64_t kPromisedRegistration =
    FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;

// The first entry of the stage's query that is of the provider and of the type that was asked for.
bool find_entry(TestContext& context, TrafficStage& s) {
    const auto answer = context.single().issue(s.query).answer;
    for (std::size_t i = 0; i < answer.offers.size(); ++i) {
        const Info& o = answer.offers[i];
        if (!offer_is_of(o, context.provider()) || o.ep.type != s.query.hints->ep.type) continue;
        s.entry = static_cast<int>(i);
        s.offer = o;
        return true;
    }
    return false;
}

// Asks for what the stage's entry lacks, a capability at a time.  @return false if nothing more is granted.
bool widen(TestContext& context, TrafficStage& s) {
    const std::uint64_t offered = s.offer.caps;
    for (std::uint64_t left = kRequestedCaps & ~offered; left != 0; left &= left - 1) {
        const std::uint64_t one = left & -left;
        TrafficStage more = s;
        more.query.hints->caps = s.offer.caps | one;
        if (find_entry(context, more) && (more.offer.caps & one) != 0) s = std::move(more);
    }
    return s.offer.caps != offered;
}

// Asks for completions in strict order, of each side that grants them.
void order_completions(TestContext& context, TrafficStage& s) {
    for (const Field order : {Field::tx_comp_order, Field::rx_comp_order}) {
        TrafficStage more = s;
        set(*more.query.hints, order, FI_ORDER_STRICT);
        if (find_entry(context, more)) s = std::move(more);
    }
}

// Of a provider with addresses of the internet, finds the entry that reaches the other machine.
bool reaches_peer(TestContext& context, TrafficStage& s) {
    const std::uint64_t format = s.offer.addr_format;
    const bool internet = format == FI_SOCKADDR || format == FI_SOCKADDR_IN || format == FI_SOCKADDR_IN6;
    if (!internet) return (s.offer.caps & (FI_LOCAL_COMM | FI_REMOTE_COMM)) != FI_LOCAL_COMM;
    s.query.node = address_towards(context.plan().peer);
    s.query.flags |= FI_SOURCE;
    return find_entry(context, s);
}

// Endpoints without tagged messages, without plain ones, and for one direction alone.
void add_unselected(TestContext& context, const TrafficStage& whole, std::vector<TrafficStage>& out) {
    if ((whole.offer.caps & FI_MSG) == 0) return;
    for (const std::uint64_t caps : std::initializer_list<std::uint64_t>{FI_MSG, FI_TAGGED, FI_MSG | FI_SEND,
                                                                         FI_MSG | FI_RECV, FI_TAGGED | FI_SEND}) {
        // A table of operations that the provider has nowhere may be NULL, and a call through it is the caller's fault.
        const std::uint64_t primary = (FI_MSG | FI_TAGGED) & whole.offer.caps;
        const bool one_way = (caps & (FI_SEND | FI_RECV)) != 0;
        if ((caps & primary) == 0 || (!one_way && primary != (FI_MSG | FI_TAGGED))) continue;
        TrafficStage less = whole;
        less.query.hints->caps = caps;
        less.use = TrafficStage::Use::Unselected;
        less.setups.resize(1);
        if (find_entry(context, less)) out.push_back(std::move(less));
    }
}

// Endpoints that make progress by themselves, of the one kind as they are asked for no other.
void add_automatic(TestContext& context, const TrafficStage& whole, std::vector<TrafficStage>& out) {
    if (whole.offer.ep.type == FI_EP_DGRAM) return;
    const auto add = [&](Field progress, TrafficStage::Use use) {
        TrafficStage automatic = whole;
        set(*automatic.query.hints, progress, FI_PROGRESS_AUTO);
        automatic.use = use;
        automatic.setups.resize(1);
        if (find_entry(context, automatic)) out.push_back(std::move(automatic));
    };
    add(Field::domain_control_progress, TrafficStage::Use::Control);
    // Where it has not to be asked for, it is looked at among all else.
    if (whole.offer.domain.data_progress != FI_PROGRESS_AUTO) add(Field::domain_data_progress, TrafficStage::Use::Data);
}

}  // namespace

std::vector<TrafficStage> traffic_stages(TestContext& context) {
    std::vector<TrafficStage> out, pointed;
    for (const std::uint64_t type : {FI_EP_RDM, FI_EP_MSG, FI_EP_DGRAM}) {
        TrafficStage s;
        s.query = widest_query(context.provider(), std::min(context.version(), kNewest));
        s.query.hints->mode = kPromisedModes;
        s.query.hints->domain.mr_mode = kPromisedRegistration;
        s.query.hints->ep.type = type;
        if (!find_entry(context, s)) continue;
        if (!context.plan().peer.empty() && !reaches_peer(context, s)) continue;
        s.setups = setups(s.offer);
        out.push_back(s);
        add_unselected(context, s, pointed);
        add_automatic(context, s, pointed);
        TrafficStage wide = s;
        wide.setups = {{}, {}};
        wide.setups.back().selective_transmit = wide.setups.back().selective_receive = true;
        if (widen(context, wide)) out.push_back(std::move(wide));
        // The same without what is not needed to carry bytes: no sources, no events at the target.
        s.query.hints->caps = s.offer.caps & kNeededCaps;
        s.narrow = true;
        if (!find_entry(context, s)) continue;
        order_completions(context, s);
        s.setups.resize(1);
        out.push_back(s);
    }
    out.insert(out.end(), pointed.begin(), pointed.end());
    return out;
}

std::vector<TransferSequence> pointed_sequences(const TrafficStage& stage) {
    switch (stage.use) {
        case TrafficStage::Use::Unselected:
            return unselected_sequences(stage.offer);
        case TrafficStage::Use::Control:
            return connecting_sequences(stage.offer);
        case TrafficStage::Use::Data:
            return resting_sequences(stage.offer);
        case TrafficStage::Use::Anything:
            break;
    }
    return {};
}

const std::vector<TransferSequence>& SeededSequences::systematic(Place place) {
    auto& out = systematic_[place];
    if (!out.empty()) return out;
    const TrafficStage& stage = stages_[place.first];
    const TransferSequence& setup = stage.setups[place.second];
    const bool pointed = stage.use != TrafficStage::Use::Anything;
    if (pointed) return out = pointed_sequences(stage);
    out = telling_sequences(stage.offer, setup);
    const bool plainest = place.second == 0 && !stage.narrow;
    for (auto& e : systematic_sequences(stage.offer, setup, plainest ? Depth::All : Depth::Some))
        out.push_back(std::move(e));
    return out;
}

bool SeededSequences::make(const Input& input, Case& out) {
    if (stages_.empty()) return false;
    const std::size_t kind = input.stage % stages_.size();
    const TrafficStage& stage = stages_[kind];
    const std::size_t setup = input.setup % stage.setups.size();
    out.kind = Case::Kind::Traffic;
    out.provider = input.drawn.provider;
    out.first = stage.query;
    const auto& all = systematic({kind, setup});
    const bool pointed = stage.use != TrafficStage::Use::Anything;
    if (!all.empty() && (input.turn > 0 || pointed)) {
        out.sequence = all[(std::max<std::uint64_t>(input.turn, 1) - 1) % all.size()];
    } else if (!pointed) {
        Rng rng(input.choices.size(), input.choices);
        out.sequence = random_sequence(stage.offer, stage.setups[setup], rng);
    }
    out.sequence.entry = stage.entry;
    return !out.sequence.operations.empty();
}

}  // namespace selvage::conformance
