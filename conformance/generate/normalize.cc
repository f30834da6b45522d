// See normalize.h.
#include "conformance/generate/normalize.h"

#include <rdma/fabric.h>

#include <algorithm>
#include <array>

#include "conformance/generate/values.h"
#include "model/value/field.h"

namespace selvage::conformance {
namespace {

using namespace model;

// Past a NUL a C string has no more.
void end_at_nul(Text& text) {
    if (text) text->resize(std::min(text->find('\0'), text->size()));
}

bool is_structure(std::uint64_t datatype) {
    constexpr std::array kStructures = {FI_TYPE_INFO,    FI_TYPE_TX_ATTR,     FI_TYPE_RX_ATTR,
                                        FI_TYPE_EP_ATTR, FI_TYPE_DOMAIN_ATTR, FI_TYPE_FABRIC_ATTR};
    return std::find(kStructures.begin(), kStructures.end(), datatype) != kStructures.end();
}

}  // namespace

Version normalized_version(Version version) {
    constexpr std::array kNever = {Version(0, 0),  Version(0, 1),      Version(1, 0xFFFF),     Version(2, 0),
                                   Version(2, 17), Version(0xFFFF, 0), Version(0xFFFF, 0xFFFF)};
    const bool was = version.major_part() == 1 && version.minor_part() <= kNewest.minor_part() + 1;
    if (was || std::find(kNever.begin(), kNever.end(), version) != kNever.end()) return version;
    return kNever[version.packed % kNever.size()];
}

void normalize(Info& hints) {
    for (const auto& r : number_fields()) {
        const auto value = get(hints, r.field);
        if (r.form == Form::Object) {
            if (value != 0) set(hints, r.field, kForeign);
        } else {
            set(hints, r.field, value & r.widest);
        }
    }
    for (const auto& r : text_fields()) {
        const Text& t = text(hints, r.field);
        if (r.form == Form::String) end_at_nul(text(hints, r.field));
        if (r.form == Form::Bytes && t && get(hints, r.partner) > t->size()) fit_length(hints, r.field);
    }
}

void normalize(Query& query) {
    query.version = normalized_version(query.version);
    end_at_nul(query.node);
    end_at_nul(query.service);
    if (query.hints) normalize(*query.hints);
}

void normalize(StringProbe& probe) {
    constexpr std::uint64_t kEnumerator = 0xFFFFFFFF;
    probe.datatype &= 0x7FFFFFFF;
    if (is_structure(probe.datatype)) {
        if (!probe.info) probe.info.emplace();
        probe.data_null = false;
        probe.value = 0;
        normalize(*probe.info);
        return;
    }
    probe.info.reset();
    const auto family = printed_family(probe.datatype);
    if (family == Family::none || !is_bits(family)) probe.value &= kEnumerator;
    // Only a version is printed without data.
    if (probe.datatype != FI_TYPE_VERSION) probe.data_null = false;
}

}  // namespace selvage::conformance
