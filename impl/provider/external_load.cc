// Finds and loads the files, and decides which of them are providers: see external.h.
//
// A file that is none costs one line in the log (level warn), which says what is wrong and what helps, and changes
// nothing else.
#include <dirent.h>
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>

#include "impl/base/lock.h"
#include "impl/catalog/registry.h"
#include "impl/config/log.h"
#include "impl/config/param.h"
#include "impl/provider/external.h"

namespace selvage::impl {

namespace external_detail {
constinit std::atomic<State> state{State::NotLoaded};
}

namespace {

using external_detail::State;

// Declares the variable for fi_getparams.
const Param<const char*> kPathRow{nullptr, "provider_path", nullptr,
                                  "Folders that are searched for providers (lib*-fi.so), separated by colons; of two "
                                  "providers of one name the newer is used, or the first if the path starts with @"};

constexpr char kPathVariable[] = "FI_PROVIDER_PATH";
constexpr size_t kMaxProviders = 64;
// What a fi_provider has meant since; before, hosts and providers were to be of one release.
constexpr uint32_t kOldestInterface = FI_VERSION(1, 3);

// Written by load() alone, before `state` is Some.
ExternalProvider table[kMaxProviders];
size_t table_size = 0;
pid_t loading_process = 0;

constinit Mutex load_lock;
// The thread in load(), which holds load_lock. A thread finds itself here only if it stored itself.
constinit std::atomic<pthread_t> loading_thread{};

bool is_loading_here() { return loading_thread.load(std::memory_order_relaxed) == pthread_self(); }

// fork: the child must not find the lock held by a thread that it does not have.
void before_fork() {
    if (!is_loading_here()) load_lock.lock();
}
void after_fork() {
    if (!is_loading_here()) load_lock.unlock();
}

void reject(const char* file, const char* why, const char* remedy) {
    log(FI_LOG_WARN, FI_LOG_CORE, "%s is not used as a provider: %s; %s", file, why, remedy);
}

void clean_up(const ExternalProvider& provider) {
    if (provider.cleanup) provider.cleanup();
}

bool is_name_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("_-.+", c);
}

// Names go into lists (FI_PROVIDER), layered names and lines of the log.
bool is_name(std::string_view text) { return !text.empty() && std::ranges::all_of(text, is_name_character); }

// Takes over what `source` says, or says what is wrong with it.
bool check(const char* file, const fi_provider* source, ExternalProvider* out) {
    constexpr char kQueryVendor[] = "ask its vendor for one that is made for this interface";
    if (!source) {
        reject(file, "fi_prov_ini returned NULL", "its own messages may say why");
        return false;
    }
    const uint32_t fi_version = source->fi_version;
    if (fi_version < kOldestInterface || fi_version > kNewestVersion) {
        char why[128];
        snprintf(why, sizeof why, "it was built for interface %u.%u, and %u.%u to %u.%u are supported",
                 FI_MAJOR(fi_version), FI_MINOR(fi_version), FI_MAJOR(kOldestInterface), FI_MINOR(kOldestInterface),
                 FI_MAJOR(kNewestVersion), FI_MINOR(kNewestVersion));
        reject(file, why, kQueryVendor);
        return false;
    }
    const size_t length = source->name ? strnlen(source->name, sizeof out->name) : 0;
    if (length == sizeof out->name) {
        reject(file, "the name of its provider is longer than 63 characters", kQueryVendor);
        return false;
    }
    if (!length || !is_name({source->name, length})) {
        reject(file, "the name of its provider is not made of letters, digits and _ - . +", kQueryVendor);
        return false;
    }
    if (!source->getinfo || !source->fabric) {
        reject(file, source->getinfo ? "its provider has no call `fabric`" : "its provider has no call `getinfo`",
               kQueryVendor);
        return false;
    }
    *out = {.name = {},
            .version = source->version,
            .fi_version = fi_version,
            .getinfo = source->getinfo,
            .fabric = source->fabric,
            .cleanup = source->cleanup};
    memcpy(out->name, source->name, length);
    return true;
}

ExternalProvider* find(std::string_view name) {
    const auto found =
        std::find_if(table, table + table_size, [&](const ExternalProvider& p) { return equal_names(p.name, name); });
    return found == table + table_size ? nullptr : found;
}

const Provider* find_own(std::string_view name) {
    for (const Provider* provider : all_providers()) {
        if (equal_names(provider->name, name)) return provider;
    }
    return nullptr;
}

bool is_name_of_layer(std::string_view name) {
    return std::ranges::any_of(all_providers(), [&](const Provider* provider) {
        return provider->layered_name && equal_names(provider->layered_name, name);
    });
}

void reject_second(const char* file, const ExternalProvider& provider, uint32_t first_version) {
    char why[160];
    snprintf(why, sizeof why, "a provider named %s is there already, of version %u.%u, and this one is %u.%u",
             provider.name, FI_MAJOR(first_version), FI_MINOR(first_version), FI_MAJOR(provider.version),
             FI_MINOR(provider.version));
    reject(file, why, "put its folder first and @ before the path to prefer it");
    clean_up(provider);
}

// One loading of all folders.
class Loading {
public:
    explicit Loading(std::string_view path) : first_found_wins_(path.starts_with('@')) {
        if (first_found_wins_) path.remove_prefix(1);
        while (!path.empty()) {
            const size_t end = std::min(path.find(':'), path.size());
            if (end) load_folder(path.substr(0, end));
            path.remove_prefix(std::min(end + 1, path.size()));
        }
    }

private:
    void load_folder(std::string_view name);
    void load_file(const char* file);
    void admit(const char* file, const ExternalProvider& provider);
    // Whether a provider of that name may be added; `instead_of` is the external one that gives way to it, if any.
    bool prevails(const char* file, const ExternalProvider& provider, ExternalProvider** instead_of) const;

    const bool first_found_wins_;
};

int is_provider_file(const dirent* entry) {
    const std::string_view name(entry->d_name);
    return name.starts_with("lib") && name.ends_with("-" FI_LIB_SUFFIX);
}

// Not alphasort(), whose order is that of the locale.
int by_name(const dirent** a, const dirent** b) { return strcmp((*a)->d_name, (*b)->d_name); }

void Loading::load_folder(std::string_view name) {
    char folder[PATH_MAX];
    const bool fits = name.size() < sizeof folder;
    if (fits) *std::copy(name.begin(), name.end(), folder) = '\0';
    dirent** files = nullptr;
    const int count = fits ? scandir(folder, &files, is_provider_file, by_name) : -1;
    if (count < 0) {
        log(FI_LOG_WARN, FI_LOG_CORE, "%s names the folder %.*s, which cannot be read: %s; correct the path",
            kPathVariable, static_cast<int>(std::min<size_t>(name.size(), 1024)), name.data(),
            strerrordesc_np(fits ? errno : ENAMETOOLONG));
        return;
    }
    for (int i = 0; i < count; ++i) {
        char file[PATH_MAX + NAME_MAX + 2];
        snprintf(file, sizeof file, "%s/%s", folder, files[i]->d_name);
        load_file(file);
        free(files[i]);
    }
    free(files);
}

void Loading::load_file(const char* file) {
    struct stat status;
    if (stat(file, &status)) {
        reject(file, strerrordesc_np(errno), "remove it, or repair what it points to");
        return;
    }
    // To open a pipe would wait for its writer.
    if (!S_ISREG(status.st_mode)) {
        reject(file, "it is no regular file", "remove it");
        return;
    }
    // RTLD_LOCAL: its symbols are its own. Not RTLD_DEEPBIND, which would bind it to another malloc than the program's
    // where that replaces the C library's, and what a provider allocates is freed here.
    void* const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char* why = dlerror();
        reject(file, why ? why : "it cannot be loaded", "install what it needs, or remove it");
        return;
    }
    const auto entry = reinterpret_cast<fi_provider* (*)()>(dlsym(handle, "fi_prov_ini"));
    if (!entry) {
        reject(file, "it has no entry fi_prov_ini", "remove it, or give it a name that does not end in -fi.so");
        return;
    }
    ExternalProvider provider;
    if (check(file, entry(), &provider)) admit(file, provider);
}

void Loading::admit(const char* file, const ExternalProvider& provider) {
    if (!is_admitted(provider.name)) {
        log(FI_LOG_INFO, FI_LOG_CORE, "%s is not used: FI_PROVIDER leaves %s out", file, provider.name);
        clean_up(provider);
        return;
    }
    ExternalProvider* slot = nullptr;
    if (!prevails(file, provider, &slot)) return;
    if (slot) {
        clean_up(*slot);
    } else if (table_size < kMaxProviders) {
        slot = &table[table_size++];
    } else {
        reject(file, "there are 64 others already", "put fewer files into the folders of FI_PROVIDER_PATH");
        clean_up(provider);
        return;
    }
    *slot = provider;
    log(FI_LOG_INFO, FI_LOG_CORE, "%s is provider %s %u.%u, built for interface %u.%u", file, provider.name,
        FI_MAJOR(provider.version), FI_MINOR(provider.version), FI_MAJOR(provider.fi_version),
        FI_MINOR(provider.fi_version));
}

bool Loading::prevails(const char* file, const ExternalProvider& provider, ExternalProvider** instead_of) const {
    if (ExternalProvider* const earlier = find(provider.name)) {
        const bool same_file = earlier->getinfo == provider.getinfo;  // reached twice, by links or by the path
        if (same_file) return false;
        if (first_found_wins_ || earlier->version >= provider.version) {
            reject_second(file, provider, earlier->version);
            return false;
        }
        *instead_of = earlier;
        return true;
    }
    if (is_name_of_layer(provider.name)) {
        reject(file, "its provider has the name of a layer of this library",
               "leave it out: layers over files are not supported");
        clean_up(provider);
        return false;
    }
    const Provider* const own = find_own(provider.name);
    if (!own) return true;
    if (!first_found_wins_ && own->version > provider.version) {
        reject_second(file, provider, own->version);
        return false;
    }
    replace_provider(*own);
    log(FI_LOG_INFO, FI_LOG_CORE, "%s takes the place of this library's %s", file, own->name);
    return true;
}

// As upstream does: behind the exit handlers of the program, which may still use the providers' objects. The child of a
// fork that ends leaves alone what its parent uses.
[[gnu::destructor]] void clean_up_all() {
    if (external_detail::state.exchange(State::None, std::memory_order_acq_rel) != State::Some) return;
    if (getpid() != loading_process) return;
    while (table_size) clean_up(table[--table_size]);
}

}  // namespace

bool external_detail::load() {
    const char* path = secure_getenv(kPathVariable);
    if (!path || !*path) {
        state.store(State::None, std::memory_order_release);
        return false;
    }
    if (is_loading_here()) return false;  // a provider that queries while it is loaded
    arm_registry_for_fork();
    static const int armed = pthread_atfork(before_fork, after_fork, after_fork);
    static_cast<void>(armed);
    LockGuard guard(load_lock);
    if (state.load(std::memory_order_relaxed) == State::NotLoaded) {
        loading_thread.store(pthread_self(), std::memory_order_relaxed);
        loading_process = getpid();
        const Loading all(path);
        state.store(table_size ? State::Some : State::None, std::memory_order_release);
        loading_thread.store(pthread_t{}, std::memory_order_relaxed);
    }
    return state.load(std::memory_order_relaxed) == State::Some;
}

std::span<const ExternalProvider> external_providers() { return {table, table_size}; }

const ExternalProvider* find_external_provider(std::string_view name) { return find(name); }

}  // namespace selvage::impl
