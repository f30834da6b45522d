// See names.h.
#include "conformance/case/names.h"

#include <array>

namespace selvage::conformance {
namespace {

using model::AddressSet;
using model::GroupAct;
using model::MetamorphicRelation;
using model::ObjectCall;
using model::SideEffects;

template <typename T>
struct Row {
    T value;
    std::string_view word;
};

constexpr std::array kKinds = {
    Row<Case::Kind>{Case::Kind::Call, "call"},
    Row<Case::Kind>{Case::Kind::Pair, "pair"},
    Row<Case::Kind>{Case::Kind::SideEffects, "side-effects"},
    Row<Case::Kind>{Case::Kind::Lifecycle, "lifecycle"},
    Row<Case::Kind>{Case::Kind::Text, "text"},
    Row<Case::Kind>{Case::Kind::Traffic, "traffic"},
    Row<Case::Kind>{Case::Kind::Group, "group"},
};

constexpr std::array kMetamorphicRelations = {
    Row<MetamorphicRelation>{MetamorphicRelation::Repeated, "repeated"},
    Row<MetamorphicRelation>{MetamorphicRelation::Relaxed, "relaxed"},
    Row<MetamorphicRelation>{MetamorphicRelation::MoreModes, "more-modes"},
    Row<MetamorphicRelation>{MetamorphicRelation::MoreMrModes, "more-mr-modes"},
    Row<MetamorphicRelation>{MetamorphicRelation::FedBack, "fed-back"},
    Row<MetamorphicRelation>{MetamorphicRelation::Reordered, "reordered"},
    Row<MetamorphicRelation>{MetamorphicRelation::NullVersusEmpty, "null-versus-empty"},
    Row<MetamorphicRelation>{MetamorphicRelation::Reworded, "reworded"},
};

constexpr std::array kActs = {
    Row<SideEffects::Act>{SideEffects::Act::Load, "load"},
    Row<SideEffects::Act>{SideEffects::Act::GetInfo, "getinfo"},
    Row<SideEffects::Act>{SideEffects::Act::GetInfoNoMemory, "getinfo-no-memory"},
    Row<SideEffects::Act>{SideEffects::Act::GetInfoThreads, "getinfo-threads"},
    Row<SideEffects::Act>{SideEffects::Act::FreeInfo, "freeinfo"},
    Row<SideEffects::Act>{SideEffects::Act::DupInfo, "dupinfo"},
    Row<SideEffects::Act>{SideEffects::Act::DupInfoNoMemory, "dupinfo-no-memory"},
    Row<SideEffects::Act>{SideEffects::Act::AllocInfo, "allocinfo"},
    Row<SideEffects::Act>{SideEffects::Act::EnvProvider, "env-provider"},
    Row<SideEffects::Act>{SideEffects::Act::ProvAttrOnly, "prov-attr-only"},
    Row<SideEffects::Act>{SideEffects::Act::OpenAnswer, "open-answer"},
    Row<SideEffects::Act>{SideEffects::Act::Other, "other"},
    Row<SideEffects::Act>{SideEffects::Act::DupOwnNic, "dupinfo-own-nic"},
};

constexpr std::array kGroupActs = {
    Row<GroupAct>{GroupAct::Collective, "collective"}, Row<GroupAct>{GroupAct::NamedContexts, "named-contexts"},
    Row<GroupAct>{GroupAct::Multicast, "multicast"},   Row<GroupAct>{GroupAct::UnknownSender, "unknown-sender"},
    Row<GroupAct>{GroupAct::UserIds, "user-ids"},      Row<GroupAct>{GroupAct::OtherKeys, "other-keys"},
    Row<GroupAct>{GroupAct::Calls, "calls"},
};

constexpr std::array kObjectCalls = {
    Row<ObjectCall>{ObjectCall::QueueWait, "queue-wait"},
    Row<ObjectCall>{ObjectCall::QueueLook, "queue-look"},
    Row<ObjectCall>{ObjectCall::QueueSignal, "queue-signal"},
    Row<ObjectCall>{ObjectCall::CounterWait, "counter-wait"},
    Row<ObjectCall>{ObjectCall::TryWait, "try-wait"},
    Row<ObjectCall>{ObjectCall::CloseEvents, "close-events"},
    Row<ObjectCall>{ObjectCall::ClosePollSet, "close-poll-set"},
    Row<ObjectCall>{ObjectCall::CloseWaitSet, "close-wait-set"},
    Row<ObjectCall>{ObjectCall::CloseRegion, "close-region"},
    Row<ObjectCall>{ObjectCall::CloseCounter, "close-counter"},
    Row<ObjectCall>{ObjectCall::RegionFlags, "region-flags"},
    Row<ObjectCall>{ObjectCall::RegionInterface, "region-interface"},
    Row<ObjectCall>{ObjectCall::RegionRawKey, "region-raw-key"},
    Row<ObjectCall>{ObjectCall::LowestIndex, "lowest-index"},
    Row<ObjectCall>{ObjectCall::ShortLookup, "short-lookup"},
    Row<ObjectCall>{ObjectCall::InsertStatus, "insert-status"},
    Row<ObjectCall>{ObjectCall::InsertSymmetric, "insert-symmetric"},
    Row<ObjectCall>{ObjectCall::InsertString, "insert-string"},
    Row<ObjectCall>{ObjectCall::InsertWithoutEvents, "insert-without-events"},
    Row<ObjectCall>{ObjectCall::InsertEvent, "insert-event"},
    Row<ObjectCall>{ObjectCall::VectorContext, "vector-context"},
    Row<ObjectCall>{ObjectCall::ShortName, "short-name"},
    Row<ObjectCall>{ObjectCall::PeerToPeer, "peer-to-peer"},
    Row<ObjectCall>{ObjectCall::TriggerVariables, "trigger-variables"},
    Row<ObjectCall>{ObjectCall::OperationFlags, "operation-flags"},
    Row<ObjectCall>{ObjectCall::EnableToSend, "enable-to-send"},
    Row<ObjectCall>{ObjectCall::EnableToReceive, "enable-to-receive"},
    Row<ObjectCall>{ObjectCall::OtherDomain, "other-domain"},
    Row<ObjectCall>{ObjectCall::SharedUnbound, "shared-unbound"},
    Row<ObjectCall>{ObjectCall::ManyBuffers, "many-buffers"},
    Row<ObjectCall>{ObjectCall::ListenAlone, "listen-alone"},
    Row<ObjectCall>{ObjectCall::Backlog, "backlog"},
    Row<ObjectCall>{ObjectCall::LongConnectData, "long-connect-data"},
    Row<ObjectCall>{ObjectCall::SharedTwice, "shared-twice"},
    Row<ObjectCall>{ObjectCall::InsertUnknown, "insert-unknown"},
};

constexpr std::array kAddressSets = {
    Row<AddressSet>{AddressSet::Range, "range"},         Row<AddressSet>{AddressSet::Universe, "universe"},
    Row<AddressSet>{AddressSet::Stride, "stride"},       Row<AddressSet>{AddressSet::Insert, "insert"},
    Row<AddressSet>{AddressSet::Remove, "remove"},       Row<AddressSet>{AddressSet::Union, "union"},
    Row<AddressSet>{AddressSet::Intersect, "intersect"}, Row<AddressSet>{AddressSet::Diff, "diff"},
};

using enum Action::Verb;
constexpr std::array kVerbs = {
    VerbRow{OpenFabric, "open fabric", "fabric", false},
    VerbRow{OpenDomain, "open domain", "domain", true},
    VerbRow{OpenDomain2, "open domain2", "domain", true},
    VerbRow{OpenEq, "open eq", "eq", true},
    VerbRow{OpenCq, "open cq", "cq", true},
    VerbRow{OpenCntr, "open cntr", "cntr", true},
    VerbRow{OpenAv, "open av", "av", true},
    VerbRow{OpenPep, "open pep", "pep", true},
    VerbRow{OpenMr, "open mr", "mr", true},
    VerbRow{OpenEp, "open ep", "ep", true},
    VerbRow{BindEq, "bind", "", true},
    VerbRow{OpenOps, "open-ops", "", true},
    VerbRow{SetOps, "set-ops", "", true},
    VerbRow{Close, "close", "", true},
    VerbRow{Query, "query", "", true},
    VerbRow{QueryPlain, "query-plain", "", false},
    VerbRow{BindEp, "ep-bind", "", true},
    VerbRow{Enable, "enable", "", true},
    VerbRow{OpenMrv, "open mrv", "mr", true},
    VerbRow{OpenSrx, "open srx", "srx", true},
    VerbRow{Receive, "receive", "", true},
};

template <typename Rows, typename T>
std::string_view word_of(const Rows& rows, T value) {
    for (const auto& r : rows)
        if (r.value == value) return r.word;
    return rows.front().word;
}

template <typename T, typename Rows>
std::optional<T> value_of(const Rows& rows, std::string_view word) {
    for (const auto& r : rows)
        if (r.word == word) return r.value;
    return std::nullopt;
}

template <typename Rows>
std::string all_of(const Rows& rows) {
    std::string out;
    for (const auto& r : rows) out.append(out.empty() ? "" : ", ").append(r.word);
    return out;
}

}  // namespace

std::string_view name(Case::Kind kind) { return word_of(kKinds, kind); }
std::string_view name(MetamorphicRelation metamorphic) { return word_of(kMetamorphicRelations, metamorphic); }
std::string_view name(SideEffects::Act act) { return word_of(kActs, act); }

std::string_view name(GroupAct act) { return word_of(kGroupActs, act); }
std::string_view name(ObjectCall call) { return word_of(kObjectCalls, call); }
std::string_view name(AddressSet set) { return word_of(kAddressSets, set); }

std::span<const VerbRow> verbs() { return kVerbs; }
const VerbRow& verb_row(Action::Verb verb) {
    for (const auto& r : kVerbs)
        if (r.verb == verb) return r;
    return kVerbs.front();
}

std::optional<Case::Kind> find_kind(std::string_view word) { return value_of<Case::Kind>(kKinds, word); }
std::optional<MetamorphicRelation> find_relation(std::string_view word) {
    return value_of<MetamorphicRelation>(kMetamorphicRelations, word);
}
std::optional<SideEffects::Act> find_act(std::string_view word) { return value_of<SideEffects::Act>(kActs, word); }
std::optional<GroupAct> find_group_act(std::string_view word) { return value_of<GroupAct>(kGroupActs, word); }
std::optional<ObjectCall> find_object_call(std::string_view word) { return value_of<ObjectCall>(kObjectCalls, word); }
std::optional<AddressSet> find_address_set(std::string_view word) { return value_of<AddressSet>(kAddressSets, word); }
std::string all_kinds() { return all_of(kKinds); }
std::string all_relations() { return all_of(kMetamorphicRelations); }
std::string all_acts() { return all_of(kActs); }

}  // namespace selvage::conformance
