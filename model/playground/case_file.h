// A case file of kind lifecycle, as `selvage replay` reads it, turned into a history of the page.
//
//   {"case": "TEXT", "profiles": {"NAME": "PROFILE", ...}}
//
// Answered with {"profile": "NAME", "entry": N, "steps": [...]}, which is a request of history.h but for the profile's
// name, and with "note" where the file's entry is none of the profile's.  A file that cannot be shown is
// {"error": "...", "where": "line N"}, the first line that is wrong.
//
// Invariant: the steps that are returned are answered without an error.  Pure; any thread.
#pragma once

#include "model/playground/request.h"

namespace selvage::model::playground {

/// REQUIRES: request is an object that has "case".
Json answer_case(const Json& request);

}  // namespace selvage::model::playground
