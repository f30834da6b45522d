// The words by which case files, reports and messages call the parts of a case.  Pure functions; any thread.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "conformance/case/case.h"

namespace selvage::conformance {

std::string_view name(Case::Kind kind);
std::string_view name(model::MetamorphicRelation metamorphic);
std::string_view name(model::SideEffects::Act act);
std::string_view name(model::GroupAct act);
std::string_view name(model::ObjectCall call);
std::string_view name(model::AddressSet set);

/// How an action is written.
struct VerbRow {
    Action::Verb verb;
    std::string_view words;  ///< "open fabric", "close"
    std::string_view opens;  ///< what the action opens: "fabric"; empty if nothing
    bool takes_object;       ///< an object follows the words
};
std::span<const VerbRow> verbs();
const VerbRow& verb_row(Action::Verb verb);
/// True if the action makes an object, which has the next number.
inline bool opens(const Action& a) { return !verb_row(a.verb).opens.empty(); }

std::optional<Case::Kind> find_kind(std::string_view word);
std::optional<model::MetamorphicRelation> find_relation(std::string_view word);
std::optional<model::SideEffects::Act> find_act(std::string_view word);
std::optional<model::GroupAct> find_group_act(std::string_view word);
std::optional<model::ObjectCall> find_object_call(std::string_view word);
std::optional<model::AddressSet> find_address_set(std::string_view word);
/// All words of a kind, for messages: "call, pair, side-effects, lifecycle, text".
std::string all_kinds();
std::string all_relations();
std::string all_acts();

}  // namespace selvage::conformance
