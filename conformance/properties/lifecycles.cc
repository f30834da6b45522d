// The properties on the life of objects.
#include "conformance/properties/lifecycles.h"

#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "conformance/drive/infer.h"
#include "conformance/generate/lifecycles.h"
#include "model/judge/judge.h"

namespace selvage::conformance {
namespace {

using namespace model;

// The calls whose answers are opened: how the newest callers ask, and a few others.
struct QueryShape {
    Version version;   // 0: the library's own
    bool wide;         // with every mode bit and mr_mode bit
    std::size_t most;  // offers that are opened
};
constexpr std::array kQueryShapes = {
    QueryShape{Version(), true, 64},
    QueryShape{Version(), false, 8},
    QueryShape{Version(1, 4), true, 4},
    QueryShape{Version(1, 0), true, 2},
};
constexpr int kThorough = 4;  // offers of one endpoint type and query that are tried with every script
constexpr std::size_t kMostNamed = 8;
constexpr std::size_t kMostOneWay = 4;  // offers of each direction
constexpr std::uint64_t kMostStages = 64 + 8 + 4 + 2 + kMostNamed + 2 * kMostOneWay;

Query query(const TestContext& context, const QueryShape& shape) {
    const Version version = shape.version.packed == 0 ? std::min(context.version(), kNewest) : shape.version;
    Query q = widest_query(context.provider(), version);
    if (shape.wide) return q;
    q.hints->mode = 0;
    q.hints->domain.mr_mode = 0;
    return q;
}

// One stage per fabric, domain and endpoint type that the provider offers.
std::vector<Stage> stages(TestContext& context, const Query& q, std::size_t most) {
    std::vector<Stage> out;
    std::set<std::tuple<Text, Text, std::uint64_t>> seen;
    std::map<std::uint64_t, int> of_type;
    const auto answer = context.single().issue(q).answer;
    for (std::size_t i = 0; i < answer.offers.size() && out.size() < most; ++i) {
        const Info& o = answer.offers[i];
        if (!offer_is_of(o, context.provider()) || !seen.emplace(o.fabric.name, o.domain.name, o.ep.type).second)
            continue;
        const bool thorough = ++of_type[o.ep.type] <= kThorough;
        out.push_back({.offer = static_cast<int>(i),
                       .ep_type = o.ep.type,
                       .thorough = thorough,
                       .provider = o.fabric.prov_name.value_or(""),
                       .mr_iov_limit = o.domain.mr_iov_limit,
                       .max_ep_srx_ctx = o.domain.max_ep_srx_ctx,
                       .rx_size = o.rx.size});
    }
    return out;
}

// Queries that name the fabric and the domain of an offer, and ask for endpoints that have one context each way.
std::vector<Query> named_questions(TestContext& context) {
    std::vector<Query> out;
    const Query wide = query(context, kQueryShapes[0]);
    const auto answer = context.single().issue(wide).answer;
    for (const Stage& s : stages(context, wide, 64)) {
        if (!s.thorough || out.size() == kMostNamed) continue;
        const Info& o = answer.offers[static_cast<std::size_t>(s.offer)];
        out.push_back(wide);
        out.back().hints->fabric.name = o.fabric.name;
        out.back().hints->domain.name = o.domain.name;
        out.back().hints->ep.tx_ctx_cnt = out.back().hints->ep.rx_ctx_cnt = 1;
    }
    return out;
}

// Endpoints that only send, or only receive.
std::vector<std::pair<Query, Stage>> one_way(TestContext& context) {
    std::vector<std::pair<Query, Stage>> out;
    for (const std::uint64_t way : {FI_SEND, FI_RECV}) {
        Query q = query(context, kQueryShapes[0]);
        q.hints->caps = FI_MSG | way;
        for (Stage& s : stages(context, q, kMostOneWay)) {
            s.direction = way == FI_SEND ? FI_TRANSMIT : FI_RECV;
            out.emplace_back(q, std::move(s));
        }
    }
    return out;
}

class Openings : public Property {
public:
    [[nodiscard]] std::string_view name() const override { return "openings"; }
    [[nodiscard]] std::string_view about() const override {
        return "every kind of offer is opened, used, bound, asked for and closed, in the right and the wrong order";
    }
    [[nodiscard]] std::uint64_t count(const Plan&) const override { return kMostStages * script_count(); }

    void prepare(TestContext& context) override {
        staged_.clear();
        for (const QueryShape& shape : kQueryShapes) {
            const Query q = query(context, shape);
            for (const Stage& s : stages(context, q, shape.most)) staged_.emplace_back(q, s);
        }
        for (const Query& q : named_questions(context)) {
            for (const Stage& s : stages(context, q, 1)) staged_.emplace_back(q, s);
        }
        for (auto& stage : one_way(context)) staged_.push_back(std::move(stage));
    }

    bool make(TestContext&, std::uint64_t index, Case& out) override {
        const auto at = index / script_count();
        if (at >= staged_.size()) return false;
        out.kind = Case::Kind::Lifecycle;
        out.first = staged_[at].first;
        out.actions = script(index % script_count(), staged_[at].second);
        return !out.actions.empty();
    }

private:
    std::vector<std::pair<Query, Stage>> staged_;
};

class Lifecycles : public Property {
public:
    [[nodiscard]] std::string_view name() const override { return "lifecycles"; }
    [[nodiscard]] std::string_view about() const override {
        return "random sequences of opens, binds, queries and closes, against the state model";
    }
    [[nodiscard]] std::uint64_t count(const Plan& plan) const override {
        return std::min<std::uint64_t>(plan.cases / 100 + 1, 1000);
    }

    void prepare(TestContext& context) override {
        query_ = query(context, kQueryShapes[0]);
        stages_ = stages(context, query_, kQueryShapes[0].most);
    }

    bool make(TestContext& context, std::uint64_t index, Case& out) override {
        out.kind = Case::Kind::Lifecycle;
        out.first = query_;
        out.actions = random_script(stages_, context.plan().seed, index);
        return !out.actions.empty();
    }

private:
    Query query_;
    std::vector<Stage> stages_;
};

}  // namespace

std::unique_ptr<Property> make_openings() { return std::make_unique<Openings>(); }
std::unique_ptr<Property> make_lifecycles() { return std::make_unique<Lifecycles>(); }

}  // namespace selvage::conformance
