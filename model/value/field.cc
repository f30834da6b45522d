#include "model/value/field.h"

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <algorithm>
#include <array>

namespace selvage::model {
namespace {

constexpr std::uint64_t widest(std::size_t bytes) { return ~std::uint64_t{0} >> (64 - 8 * bytes); }

constexpr auto kPlainNumbers = std::to_array<FieldRow>({
#define X(name, path, part, structure, abi, member, form, family, hint) \
    {Field::name, path, Part::part, Form::form, Family::family, Hint::hint, widest(sizeof(decltype(structure::abi)))},
    SELVAGE_NUMBER_FIELDS(X)
#undef X
});

constexpr auto kPlainTexts = std::to_array<FieldRow>({
#define X(name, path, part, structure, abi, member, form) {Field::name, path, Part::part, Form::form, Family::none},
    SELVAGE_TEXT_FIELDS(X)
#undef X
});

// The rows of one kind with their partners among the others: a length is named after its bytes.
template <std::size_t N, std::size_t M>
constexpr std::array<FieldRow, N> with_partners(std::array<FieldRow, N> rows, const std::array<FieldRow, M>& others) {
    for (FieldRow& r : rows) {
        for (const FieldRow& o : others) {
            const bool bytes_first = r.form == Form::Bytes && o.hint == Hint::Length && o.path.starts_with(r.path);
            const bool length_first = o.form == Form::Bytes && r.hint == Hint::Length && r.path.starts_with(o.path);
            if (bytes_first || length_first) r.partner = o.field;
        }
    }
    return rows;
}
constexpr auto kNumbers = with_partners(kPlainNumbers, kPlainTexts);
constexpr auto kTexts = with_partners(kPlainTexts, kPlainNumbers);

constexpr auto kOthers = std::to_array<FieldRow>({
#define X(name, path) {Field::name, path, Part::Call, Form::Number, Family::none},
    SELVAGE_CALL_FIELDS(X)
#undef X
#define X(part, name, abi) {Field::name, #abi, Part::Call, Form::Number, Family::none},
        SELVAGE_PARTS(X)
#undef X
#define X(name, path) {Field::name, path, Part::Call, Form::Number, Family::none},
            SELVAGE_OTHER_FIELDS(X)
#undef X
});

constexpr auto kParts = std::to_array<PartRow>({
#define X(part, name, abi) {Part::part, Field::name, #abi},
    SELVAGE_PARTS(X)
#undef X
});

const Text kNoText;

}  // namespace

std::span<const FieldRow> number_fields() { return kNumbers; }
std::span<const FieldRow> text_fields() { return kTexts; }
std::span<const PartRow> parts() { return kParts; }

const PartRow* find_part(std::string_view path) {
    const auto* const at = std::find_if(kParts.begin(), kParts.end(), [&](const PartRow& p) { return p.path == path; });
    return at == kParts.end() ? nullptr : at;
}

const PartRow* part_of(Field f) {
    const auto* const at = std::find_if(kParts.begin(), kParts.end(), [&](const PartRow& p) { return p.field == f; });
    return at == kParts.end() ? nullptr : at;
}

const FieldRow& row(Field f) {
    auto i = static_cast<std::size_t>(f);
    if (i < kNumbers.size()) return kNumbers[i];
    i -= kNumbers.size();
    if (i < kTexts.size()) return kTexts[i];
    return kOthers[i - kTexts.size()];
}

const FieldRow* find_field(std::string_view path) {
    for (const auto& r : kNumbers)
        if (r.path == path) return &r;
    for (const auto& r : kTexts)
        if (r.path == path) return &r;
    for (const auto& r : kOthers)
        if (r.path == path) return &r;
    return nullptr;
}

static_assert(kNumbers.size() == static_cast<std::size_t>(Field::src_addr) && kTexts[0].field == Field::src_addr);
bool is_text(Field f) { return !is_number(f) && static_cast<std::size_t>(f) < kNumbers.size() + kTexts.size(); }

const Text& text(const Info& info, Field f) {
    switch (f) {
#define X(name, path, part, structure, abi, member, form) \
    case Field::name:                                     \
        return info.member;
        SELVAGE_TEXT_FIELDS(X)
#undef X
        default:
            return kNoText;
    }
}

Text& text(Info& info, Field f) { return const_cast<Text&>(text(static_cast<const Info&>(info), f)); }

bool is_of_the_call(const FieldRow& field) {
    return field.form == Form::Object || field.form == Form::Bytes ||
           (field.hint == Hint::Length && field.part == Part::Info);
}

void fit_length(Info& info, Field text_field) {
    const Text& bytes = text(info, text_field);
    set(info, row(text_field).partner, bytes ? bytes->size() : 0);
}

void forget(Info& info, Field f) {
    if (is_number(f)) return set(info, f, 0);
    text(info, f).reset();
    fit_length(info, f);
}

void drop_part(Info& info, Part part) {
    for (const auto& r : kNumbers)
        if (r.part == part) set(info, r.field, 0);
    for (const auto& r : kTexts)
        if (r.part == part) text(info, r.field).reset();
    info.drop(part);
}

}  // namespace selvage::model
