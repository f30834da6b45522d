// What opening and closing a domain leaves behind: the `side-effects` clauses of spec/clauses/domain_open.toml; the
// rest is kept by model/lifecycle/.  Pure functions; any thread.
#include "model/chapters/opened.h"

namespace selvage::model::clause {
namespace {

using namespace rules;

bool of_domain(const SideEffects& c) { return watches(c, Field::part_domain, Part::Domain); }

}  // namespace

Ruling domain_open_failure_clean(const SideEffects& c) {
    return of_domain(c) ? failed_clean(c) : Ruling::not_applicable();
}

Ruling domain_close_releases(const SideEffects& c) { return of_domain(c) ? closed_clean(c) : Ruling::not_applicable(); }

}  // namespace selvage::model::clause
