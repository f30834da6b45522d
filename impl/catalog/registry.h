// Which providers there are and what they offer right now.
//
// The list of providers is fixed when the library is built, and filtered once by FI_PROVIDER and by the external
// providers that take the place of one (provider/external.h). The table of offers is
// built at the first query and rebuilt only after the kernel reported a change. Any thread may call.
#pragma once

#include <span>
#include <string_view>

#include "impl/catalog/offer.h"

namespace selvage::impl {

// Holds one reference of a table.
class TableRef {
public:
    TableRef() = default;
    ~TableRef() {
        if (table_) table_->release();
    }
    TableRef(const TableRef&) = delete;
    TableRef& operator=(const TableRef&) = delete;

    // Takes over a reference. Once only.
    void adopt(Table* table) { table_ = table; }
    const Table& operator*() const { return *table_; }
    const Table* operator->() const { return table_; }

private:
    Table* table_ = nullptr;
};

// The case of a name does not count.
bool equal_names(std::string_view a, std::string_view b);
// All providers of the build, best first, registered or not; kProvidersMax at most. The list is the one thing that this
// directory does not know itself: who puts the library together has it (abi/provider_list.cc).
inline constexpr size_t kProvidersMax = 30;
std::span<const Provider* const> all_providers();
// What FI_PROVIDER says of the name of a provider, whoever has it, and of a layer ("ofi_rxm").
bool is_admitted(std::string_view name);
bool is_layer_registered(std::string_view name);
// Of a name in all_providers(): admitted, and no external provider has taken its place.
bool is_registered(std::string_view name);

// From now on `own` is not registered: an external provider answers to its name.
void replace_provider(const Provider& own);

// From now on FI_PROVIDER says nothing. Before the first query alone.
void admit_all_providers();

// Registers what fork() needs here, unless it has been. A lock that may be held around current_table() has to have its
// handlers registered after these, so that fork() takes it first, too.
void arm_registry_for_fork();

// The current table of every registered provider. Returns 0 or a negative fabric errno.
// With `follow_changes` false the last table is good enough (nothing in the query depends on interfaces).
int current_table(bool follow_changes, TableRef* result);

// What a provider name of a hint or of fi_fabric means.
struct ProviderName {
    const Provider* provider = nullptr;  // nullptr: any provider that has the layer
    bool layered = false;
    bool valid = false;
    bool admits(const Offer& offer) const;
    bool admits(const Provider& candidate) const;
};
// Understands "tcp", without regard to case, and "tcp;ofi_rxm", "ofi_rxm;tcp" and "ofi_rxm" as they are.
ProviderName parse_provider_name(std::string_view text);

}  // namespace selvage::impl
