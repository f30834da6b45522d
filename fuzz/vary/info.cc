// Changes to hints, field by field.  See vary.h.
#include <rdma/fabric.h>

#include <algorithm>
#include <array>

#include "conformance/generate/values.h"
#include "fuzz/vary/vary.h"
#include "model/value/field.h"

namespace selvage::fuzz {
namespace {

using namespace model;
using conformance::request;

// caps, mode, mr_mode and the endpoint type decide most; they are changed more often.
constexpr std::array kOften = {Field::caps,           Field::caps, Field::caps,        Field::ep_type,
                               Field::domain_mr_mode, Field::mode, Field::addr_format, Field::fabric_prov_name};

Field any_field(Rng& rng) {
    const auto numbers = number_fields();
    const auto texts = text_fields();
    auto i = rng.below(numbers.size() + texts.size() + kOften.size());
    if (i < numbers.size()) return numbers[i].field;
    i -= numbers.size();
    return i < texts.size() ? texts[i].field : kOften[i - texts.size()];
}

// A field that the hints ask for, or any.
Field requested_field(const Info& info, Rng& rng) {
    std::vector<Field> requested;
    for (const auto& r : number_fields())
        if (get(info, r.field) != 0) requested.push_back(r.field);
    for (const auto& r : text_fields())
        if (text(info, r.field)) requested.push_back(r.field);
    return requested.empty() ? any_field(rng) : requested[rng.below(requested.size())];
}

std::uint64_t other_bits(std::uint64_t v, Family family, Rng& rng) {
    const auto known = words(family);
    switch (rng.below(5)) {
        case 0:
            return v ^ std::uint64_t{1} << rng.below(64);
        case 1:
            return v & rng.next();
        case 2:
            return known.empty() ? rng.next() : v & ~known[rng.below(known.size())].value;
        default:
            return known.empty() ? rng.next() : v | known[rng.below(known.size())].value;
    }
}

std::uint64_t other_number(std::uint64_t v, Rng& rng) {
    switch (rng.below(8)) {
        case 0:
            return v + 1;
        case 1:
            return v - 1;
        case 2:
            return v * 2;
        case 3:
            return v / 2;
        case 4:
            return std::uint64_t{1} << rng.below(64);
        case 5:
            return rng.below(300);
        case 6:
            return ~v;
        default:
            return rng.next() >> rng.below(64);
    }
}

// Another value of what is there.
void tweak(Info& info, Field f, Rng& rng) {
    const auto& r = row(f);
    if (is_text(f)) {
        std::string t = text(info, f).value_or("");
        vary_text(t, rng);
        return request(info, f, t);
    }
    if (r.form == Form::Object) return request(info, f, rng.chance(3) ? kForeign : 0);
    const auto v = get(info, f);
    if (r.form == Form::Enum && !words(r.family).empty() && rng.chance(60))
        return request(info, f, words(r.family)[rng.below(words(r.family).size())].value);
    request(info, f, r.form == Form::Bits ? other_bits(v, r.family, rng) : other_number(v, rng));
}

// What an entry of the provider has there: what is granted, most often.
void take_offered(Info& info, Field f, const Profile& profile, Rng& rng) {
    if (profile.entries.empty() || row(f).form == Form::Object) return;
    const Info& offer = profile.entries[rng.below(profile.entries.size())].offer;
    if (is_number(f)) return request(info, f, get(offer, f));
    if (text(offer, f)) request(info, f, *text(offer, f));
}

void flip_part(Info& info, Rng& rng) {
    const Part p = parts()[rng.below(parts().size())].part;
    if (!info.has(p)) return info.add(p);
    drop_part(info, p);
}

}  // namespace

void vary_info(Info& info, const std::string& provider, Workbench& bench, Rng& rng) {
    const auto& all = bench.choices(provider);
    const Profile& profile = bench.profile(provider, bench.context(provider).version());
    const auto dice = rng.below(100);
    if (dice < 40 && !all.empty()) {
        const auto& choice = all[rng.below(all.size())];
        if (is_number(choice.field)) return request(info, choice.field, choice.number);
        if (is_text(choice.field)) return request(info, choice.field, choice.text);
    }
    if (dice < 58) return take_offered(info, any_field(rng), profile, rng);
    if (dice < 72) return tweak(info, any_field(rng), rng);
    if (dice < 82) return tweak(info, requested_field(info, rng), rng);
    if (dice < 94) return forget(info, requested_field(info, rng));
    flip_part(info, rng);
}

}  // namespace selvage::fuzz
