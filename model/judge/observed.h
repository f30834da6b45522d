// What the evidence compares beyond a field, as data: a report prints it, a C program repeats it.
//
// Nobody reads an evidence's note or its clause's id: whoever has to know which operation, entry, copy or string a
// clause speaks of finds it here.  Values only; any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/value/field.h"
#include "model/value/side.h"

namespace selvage::model {

/// What is looked at.  `first` and `second` are the operations that Observed names: of a transfer sequence, or the two
/// calls of a pair.
enum class Observable : std::uint8_t {
    None,  ///< the evidence's field alone, or nothing that a C program could look at

    // Of a transfer sequence.
    Opening,   ///< that the pair opens
    Returned,  ///< what the call of the first returned
    Refusal,   ///< that the first is refused, or fails
    Entries,   ///< how many entries the first has, of success and of error (if a second is named: and it succeeded)
    RefusedEntries,  ///< the same, of a call that was refused
    Successes,       ///< how many entries of success
    Queue,           ///< which queue its entry was read from: number_of_queue()
    Error,           ///< err of its entry of error, 0 of one of success
    ErrorData,       ///< err_data_size
    Overflow,        ///< olen
    Flags,           ///< of its entry of success, as the next three
    Length,
    Data,
    Tag,
    Source,          ///< the address that fi_cq_readfrom returns: 1 the peer's, 0 none (FI_ADDR_NOTAVAIL), 2 another
    Order,           ///< place of its entry among all entries, compared with that of the second's
    CallsMade,       ///< how many calls had been made when its entry was read
    Buffer,          ///< bytes in its buffer when all is over, compared with those that the second sent
    Result,          ///< bytes that it fetched
    Target,          ///< bytes at its target, compared with those that it wrote
    Behind,          ///< bytes behind its buffer, which nobody may write
    BufferAtEntry,   ///< bytes in its buffer when its entry was read, compared with what was there before
    PartnerAtEntry,  ///< bytes in the second's buffer when the entry of the first was read
    ResultAtEntry,
    TargetAtEntry,
    Rest,             ///< its bytes, in the buffer of the second or at the target, after a rest without a call
    Overlap,          ///< how its buffer for many messages is laid out: each message apart, and inside
    Releases,         ///< how often that buffer was released
    SpaceUnreleased,  ///< how much space is left in one that was not released
    SpaceReleased,    ///< how much in one that was
    Context,          ///< how many bytes at its context were written
    Counter,          ///< a counter of a side
    Errors,           ///< errors that all counters of a side tell of
    TransmitErrors,   ///< those of all but the one of receives

    // Of endpoints that do something together.
    GroupOpening,  ///< that they open
    MemberFact,    ///< a number about a member; Observed::operations: the round, the member, its model::GroupFact
    MemberValue,   ///< a value of its result; the round, the member, which one

    // Of calls of fi_getinfo.  `Returned` and `Refusal` are theirs as well.
    ListEnd,        ///< that the list of the answer has one
    Offers,         ///< whether the provider offers anything: it must not
    ProvidersOnce,  ///< that no provider is named twice
    Providers,      ///< that each provider of the first answer is named by the second
    Endpoints,      ///< that the second finds each endpoint of the first (Contains: of the entries with these bits)
    EndpointBits,   ///< bits that the first reports for an endpoint, compared with all that the second reports for it
    Entry,          ///< a field of an entry of the first
    AnyonesEntry,   ///< a field of an entry of the answer, whichever provider's name it has
    Answers,        ///< return value, number, order and contents of both answers

    // Of side effects.
    Blocks,             ///< blocks of memory that each repetition leaves allocated
    BlocksAfterChange,  ///< the same of an fi_info that the caller filled
    BlocksAfterError,   ///< the same of a call that is refused
    SharedMemory,       ///< that the result points into memory of something else: an original, hints, another answer
    Next,               ///< next of what was allocated or duplicated
    HintsWritten,       ///< stores into the hints
    LookUps,            ///< names that the resolver is asked for
    ProviderPresent,    ///< that the answer holds a provider
    ProviderAbsent,     ///< that it does not

    // Of strings.
    Beginning,  ///< that a short buffer gets the beginning of what a long one gets
    Printable,  ///< that all bytes print

    // Of the object that the last action of a lifecycle opened.
    ObjectClass,    ///< its class and operations
    ObjectContext,  ///< the context that it carries
    ApiVersion,
    Key,           ///< the key of a region
    KeyIsOwn,      ///< that no other region of the domain has this key
    KeyIsThere,    ///< that it has one at all
    Registration,  ///< that an event reports the end of the registration
};

/// True for what is looked at of a transfer sequence alone.
constexpr bool is_of_transfers(Observable what) {
    return what != Observable::None && what <= Observable::TransmitErrors;
}

/// The counters of a side, in the order of Observed::counter.
enum class CounterKind : std::uint8_t { Send, Recv, Read, Write, RemoteRead, RemoteWrite, Work };

/// Which part of what was seen was compared.
struct Observed {
    Observable what = Observable::None;
    /// Indices into the sequence (none: entries of no operation, or a counter), or into a pair of calls.
    std::vector<int> operations;
    Side side = Side::A;     ///< without an operation: whose queue or counter
    bool transmits = false;  ///< without an operation: of the queue of transmits
    CounterKind counter = CounterKind::Send;
    Field limit = Field::subject;     ///< Refusal: what the bytes of the first are more than, if anything
    std::vector<std::uint64_t> also;  ///< values that would do as well as the operand of Relation::Equals
};

/// Number of a queue: receives and transmits of A, then those of B.
inline std::uint64_t number_of_queue(Side side, bool transmits) { return 2 * number_of(side) + (transmits ? 1 : 0); }

/// How a call ended that did not come back.
enum class Crash : std::uint8_t { None, Died, DidNotReturn, EndedTheProcess };

inline std::string_view text_of(Crash crash) {
    switch (crash) {
        case Crash::None:
            break;
        case Crash::Died:
            return "died of a signal";
        case Crash::DidNotReturn:
            return "did not return";
        case Crash::EndedTheProcess:
            return "ended the process";
    }
    return {};
}

}  // namespace selvage::model
