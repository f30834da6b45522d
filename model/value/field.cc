#include "model/value/field.h"

#include <array>

namespace selvage::model {
namespace {

constexpr auto kNumbers = std::to_array<FieldRow>({
#define X(name, path, part, form, family, member) {Field::name, path, Part::part, Form::form, Family::family},
    SELVAGE_NUMBER_FIELDS(X)
#undef X
});

constexpr auto kTexts = std::to_array<FieldRow>({
#define X(name, path, part, form, family, member) {Field::name, path, Part::part, Form::form, Family::family},
    SELVAGE_TEXT_FIELDS(X)
#undef X
});

constexpr auto kCalls = std::to_array<FieldRow>({
#define X(name, path) {Field::name, path, Part::Call, Form::Number, Family::none},
    SELVAGE_CALL_FIELDS(X)
#undef X
});

const Text kNoText;

}  // namespace

std::span<const FieldRow> number_fields() { return kNumbers; }
std::span<const FieldRow> text_fields() { return kTexts; }

const FieldRow& row(Field f) {
    auto i = static_cast<std::size_t>(f);
    if (i < kNumbers.size()) return kNumbers[i];
    i -= kNumbers.size();
    if (i < kTexts.size()) return kTexts[i];
    return kCalls[i - kTexts.size()];
}

const FieldRow* find_field(std::string_view path) {
    for (const auto& r : kNumbers)
        if (r.path == path) return &r;
    for (const auto& r : kTexts)
        if (r.path == path) return &r;
    for (const auto& r : kCalls)
        if (r.path == path) return &r;
    return nullptr;
}

static_assert(kNumbers.size() == static_cast<std::size_t>(Field::src_addr) && kTexts[0].field == Field::src_addr);
bool is_text(Field f) { return !is_number(f) && static_cast<std::size_t>(f) < kNumbers.size() + kTexts.size(); }

const Text& text(const Info& info, Field f) {
    switch (f) {
#define X(name, path, part, form, family, member) \
    case Field::name:                             \
        return info.member;
        SELVAGE_TEXT_FIELDS(X)
#undef X
        default:
            return kNoText;
    }
}

Text& text(Info& info, Field f) { return const_cast<Text&>(text(static_cast<const Info&>(info), f)); }

}  // namespace selvage::model
