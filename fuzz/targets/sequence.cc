// Fuzz target: objects are opened, bound, asked for and closed in any order, judged by the model of their lives.
#include <malloc.h>

#include "fuzz/target.h"

namespace selvage::fuzz {
namespace {

using conformance::Case;

constexpr int kPerturb = 0xA5;  // what is freed is overwritten, so that using it shows

class Sequence final : public Target {
public:
    [[nodiscard]] std::string_view name() const override { return "sequence"; }
    bool prepare(const Options&, Workbench&, std::string&) override {
        mallopt(M_PERTURB, kPerturb);
        return true;
    }
    [[nodiscard]] bool takes(Case::Kind kind) const override { return kind == Case::Kind::Lifecycle; }
    Input first(Workbench& bench, Rng& rng) override {
        Input input;
        input.drawn.kind = Case::Kind::Lifecycle;
        input.drawn.provider = bench.providers()[rng.below(bench.providers().size())];
        vary_life(input, bench, rng);
        return input;
    }
    void vary(Input& input, Workbench& bench, Rng& rng) override { vary_life(input, bench, rng); }
};

}  // namespace

Target& target() {
    static Sequence sequence;
    return sequence;
}

}  // namespace selvage::fuzz
