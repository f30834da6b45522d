// toml++ as every part of this project includes it: with exceptions, and without its asserts.
//
// toml++ 3.3 asserts on some malformed input a few lines before it reports it as an error.  All translation units must
// agree on these settings, so nobody includes toml++ directly.
#pragma once

#define TOML_ASSERT(expr) static_assert(true)
#include <toml++/impl/preprocessor.h>
#undef TOML_ASSERT_ASSUME
#define TOML_ASSERT_ASSUME(expr) static_assert(true)
#include <toml++/toml.h>
