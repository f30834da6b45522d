// Are two calls alike, and do two answers bring the same endpoints?  Shared by the `pair` clauses of all chapters.
//
// An endpoint is known by its provider, fabric, domain and type: what stays when the same thing is asked another way.
// Only chapters include this file.
#pragma once

#include <algorithm>
#include <vector>

#include "model/chapters/rules.h"

namespace selvage::model::rules {

inline bool same_endpoint(const Info& a, const Info& b) {
    return a.ep.type == b.ep.type && a.fabric.prov_name == b.fabric.prov_name && a.fabric.name == b.fabric.name &&
           a.domain.name == b.domain.name;
}

/// The index of the first offer of `from` whose endpoint `into` lacks, or -1.
inline int first_missing(const Answer& from, const Answer& into) {
    for (std::size_t i = 0; i < from.offers.size(); ++i) {
        const auto found = std::any_of(into.offers.begin(), into.offers.end(),
                                       [&](const Info& o) { return same_endpoint(from.offers[i], o); });
        if (!found) return static_cast<int>(i);
    }
    return -1;
}

/// An answer that says what matches: a list, or that nothing does.  Other errors say nothing about endpoints.
inline bool answered(const Answer& a) { return a.ret == 0 || a.ret == -FI_ENODATA; }

inline bool both_answered(const PairCase& c) { return answered(c.first_answer) && answered(c.second_answer); }

/// Are the calls the same but for what `change` makes of the first?  Copies the query: look at what is cheap first.
template <typename Change>
bool alike_after(const PairCase& c, Change&& change) {
    Query q = c.first;
    std::forward<Change>(change)(q);
    return q == c.second;
}

/// The calls of a pair, as evidence names them.
enum Call : int { First, Second };
constexpr Call other(Call call) { return call == First ? Second : First; }

/// pair: every endpoint that the call `from` finds, the other finds too; `f` is what the calls differ in.
inline Ruling covers(const PairCase& c, Call from, Field f, const char* note) {
    const Answer& into = from == First ? c.second_answer : c.first_answer;
    if (first_missing(from == First ? c.first_answer : c.second_answer, into) < 0) return Ruling::holds();
    const auto ret = static_cast<std::uint64_t>(static_cast<std::int64_t>(into.ret));
    Evidence e = into.ret != 0 ? number(Field::call_return, Relation::Equals, 0, ret, note) : reported(f, note);
    return Ruling::broken(observed(Observable::Endpoints, std::move(e), {from, other(from)}));
}

/// pair: both answers bring the same endpoints.
inline Ruling same_endpoints(const PairCase& c, Field f, const char* note) {
    Ruling r = covers(c, First, f, note);
    return r.is_broken() ? std::move(r) : covers(c, Second, f, note);
}

}  // namespace selvage::model::rules
