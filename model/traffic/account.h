// What the model makes of a traffic: which receive takes which message, and whose each entry is.
//
// Which receive a message goes to does not depend on when it arrives.  Messages of one pair arrive in the order of
// sending (where that is promised), receives are searched in the order of posting, so both sides rank each other by one
// order, and there is exactly one matching in which nobody was passed over.  It is found by letting each message arrive
// at once.  What does depend on time is read off the entries: a receive that ended cancelled took nothing; a peek that
// found something found the first message that nobody had taken; a buffer for many messages took as many as came
// before its release.  Datagrams may be lost or overtake each other: there a receive took the message whose bytes came.
//
// Invariants: values only; made from one Traffic and valid as long as it.  Any thread.
#pragma once

#include <vector>

#include "model/traffic/words.h"

namespace selvage::model {

struct Account {
    /// What belongs to one operation.
    struct Part {
        std::vector<int> entries;   ///< its entries, in the order of reading
        std::vector<int> messages;  ///< of a receive: the sends it takes, in order
        int start = -1;             ///< the operation in whose call it may begin, mostly its own; -1: none
        int withdrawn = -1;         ///< deferred work that has not begun: by which call it was cancelled
        int partner = -1;           ///< of a send: the receive that takes it; of a peek: the message it found
        bool before = false;        ///< of a send: its receive had been posted when it was posted
        bool gone = false;          ///< of a send: thrown away unread, as was asked
        bool cancel = false;        ///< fi_cancel was called for it, and accepted
        bool cancelled = false;     ///< it ended as cancelled
        bool upset = false;         ///< it failed, or its message was too long: the endpoints may be disabled by it
        bool sure = true;           ///< the text leaves one answer to who takes what
    };
    std::vector<Part> parts;   ///< by operation
    std::vector<int> orphans;  ///< entries that belong to no operation
    bool returned = true;      ///< every call came back
    bool calm = true;          ///< nothing went wrong that may make other operations go wrong
    bool left = false;         ///< a message that no receive takes may keep others waiting
};

Account account_of(const Traffic& traffic);

/// True if the entry reports a message (or its failure), not of the end of the buffer alone.
bool reports_message(const Traffic& traffic, const Completion& entry);

/// How many entries an operation must have had once all is done, its side's own queue; errors that are its fate
/// included.
std::uint64_t entries_due(const Traffic& traffic, const Account& account, std::size_t operation);
/// Entries that RMA writes with data must have given at the target, `side`.
std::uint64_t data_entries_due(const Traffic& traffic, const Account& account, Side side);
/// All that must come into one queue for the operations posted so far.  Whoever runs a traffic waits for that many.
std::uint64_t entries_due(const Traffic& traffic, Side side, bool transmit);

}  // namespace selvage::model
