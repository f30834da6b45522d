// The property on groups: which scripts are run, on which entries.  What each does is in conformance/runtime/group*.c.
#include "conformance/properties/groups.h"

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <algorithm>

#include "conformance/drive/infer.h"
#include "conformance/generate/groups.h"
#include "conformance/generate/values.h"
#include "model/judge/judge.h"
#include "model/spec/clause.h"

namespace selvage::conformance {
namespace {

using namespace model;

constexpr std::uint64_t kShare = 100;  // one script for so many queries of other properties: it opens endpoints
constexpr std::uint64_t kLeast = 150;  // and no fewer, if so many were asked for
constexpr std::uint64_t kMost = 5000;
constexpr std::uint64_t kMostContexts = 4;
constexpr std::uint64_t kRegistration = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;

class GroupProperty final : public Property {
public:
    [[nodiscard]] std::string_view name() const override { return "groups"; }
    [[nodiscard]] std::string_view about() const override {
        return "collective operations, named receive contexts, multicast groups, unknown senders, calls on single "
               "objects";
    }
    [[nodiscard]] std::uint64_t count(const Plan& plan) const override {
        const auto all = clauses();
        const bool any = std::any_of(all.begin(), all.end(), [&](const ClauseText& t) {
            return t.judges == Judges::Group && wants(plan, t.clause);
        });
        return any ? std::clamp(plan.cases / kShare, std::min(plan.cases, kLeast), kMost) : 0;
    }

    void prepare(TestContext& context) override {
        single_.clear();
        collectives_.clear();
        for (std::uint64_t contexts = 2; contexts <= kMostContexts; ++contexts) add_contexts(context, contexts);
        add_multicast(context);
        add_unknown_sender(context);
        add_user_ids(context);
        add_other_keys(context);
        add_calls(context);
        Query query = asks(context, FI_EP_RDM, FI_MSG | FI_COLLECTIVE);
        collective_ = query;
        if (is_granted(context, query, FI_COLLECTIVE)) collectives_ = collective_scripts();
    }

    bool make(TestContext& context, std::uint64_t index, Case& out) override {
        out = {};
        out.kind = Case::Kind::Group;
        out.provider = context.provider();
        if (index < single_.size()) {
            out.first = single_[index].first;
            out.group = single_[index].second;
            return true;
        }
        index -= single_.size();
        if (collectives_.empty()) return false;
        out.first = collective_;
        if (index < collectives_.size()) {
            out.group = collectives_[index];
            return true;
        }
        Rng rng(context.plan().seed, "groups", index);
        out.group = random_collective(rng);
        return true;
    }

private:
    // A provider with addresses of the internet is asked for those of this machine.
    static Query asks(TestContext& context, std::uint64_t type, std::uint64_t caps) {
        Query q;
        q.version = std::min(context.version(), kNewest);
        q.hints.emplace();
        Info& h = *q.hints;
        for (const Part p : {Part::Ep, Part::Domain, Part::Fabric}) h.add(p);
        h.caps = caps;
        h.mode = FI_CONTEXT | FI_CONTEXT2;
        h.ep.type = type;
        h.domain.mr_mode = kRegistration;
        h.fabric.prov_name = context.provider();
        Query here = q;
        here.node = "127.0.0.1";
        here.flags = FI_SOURCE;
        return is_granted(context, here, caps) ? here : q;
    }

    static bool is_granted(TestContext& context, const Query& q, std::uint64_t caps) {
        const Answer answer = context.single().issue(q).answer;
        return std::any_of(answer.offers.begin(), answer.offers.end(), [&](const Info& o) {
            return offer_is_of(o, context.provider()) && (o.caps & caps) == caps;
        });
    }

    void add(TestContext& context, const Query& query, GroupAct act, std::uint64_t members) {
        if (!is_granted(context, query, query.hints->caps)) return;
        GroupScript s;
        s.act = act;
        s.members = members;
        single_.emplace_back(query, s);
    }

    void add_contexts(TestContext& context, std::uint64_t contexts) {
        Query q = asks(context, FI_EP_RDM, FI_MSG | FI_NAMED_RX_CTX);
        q.hints->ep.rx_ctx_cnt = contexts;
        q.hints->ep.tx_ctx_cnt = 1;
        add(context, q, GroupAct::NamedContexts, contexts);
    }

    // The group's address is one of IPv4.
    void add_multicast(TestContext& context) {
        for (const std::uint64_t type : {FI_EP_DGRAM, FI_EP_RDM}) {
            Query q = asks(context, type, FI_MSG | FI_MULTICAST);
            q.hints->addr_format = FI_SOCKADDR_IN;
            add(context, q, GroupAct::Multicast, 2);
            add(context, q, GroupAct::Multicast, 3);
        }
    }

    void add_unknown_sender(TestContext& context) {
        for (const std::uint64_t type : {FI_EP_RDM, FI_EP_DGRAM})
            add(context, asks(context, type, FI_MSG | FI_SOURCE | FI_SOURCE_ERR), GroupAct::UnknownSender, 2);
    }

    void add_user_ids(TestContext& context) {
        for (const std::uint64_t type : {FI_EP_RDM, FI_EP_DGRAM})
            add(context, asks(context, type, FI_MSG | FI_SOURCE | FI_AV_USER_ID), GroupAct::UserIds, 2);
    }

    void add_other_keys(TestContext& context) {
        Query q = asks(context, FI_EP_RDM, FI_MSG);
        request(*q.hints, Field::domain_auth_key, std::string("selvage!"));
        add(context, q, GroupAct::OtherKeys, 3);
    }

    // Connectionless endpoints are preferred: they have address vectors.
    void add_calls(TestContext& context) {
        for (const GroupScript& s : call_scripts()) {
            const bool connects = s.call == ObjectCall::ListenAlone || s.call == ObjectCall::Backlog ||
                                  s.call == ObjectCall::LongConnectData;
            for (const std::uint64_t type : {FI_EP_RDM, FI_EP_DGRAM, FI_EP_MSG})
                if ((type == FI_EP_MSG || !connects) && add_call(context, s, type)) break;
        }
    }

    bool add_call(TestContext& context, const GroupScript& s, std::uint64_t type) {
        const ObjectCall call = s.call;
        const bool registers = call == ObjectCall::RegionFlags || call == ObjectCall::RegionInterface ||
                               call == ObjectCall::RegionRawKey || call == ObjectCall::CloseRegion ||
                               call == ObjectCall::CloseCounter;
        Query q = asks(context, type, registers ? FI_MSG | FI_RMA : FI_MSG);
        if (call == ObjectCall::CloseRegion || call == ObjectCall::CloseCounter) q.hints->caps |= FI_RMA_EVENT;
        if (call == ObjectCall::QueueSignal) q.hints->domain.threading = FI_THREAD_SAFE;
        if (call == ObjectCall::SharedUnbound || call == ObjectCall::SharedTwice)
            q.hints->ep.rx_ctx_cnt = FI_SHARED_CONTEXT;
        if (!is_granted(context, q, q.hints->caps)) return false;
        single_.emplace_back(q, s);
        return true;
    }

    std::vector<std::pair<Query, GroupScript>> single_;
    std::vector<GroupScript> collectives_;
    Query collective_;
};

}  // namespace

std::unique_ptr<Property> make_groups() { return std::make_unique<GroupProperty>(); }

}  // namespace selvage::conformance
