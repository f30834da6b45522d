// The cases that ship with the kit (conformance/corpus/*.case), compiled in.
#pragma once

#include <span>

#include "conformance/case/case.h"

namespace selvage::conformance {

/// All saved cases.  A file that does not parse is left out and reported by corpus_errors().
std::span<const Case> corpus_cases();
/// What was wrong with saved files, one line each; empty in a sound build (a test says so).
std::span<const std::string> corpus_errors();

}  // namespace selvage::conformance
