// Makes a query such as an valid application would put it, from whatever chance or a fuzzer wrote down.
//
// What is left may be wrong in every way that a library has to cope with: unknown bits and names, addresses too short
// for their format, sizes that nobody has.  Pure functions; any thread.
#pragma once

#include "conformance/case/case.h"

namespace selvage::conformance {

/// Texts end at their NUL; numbers fit their members; lengths are no longer than what they measure; an object is either
/// absent or somebody else's; of versions that never were, a handful stand for all.
void normalize(model::Info& hints);
void normalize(model::Query& query);
/// A version as one that the interface has had, or one of a handful that it never had.
model::Version normalized_version(model::Version version);
/// The data has the type that the conversion is given.
void normalize(StringProbe& probe);

}  // namespace selvage::conformance
