// The property on transfers: systematic exchanges on each kind of endpoint of the provider, then random ones.
//
// Exchanges of one set-up stand together, so that a pair of endpoints serves many of them.
#include "conformance/properties/traffic.h"

#include <algorithm>

#include "conformance/drive/transfer/worker.h"
#include "conformance/generate/transfers.h"
#include "conformance/properties/stages.h"
#include "model/judge/judge.h"
#include "model/spec/clause.h"

namespace selvage::conformance {
namespace {

using namespace model;

constexpr std::uint64_t kTogether = 64;      // random exchanges of one set-up in a row
constexpr std::uint64_t kShare = 4;          // one exchange for so many queries of other properties: it takes longer
constexpr std::uint64_t kLeastCases = 2000;  // and no fewer than these, if so many were asked for
constexpr std::uint64_t kMostCases = 400000;
// What was learnt keeps a library from being asked for the same loss again; these are for one that loses ever more.
constexpr unsigned kMostWaits = 12000;     // for what never came, trials included, before the rest is left out
constexpr std::size_t kMostLosses = 8000;  // crashes of the worker, likewise
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
            // Closing what an exchange went through is charged, too (probe_traffic.cc).
            const bool judged = t.judges == Judges::Traffic || t.clause == Clause::domain_close_child;
            return judged && wants(plan, t.clause);
        });
        if (!any) return 0;
        return std::clamp(plan.cases / kShare, std::min(plan.cases, kLeastCases), kMostCases);
    }

    void prepare(TestContext& context) override {
        stages_ = traffic_stages(context);
        stays_here_ = stages_.empty() && !context.plan().peer.empty();
        std::vector<Chosen> first, rest;
        for (const TrafficStage& stage : stages_) list(stage, first, rest);
        // A run of few cases thins them out evenly, the needed ones last.
        const std::uint64_t room = std::max<std::uint64_t>(count(context.plan()) * 7 / 10, 1);
        systematic_ = thinned(std::move(first), room, context.plan().seed);
        const auto more = thinned(std::move(rest), room - systematic_.size(), context.plan().seed);
        systematic_.insert(systematic_.end(), more.begin(), more.end());
        // Blocks of random ones that are so short that each set-up has its turn.
        std::uint64_t places = 0;
        carrying_ =
            static_cast<std::size_t>(std::ranges::count(stages_, TrafficStage::Use::Anything, &TrafficStage::use));
        for (std::size_t i = 0; i < carrying_; ++i) places += stages_[i].setups.size();
        const std::uint64_t random =
            count(context.plan()) - std::min<std::uint64_t>(systematic_.size(), count(context.plan()));
        together_ = std::clamp<std::uint64_t>(random / std::max<std::uint64_t>(places, 1), 2, kTogether);
    }

    [[nodiscard]] std::string note() const override {
        if (stays_here_) return "no endpoint reaches the other machine; nothing was carried";
        std::string out;
        if (worker_ != nullptr)
            for (const auto& t : worker_->troubles()) out += (out.empty() ? "" : "; ") + t;
        if (worker_ != nullptr && worker_->timed() > 0)
            out += (out.empty() ? "" : "; ") + std::to_string(worker_->timed()) +
                   " exchanges were judged after a time alone: the provider promises no order that would prove that "
                   "nothing more comes, or nothing came through behind them";
        if (left_out_ == 0) return out;
        return out + (out.empty() ? "" : "; ") + "the library died or lost something too often; " +
               std::to_string(left_out_) + " exchanges were not run";
    }

    bool make(TestContext& context, std::uint64_t index, Case& out) override {
        if (stages_.empty()) return false;
        worker_ = &worker_of(context.library());
        if (worker_->losses() >= kMostLosses || worker_->waits() >= kMostWaits) {
            ++left_out_;
            return false;
        }
        out.kind = Case::Kind::Traffic;
        if (index < systematic_.size()) {
            const Chosen& chosen = systematic_[index];
            return take(context, *chosen.stage, chosen.sequence, out);
        }
        const std::uint64_t block = (index - systematic_.size()) / together_;
        const TrafficStage& stage = stages_[block % carrying_];
        const TransferSequence& setup = stage.setups[block / carrying_ % stage.setups.size()];
        Rng rng(context.plan().seed, "traffic", index);
        return take(context, stage, random_sequence(stage.offer, setup, rng), out);
    }

private:
    struct Chosen {
        const TrafficStage* stage;
        TransferSequence sequence;
    };

    static void list(const TrafficStage& stage, std::vector<Chosen>& first, std::vector<Chosen>& rest) {
        const auto add = [&stage](std::vector<Chosen>& to, std::vector<TransferSequence> sequences) {
            for (auto& e : sequences) to.push_back({&stage, std::move(e)});
        };
        if (stage.use != TrafficStage::Use::Anything) return add(first, pointed_sequences(stage));
        for (std::size_t i = 0; i < stage.setups.size(); ++i) {
            const bool plainest = i == 0 && !stage.narrow;
            if (plainest) add(first, systematic_sequences(stage.offer, stage.setups[i], Depth::Least));
            add(first, telling_sequences(stage.offer, stage.setups[i]));
            add(rest, systematic_sequences(stage.offer, stage.setups[i], plainest ? Depth::All : Depth::Some));
        }
    }

    // At most `room` of them: each stretch gives one, and not always the same of it.
    static std::vector<Chosen> thinned(std::vector<Chosen> all, std::uint64_t room, std::uint64_t seed) {
        if (all.size() <= room) return all;
        std::vector<Chosen> out;
        for (std::uint64_t i = 0; i < room; ++i) {
            const std::uint64_t from = i * all.size() / room, to = (i + 1) * all.size() / room;
            out.push_back(std::move(all[from + (i * 7 + seed) % (to - from)]));
        }
        return out;
    }

    static bool take(const TestContext& context, const TrafficStage& stage, const TransferSequence& sequence,
                     Case& out) {
        out.first = stage.query;
        out.sequence = sequence;
        out.sequence.entry = stage.entry;
        out.sequence.processes = context.plan().processes;
        return !sequence.operations.empty();
    }

    std::vector<TrafficStage> stages_;
    std::vector<Chosen> systematic_;
    std::size_t carrying_ = 0;  // of stages_, from the front: those for random exchanges
    std::uint64_t together_ = kTogether;
    std::uint64_t left_out_ = 0;
    bool stays_here_ = false;
    const Worker* worker_ = nullptr;
};

}  // namespace

std::unique_ptr<Property> make_traffic() { return std::make_unique<TrafficProperty>(); }

}  // namespace selvage::conformance
