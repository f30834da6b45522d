// The playground as three C functions, which a WebAssembly module exports.
//
//   at = reserve(n); the caller writes n bytes of a request there; size = ask(); the answer is `size` bytes at result()
//
// One caller at a time: request and answer are kept until the next.
#pragma once

extern "C" {

char* reserve(unsigned size);
unsigned ask();
const char* result();

}  // extern "C"
