// The property on transfers: systematic exchanges on each kind of endpoint of the provider, then random ones.
//
// Exchanges of one set-up stand together, so that a pair of endpoints serves many of them.
#include "conformance/suite/traffic.h"

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <algorithm>

#include "conformance/ask/infer.h"
#include "conformance/traffic/programs.h"
#include "conformance/traffic/worker.h"
#include "model/judge/judge.h"
#include "model/spec/clause.h"

namespace selvage::conformance {
namespace {

using namespace model;

constexpr std::uint64_t kTogether = 64;  // random exchanges of one set-up in a row
constexpr std::uint64_t kMostCases = 200000;
constexpr std::size_t kMostLosses = 400;  // deaths of the worker, shrinking included, before the rest is left out
constexpr std::uint64_t kPromisedModes = FI_CONTEXT | FI_CONTEXT2 | FI_LOCAL_MR | FI_ASYNC_IOV | FI_RX_CQ_DATA;
constexpr std::uint64_t kPromisedRegistration =
    FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;

// What the endpoints of one kind are opened with.
struct Stage {
    Query query;
    int entry = 0;
    Info offer;
    std::vector<Exchange> setups;
};

std::vector<Stage> find_stages(Lab& lab) {
    std::vector<Stage> out;
    for (const std::uint64_t type : {FI_EP_RDM, FI_EP_MSG}) {
        Stage s;
        s.query = widest_question(lab.provider(), std::min(lab.version(), kNewest));
        s.query.hints->mode = kPromisedModes;
        s.query.hints->domain.mr_mode = kPromisedRegistration;
        s.query.hints->ep.type = type;
        const auto answer = lab.single().ask(s.query).answer;
        for (std::size_t i = 0; i < answer.offers.size(); ++i) {
            const Info& o = answer.offers[i];
            if (!offer_is_of(o, lab.provider()) || o.ep.type != type) continue;
            s.entry = static_cast<int>(i);
            s.offer = o;
            s.setups = setups(o);
            out.push_back(s);
            break;
        }
    }
    return out;
}

class TrafficProperty : public Property {
public:
    [[nodiscard]] std::string_view name() const override { return "traffic"; }
    [[nodiscard]] std::string_view about() const override {
        return "messages, tagged messages, reads, writes and atomics between two endpoints, alone and in programs";
    }
    [[nodiscard]] std::uint64_t count(const Plan& plan) const override {
        // Exchanges take time; none is run for the sake of other clauses.
        const auto all = clauses();
        const bool any = std::any_of(all.begin(), all.end(), [&](const ClauseText& t) {
            return t.judges == Judges::Traffic && wants(plan, t.clause);
        });
        return any ? std::clamp<std::uint64_t>(plan.cases / 2, 1, kMostCases) : 0;
    }

    void prepare(Lab& lab) override {
        stages_ = find_stages(lab);
        systematic_.clear();
        for (const Stage& stage : stages_) {
            for (std::size_t i = 0; i < stage.setups.size(); ++i) {
                for (auto& e : systematic_exchanges(stage.offer, stage.setups[i], i == 0))
                    systematic_.push_back({&stage, std::move(e)});
            }
        }
        // A run of few cases thins them out evenly.
        const std::uint64_t room = std::max<std::uint64_t>(count(lab.plan()) * 7 / 10, 1);
        step_ = std::max<std::uint64_t>((systematic_.size() + room - 1) / room, 1);
        asked_ = (systematic_.size() + step_ - 1) / step_;
    }

    [[nodiscard]] std::string note() const override {
        std::string out;
        if (worker_ != nullptr)
            for (const auto& t : worker_->troubles()) out += (out.empty() ? "a pair did not open: " : "; ") + t;
        if (left_out_ == 0) return out;
        return out + (out.empty() ? "" : "; ") + "the library died too often; " + std::to_string(left_out_) +
               " exchanges were not run";
    }

    bool make(Lab& lab, std::uint64_t index, Case& out) override {
        if (stages_.empty()) return false;
        worker_ = &worker_of(lab.library());
        if (worker_->losses() >= kMostLosses) {
            ++left_out_;
            return false;
        }
        out.kind = Case::Kind::Traffic;
        if (index < asked_) {
            // Each stretch gives one, and not always the same of it.
            const std::uint64_t at = index * step_ + (index * 7 + lab.plan().seed) % step_;
            const auto& chosen = systematic_[std::min<std::uint64_t>(at, systematic_.size() - 1)];
            return take(*chosen.first, chosen.second, out);
        }
        const std::uint64_t block = (index - asked_) / kTogether;
        const Stage& stage = stages_[block % stages_.size()];
        const Exchange& setup = stage.setups[block / stages_.size() % stage.setups.size()];
        Rng rng(lab.plan().seed, "traffic", index);
        return take(stage, random_exchange(stage.offer, setup, rng), out);
    }

private:
    static bool take(const Stage& stage, const Exchange& exchange, Case& out) {
        out.first = stage.query;
        out.exchange = exchange;
        out.exchange.entry = stage.entry;
        return !exchange.operations.empty();
    }

    std::vector<Stage> stages_;
    std::vector<std::pair<const Stage*, Exchange>> systematic_;
    std::uint64_t step_ = 1;
    std::uint64_t asked_ = 0;
    std::uint64_t left_out_ = 0;
    const Worker* worker_ = nullptr;
};

}  // namespace

std::unique_ptr<Property> make_traffic() { return std::make_unique<TrafficProperty>(); }

}  // namespace selvage::conformance
