// The probe for life cases.
#include "conformance/drive/lifecycle/lifecycle.h"
#include "conformance/drive/probe.h"

namespace selvage::conformance {

void probe_life(Lab& lab, const Case& c, model::Tally& tally, std::vector<model::Because>& broken) {
    Life(lab, c).run(tally, broken);
}

}  // namespace selvage::conformance
