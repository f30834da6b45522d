// Fuzz target: strings in both directions.  fi_tostr and fi_tostr_r on any data and buffer; nodes, services, names and
// addresses in text form as fi_getinfo reads them; FI_PROVIDER.
#include "conformance/generate/queries.h"
#include "fuzz/target.h"

namespace selvage::fuzz {
namespace {

using conformance::Case;

class Strings final : public Target {
public:
    [[nodiscard]] std::string_view name() const override { return "strings"; }
    [[nodiscard]] bool takes(Case::Kind kind) const override {
        return kind == Case::Kind::Text || kind == Case::Kind::Call || kind == Case::Kind::SideEffects;
    }
    Input first(Workbench& bench, Rng& rng) override {
        Input input;
        Case& c = input.drawn;
        c.provider = bench.providers()[rng.below(bench.providers().size())];
        if (rng.chance(80)) {
            c.kind = Case::Kind::Text;
            c.string.length = 256;
            vary_string(input, bench, rng);
        } else {
            c.first = conformance::base_call(bench.profile(c.provider, bench.context(c.provider).version()));
            vary_naming(input, bench, rng);
        }
        return input;
    }
    void vary(Input& input, Workbench& bench, Rng& rng) override {
        Case& c = input.drawn;
        if (rng.below(500) == 0) return become(c, rng);
        if (c.kind == Case::Kind::Text) return vary_string(input, bench, rng);
        vary_naming(input, bench, rng);
    }

private:
    // Of the environment only rarely: each such input takes a process of its own.
    static void become(Case& c, Rng& rng) {
        c.kind = rng.chance(50) ? Case::Kind::Text : rng.chance(95) ? Case::Kind::Call : Case::Kind::SideEffects;
        c.act = model::SideEffects::Act::EnvProvider;
        c.fail_allocation = 0;
        if (c.kind == Case::Kind::Text && c.string.length == 0) c.string.length = 100;
    }
};

}  // namespace

Target& target() {
    static Strings strings;
    return strings;
}

}  // namespace selvage::fuzz
