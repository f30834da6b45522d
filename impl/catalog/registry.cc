// See registry.h.
#include "impl/catalog/registry.h"

#include <pthread.h>
#include <strings.h>

#include <atomic>
#include <cstdlib>

#include "impl/base/lock.h"
#include "impl/config/log.h"
#include "impl/config/param.h"
#include "impl/net/watch.h"

namespace selvage::impl {
namespace {

// Declares the variable for fi_getparams; the filter below reads it.
const Param<const char*> kProviderRow{nullptr, "provider", nullptr,
                                      "Providers registered, separated by commas; a leading ^ registers all but these"};

// FI_PROVIDER as it was when the library first looked: names apart by ',' or ';', with '^' in front all but those.
// Kept in place, so that the first query leaves nothing allocated behind.
class Filter {
public:
    Filter() {
        const char* value = secure_getenv("FI_PROVIDER");
        if (!value) return;
        const size_t length = strnlen(value, sizeof text_);
        if (length == sizeof text_) {
            log(FI_LOG_WARN, FI_LOG_CORE, "FI_PROVIDER is longer than %zu characters and ignored", sizeof text_ - 1);
            return;
        }
        memcpy(text_, value, length);
        names_ = std::string_view(text_, length);
        negated_ = names_.starts_with('^');
        if (negated_) names_.remove_prefix(1);
    }
    Filter(const Filter&) = delete;
    Filter& operator=(const Filter&) = delete;

    bool admits(std::string_view name) const { return names_.empty() || contains(name) != negated_; }
    // A list of providers to register names those that move data; layers follow them.
    bool admits_layer(std::string_view name) const { return !negated_ || !contains(name); }

private:
    bool contains(std::string_view name) const {
        std::string_view rest = names_;
        while (!rest.empty()) {
            const size_t end = rest.find_first_of(",;");
            if (equal_names(rest.substr(0, end), name)) return true;
            if (end == std::string_view::npos) break;
            rest.remove_prefix(end + 1);
        }
        return false;
    }

    char text_[1024] = {};
    std::string_view names_;
    bool negated_ = false;
};

const Filter& filter() {
    static const Filter instance;
    return instance;
}

// What is not as usual with the names of providers; one word, as every query reads it several times.
//   bit i           an external provider has taken the place of all_providers()[i]
//   kAllAdmitted    FI_PROVIDER says nothing
// Set before any query that may see it: by who loads external providers, or is one.
constinit std::atomic<unsigned> exceptions{0};
constexpr unsigned kAllAdmitted = 1U << 31;
static_assert(kProvidersMax < 31);

[[gnu::noinline]] bool is_registered_with(unsigned unusual, std::string_view name) {
    const std::span providers = all_providers();
    for (unsigned i = 0; i < providers.size(); ++i) {
        if ((unusual >> i & 1U) && name == providers[i]->name) return false;
    }
    return (unusual & kAllAdmitted) || filter().admits(name);
}

// The table and what keeps it current.
struct Cache {
    Mutex lock;
    InterfaceWatch watch;
    Table* table = nullptr;
    unsigned unusual = 0;  // the exceptions that it was built with

    // A handler of exit() that still asks finds an empty cache, not a dead one.
    ~Cache() {
        if (table) table->release();
        table = nullptr;
    }
};

Cache& cache() {
    static Cache instance;
    return instance;
}

// fork: the child must neither find the lock held nor read from the parent's socket.
void before_fork() { cache().lock.lock(); }
void in_parent() { cache().lock.unlock(); }
void in_child() {
    cache().watch.forget();
    cache().lock.unlock();
}

int build_table(Table** result) {
    TableBuilder builder;
    for (const Provider* provider : all_providers()) {
        if (!is_registered(provider->name)) continue;
        const int error = provider->discover(*provider, builder);
        if (error) return error;
    }
    // Layered names say nothing that the plain ones did not: last.
    for (const Provider* provider : all_providers()) {
        if (!provider->layered_name || !is_registered(provider->name) || !is_layer_registered(provider->layered_name))
            continue;
        const int error = builder.add_layered(*provider);
        if (error) return error;
    }
    *result = builder.finish();
    return *result ? 0 : -FI_ENOMEM;
}

}  // namespace

bool equal_names(std::string_view a, std::string_view b) {
    return a.size() == b.size() && strncasecmp(a.data(), b.data(), a.size()) == 0;
}

bool is_admitted(std::string_view name) { return filter().admits(name); }

bool is_registered(std::string_view name) {
    const unsigned unusual = exceptions.load(std::memory_order_relaxed);
    if (unusual) [[unlikely]]
        return is_registered_with(unusual, name);
    return filter().admits(name);
}

bool is_layer_registered(std::string_view name) {
    return (exceptions.load(std::memory_order_relaxed) & kAllAdmitted) || filter().admits_layer(name);
}

void admit_all_providers() { exceptions.fetch_or(kAllAdmitted, std::memory_order_relaxed); }

void replace_provider(const Provider& own) {
    const std::span providers = all_providers();
    for (unsigned i = 0; i < providers.size(); ++i) {
        if (providers[i] == &own) exceptions.fetch_or(1U << i, std::memory_order_relaxed);
    }
}

void arm_registry_for_fork() {
    static const int armed = pthread_atfork(before_fork, in_parent, in_child);
    static_cast<void>(armed);
}

int current_table(bool follow_changes, TableRef* result) {
    arm_registry_for_fork();
    Cache& state = cache();
    LockGuard guard(state.lock);
    const unsigned unusual = exceptions.load(std::memory_order_relaxed);
    const bool stale = !state.table || state.unusual != unusual || (follow_changes && state.watch.changed());
    if (stale) {
        if (!state.table) state.watch.changed();
        Table* fresh = nullptr;
        const int error = build_table(&fresh);
        if (error) {
            // The change was seen but not read: see it again next time.
            state.watch.forget();
            return error;
        }
        if (state.table) state.table->release();
        state.table = fresh;
        state.unusual = unusual;
    }
    state.table->retain();
    result->adopt(state.table);
    return 0;
}

bool ProviderName::admits(const Provider& candidate) const {
    return valid && (!provider || provider == &candidate) && (!layered || candidate.layered_name);
}

bool ProviderName::admits(const Offer& offer) const { return admits(*offer.provider) && layered == offer.layered; }

namespace {

const Provider* find_provider(std::string_view name) {
    for (const Provider* provider : all_providers()) {
        if (equal_names(provider->name, name) && is_registered(provider->name)) return provider;
    }
    return nullptr;
}

// An answer has one spelling of a layered name, and what was asked for has to be in it: here the case counts.
bool is_layer(std::string_view name) {
    for (const Provider* provider : all_providers()) {
        if (provider->layered_name && provider->layered_name == name) return is_layer_registered(name);
    }
    return false;
}

}  // namespace

ProviderName parse_provider_name(std::string_view text) {
    ProviderName result;
    const size_t separator = text.find(';');
    const std::string_view first = text.substr(0, separator);
    if (separator == std::string_view::npos) {
        result.provider = find_provider(first);
        result.layered = !result.provider && is_layer(first);
        result.valid = result.provider || result.layered;
        return result;
    }
    const std::string_view second = text.substr(separator + 1);
    const bool layer_first = is_layer(first);
    result.provider = find_provider(layer_first ? second : first);
    result.layered = true;
    result.valid = result.provider && result.provider->name == (layer_first ? second : first) &&
                   is_layer(layer_first ? first : second);
    return result;
}

}  // namespace selvage::impl
