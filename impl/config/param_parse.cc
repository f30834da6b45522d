// Strict readers of numbers and truth values. See param.h.
#include "impl/config/param.h"

#include <strings.h>

#include <cctype>
#include <cerrno>
#include <climits>
#include <cstdlib>

namespace selvage::impl {
namespace {

// The C library's readers skip blanks and accept an empty text; a value must start with a digit, or a sign and one.
bool starts_as_number(const char* text, bool sign_allowed) noexcept {
    if (sign_allowed && (*text == '-' || *text == '+')) ++text;
    return std::isdigit(static_cast<unsigned char>(*text)) != 0;
}

// Runs a strto* function, keeps errno, and says whether it took the whole text.
template <typename Number>
bool whole_number(const char* text, Number (*reader)(const char*, char**, int), Number* number) noexcept {
    const int saved_errno = errno;
    errno = 0;
    char* end = nullptr;
    *number = reader(text, &end, 0);
    const bool whole = errno == 0 && *end == '\0';
    errno = saved_errno;
    return whole;
}

struct TruthWord {
    const char* word;
    int value;
};

constexpr TruthWord kTruthWords[] = {
    {"0", 0}, {"1", 1}, {"off", 0}, {"on", 1}, {"false", 0}, {"true", 1}, {"no", 0}, {"yes", 1},
};

}  // namespace

bool parse_int(const char* text, int* value) noexcept {
    long number = 0;
    if (!starts_as_number(text, true) || !whole_number(text, ::strtol, &number)) return false;
    if (number < INT_MIN || number > INT_MAX) return false;
    *value = static_cast<int>(number);
    return true;
}

bool parse_size(const char* text, std::size_t* value) noexcept {
    unsigned long number = 0;
    if (!starts_as_number(text, false) || !whole_number(text, ::strtoul, &number)) return false;
    static_assert(sizeof number == sizeof *value);
    *value = number;
    return true;
}

bool parse_bool(const char* text, int* value) noexcept {
    for (const TruthWord& truth : kTruthWords) {
        if (::strcasecmp(text, truth.word) != 0) continue;
        *value = truth.value;
        return true;
    }
    return false;
}

}  // namespace selvage::impl
