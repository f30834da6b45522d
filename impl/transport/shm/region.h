// Regions (layout.h): making one's own, entering another's, telling the living from the dead. Control path.
//
// A region is found under its address. It appears with magic 0, gets the owner's lock and its contents, and the magic
// last; whoever finds it without a held owner lock may take that lock and remove it, whatever it holds.
#pragma once

#include "impl/transport/shm/keyed_digest.h"
#include "impl/transport/shm/layout.h"

namespace selvage::impl::shm {

inline constexpr size_t kFileNameMax = 192;

// Who an endpoint is to others.
struct Identity {
    char text[kShmTextMax] = {};
    uint8_t instance[kIdBytes] = {};
    Bytes key;  // of the domain; outlives the transport
};

struct OwnRegion {
    int file = -1;
    RegionHeader* header = nullptr;
    char name[kFileNameMax] = {};

    // Makes the region of `self.text` and draws self->instance. -FI_EADDRINUSE when a living endpoint has that
    // address; a dead one's region is removed.
    int create(Identity* self, bool senders_fence);
    void remove();
    // In a child of fork(): forget it all.
    void forget();

    // Memory for a slot before its sender comes, so that none is refused for want of it. 0 or -FI_ENOSPC, ...
    int reserve(size_t slot) const;
    // The slot as map_slot() gives it, with the memory that a sender would give it first, or nullptr.
    SlotControl* prepare_slot(size_t slot) const;
    // The slot's memory: the control page, and behind it the ring twice. nullptr with *error.
    SlotControl* map_slot(size_t slot, int* error) const;
    bool slot_is_held(size_t slot) const;
    // Gives the slot's memory back and lets others take it.
    void free_slot(size_t slot) const;
};

// A slot that this endpoint holds in another's region.
struct RemoteSlot {
    int file = -1;
    size_t index = 0;
    RegionHeader* header = nullptr;  // and what follows it in the file, up to kWindowBytes
    SlotControl* slot = nullptr;
    size_t mapped = 0;  // bytes of the slot that are mapped by themselves; 0: it lies in the window behind `header`

    // -FI_EAGAIN: nobody lives at that address, or its owner is not ready; worth another try. -FI_EBUSY: the owner
    // lives, and another sender is making the file longer; likewise. -FI_EACCES: another key, or another user's.
    // -FI_ENOSPC, -FI_ENOMEM, -FI_EMFILE: resources.
    // `answers`: what goes with the hello.
    struct Answers {
        bool looked_at;    // in this slot
        uint32_t written;  // lines, into the slot that the owner of this region has in the caller's
    };
    int enter(const char* text, const Identity& self, const Answers& answers);
    // Memory for all of the ring, of which enter() gives kFirstLines, and a mapping in which it comes twice: `slot`
    // changes. 0 or -FI_ENOSPC, ...
    int allocate_ring();
    // Tells the owner that nothing follows.
    void say_closed();
    void leave();
    void forget();
    bool owner_is_alive() const;
    // Asks the owner to look at our slot.
    void raise_attention() const { header->attention.fetch_or(uint64_t{1} << (index % 64), std::memory_order_release); }
};

// The ring behind a mapped slot.
inline std::byte* ring_of(SlotControl* slot) { return reinterpret_cast<std::byte*>(slot) + kPage; }
void unmap_slot(SlotControl* slot);

// True if the text is an address as this provider makes them, with a name in it, and perhaps a context.
bool valid_text(const char (&text)[kShmTextMax]);
// There is a file of that address's region, whoever's it is.
bool region_exists(const char* text);
// That a sender holds the key, to an owner.
void hello_proof(Bytes key, const uint8_t (&owner)[kIdBytes], const uint8_t (&sender)[kIdBytes],
                 const char (&text)[kShmTextMax], uint8_t (&out)[kProofBytes]);
// Removes the regions of this user's dead processes.
void sweep_stale_regions();
// Removes the region of one address if its owner is dead. False: somebody else is just looking whether it is, and may
// have begun when it was not yet; to be tried again.
bool reclaim_region(const char* text);

}  // namespace selvage::impl::shm
