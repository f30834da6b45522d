// What of a transfer sequence the evidence compares, as data: a report prints it, a C program repeats it.
//
// Nobody reads an evidence's note: whoever has to know which operation, entry or counter a clause speaks of finds it
// here.  Values only; any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/value/field.h"
#include "model/value/side.h"

namespace selvage::model {

/// What is looked at.  `first` and `second` are the operations that Observed names.
enum class Observable : std::uint8_t {
    None,      ///< nothing that a C program could look at, or the evidence is of another kind of case
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
    Source,          ///< the address that fi_cq_readfrom tells: 1 the peer's, 0 none (FI_ADDR_NOTAVAIL), 2 another
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
};

/// The counters of a side, in the order of Observed::counter.
enum class CounterKind : std::uint8_t { Send, Recv, Read, Write, RemoteRead, RemoteWrite };

/// Which part of what came of a transfer sequence was compared.
struct Observed {
    Observable what = Observable::None;
    std::vector<int> operations;  ///< indices into the sequence; none: entries of no operation, or a counter
    Side side = Side::A;          ///< without an operation: whose queue or counter
    bool transmits = false;       ///< without an operation: of the queue of transmits
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
