// The words by which reports call what evidence is made of: relations, what is looked at, how a call ended.
//
// Private to report/.  Pure functions; any thread.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "model/judge/ruling.h"

namespace selvage::conformance {

template <typename T>
using Named = std::pair<T, std::string_view>;

inline constexpr std::array kRelationNames = std::to_array<Named<model::Relation>>({
    {model::Relation::Equals, "equals"},
    {model::Relation::Differs, "differs"},
    {model::Relation::Contains, "contains"},
    {model::Relation::Within, "within"},
    {model::Relation::Meets, "meets"},
    {model::Relation::Lacks, "lacks"},
    {model::Relation::AtLeast, "at-least"},
    {model::Relation::AtMost, "at-most"},
    {model::Relation::MultipleOf, "multiple-of"},
    {model::Relation::IsNull, "is-null"},
    {model::Relation::NotNull, "not-null"},
    {model::Relation::TextEquals, "text-equals"},
    {model::Relation::TextContains, "text-contains"},
    {model::Relation::Happens, "happens"},
});

inline constexpr std::array kObservableNames = std::to_array<Named<model::Observable>>({
    {model::Observable::None, "none"},
    {model::Observable::Opening, "opening"},
    {model::Observable::Returned, "returned"},
    {model::Observable::Refusal, "refusal"},
    {model::Observable::Entries, "entries"},
    {model::Observable::RefusedEntries, "entries-though-refused"},
    {model::Observable::Successes, "successes"},
    {model::Observable::Queue, "queue"},
    {model::Observable::Error, "err"},
    {model::Observable::ErrorData, "err-data-size"},
    {model::Observable::Overflow, "olen"},
    {model::Observable::Flags, "flags"},
    {model::Observable::Length, "len"},
    {model::Observable::Data, "data"},
    {model::Observable::Tag, "tag"},
    {model::Observable::Source, "source"},
    {model::Observable::Order, "order"},
    {model::Observable::CallsMade, "calls-made"},
    {model::Observable::Buffer, "buffer"},
    {model::Observable::Result, "result"},
    {model::Observable::Target, "target"},
    {model::Observable::Behind, "behind-buffer"},
    {model::Observable::BufferAtEntry, "buffer-at-entry"},
    {model::Observable::PartnerAtEntry, "partner-at-entry"},
    {model::Observable::ResultAtEntry, "result-at-entry"},
    {model::Observable::TargetAtEntry, "target-at-entry"},
    {model::Observable::Rest, "rest"},
    {model::Observable::Overlap, "overlap"},
    {model::Observable::Releases, "releases"},
    {model::Observable::SpaceUnreleased, "space-unreleased"},
    {model::Observable::SpaceReleased, "space-released"},
    {model::Observable::Context, "context"},
    {model::Observable::Counter, "counter"},
    {model::Observable::Errors, "errors"},
    {model::Observable::TransmitErrors, "transmit-errors"},
    {model::Observable::GroupOpening, "group-opening"},
    {model::Observable::MemberFact, "member"},
    {model::Observable::MemberValue, "member-result"},
    {model::Observable::ListEnd, "list-end"},
    {model::Observable::Offers, "offers"},
    {model::Observable::ProvidersOnce, "providers-once"},
    {model::Observable::Providers, "providers"},
    {model::Observable::Endpoints, "endpoints"},
    {model::Observable::EndpointBits, "endpoint-bits"},
    {model::Observable::Entry, "entry"},
    {model::Observable::AnyonesEntry, "anyones-entry"},
    {model::Observable::Answers, "answers"},
    {model::Observable::Blocks, "blocks"},
    {model::Observable::BlocksAfterChange, "blocks-after-change"},
    {model::Observable::BlocksAfterError, "blocks-after-error"},
    {model::Observable::SharedMemory, "shared-memory"},
    {model::Observable::Next, "next"},
    {model::Observable::HintsWritten, "hints-written"},
    {model::Observable::LookUps, "look-ups"},
    {model::Observable::ProviderPresent, "provider-present"},
    {model::Observable::ProviderAbsent, "provider-absent"},
    {model::Observable::Beginning, "beginning"},
    {model::Observable::Printable, "printable"},
    {model::Observable::ObjectClass, "object-class"},
    {model::Observable::ObjectContext, "object-context"},
    {model::Observable::ApiVersion, "api-version"},
    {model::Observable::Key, "key"},
    {model::Observable::KeyIsOwn, "key-is-own"},
    {model::Observable::KeyIsThere, "key-is-there"},
    {model::Observable::Registration, "registration"},
});
static_assert(kObservableNames.size() == static_cast<std::size_t>(model::Observable::Registration) + 1);

inline constexpr std::array kCounterNames = std::to_array<Named<model::CounterKind>>({
    {model::CounterKind::Send, "send"},
    {model::CounterKind::Recv, "recv"},
    {model::CounterKind::Read, "read"},
    {model::CounterKind::Write, "write"},
    {model::CounterKind::RemoteRead, "remote-read"},
    {model::CounterKind::RemoteWrite, "remote-write"},
    {model::CounterKind::Work, "work"},
});

inline constexpr std::array kCrashNames = std::to_array<Named<model::Crash>>({
    {model::Crash::None, "none"},
    {model::Crash::Died, "died"},
    {model::Crash::DidNotReturn, "did-not-return"},
    {model::Crash::EndedTheProcess, "ended-the-process"},
});

/// REQUIRES: `names` has a row for `value`.
template <typename Table>
std::string_view word_for(const Table& names, typename Table::value_type::first_type value) {
    for (const auto& [known, word] : names)
        if (known == value) return word;
    return {};
}

/// The value that is called `word`, if there is one.
template <typename Table>
std::optional<typename Table::value_type::first_type> value_for(const Table& names, std::string_view word) {
    for (const auto& [value, known] : names)
        if (known == word) return value;
    return std::nullopt;
}

}  // namespace selvage::conformance
