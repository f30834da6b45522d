// Fuzz target: messages, tagged messages, reads, writes and atomics between two endpoints, judged by the model of
// transfers.
//
// Exchanges run in a process of their own (conformance/drive/transfer/worker.h), so that edges the library takes there
// are not counted here; which clauses applied is.
#include "fuzz/target.h"

namespace selvage::fuzz {
namespace {

using conformance::Case;

constexpr std::uint64_t kTurns = 20000;  // systematic exchanges of one set-up are fewer
constexpr std::size_t kFirstChoices = 48;

void vary_choices(std::string& choices, Rng& rng) {
    const auto any = [&] { return static_cast<char>(rng.chance(70) ? rng.below(100) : rng.below(256)); };
    const std::size_t at = choices.empty() ? 0 : rng.below(choices.size());
    switch (rng.below(4)) {
        case 0:
            if (choices.size() < conformance::kMostChoices)
                choices.insert(choices.begin() + static_cast<std::ptrdiff_t>(at), any());
            return;
        case 1:
            if (!choices.empty()) choices.erase(at, 1 + rng.below(4));
            return;
        default:
            if (!choices.empty()) choices[at] = any();
            return;
    }
}

class Transfers final : public Target {
public:
    [[nodiscard]] std::string_view name() const override { return "transfers"; }
    [[nodiscard]] bool takes(Case::Kind kind) const override { return kind == Case::Kind::Traffic; }
    Input first(Workbench& bench, Rng& rng) override {
        Input input;
        input.drawn.kind = Case::Kind::Traffic;
        input.drawn.provider = bench.providers()[rng.below(bench.providers().size())];
        vary(input, bench, rng);
        return input;
    }
    void vary(Input& input, Workbench& bench, Rng& rng) override {
        const auto dice = rng.below(100);
        if (dice < 3) input.drawn.provider = bench.providers()[rng.below(bench.providers().size())];
        if (dice < 8) input.stage = static_cast<std::uint8_t>(rng.below(8));
        if (dice < 20) input.setup = static_cast<std::uint8_t>(rng.below(32));
        if (dice < 45) {
            input.turn = rng.below(kTurns);
        } else if (dice < 55) {
            input.turn += 1;
        } else if (input.turn != 0 || input.choices.empty()) {
            input.turn = 0;
            input.choices.clear();
            while (input.choices.size() < kFirstChoices) input.choices += static_cast<char>(rng.below(128));
        } else {
            vary_choices(input.choices, rng);
        }
    }
};

}  // namespace

Target& target() {
    static Transfers transfers;
    return transfers;
}

}  // namespace selvage::fuzz
