// Queries as the library sees them, and what it gives back as values.
//
// Encoding writes exact widths: a number too wide for its member is cut.  Absent parts and texts are NULL.  Decoding
// trusts nothing but the pointers themselves: it bounds lists, strings and addresses, and says what was broken; the
// caller wraps it in survive_installed() against wild pointers.  Stateless; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "conformance/harness/arena.h"
#include "model/value/field.h"
#include "model/value/query.h"

struct fi_info;

namespace selvage::conformance {

inline constexpr std::size_t kMaxOffers = 4096;
inline constexpr std::size_t kMaxString = 4096;
inline constexpr std::size_t kMaxAddress = 64 * 1024;

/// A query in an arena.
struct Encoded {
    std::uint32_t version = 0;
    const char* node = nullptr;
    const char* service = nullptr;
    std::uint64_t flags = 0;
    const fi_info* hints = nullptr;

    /// Where texts and bytes lie, for field_at().
    struct Bytes {
        model::Field field;
        const char* start;
        std::size_t size;
    };
    std::array<Bytes, 9> bytes{};
    std::size_t bytes_used = 0;
};

/// How to encode.
struct Encoding {
    std::span<void* const> objects;  ///< handle n is objects[n - 1]; other handles become a well-formed foreign object
    bool tight = false;              ///< texts and bytes end where an inaccessible page begins
};

/// Room that encode() needs in an arena, at most.
std::size_t room_for(const model::Query& query);
Encoded encode(const model::Query& query, Arena& arena, const Encoding& how);
/// An fi_info alone, for fi_dupinfo and fi_tostr.  Needs room_for() of a query with these hints.
fi_info* encode(const model::Info& info, Arena& arena, const Encoding& how);

/// Which field of the query lies at `address`; call_hints if none does.
model::Field field_at(const Encoded& query, const void* address);

/// One fi_info, without what follows it in the list.  Buffers of `out` are reused.
/// @return nullptr, or what is broken.
const char* decode(const fi_info* info, std::span<void* const> objects, model::Info& out);
/// A whole list into `out.offers`.  What could be read before the broken place is kept.
const char* decode_list(const fi_info* list, std::span<void* const> objects, model::Answer& out);

}  // namespace selvage::conformance
