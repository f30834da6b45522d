// The list of all parameters, rows of the library and definitions from outside alike.
//
// Invariants: the list only grows; definitions and interned strings are freed when the library goes; lock() guards
// the list and the interned strings, and no callback or log call runs under it. Only param*.cc use it.
#pragma once

#include "impl/config/param.h"

#include <mutex>

namespace selvage::impl {

// A parameter defined from outside. Its strings are interned.
class ParamDefinition final : public ParamRow {
public:
    using ParamRow::ParamRow;

private:
    friend class ParamRegistry;
    ParamDefinition* older_ = nullptr;
};

class ParamRegistry {
public:
    constexpr ParamRegistry() noexcept = default;

    // Adds a row of the library to the front of the list. Nothing else runs yet.
    void link(ParamRow& row) noexcept;

    // Adds a definition and takes ownership, unless its variable is known already: then the known row is the answer
    // and the definition stays the caller's. Takes lock().
    const ParamRow* link_if_new(ParamDefinition& definition, const char* variable) noexcept;

    // The row of a variable, nullptr if there is none. The caller holds lock().
    const ParamRow* find(const char* variable) const noexcept;
    const ParamRow* first() const noexcept { return first_; }

    // A copy of text that stays; the same pointer for equal texts; nullptr without memory. Takes lock().
    char* intern(const char* text) noexcept;

    std::unique_lock<std::mutex> lock() noexcept { return std::unique_lock(mutex_); }

    // Frees definitions and interned strings. Only when the library goes.
    void free_all() noexcept;

private:
    struct Interned {
        Interned* next;
        char text[1];
    };

    std::mutex mutex_;
    const ParamRow* first_ = nullptr;
    ParamDefinition* definitions_ = nullptr;
    Interned* strings_ = nullptr;
};

ParamRegistry& param_registry() noexcept;

// FI_<PROVIDER>_<NAME> in capitals, or FI_<NAME>. False if it does not fit; the core is nullptr or "core".
bool variable_name(char (&buffer)[kMaxVariableName], const char* provider, const char* name) noexcept;

}  // namespace selvage::impl
