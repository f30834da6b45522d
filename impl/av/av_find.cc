// What the engine asks of an address vector, and the one place where entries come and go; see av.h.
#include "impl/av/av.h"

namespace selvage::impl {

// The index of a shared vector grows when it is asked.
int AddressVector::reserve(size_t count) {
    const int error = store.reserve(count);
    if (error || store.shared()) return error;
    return index.reserve(count) ? 0 : -FI_ENOMEM;
}

fi_addr_t AddressVector::insert(const AvEntry& entry, uint64_t user_id) {
    const fi_addr_t known = index.find(stored_form(entry));
    if (known != FI_ADDR_NOTAVAIL && (user_ids || store.user_id(known) == user_id)) {
        store.use_again(known);
        return known;
    }
    const fi_addr_t address = store.insert(stored_form(entry), user_id);
    if (!store.shared()) index.add(stored_form(entry), address);
    return address;
}

void AddressVector::remove(fi_addr_t address) {
    AvCopy copy;
    if (!store.shared() && store.used_once(address)) index.remove(store.find(address, &copy), address);
    store.remove(address);
}

namespace {

// An entry of a shared vector may be anything: it has to be what an insertion could have put there.
bool valid_text(const char* text) {
    ParsedAddress parsed;
    return memchr(text, '\0', kShmTextMax) && read_address(FI_ADDR_STR, text, strlen(text) + 1, &parsed) &&
           parsed.kind == AddressKind::Shm && strcmp(parsed.shm, text) == 0 && strlen(text) > kShmScheme.size();
}

bool valid_socket(const SocketAddress& address, AddressKind kind) {
    if (address.kind != kind || !address.names_endpoint()) return false;
    if (kind == AddressKind::IbUd) return true;
    return address.any.sa_family == (kind == AddressKind::Inet ? AF_INET : AF_INET6);
}

}  // namespace

bool AddressVector::read(fi_addr_t address, AvEntry* out) {
    AvCopy copy;
    const void* entry = store.find(address, &copy);
    if (!entry) return false;
    out->error = 0;
    if (holds_text()) {
        memcpy(out->text, entry, sizeof out->text);
        return !store.shared() || valid_text(out->text);
    }
    out->socket = SocketAddress();
    memcpy(static_cast<void*>(&out->socket), entry, entry_size());
    return !store.shared() || valid_socket(out->socket, domain->kind);
}

bool AddressVector::find_address(fi_addr_t address, AvEntry* out) {
    {
        AvLock guard(store);
        if (!read(without_context(address), out)) return false;
    }
    out->socket.context = 0;
    if (!context_bits) return true;
    const uint64_t context = address >> (64 - context_bits);
    if (context >= kContextsMax) return false;
    out->socket.context = receive_context(context);
    return !holds_text() || add_context(receive_context(context), out->text);
}

AvMatch AddressVector::match(const AvEntry& entry) {
    AvEntry plain = entry;
    uint16_t context;
    if (holds_text()) static_cast<void>(take_context(plain.text, &context));
    AvLock guard(store);
    AvMatch found;
    found.address = index.find(stored_form(plain));
    if (found.address == FI_ADDR_NOTAVAIL) return found;
    const uint64_t user_id = user_ids ? FI_ADDR_NOTAVAIL : store.user_id(found.address);
    found.reported = user_id == FI_ADDR_NOTAVAIL ? found.address : user_id;
    return found;
}

fi_addr_t AddressVector::reported(fi_addr_t address) {
    AvLock guard(store);
    if (!store.holds(address)) return FI_ADDR_NOTAVAIL;
    const uint64_t user_id = store.user_id(address);
    return user_id == FI_ADDR_NOTAVAIL && !user_ids ? address : user_id;
}

fi_addr_t AddressVector::compared(fi_addr_t address) {
    address = without_context(address);
    if (!user_ids) return reported(address);
    AvLock guard(store);
    return store.holds(address) ? address : FI_ADDR_NOTAVAIL;
}

}  // namespace selvage::impl
