// Logging: settings from the environment, the one-line form, imported loggers, entry points. See log.h.
#include "impl/config/log.h"

#include "impl/base/lock.h"
#include "impl/config/log_sink.h"
#include "impl/config/param.h"
#include "impl/text/tostr_enums.h"
#include "impl/text/tostr_writer.h"

#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>

namespace selvage::impl {

namespace log_detail {
constinit std::atomic<std::uint64_t> mask{~std::uint64_t{0}};
}

namespace {

using log_detail::kSubsysBits;
using log_detail::mask;

// Rows for fi_getparams. The values are read below without param.h, which itself logs.
const Param<const char*> kLevelRow{nullptr, "log_level", "warn", "Most detailed level shown: warn, trace, info, debug"};
const Param<const char*> kProvRow{
    nullptr, "log_prov", nullptr,
    "Providers shown, separated by commas; a leading ^ shows all but these (default: all)"};
const Param<const char*> kSubsysRow{
    nullptr, "log_subsys", nullptr,
    "Subsystems shown, separated by commas; a leading ^ shows all but these (default: all)"};
const Param<int> kIntervalRow{nullptr, "log_interval", 2000,
                              "Milliseconds between messages that are limited in their rate"};

constexpr std::string_view kCoreName = "core";

// A list such as "tcp,shm" or "^tcp". An empty list lets everything pass.
class NameFilter {
public:
    constexpr NameFilter() noexcept = default;

    explicit constexpr NameFilter(std::string_view text) noexcept {
        negated_ = text.starts_with('^');
        names_ = negated_ ? text.substr(1) : text;
    }

    // name may itself be a layered name: "tcp;ofi_rxm".
    bool passes(std::string_view name) const noexcept {
        if (names_.empty()) return true;
        return lists_part_of(name) != negated_;
    }

private:
    static bool same(std::string_view a, std::string_view b) noexcept {
        return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
    }

    static std::string_view take(std::string_view& rest, char separator) noexcept {
        const std::size_t end = rest.find(separator);
        const std::string_view head = rest.substr(0, end);
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
        return head;
    }

    bool lists(std::string_view name) const noexcept {
        for (std::string_view rest = names_; !rest.empty();) {
            if (same(take(rest, ','), name)) return true;
        }
        return false;
    }

    bool lists_part_of(std::string_view name) const noexcept {
        if (lists(name)) return true;
        for (std::string_view rest = name; !rest.empty();) {
            if (lists(take(rest, ';'))) return true;
        }
        return false;
    }

    std::string_view names_;
    bool negated_ = false;
};

// Written once under settings_once before anyone reads it; provider_list keeps its own copy of the text because the
// environment may change under it.
struct Settings {
    std::uint64_t mask = 0;
    std::uint64_t interval_ms = 2000;
    NameFilter providers;
    char provider_list[kMaxLogLine] = {};
};

constinit Settings settings;
pthread_once_t settings_once = PTHREAD_ONCE_INIT;
bool settings_read = false;  // by settings_once; for reload_log_settings alone
constinit std::atomic<const fid_logging*> imported{nullptr};
constinit Mutex import_lock;  // held while `imported` and `mask` change together

std::string_view environment(const char* name) noexcept {
    const char* value = secure_getenv(name);
    return value == nullptr ? std::string_view("") : std::string_view(value);
}

// Levels are ordered: choosing one shows it and all before it. An unknown word leaves the default.
fi_log_level chosen_level() noexcept {
    return static_cast<fi_log_level>(enum_value(kLogLevelNames, environment("FI_LOG_LEVEL")).value_or(FI_LOG_WARN));
}

std::uint64_t chosen_subsystems() noexcept {
    const NameFilter filter(environment("FI_LOG_SUBSYS"));
    std::uint64_t chosen = 0;
    for (unsigned subsys = 0; subsys < FI_LOG_SUBSYS_MAX; ++subsys) {
        if (filter.passes(enum_name(kLogSubsysNames, subsys))) chosen |= std::uint64_t{1} << subsys;
    }
    return chosen;
}

std::uint64_t chosen_interval() noexcept {
    int milliseconds = 2000;
    const char* text = secure_getenv("FI_LOG_INTERVAL");
    if (text == nullptr || !parse_int(text, &milliseconds) || milliseconds < 0) return 2000;
    return static_cast<std::uint64_t>(milliseconds);
}

void open_sink() noexcept;

void read_settings() noexcept {
    const std::uint64_t subsystems = chosen_subsystems();
    const auto most_detailed = static_cast<unsigned>(chosen_level());
    settings.mask = 0;
    for (unsigned level = 0; level <= most_detailed; ++level) settings.mask |= subsystems << (level * kSubsysBits);
    settings.interval_ms = chosen_interval();
    const std::string_view list = environment("FI_LOG_PROV").substr(0, sizeof settings.provider_list);
    std::memcpy(settings.provider_list, list.data(), list.size());
    settings.providers = NameFilter(std::string_view(settings.provider_list, list.size()));
    open_sink();
    if (imported.load(std::memory_order_acquire) == nullptr) mask.store(settings.mask, std::memory_order_release);
}

void read_first_settings() noexcept {
    read_settings();
    settings_read = true;
}

void read_settings_once() noexcept { pthread_once(&settings_once, read_first_settings); }

bool in_range(fi_log_level level, fi_log_subsys subsys) noexcept {
    return static_cast<unsigned>(level) < FI_LOG_MAX && static_cast<unsigned>(subsys) < FI_LOG_SUBSYS_MAX;
}

const char* name_of(const fi_provider* provider) noexcept { return provider == nullptr ? nullptr : provider->name; }

// Imported loggers speak of fi_provider; the library's own messages come with a name only.
fi_provider named_provider(const char* name) noexcept {
    fi_provider provider{};
    provider.name = name == nullptr ? kCoreName.data() : name;
    return provider;
}

bool provider_passes(const char* provider) noexcept {
    return settings.providers.passes(provider == nullptr ? kCoreName : std::string_view(provider));
}

// What an imported logger gets of the provider: that FI_LOG_PROV leaves it out.
std::uint64_t import_flags(const char* provider) noexcept {
    return provider_passes(provider) ? 0 : std::uint64_t{FI_LOG_PROV_FILTERED};
}

bool own_enabled(const char* provider, fi_log_level level, fi_log_subsys subsys) noexcept {
    const unsigned bit = static_cast<unsigned>(level) * kSubsysBits + static_cast<unsigned>(subsys);
    return (settings.mask >> bit & 1u) != 0 && provider_passes(provider);
}

bool enabled(const fi_provider& provider, fi_log_level level, fi_log_subsys subsys) noexcept {
    read_settings_once();
    if (!in_range(level, subsys)) return false;
    const fid_logging* logger = imported.load(std::memory_order_acquire);
    if (logger != nullptr && FI_CHECK_OP(logger->ops, fi_ops_log, enabled)) {
        return logger->ops->enabled(&provider, level, subsys, import_flags(provider.name)) != 0;
    }
    return own_enabled(provider.name, level, subsys);
}

std::uint64_t now_ms() noexcept {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1000 + static_cast<std::uint64_t>(now.tv_nsec) / 1000000;
}

struct Message {
    const char* provider;
    fi_log_level level;
    fi_log_subsys subsys;
    std::string_view function;
    int line;
};

// libfabric:PID:TIME:PROVIDER:SUBSYSTEM:FUNCTION():LINE<level> text
void put_prefix(TextWriter& out, const Message& message) noexcept {
    out.put(std::string_view("libfabric:"));
    out.decimal(::getpid());
    out.put(':');
    out.decimal(::time(nullptr));
    out.put(':');
    out.c_string(message.provider == nullptr ? kCoreName.data() : message.provider);
    out.put(':');
    write_enum(out, kLogSubsysNames, static_cast<std::uint32_t>(message.subsys));
    out.put(':');
    out.put(message.function);
    out.put(std::string_view("():"));
    out.decimal(message.line);
    out.put('<');
    write_enum(out, kLogLevelNames, static_cast<std::uint32_t>(message.level));
    out.put(std::string_view("> "));
}

// Ends the line that stands in line[0, length) of a text of wanted bytes: newline if it lacks one, dots if it was cut.
std::size_t end_line(char (&line)[kMaxLogLine], std::size_t wanted) noexcept {
    constexpr std::string_view kCut = "...\n";
    if (wanted >= sizeof line - 1) {
        std::memcpy(line + sizeof line - kCut.size(), kCut.data(), kCut.size());
        return sizeof line;
    }
    if (wanted != 0 && line[wanted - 1] == '\n') return wanted;
    line[wanted] = '\n';
    return wanted + 1;
}

void write_own(const Message& message, const char* format, std::va_list arguments) noexcept {
    char line[kMaxLogLine];
    TextWriter out(line, sizeof line);
    put_prefix(out, message);
    const auto prefix = static_cast<std::size_t>(out.position() - line);
    const int text = std::vsnprintf(line + prefix, sizeof line - prefix, format, arguments);
    write_log(line, end_line(line, prefix + (text < 0 ? 0 : static_cast<std::size_t>(text))));
}

__attribute__((format(printf, 2, 3))) void write_formatted(const Message& message, const char* format, ...) noexcept {
    std::va_list arguments;
    va_start(arguments, format);
    write_own(message, format, arguments);
    va_end(arguments);
}

// What is wrong with the location goes where the log goes now, whatever is filtered.
void open_sink() noexcept {
    char error[kSinkErrorMax] = "";
    if (open_log_sink(error)) return;
    write_formatted({nullptr, FI_LOG_WARN, FI_LOG_CORE, __func__, __LINE__}, "%s", error);
}

void write_imported(const fid_logging& logger, const Message& message, const char* function, const char* format,
                    std::va_list arguments) noexcept {
    char text[kMaxLogLine];
    std::vsnprintf(text, sizeof text, format, arguments);
    const fi_provider provider = named_provider(message.provider);
    logger.ops->log(&provider, message.level, message.subsys, function, message.line, text);
}

void emit(const Message& message, const char* function, const char* format, std::va_list arguments) noexcept {
    const int saved_errno = errno;
    const fid_logging* logger = imported.load(std::memory_order_acquire);
    if (logger != nullptr && FI_CHECK_OP(logger->ops, fi_ops_log, log)) {
        write_imported(*logger, message, function, format, arguments);
    } else {
        write_own(message, format, arguments);
    }
    errno = saved_errno;
}

// The compiler gives the whole signature, "void a::B::name(int) const": keep "name".
std::string_view plain_function_name(std::string_view signature) noexcept {
    const std::string_view before = signature.substr(0, signature.find('('));
    const std::size_t start = before.find_last_of(" :*&");
    return start == std::string_view::npos ? before : before.substr(start + 1);
}

void log_at(const char* provider, const LevelHere& at, fi_log_subsys subsys, const char* format,
            std::va_list arguments) noexcept {
    const std::string_view name = plain_function_name(at.where.function_name());
    char function[128];
    TextWriter out(function, sizeof function);
    out.put(name);
    out.finish();
    emit({provider, at.level, subsys, function, static_cast<int>(at.where.line())}, function, format, arguments);
}

}  // namespace

bool log_detail::enabled_slow(const char* provider, fi_log_level level, fi_log_subsys subsys) noexcept {
    const int saved_errno = errno;
    const bool answer = enabled(named_provider(provider), level, subsys);
    errno = saved_errno;
    return answer;
}

void log(LevelHere at, fi_log_subsys subsys, const char* format, ...) noexcept {
    if (!log_enabled(at.level, subsys)) return;
    std::va_list arguments;
    va_start(arguments, format);
    log_at(nullptr, at, subsys, format, arguments);
    va_end(arguments);
}

void log_for(const char* provider, LevelHere at, fi_log_subsys subsys, const char* format, ...) noexcept {
    if (!log_enabled_for(provider, at.level, subsys)) return;
    std::va_list arguments;
    va_start(arguments, format);
    log_at(provider, at, subsys, format, arguments);
    va_end(arguments);
}

void import_logger(const fid_logging* logger) noexcept {
    read_settings_once();
    LockGuard guard(import_lock);
    imported.store(logger, std::memory_order_release);
    mask.store(logger != nullptr ? ~std::uint64_t{0} : settings.mask, std::memory_order_release);
}

void remove_logger(const fid_logging* logger) noexcept {
    LockGuard guard(import_lock);
    if (imported.load(std::memory_order_relaxed) != logger) return;
    imported.store(nullptr, std::memory_order_release);
    mask.store(settings.mask, std::memory_order_release);
}

// Not twice in a row: the second time a new log file would be there already.
void reload_log_settings() noexcept {
    const bool again = settings_read;
    read_settings_once();
    if (again) read_settings();
}

bool log_level_is_set() noexcept {
    static const bool is_set = secure_getenv("FI_LOG_LEVEL") != nullptr;
    return is_set;
}

bool log_turn(std::uint64_t* showtime) noexcept {
    if (showtime == nullptr) return true;
    const std::uint64_t now = now_ms();
    std::atomic_ref<std::uint64_t> next(*showtime);
    std::uint64_t expected = next.load(std::memory_order_relaxed);
    if (now < expected) return false;
    return next.compare_exchange_strong(expected, now + settings.interval_ms, std::memory_order_relaxed);
}

}  // namespace selvage::impl

extern "C" {

__attribute__((visibility("default"))) int fi_log_enabled(const struct fi_provider* prov, enum fi_log_level level,
                                                          enum fi_log_subsys subsys) {
    using namespace selvage::impl;
    return in_range(level, subsys) && log_enabled_for(name_of(prov), level, subsys) ? 1 : 0;
}

__attribute__((visibility("default"))) int fi_log_ready(const struct fi_provider* prov, enum fi_log_level level,
                                                        enum fi_log_subsys subsys, uint64_t* showtime) {
    using namespace selvage::impl;
    if (!in_range(level, subsys)) return 0;
    const fid_logging* logger = imported.load(std::memory_order_acquire);
    if (logger != nullptr && FI_CHECK_OP(logger->ops, fi_ops_log, ready)) {
        const fi_provider provider = named_provider(name_of(prov));
        return logger->ops->ready(&provider, level, subsys, import_flags(provider.name), showtime) != 0 ? 1 : 0;
    }
    return log_enabled_for(name_of(prov), level, subsys) && log_turn(showtime) ? 1 : 0;
}

// Writes without asking whether it should: the macros of fi_log.h have asked.
__attribute__((visibility("default"))) void fi_log(const struct fi_provider* prov, enum fi_log_level level,
                                                   enum fi_log_subsys subsys, const char* func, int line,
                                                   const char* fmt, ...) {
    using namespace selvage::impl;
    if (fmt == nullptr) return;
    const char* function = func == nullptr ? "?" : func;
    std::va_list arguments;
    va_start(arguments, fmt);
    emit({name_of(prov), level, subsys, function, line}, function, fmt, arguments);
    va_end(arguments);
}

}  // extern "C"
