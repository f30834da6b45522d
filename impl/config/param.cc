// Entry points of the parameters: define, get, list, free. See param.h.
#include "impl/config/param.h"

#include "impl/base/rdma.h"
#include "impl/config/log.h"
#include "impl/config/param_registry.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace selvage::impl {

void default_as_text(char* buffer, std::size_t length, const char* value) noexcept {
    std::snprintf(buffer, length, "%s", value == nullptr ? "" : value);
}

void default_as_text(char* buffer, std::size_t length, int value) noexcept {
    std::snprintf(buffer, length, "%d", value);
}

void default_as_text(char* buffer, std::size_t length, bool value) noexcept {
    std::snprintf(buffer, length, "%s", value ? "yes" : "no");
}

void default_as_text(char* buffer, std::size_t length, std::size_t value) noexcept {
    std::snprintf(buffer, length, "%zu", value);
}

namespace {

struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
};

const char* provider_name(const fi_provider* provider) noexcept {
    return provider == nullptr ? nullptr : provider->name;
}

bool is_type(fi_param_type type) noexcept {
    return static_cast<unsigned>(type) <= static_cast<unsigned>(FI_PARAM_SIZE_T);
}

// A second definition with the same type changes nothing; with another type it would make fi_param_get store a value
// of the wrong size, so it is refused.
int judge_duplicate(const ParamRow& known, fi_param_type type, const char* variable) noexcept {
    if (known.type() == type) return 0;
    log_for(known.provider(), FI_LOG_WARN, FI_LOG_CORE, "%s is already defined with another type", variable);
    return -FI_EINVAL;
}

int define(const char* provider, const char* name, fi_param_type type, const char* help) noexcept {
    char variable[kMaxVariableName];
    if (!variable_name(variable, provider, name)) return -FI_EINVAL;
    ParamRegistry& registry = param_registry();
    const char* kept_provider = provider == nullptr ? nullptr : registry.intern(provider);
    const char* kept_name = registry.intern(name);
    const char* kept_help = registry.intern(help);
    if ((provider != nullptr && kept_provider == nullptr) || kept_name == nullptr || kept_help == nullptr) {
        return -FI_ENOMEM;
    }
    auto* definition = new (std::nothrow) ParamDefinition(kept_provider, kept_name, type, kept_help);
    if (definition == nullptr) return -FI_ENOMEM;
    const ParamRow* known = registry.link_if_new(*definition, variable);
    if (known == nullptr) return 0;
    delete definition;
    return judge_duplicate(*known, type, variable);
}

int get(const char* provider, const char* name, void* value) noexcept {
    char variable[kMaxVariableName];
    if (!variable_name(variable, provider, name)) return -FI_ENOENT;
    const ParamRow* row = nullptr;
    {
        const auto held = param_registry().lock();
        row = param_registry().find(variable);
    }
    return row == nullptr ? -FI_ENOENT : row->read(value);
}

// One parameter on its way to the caller.
struct Listing {
    bool of_core;
    std::string variable;
    std::string help;
    std::optional<std::string> value;
    fi_param_type type;
};

std::string full_help(const ParamRow& row, bool of_core) {
    std::string help = of_core ? std::string() : std::string(row.provider()) + ": ";
    help += row.help();
    char standard[256];
    row.default_text(standard, sizeof standard);
    if (*standard != '\0') help.append(" (default: ").append(standard).append(")");
    return help;
}

Listing listing_of(const ParamRow& row) {
    char variable[kMaxVariableName];
    char as_core[kMaxVariableName];
    if (!variable_name(variable, row.provider(), row.name())) *variable = '\0';
    const bool of_core = variable_name(as_core, nullptr, row.name()) && std::strcmp(as_core, variable) == 0;
    const char* value = secure_getenv(variable);
    return {of_core, variable, full_help(row, of_core),
            value == nullptr ? std::nullopt : std::optional<std::string>(value), row.type()};
}

// The core first, then by name: the same order on every run.
std::vector<Listing> list_all() {
    std::vector<Listing> all;
    {
        const auto held = param_registry().lock();
        for (const ParamRow* row = param_registry().first(); row != nullptr; row = row->next()) {
            all.push_back(listing_of(*row));
        }
    }
    std::sort(all.begin(), all.end(), [](const Listing& left, const Listing& right) {
        return left.of_core != right.of_core ? left.of_core : left.variable < right.variable;
    });
    return all;
}

std::size_t text_bytes(const Listing& listing) noexcept {
    return listing.variable.size() + 1 + listing.help.size() + 1 + (listing.value ? listing.value->size() + 1 : 0);
}

const char* place(char*& room, const std::string& text) noexcept {
    char* start = room;
    std::memcpy(start, text.c_str(), text.size() + 1);
    room += text.size() + 1;
    return start;
}

// The array with an empty row behind it, then the texts: one block, which one free() returns.
fi_param* pack(const std::vector<Listing>& all) noexcept {
    std::size_t bytes = (all.size() + 1) * sizeof(fi_param);
    for (const Listing& listing : all) bytes += text_bytes(listing);
    auto* block = static_cast<fi_param*>(std::malloc(bytes));
    if (block == nullptr) return nullptr;
    char* room = reinterpret_cast<char*>(block + all.size() + 1);
    fi_param* row = block;
    for (const Listing& listing : all) {
        *row++ = {place(room, listing.variable), listing.type, place(room, listing.help),
                  listing.value ? place(room, *listing.value) : nullptr};
    }
    *row = {};
    return block;
}

int list(fi_param** params, int* count) noexcept {
    try {
        const std::vector<Listing> all = list_all();
        fi_param* packed = pack(all);
        if (packed == nullptr) return -FI_ENOMEM;
        *params = packed;
        *count = static_cast<int>(all.size());
        return 0;
    } catch (const std::bad_alloc&) {
        return -FI_ENOMEM;
    }
}

}  // namespace
}  // namespace selvage::impl

extern "C" {

__attribute__((visibility("default"))) int fi_param_define(const struct fi_provider* provider, const char* param_name,
                                                           enum fi_param_type type, const char* help_string_fmt, ...) {
    using namespace selvage::impl;
    if (param_name == nullptr || *param_name == '\0' || help_string_fmt == nullptr || !is_type(type)) return -FI_EINVAL;
    char* help = nullptr;
    std::va_list arguments;
    va_start(arguments, help_string_fmt);
    const int length = ::vasprintf(&help, help_string_fmt, arguments);
    va_end(arguments);
    if (length < 0) return -FI_ENOMEM;
    const std::unique_ptr<char, Free> owned(help);
    if (length == 0) return -FI_EINVAL;
    return define(provider_name(provider), param_name, type, help);
}

__attribute__((visibility("default"))) int fi_param_get(struct fi_provider* provider, const char* param_name,
                                                        void* value) {
    if (param_name == nullptr || *param_name == '\0' || value == nullptr) return -FI_EINVAL;
    return selvage::impl::get(selvage::impl::provider_name(provider), param_name, value);
}

__attribute__((visibility("default"))) int fi_getparams(struct fi_param** params, int* count) {
    if (params == nullptr || count == nullptr) return -FI_EINVAL;
    return selvage::impl::list(params, count);
}

__attribute__((visibility("default"))) void fi_freeparams(struct fi_param* params) { std::free(params); }

}  // extern "C"
