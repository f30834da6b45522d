// Fuzz target: any call of fi_getinfo, alone and in related pairs.
#include "conformance/generate/queries.h"
#include "fuzz/target.h"

namespace selvage::fuzz {
namespace {

using conformance::Case;

class Hints final : public Target {
public:
    [[nodiscard]] std::string_view name() const override { return "hints"; }
    [[nodiscard]] bool takes(Case::Kind kind) const override {
        return kind == Case::Kind::Call || kind == Case::Kind::Pair;
    }
    Input first(Workbench& bench, Rng& rng) override {
        Input input;
        input.drawn.provider = bench.providers()[rng.below(bench.providers().size())];
        const auto& context = bench.context(input.drawn.provider);
        input.drawn.first = conformance::base_call(bench.profile(input.drawn.provider, context.version()));
        return input;
    }
    void vary(Input& input, Workbench& bench, Rng& rng) override { vary_call(input, bench, rng); }
};

}  // namespace

Target& target() {
    static Hints hints;
    return hints;
}

}  // namespace selvage::fuzz
