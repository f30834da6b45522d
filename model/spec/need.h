// What must be there for a clause to be met by any query at all: the `needs` of spec/clauses/, as data.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/value/field.h"
#include "model/value/object_class.h"
#include "model_gen/clause_ids.h"

namespace selvage::model {

/// What kind of thing is needed.
enum class NeedKind : std::uint8_t {
    Above,           ///< some offer's number is above a value
    Has,             ///< some offer has one of these bits
    Lacks,           ///< some offer has none of these bits
    Is,              ///< some offer has this value
    Insists,         ///< some offer is not made without one of these bits of mode or mr_mode
    Nic,             ///< some offer has a nic
    Connectionless,  ///< some offer is of an endpoint without connections
    Connected,       ///< some offer is of an endpoint with connections
    Sockets,         ///< some offer has IPv4 or IPv6 addresses
    Layered,         ///< the provider is one layered over another
    NamesItself,     ///< an answer of names alone names the provider as such, and not its layers
    Override,        ///< the memory override is supported
    Shortage,        ///< allocations can be made to fail
    Opens,           ///< an object of a class can be opened
    Kept,            ///< another promise is not broken
    Granted,         ///< a hint that another clause speaks of was granted
    Until,           ///< another clause was met; the text says what it is that did not happen
    Once,            ///< what the text denies happened: it is the reason once another clause was met
};

/// One need of a clause.
struct Need {
    NeedKind kind;
    Field field = Field::subject;
    std::uint64_t value = 0;  ///< a number, or bits; all of them: any bit will do
    ObjectClass object = ObjectClass::None;
    Clause other{};              ///< the clause that Kept, Granted, Until and Once name
    std::string_view text = {};  ///< the reason that Until and Once give
};

}  // namespace selvage::model
