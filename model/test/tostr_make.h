// Makers of text cases for the tests of the chapter on fi_tostr.
#pragma once

#include <rdma/fabric.h>

#include <string>
#include <string_view>

#include "model/test/endpoint_make.h"

namespace selvage::model::fields_test {

/// A call of fi_tostr_r with a large buffer and a number behind data.
inline TextCase said(std::uint64_t datatype, std::uint64_t value, std::string_view string) {
    TextCase c;
    c.datatype = datatype;
    c.value = value;
    c.length = 65536;
    c.returned_buffer = true;
    c.terminated = true;
    c.string = string;
    c.full = string;
    c.version = "1.17";
    return c;
}

/// The same with a structure behind data.
inline TextCase said(std::uint64_t datatype, const Info& info, std::string_view string) {
    TextCase c = said(datatype, 0, string);
    c.info = &info;
    return c;
}

/// The same with a buffer of `length` bytes, which got `string` of `full`.
inline TextCase cut(std::string_view full, std::uint64_t length, std::string_view string) {
    TextCase c = said(FI_TYPE_CAPS, FI_MSG | FI_RMA, string);
    c.full = full;
    c.length = length;
    return c;
}

/// The same call of fi_tostr.
inline TextCase internal(TextCase c) {
    c.reentrant = false;
    c.returned_buffer = false;
    c.length = 0;
    return c;
}

inline TextCase crashed(TextCase c) {
    c.crashed_signal = 11;
    c.string = {};
    c.terminated = false;
    return c;
}

inline Outcome rule(Ruling (*p)(const TextCase&), const TextCase& c) { return p(c).outcome(); }

}  // namespace selvage::model::fields_test
