// The text of the spec at run time: what each clause promises, what each page holds.  Generated tables; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "model/spec/need.h"
#include "model/value/version.h"
#include "model_gen/clause_ids.h"

namespace selvage::model {

enum class Level : std::uint8_t { Must, Should, May };
enum class Status : std::uint8_t { Clear, Disputed };
enum class Judges : std::uint8_t {
    Query,
    Match,
    Offer,
    Answer,
    Pair,
    SideEffects,
    Lifecycle,
    String,
    Traffic,
    Group,
    None
};

/// One promise, as spec/clauses/ states it.
struct ClauseText {
    Clause clause;
    std::string_view id;
    std::string_view title;  ///< the promise in a line, for lists
    Level level;
    Status status;
    Judges judges;
    std::span<const std::string_view> source;  ///< "page:sentence"
    Version since, until;                      ///< API versions it holds for
    std::string_view promise;
    std::string_view unseen;  ///< why no predicate can judge it; empty if one does
    std::string_view example_call, example_expect;
    std::string_view example_case;   ///< a case file that shows what it is about; empty if a call does
    std::string_view example_shows;  ///< what a library that breaks it shows there
    std::span<const std::string_view> dispute_says;
    std::string_view dispute_reading, dispute_why;
    bool use_disputed =
        false;  ///< whether an application may make the call at all is disputed, so a crash in it is, too
    std::span<const Need> needs;  ///< what a provider must have for any query to meet it
};

/// One sentence of a page's index.
struct SentenceRow {
    std::string_view at;
    unsigned words;
    std::string_view digest;
    std::string_view prose;  ///< what kind of prose, or empty
    std::string_view cited;  ///< ids that cite it, separated by spaces
};

struct PageRow {
    std::string_view name;
    std::string_view published;
    bool complete;
    std::span<const SentenceRow> sentences;
};

/// All clauses, ordered by id; the index is the Clause's number.
std::span<const ClauseText> clauses();
std::span<const PageRow> pages();

inline const ClauseText& clause_text(Clause c) { return clauses()[static_cast<std::size_t>(c)]; }
/// The clause with that id, or nullptr.
const ClauseText* find_clause(std::string_view id);
std::string_view name(Level level);
std::string_view name(Status status);
std::string_view name(Judges judges);

}  // namespace selvage::model
