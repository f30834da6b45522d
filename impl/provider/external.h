// Providers that other people built, as files (fi_provider(3): "external providers"): lib*-fi.so in the folders of
// FI_PROVIDER_PATH. provider_file.cc is the other direction.
//
// Invariants:
//   1. The files are loaded once, by the first call of fi_getinfo or fi_fabric; from then on the table never changes.
//   2. Without the variable there are none, and nothing is looked for. A set-uid program has none.
//   3. Names in the table differ, without regard to case, and differ from those of the registered providers of this
//      library (registry.h): of two the newer version stands, or the one that was found first if the path starts with
//      '@'. FI_PROVIDER has admitted each of them.
//   4. What a file's fi_provider said when it was loaded was checked and copied; it is not read again.
//   5. A file stays mapped until the process ends, whether it is used or not: it may have threads, and code in the
//      objects of the program. `cleanup` of the used ones is called when the process ends, in the process that loaded
//      them alone.
//
// Any thread may call. No lock is held while code of a provider runs, except while the files are loaded: a provider
// that queries its host then sees the providers of this library alone.
#pragma once

#include "impl/base/rdma.h"

#include <atomic>
#include <span>
#include <string_view>

namespace selvage::impl {

struct ExternalProvider {
    char name[FI_NAME_MAX];
    uint32_t version;     // of the provider itself
    uint32_t fi_version;  // of the interface that it was built for: the newest that it takes, and its structures
    decltype(fi_provider::getinfo) getinfo;
    decltype(fi_provider::fabric) fabric;
    decltype(fi_provider::cleanup) cleanup;  // may be nullptr
};

namespace external_detail {
enum class State : uint8_t { NotLoaded, None, Some };
extern std::atomic<State> state;
bool load();
}  // namespace external_detail

// Whether there are any. Loads them if nobody has; otherwise one load and one branch.
inline bool has_external_providers() {
    // Acquire: pairs with the release in load(), after which the table is read without a lock.
    const external_detail::State state = external_detail::state.load(std::memory_order_acquire);
    if (state == external_detail::State::None) [[likely]]
        return false;
    return state == external_detail::State::Some || external_detail::load();
}

// In the order of the folders, and of the files' names within a folder. REQUIRES: has_external_providers()
std::span<const ExternalProvider> external_providers();
// The one of that name, without regard to case, or nullptr. REQUIRES: has_external_providers()
const ExternalProvider* find_external_provider(std::string_view name);

}  // namespace selvage::impl
