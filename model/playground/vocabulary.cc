#include "model/playground/vocabulary.h"

#include <set>

#include "model/spec/clause.h"
#include "model/text/call_text.h"
#include "model/value/field.h"

namespace selvage::model::playground {
namespace {

using Json = nlohmann::ordered_json;

std::string_view name(WordClass word_class) {
    switch (word_class) {
        case WordClass::Primary:
            return "primary";
        case WordClass::Modifier:
            return "modifier";
        case WordClass::Secondary:
            return "secondary";
        default:
            return "";
    }
}

std::string_view name(Form form) {
    switch (form) {
        case Form::Bits:
            return "bits";
        case Form::Enum:
            return "enum";
        case Form::Size:
            return "size";
        case Form::Number:
            return "number";
        case Form::String:
            return "string";
        default:
            return "bytes";
    }
}

Json family_json(Family family) {
    Json list = Json::array();
    for (const auto& w : words(family)) {
        if (w.alias) continue;
        Json word = {{"name", w.name}, {"since", w.since.str()}};
        if (w.word_class != WordClass::None) word["class"] = name(w.word_class);
        if (w.needs != 0) word["needs"] = print_value(family, w.needs);
        list.push_back(std::move(word));
    }
    return {{"bits", is_bits(family)}, {"words", std::move(list)}};
}

}  // namespace

Json vocabulary() {
    Json families = Json::object();
    Json fields = Json::array();
    const auto add = [&](const FieldRow& r) {
        if (r.form == Form::Object || r.hint == Hint::Length) return;
        const std::string family(family_name(r.family));
        if (!family.empty()) families[family] = family_json(r.family);
        fields.push_back(
            {{"path", r.path}, {"form", name(r.form)}, {"family", family}, {"duty", r.hint == Hint::Duty}});
    };
    for (const auto& r : number_fields()) add(r);
    for (const auto& r : text_fields()) add(r);
    families["getinfo_flags"] = family_json(Family::getinfo_flags);
    return {{"newest", kNewest.str()}, {"clauses", clauses().size()}, {"families", families}, {"fields", fields}};
}

}  // namespace selvage::model::playground
