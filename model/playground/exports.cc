// The playground as a WebAssembly module.
//
//   at = reserve(n); the caller writes n bytes of a request there; size = ask(); the answer is `size` bytes at result()
//
// One caller at a time: request and answer are kept until the next.
#include <string>

#include "model/playground/answer.h"

namespace {
std::string request, result_text;
}

extern "C" {

char* reserve(unsigned size) {
    request.resize(size);
    return request.data();
}

unsigned ask() {
    result_text = selvage::model::playground::answer(request);
    return static_cast<unsigned>(result_text.size());
}

const char* result() { return result_text.data(); }

}  // extern "C"
