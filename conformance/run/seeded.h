// What an input of the kind Traffic comes to, asked of a library that may do anything.
//
// The parent's side: the library is loaded in a child.  Single-threaded.
#pragma once

#include "conformance/drive/test_context.h"
#include "conformance/generate/binary/case_bytes.h"

namespace selvage::conformance {

/// The case that an input stands for on the provider that it names.  @return false and one line in `error`.
bool seeded_sequence(const Plan& plan, const Input& input, Case& out, std::string& error);

}  // namespace selvage::conformance
