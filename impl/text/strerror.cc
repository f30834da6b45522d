// Error numbers as text. See strerror.h.
#include "impl/text/strerror.h"

#include "impl/base/rdma.h"

#include <array>
#include <cstddef>
#include <cstring>

namespace selvage::impl {
namespace {

constexpr const char* kUnspecified = "Unspecified error";

// Indexed by number - FI_ERRNO_OFFSET.
constexpr const char* kFabricErrors[] = {
    kUnspecified,                                        // FI_EOTHER
    "Provided buffer is too small",                      // FI_ETOOSMALL
    "Operation not permitted in current state",          // FI_EOPBADSTATE
    "Error available",                                   // FI_EAVAIL
    "Flags not supported",                               // FI_EBADFLAGS
    "Missing or unavailable event queue",                // FI_ENOEQ
    "Invalid resource domain",                           // FI_EDOMAIN
    "Missing or unavailable completion queue",           // FI_ENOCQ
    "CRC error",                                         // FI_ECRC
    "Truncation error",                                  // FI_ETRUNC
    "Required key not available",                        // FI_ENOKEY
    "Missing or unavailable address vector",             // FI_ENOAV
    "Queue has been overrun",                            // FI_EOVERRUN
    "Receiver not ready, no receive buffers available",  // FI_ENORX
};
static_assert(std::size(kFabricErrors) == FI_ERRNO_MAX - FI_ERRNO_OFFSET);

// Texts for the numbers below FI_ERRNO_OFFSET that the system has none for, made by the compiler.
struct UnknownText {
    char text[sizeof "Unknown error 255"];
};

consteval auto make_unknown_texts() {
    std::array<UnknownText, FI_ERRNO_OFFSET> all{};
    for (std::size_t number = 0; number < all.size(); ++number) {
        char* out = all[number].text;
        for (const char* letter = "Unknown error "; *letter != '\0'; ++letter) *out++ = *letter;
        if (number >= 100) *out++ = static_cast<char>('0' + number / 100);
        if (number >= 10) *out++ = static_cast<char>('0' + number / 10 % 10);
        *out++ = static_cast<char>('0' + number % 10);
        *out = '\0';
    }
    return all;
}

constexpr auto kUnknownTexts = make_unknown_texts();

const char* system_error_text(unsigned number) noexcept {
    const char* text = ::strerrordesc_np(static_cast<int>(number));
    return text != nullptr ? text : kUnknownTexts[number].text;
}

}  // namespace

const char* error_text(int number) noexcept {
    const unsigned magnitude = number < 0 ? 0u - static_cast<unsigned>(number) : static_cast<unsigned>(number);
    if (magnitude < FI_ERRNO_OFFSET) return system_error_text(magnitude);
    if (magnitude < FI_ERRNO_MAX) return kFabricErrors[magnitude - FI_ERRNO_OFFSET];
    return kUnspecified;
}

}  // namespace selvage::impl

extern "C" __attribute__((visibility("default"))) const char* fi_strerror(int errnum) {
    return selvage::impl::error_text(errnum);
}
