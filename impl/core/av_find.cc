// What the engine asks of an address vector, and the one place where entries come and go; see av.h.
#include "impl/core/av.h"

namespace selvage::impl {

// The index of a shared vector grows when it is asked.
int AddressVector::reserve(size_t count) {
    const int error = store.reserve(count);
    if (error || store.shared()) return error;
    return index.reserve(count) ? 0 : -FI_ENOMEM;
}

fi_addr_t AddressVector::insert(const AvEntry& entry, uint64_t user_id) {
    const fi_addr_t address = store.insert(stored_form(entry), user_id);
    if (!store.shared()) index.add(stored_form(entry), address);
    return address;
}

void AddressVector::remove(fi_addr_t address) {
    if (!store.shared()) index.remove(store.find(address), address);
    store.remove(address);
}

bool AddressVector::find_address(fi_addr_t address, AvEntry* out) {
    AvLock guard(store);
    const void* entry = store.find(address);
    if (!entry) return false;
    out->error = 0;
    if (holds_text()) {
        memcpy(out->text, entry, sizeof out->text);
        out->text[sizeof out->text - 1] = '\0';
    } else {
        memcpy(static_cast<void*>(&out->socket), entry, sizeof out->socket);
    }
    return true;
}

AvMatch AddressVector::match(const AvEntry& entry) {
    AvLock guard(store);
    AvMatch found;
    found.address = index.find(stored_form(entry));
    if (found.address == FI_ADDR_NOTAVAIL) return found;
    const uint64_t user_id = store.user_id(found.address);
    found.reported = user_id == FI_ADDR_NOTAVAIL ? found.address : user_id;
    return found;
}

fi_addr_t AddressVector::reported(fi_addr_t address) {
    AvLock guard(store);
    if (!store.find(address)) return FI_ADDR_NOTAVAIL;
    const uint64_t user_id = store.user_id(address);
    return user_id == FI_ADDR_NOTAVAIL ? address : user_id;
}

}  // namespace selvage::impl
