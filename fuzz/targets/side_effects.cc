// Fuzz target: what a library does around its calls.  Memory, failing allocations, duplicates, threads, FI_PROVIDER.
//
// Slower than the others: what may end the process is done in a child.
#include "conformance/generate/queries.h"
#include "fuzz/target.h"

namespace selvage::fuzz {
namespace {

using conformance::Case;

class SideEffects final : public Target {
public:
    [[nodiscard]] std::string_view name() const override { return "side_effects"; }
    [[nodiscard]] bool takes(Case::Kind kind) const override { return kind == Case::Kind::SideEffects; }
    Input first(Workbench& bench, Rng& rng) override {
        Input input;
        input.drawn.kind = Case::Kind::SideEffects;
        input.drawn.provider = bench.providers()[rng.below(bench.providers().size())];
        const auto& context = bench.context(input.drawn.provider);
        input.drawn.first = conformance::base_call(bench.profile(input.drawn.provider, context.version()));
        vary_act(input, rng);
        return input;
    }
    void vary(Input& input, Workbench& bench, Rng& rng) override {
        const auto dice = rng.below(100);
        if (dice < 30) return vary_act(input, rng);
        if (dice < 35) {
            input.drawn.provider = bench.providers()[rng.below(bench.providers().size())];
            return;
        }
        vary_query(input.drawn.first, bench.provider_of(input.drawn), bench, rng);
    }
};

}  // namespace

Target& target() {
    static SideEffects side_effects;
    return side_effects;
}

}  // namespace selvage::fuzz
