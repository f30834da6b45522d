// Fuzz target: two libraries are asked the same, and where they part at least one may not.
//
// Each answer is judged by what its own library offers, so that a difference that the text allows to both is none. What
// the differing is about (granted or refused, how many, which field) counts as coverage: so the fuzzer looks for places
// where the two part, which is where promises are read in two ways.
#include <algorithm>

#include "conformance/generate/queries.h"
#include "fuzz/target.h"
#include "model/value/field.h"

namespace selvage::fuzz {
namespace {

using conformance::Case;
using namespace model;

constexpr std::size_t kKinds = 256;
__attribute__((section("__libfuzzer_extra_counters"), used)) std::uint8_t differences[kKinds];

void note(std::size_t kind) { differences[kind % kKinds] = 1; }

class Differential final : public Target {
public:
    [[nodiscard]] std::string_view name() const override { return "differential"; }
    bool prepare(const Options& options, Workbench& bench, std::string& error) override {
        other_ = Workbench::open(options, options.other.empty() ? "libfabric.so.1" : options.other, error);
        if (!other_) return false;
        for (const auto& p : bench.providers()) {
            for (const auto& q : other_->providers())
                if (p == q) common_.push_back(p);
        }
        if (common_.empty()) error = "the two libraries have no provider in common";
        return !common_.empty();
    }
    [[nodiscard]] bool takes(Case::Kind kind) const override { return kind == Case::Kind::Call; }
    Input first(Workbench& bench, Rng& rng) override {
        Input input;
        input.drawn.provider = common_[rng.below(common_.size())];
        const auto& context = bench.context(input.drawn.provider);
        input.drawn.first = conformance::base_call(bench.profile(input.drawn.provider, context.version()));
        return input;
    }
    void vary(Input& input, Workbench& bench, Rng& rng) override {
        vary_query(input.drawn.first, bench.provider_of(input.drawn), bench, rng);
        if (rng.chance(2)) input.drawn.provider = common_[rng.below(common_.size())];
    }
    void judge(Case& c, Workbench& bench, std::vector<Because>& broken) override {
        if (std::find(common_.begin(), common_.end(), c.provider) == common_.end()) c.provider = common_.front();
        // Callers newer than one of the two are asked of neither.
        if (c.first.version > std::min(bench.context(c.provider).version(), other_->context(c.provider).version()))
            c.first.version = std::min(bench.context(c.provider).version(), other_->context(c.provider).version());
        const auto& mine = bench.issue(c.provider, c.first);
        const auto& theirs = other_->issue(c.provider, c.first);
        if (!note_difference(c.provider, mine.answer, theirs.answer)) return;
        bench.judge_issued(c.provider, c.first, mine, broken);
        const auto own = broken.size();
        other_->judge_issued(c.provider, c.first, theirs, broken);
        for (std::size_t i = 0; i < broken.size(); ++i) {
            auto& note = broken[i].evidence.note;
            note = (i < own ? "the library: " : "the other: ") + note;
        }
    }

private:
    static const Info* first_of(const Answer& a, const std::string& provider) {
        for (const Info& o : a.offers)
            if (offer_is_of(o, provider)) return &o;
        return nullptr;
    }
    /// @return false if the two say the same, but for what each may call its own (names, addresses, sizes it has).
    static bool note_difference(const std::string& provider, const Answer& a, const Answer& b) {
        if (a.ret != b.ret) {
            note(static_cast<std::size_t>(-a.ret) * 7 + static_cast<std::size_t>(-b.ret));
            return true;
        }
        const Info* const x = first_of(a, provider);
        const Info* const y = first_of(b, provider);
        if (x == nullptr || y == nullptr) return x != y;
        bool differs = false;
        for (const auto& r : number_fields()) {
            if (get(*x, r.field) == get(*y, r.field)) continue;
            note(128 + static_cast<std::size_t>(r.field));
            differs = true;
        }
        return differs;
    }

    std::unique_ptr<Workbench> other_;
    std::vector<std::string> common_;
};

}  // namespace

Target& target() {
    static Differential differential;
    return differential;
}

}  // namespace selvage::fuzz
