// The list of all properties: adding one is one line here.
#include "conformance/properties/groups.h"
#include "conformance/properties/lifecycles.h"
#include "conformance/properties/property.h"
#include "conformance/properties/queries.h"
#include "conformance/properties/side_effects.h"
#include "conformance/properties/strings.h"
#include "conformance/properties/traffic.h"

namespace selvage::conformance {

std::vector<std::unique_ptr<Property>> all_properties() {
    std::vector<std::unique_ptr<Property>> out;
    out.push_back(make_corpus());
    out.push_back(make_classes());
    out.push_back(make_random());
    out.push_back(make_pairs());
    out.push_back(make_side_effects());
    out.push_back(make_openings());
    out.push_back(make_lifecycles());
    out.push_back(make_strings());
    out.push_back(make_traffic());
    out.push_back(make_groups());
    return out;
}

}  // namespace selvage::conformance
