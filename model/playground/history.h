// The life of objects, for the page's second tab: what a history leads to, and what can be done next.
//
//   {"profile": "TOML", "entry": N, "steps": ["fabric1 = open fabric offer=0", "!close fabric1", ...]}
//
// A step is a line of a case file (docs/formats.md) that the state before it allows.  Where the text
// leaves the result open it is taken to succeed, with "!" in front of it to fail.  Answered with the entries of the
// profile, each step with what the text says of its result, the objects, the moves that there are now with the same,
// and the history as a case file.
//
// Invariants: a verdict is allowed_results()'s, never one of this file; each move that is listed can be appended to the
// steps.  Pure; any thread.
#pragma once

#include "model/playground/request.h"

namespace selvage::model::playground {

/// REQUIRES: request is an object that has "steps".
Json answer_history(const Json& request);

}  // namespace selvage::model::playground
