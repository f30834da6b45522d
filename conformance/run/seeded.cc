// See seeded.h.
#include "conformance/run/seeded.h"

#include "conformance/base/child.h"
#include "conformance/properties/stages.h"
#include "conformance/run/ipc.h"

namespace selvage::conformance {

bool seeded_sequence(const Plan& plan, const Input& input, Case& out, std::string& error) {
    constexpr std::chrono::seconds kQuiet{10};
    bool made = false;
    error = "the provider '" + input.drawn.provider + "' has no endpoints for such an exchange";
    const Ending ending = run_in_child(
        [&](Channel& channel) {
            std::string problem;
            auto context = TestContext::open(plan, input.drawn.provider, problem);
            Case c;
            if (context && SeededSequences(*context).make(input, c))
                channel.send(pack({.because = {}, .shown_by = c, .intermittent = {}}));
        },
        [&](std::string_view record) {
            if (auto found = unpack(record)) {
                out = found->shown_by;
                made = true;
            }
        },
        kQuiet);
    if (ending.kind != Ending::Kind::Done) error = "the library ended while it was asked for its endpoints";
    return made;
}

}  // namespace selvage::conformance
