// What the playground's page asks of the model: a request as JSON, an answer as JSON.
//
//   {"ask": "vocabulary"}                       the words of the interface, the fields of hints, for the form
//   {"profiles": ["TOML", ...], "call": "..."}  how each profile stands to a call (model/text/call_text.h has its form)
//   {"profile": "TOML", "steps": [...], ...}    what a history of objects leads to (history.h)
//   {"case": "TEXT", "profiles": {...}}         the history in a case file (case_file.h)
//
// The second is answered with the call as it was understood ("call", "version", "node", "service", "flags", "hints"),
// and for each profile with its provider, the verdict of the text, each entry with the clauses that refuse it or leave
// it open, and the smallest changes that are granted; "clauses" prints each clause that is named.  Of a profile that
// holds for callers of another version alone nothing is known, and "only" is that version.  What can't be read is
// {"error": "...", "where": "call" | "profile N" | "step N" | "request"}, with "at", the byte, for a call.
//
// Invariant: any bytes are answered; equal requests are answered equally.  Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace selvage::model::playground {

std::string answer(std::string_view request);

}  // namespace selvage::model::playground
