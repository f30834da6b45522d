// The address vector: addresses of peers under short numbers.
//
// MAP and TABLE alike give the index of the slot. An address that is in the vector already keeps its number, unless it
// comes with another identifier of the user; it leaves with the removal that is as many times as it was inserted.
// A vector opened with FI_AV_USER_ID (1.20) has each address once: completions report what fi_av_set_user_id gave its
// number, and FI_ADDR_NOTAVAIL until then.
// Insertion is immediate; an AV opened with FI_EVENT reports through its event queue as if it were not.
#pragma once

#include <algorithm>

#include "impl/av/av_index.h"
#include "impl/av/av_store.h"
#include "impl/base/object.h"
#include "impl/domain/domain.h"
#include "impl/net/context_id.h"

namespace selvage::impl {

struct EventQueue;

// One address on its way in, or out again: the stored form, or why there is none (a positive fabric errno).
struct AvEntry {
    int error = 0;
    SocketAddress socket;         // internet providers
    char text[kShmTextMax] = {};  // shm
};

// An address found: what transfers name, and what messages are compared by and completions report (the user's
// identifier where one was given). With AddressVector::user_ids both are the number, and what completions report is
// asked for by it.
struct AvMatch {
    fi_addr_t address = FI_ADDR_NOTAVAIL;
    fi_addr_t reported = FI_ADDR_NOTAVAIL;
};

struct AddressVector {
    fid_av descriptor{};
    UseCount uses;  // endpoints bound to it
    Domain* domain = nullptr;
    fi_av_type type = FI_AV_TABLE;
    bool async = false;     // FI_EVENT
    bool user_ids = false;  // FI_AV_USER_ID: see above
    // Of the number that a transfer names, from the top: which receive context of a scalable endpoint (fi_rx_addr).
    unsigned context_bits = 0;
    AvStore store;
    AvIndex index{store};      // used with the store's lock held
    EventQueue* eq = nullptr;  // bound; holds a use of it. Protected by the domain's lock.

    bool holds_text() const { return domain->kind == AddressKind::Shm; }
    // What of an entry is stored: of a million a short one is found sooner.
    size_t entry_size() const { return holds_text() ? kShmTextMax : SocketAddress::stored_size(domain->kind); }

    // For the engine and the transports, from any thread, in constant time.
    // The address behind a number, and of the context that the number names; false when there is none.
    bool find_address(fi_addr_t address, AvEntry* out);
    // The number of an address, or FI_ADDR_NOTAVAIL; of an address with two identifiers of the user, either. That of a
    // context is its endpoint's.
    AvMatch match(const AvEntry& entry);
    fi_addr_t reverse(const AvEntry& entry) { return match(entry).reported; }
    // What completions report for a number that is in use.
    fi_addr_t reported(fi_addr_t address);
    // What messages from a number that is in use are compared by, whichever context it names.
    fi_addr_t compared(fi_addr_t address);
    // Changes with every insertion and removal, by any process; never UINT32_MAX. Read it before match().
    uint32_t generation() const { return store.generation(); }

    // How many contexts a number can name, at most.
    size_t contexts() const { return std::min(size_t{1} << context_bits, kContextsMax); }
    fi_addr_t without_context(fi_addr_t address) const { return address & (~fi_addr_t{0} >> context_bits); }

    // With the store's lock held.
    int reserve(size_t count);
    // FI_ADDR_NOTAVAIL only when another process broke what it shares.
    fi_addr_t insert(const AvEntry& entry, uint64_t user_id);
    void remove(fi_addr_t address);
    bool read(fi_addr_t address, AvEntry* out);
    const void* stored_form(const AvEntry& entry) const {
        return holds_text() ? static_cast<const void*>(entry.text) : &entry.socket;
    }

    static AddressVector* of(fid_av* av) { return object_of<AddressVector>(av); }
};

// Checks that the domain can reach an address of this kind.
void take_parsed(const AddressVector& av, const ParsedAddress& parsed, AvEntry* out);

// Where the addresses of one insertion come from.
class AvSource {
public:
    virtual void fetch(size_t index, AvEntry* out) = 0;

protected:
    ~AvSource() = default;
};

struct AvRequest {
    size_t count;
    fi_addr_t* addresses;  // in: user ids with FI_AV_USER_ID; out: what was assigned
    uint64_t flags;
    void* context;
};

// The whole of an insertion, synchronous or not. Returns what the fi_av_insert calls return.
int insert_addresses(AddressVector& av, AvSource& source, const AvRequest& request);

int insert_service(fid_av*, const char* node, const char* service, fi_addr_t*, uint64_t flags, void* context);
int insert_symmetric(fid_av*, const char* node, size_t node_count, const char* service, size_t service_count,
                     fi_addr_t*, uint64_t flags, void* context);

}  // namespace selvage::impl
