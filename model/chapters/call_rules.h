// Does a call break a rule of the interface?  Shared by the clauses on errors.  Only chapters include this file.
#pragma once

#include "model/chapters/rules.h"

namespace selvage::model::rules {

/// True where no call rule, of any chapter, refuses the call or lets it be refused.
inline bool breaks_no_rule(const AnswerCase& c) {
    const QueryCase call{c.query, c.world};
    for (const auto& p : query_predicates()) {
        if (c.query.version < p.since || p.until < c.query.version) continue;
        const auto kind = p.judge(call).kind;
        if (kind == Demand::Kind::MustRefuse || kind == Demand::Kind::MayRefuse) return false;
    }
    return true;
}

/// A return value as a field's value.
inline std::uint64_t as_number(int ret) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(ret)); }

/// Evidence of a wrong error: `error` (positive) would have been right.
inline Evidence returned(const AnswerCase& c, int error, std::string note) {
    return number(Field::call_return, Relation::Equals, as_number(-error), as_number(c.answer.ret), std::move(note));
}

}  // namespace selvage::model::rules
