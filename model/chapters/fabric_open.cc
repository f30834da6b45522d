// What opening and closing a fabric leaves behind: the `side-effects` clauses of spec/clauses/fabric_open.toml; the
// rest is kept by model/lifecycle/.  Pure functions; any thread.
#include "model/chapters/opened.h"

namespace selvage::model::clause {
namespace {

using namespace rules;

bool of_fabric(const SideEffects& c) { return watches(c, Field::part_fabric, Part::Fabric); }

}  // namespace

Ruling fabric_open_failure_clean(const SideEffects& c) {
    return of_fabric(c) ? failed_clean(c) : Ruling::not_applicable();
}

Ruling fabric_close_releases(const SideEffects& c) { return of_fabric(c) ? closed_clean(c) : Ruling::not_applicable(); }

}  // namespace selvage::model::clause
