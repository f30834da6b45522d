// An answer that breaks each clause on offers, from spec/breaches.toml.  A generated table; any thread.
#pragma once

#include <span>
#include <string_view>

#include "model_gen/clause_ids.h"

namespace selvage::model {

/// A call, and an fi_info of its answer that breaks the clause.
struct Breach {
    Clause clause{};
    std::string_view call;   ///< as model/text/call_text.h reads it
    std::string_view offer;  ///< its fields, as hints are written; zero where none is named
};

/// All of them, ordered by the id of their clause.
std::span<const Breach> breaches();
/// That of a clause, or nullptr.
const Breach* find_breach(Clause clause);

}  // namespace selvage::model
