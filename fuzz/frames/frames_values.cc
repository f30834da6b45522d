// Fuzz target: what the library reads from its environment and from addresses given as text (impl/config, impl/net).
//
// What must hold: a number or truth value is taken whole or not at all, and means what the C library says it means; an
// address that is read and written is the same address.
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "impl/catalog/registry.h"
#include "impl/config/param.h"
#include "impl/net/address.h"

namespace selvage::impl {
namespace {

void check(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "selvage: values: %s\n", what);
    std::abort();
}

void read_numbers(const std::string& text) {
    int number = 0;
    if (parse_int(text.c_str(), &number)) {
        const std::string again = std::to_string(number);
        int same = 0;
        check(parse_int(again.c_str(), &same) && same == number, "a number that is not read again");
        check(std::strtol(text.c_str(), nullptr, 0) == number, "another number than the text");
    }
    std::size_t size = 0;
    if (parse_size(text.c_str(), &size)) {
        errno = 0;
        check(std::strtoull(text.c_str(), nullptr, 0) == size && errno == 0, "another size than the text");
        check(text.find('-') == std::string::npos, "a negative size");
    }
    int truth = 0;
    if (parse_bool(text.c_str(), &truth)) check(truth == 0 || truth == 1, "neither true nor false");
}

}  // namespace
}  // namespace selvage::impl

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace selvage::impl;
    const std::string text(reinterpret_cast<const char*>(data), size);
    const std::string c_text(text.c_str());
    read_numbers(c_text);
    static_cast<void>(parse_provider_name(c_text));
    for (const auto format : {FI_ADDR_STR, FI_SOCKADDR_IN, FI_SOCKADDR_IN6, FI_SOCKADDR, FI_FORMAT_UNSPEC}) {
        // An exact copy, so that AddressSanitizer sees every byte too far.
        char* const exact = static_cast<char*>(std::malloc(size != 0 ? size : 1));
        if (size != 0) std::memcpy(exact, data, size);
        ParsedAddress parsed;
        static_cast<void>(read_address(format, exact, size, &parsed));
        std::free(exact);
    }
    return 0;
}
