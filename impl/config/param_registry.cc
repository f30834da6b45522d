// The list of all parameters. See param_registry.h.
#include "impl/config/param_registry.h"

#include "impl/config/log.h"
#include "impl/text/tostr_writer.h"

#include <cctype>
#include <cstdlib>
#include <cstring>

namespace selvage::impl {
namespace {

constinit ParamRegistry registry;

// Frees at the end what callers made the registry keep.
struct Farewell {
    ~Farewell() { registry.free_all(); }
};
const Farewell kFarewell;

bool is_core(const char* provider) noexcept {
    return provider == nullptr || *provider == '\0' || std::strcmp(provider, "core") == 0;
}

int store_string(const char* text, void* value) noexcept {
    char* kept = registry.intern(text);
    if (kept == nullptr) return -FI_ENOMEM;
    *static_cast<char**>(value) = kept;
    return 0;
}

int store(fi_param_type type, const char* text, void* value) noexcept {
    switch (type) {
        case FI_PARAM_STRING:
            return store_string(text, value);
        case FI_PARAM_INT:
            return parse_int(text, static_cast<int*>(value)) ? 0 : -FI_EINVAL;
        case FI_PARAM_BOOL:
            return parse_bool(text, static_cast<int*>(value)) ? 0 : -FI_EINVAL;
        case FI_PARAM_SIZE_T:
            return parse_size(text, static_cast<std::size_t*>(value)) ? 0 : -FI_EINVAL;
    }
    return -FI_EINVAL;
}

const char* wanted_form(fi_param_type type) noexcept {
    switch (type) {
        case FI_PARAM_STRING:
            return "a string";
        case FI_PARAM_INT:
            return "a whole number";
        case FI_PARAM_BOOL:
            return "0/1, on/off, true/false or yes/no";
        case FI_PARAM_SIZE_T:
            return "a size, a whole number that is not negative";
    }
    return "a known type";
}

}  // namespace

ParamRegistry& param_registry() noexcept { return registry; }

bool variable_name(char (&buffer)[kMaxVariableName], const char* provider, const char* name) noexcept {
    TextWriter out(buffer, sizeof buffer);
    out.put(std::string_view("FI_"));
    if (!is_core(provider)) {
        out.c_string(provider);
        out.put('_');
    }
    out.c_string(name);
    if (out.room() == 0) return false;
    out.finish();
    for (char* letter = buffer; *letter != '\0'; ++letter) {
        *letter = static_cast<char>(std::toupper(static_cast<unsigned char>(*letter)));
    }
    return true;
}

void ParamRegistry::link(ParamRow& row) noexcept {
    row.next_ = first_;
    first_ = &row;
}

const ParamRow* ParamRegistry::link_if_new(ParamDefinition& definition, const char* variable) noexcept {
    const auto held = lock();
    if (const ParamRow* known = find(variable); known != nullptr) return known;
    link(definition);
    definition.older_ = definitions_;
    definitions_ = &definition;
    return nullptr;
}

const ParamRow* ParamRegistry::find(const char* variable) const noexcept {
    char candidate[kMaxVariableName];
    for (const ParamRow* row = first_; row != nullptr; row = row->next()) {
        if (variable_name(candidate, row->provider(), row->name()) && std::strcmp(candidate, variable) == 0) return row;
    }
    return nullptr;
}

char* ParamRegistry::intern(const char* text) noexcept {
    const auto held = lock();
    for (Interned* known = strings_; known != nullptr; known = known->next) {
        if (std::strcmp(known->text, text) == 0) return known->text;
    }
    const std::size_t length = std::strlen(text);
    auto* made = static_cast<Interned*>(std::malloc(offsetof(Interned, text) + length + 1));
    if (made == nullptr) return nullptr;
    std::memcpy(made->text, text, length + 1);
    made->next = strings_;
    strings_ = made;
    return made->text;
}

void ParamRegistry::free_all() noexcept {
    first_ = nullptr;
    while (definitions_ != nullptr) {
        ParamDefinition* older = definitions_->older_;
        delete definitions_;
        definitions_ = older;
    }
    while (strings_ != nullptr) {
        Interned* next = strings_->next;
        std::free(strings_);
        strings_ = next;
    }
}

ParamRow::ParamRow(const char* provider, const char* name, fi_param_type type, const char* help) noexcept
    : provider_(provider), name_(name), help_(help), type_(type) {}

void declare(ParamRow& row) noexcept { registry.link(row); }

void ParamRow::default_text(char* buffer, std::size_t length) const noexcept {
    if (length != 0) *buffer = '\0';
}

int ParamRow::read(void* value) const noexcept {
    char variable[kMaxVariableName];
    if (!variable_name(variable, provider_, name_)) return -FI_EINVAL;
    const char* text = secure_getenv(variable);
    if (text == nullptr) return -FI_ENODATA;
    const int result = store(type_, text, value);
    if (result == -FI_EINVAL) {
        log_for(provider_, FI_LOG_WARN, FI_LOG_CORE, "%s=\"%s\" is not used: expected %s", variable, text,
                wanted_form(type_));
    } else if (result == 0) {
        log_for(provider_, FI_LOG_INFO, FI_LOG_CORE, "%s=\"%s\"", variable, text);
    }
    return result;
}

}  // namespace selvage::impl
