// The probe for life cases.
#include "conformance/drive/lifecycle/lifecycle.h"
#include "conformance/drive/probe.h"

namespace selvage::conformance {

void probe_life(TestContext& context, const Case& c, model::Tally& tally, std::vector<model::Because>& broken) {
    Life(context, c).run(tally, broken);
}

}  // namespace selvage::conformance
