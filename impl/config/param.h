// Parameters: named settings that come from environment variables FI_<PROVIDER>_<NAME>, or FI_<NAME> for the core.
//
// The library declares its own as table rows, objects of static storage:
//     const Param<int> backlog{"tcp", "backlog", 64, "Connections waiting to be accepted"};
//     ... backlog.get() ...
// which lists them for fi_getparams, their defaults included. Callers from outside use fi_param_define.
//
// Invariants: a parameter is identified by its variable's name, and no two have the same; a value that does not parse
// in full and in range is reported by a warning and not used; strings handed out stay valid until the library goes.
// Any thread, as far as the C library allows the environment to be read while others change it.
#pragma once

#include "impl/base/rdma.h"

#include <cstddef>
#include <cstdint>

namespace selvage::impl {

inline constexpr std::size_t kMaxVariableName = 256;

// Strict: the whole text, no blanks, in range, base by prefix (10, 0x10, 010). True on success, else *value is kept.
bool parse_int(const char* text, int* value) noexcept;
bool parse_size(const char* text, std::size_t* value) noexcept;
bool parse_bool(const char* text, int* value) noexcept;

// What all parameters have in common. Rows link themselves into one list and are never removed from it.
class ParamRow {
public:
    ParamRow(const char* provider, const char* name, fi_param_type type, const char* help) noexcept;
    ParamRow(const ParamRow&) = delete;
    ParamRow& operator=(const ParamRow&) = delete;

    const char* provider() const noexcept { return provider_; }  // nullptr for the core
    const char* name() const noexcept { return name_; }
    const char* help() const noexcept { return help_; }
    fi_param_type type() const noexcept { return type_; }
    const ParamRow* next() const noexcept { return next_; }

    // The default as text in buffer, or nothing if there is none to speak of.
    virtual void default_text(char* buffer, std::size_t length) const noexcept;

    // Reads the variable into *value (char*, int, int or size_t by type): 0, -FI_ENODATA if it is not set,
    // -FI_EINVAL if it does not parse, -FI_ENOMEM. *value changes only with 0.
    int read(void* value) const noexcept;

protected:
    ~ParamRow() = default;

private:
    friend class ParamRegistry;
    const char* provider_;
    const char* name_;
    const char* help_;
    const ParamRow* next_ = nullptr;
    fi_param_type type_;
};

// Lists a row of the library's own. Called while the library is loaded, before anything else can run.
void declare(ParamRow& row) noexcept;

// Maps a C++ type to the type of the ABI and to what read() stores.
template <typename T>
struct ParamTraits;
template <>
struct ParamTraits<const char*> {
    static constexpr fi_param_type kType = FI_PARAM_STRING;
    using Stored = char*;
};
template <>
struct ParamTraits<int> {
    static constexpr fi_param_type kType = FI_PARAM_INT;
    using Stored = int;
};
template <>
struct ParamTraits<bool> {
    static constexpr fi_param_type kType = FI_PARAM_BOOL;
    using Stored = int;
};
template <>
struct ParamTraits<std::size_t> {
    static constexpr fi_param_type kType = FI_PARAM_SIZE_T;
    using Stored = std::size_t;
};

void default_as_text(char* buffer, std::size_t length, const char* value) noexcept;
void default_as_text(char* buffer, std::size_t length, int value) noexcept;
void default_as_text(char* buffer, std::size_t length, bool value) noexcept;
void default_as_text(char* buffer, std::size_t length, std::size_t value) noexcept;

// A row of the library's own: the strings must be literals, the object static.
template <typename T>
class Param final : public ParamRow {
public:
    Param(const char* provider, const char* name, T standard, const char* help) noexcept
        : ParamRow(provider, name, ParamTraits<T>::kType, help), standard_(standard) {
        declare(*this);
    }

    // The value set by the user, or the default. Reads the environment: keep the answer where speed matters.
    T get() const noexcept {
        typename ParamTraits<T>::Stored value{};
        return read(&value) == 0 ? static_cast<T>(value) : standard_;
    }

    T standard() const noexcept { return standard_; }

    void default_text(char* buffer, std::size_t length) const noexcept override {
        default_as_text(buffer, length, standard_);
    }

private:
    T standard_;
};

}  // namespace selvage::impl
