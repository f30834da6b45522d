// Changes an input a little, by its structure: a field gets another value worth asking for, a part goes, an action
// comes.
//
// This is what replaces the flipping of bytes: every result is a query that an application could put.  The values
// are those of the generators (conformance/generate/values.h: the vocabulary of spec/, what the provider offers, the
// edges), so a fuzzer knows every word and explores how they go together.  Functions of their arguments alone.
#pragma once

#include "conformance/generate/binary/case_bytes.h"
#include "conformance/generate/rng.h"
#include "fuzz/workbench.h"

namespace selvage::fuzz {

using conformance::Input;
using conformance::Rng;

/// One change to a call.
void vary_query(model::Query& query, const std::string& provider, Workbench& bench, Rng& rng);
/// One change to what an input of the hints target asks: the call, or the pair that is made of it.
void vary_call(Input& input, Workbench& bench, Rng& rng);
/// One change to hints alone, or to some of an fi_info.
void vary_info(model::Info& info, const std::string& provider, Workbench& bench, Rng& rng);
/// One change to a text: characters, a piece of another notation, its length.
void vary_text(std::string& text, Rng& rng);
/// One change to the act of an input of the side_effects target.
void vary_act(Input& input, Rng& rng);
/// One change to a sequence of actions.
void vary_life(Input& input, Workbench& bench, Rng& rng);
/// One change to a string conversion.
void vary_string(Input& input, Workbench& bench, Rng& rng);
/// One change to the addresses, names and environment that are given as text.
void vary_naming(Input& input, Workbench& bench, Rng& rng);

/// Something of `b` put into `a`: fields, a part, the tail of the actions.
void cross(Input& a, const Input& b, Rng& rng);

}  // namespace selvage::fuzz
