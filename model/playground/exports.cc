#include "model/playground/exports.h"

#include <string>

#include "model/playground/answer.h"

namespace {
std::string request, answered;
}

extern "C" {

char* reserve(unsigned size) {
    request.resize(size);
    return request.data();
}

unsigned ask() {
    answered = selvage::model::playground::answer(request);
    return static_cast<unsigned>(answered.size());
}

const char* result() { return answered.data(); }

}  // extern "C"
